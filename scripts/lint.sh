#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# lint.sh [FILE.c...]: format, the project's rules, public headers, clang-tidy, cppcheck; files narrow the last two.
set -euo pipefail
. "$(dirname "$0")/sources.sh"
build=build/lint

configure() {
    cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang >/dev/null
}
# The same source is part of libraries and modules: once is enough. cppcheck cuts the command at a semicolon, quoted or not.
database() {
    mkdir -p $build/once
    python3 - "$PWD" "$build" "$@" <<'PYTHON'
import json, os, sys
root, build, only = sys.argv[1], sys.argv[2], {os.path.abspath(f) for f in sys.argv[3:]}
once = {e["file"]: e for e in json.load(open(f"{build}/compile_commands.json")) if e["file"].startswith(root + "/")}
once = {f: e for f, e in once.items() if not only or f in only}
for entry in once.values():
    entry["command"] = entry["command"].replace(";", ":")
json.dump(list(once.values()), open(f"{build}/once/compile_commands.json", "w"))
open(f"{build}/once/files", "w").writelines(f + "\n" for f in sorted(once))
PYTHON
}
format() {
    local wrong
    wrong=$(c_files | xargs clang-format --dry-run 2>&1 | sed -nE 's/^([^:]+):[0-9]+:.*/\1/p' | sort -u)
    [ -z "$wrong" ] || { printf 'clang-format -i wants to change:\n%s\n' "$wrong"; return 1; }
}
# One process a file: given several, clang-tidy 14 finds uninitialised va_lists that are none.
tidy_one() {
    local out
    out=$(clang-tidy -p $build/once --quiet "$1" 2>/dev/null) || { printf '%s\n' "$out"; return 1; }
}
tidy() {
    export -f tidy_one
    export build
    xargs -P "$jobs" -I{} bash -c 'tidy_one {}' <$build/once/files
}
# Without --library=posix, whose table is wrong on accept4, dlopen and getpwuid; internalAstError is a failure of its own.
cpp() {
    cppcheck --project=$build/once/compile_commands.json --quiet --error-exitcode=1 --inline-suppr -j "$jobs" \
        --std=c11 --enable=warning,performance,portability --suppress=missingIncludeSystem \
        --suppress=internalAstError --template='{file}:{line}: {severity}: {message} [{id}]'
}

step "clang-format" format
step "project rules" scripts/check_sources.sh
step "configure" configure
database "$@"
step "public headers" scripts/check_headers.sh $build
step "clang-tidy" tidy
step "cppcheck" cpp
exit $failed

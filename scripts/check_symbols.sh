#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_symbols.sh BUILD_FOLDER: libredd.so exports what the headers declare as REDD_API and nothing else; a module exports
# its entry alone.
set -euo pipefail
build=$(realpath "${1:?usage: check_symbols.sh BUILD_FOLDER}")
. "$(dirname "$0")/sources.sh"

# Names with two underscores in front belong to the toolchain (sanitizers, gcov).
exported() { nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $3); print $3 }' | grep -v '^__' | sort -u; }

# A declaration's name stands before "(" when it is a function, before its end when it is an object.
declared() {
    echo '#include <redd/redd.h>' | "${CC:-cc}" -E -P -x c -std=c17 -Iinclude "-I$build/include" - | tr '\n' ' ' |
        grep -oP '__attribute__\(\(visibility\("default"\)\)\)\K[^;{]*' |
        sed -E 's/^[^(]*[ *]([a-zA-Z0-9_]+) *\(.*/\1/; t; s/^.*[ *]([a-zA-Z0-9_]+) *$/\1/' |
        sort -u
}

library=$build/libredd.so
declared=$(declared)
extra=$(comm -13 <(echo "$declared") <(exported "$library"))
absent=$(comm -23 <(echo "$declared") <(exported "$library"))
[ -z "$extra" ] || { printf 'libredd.so exports what no header declares as REDD_API:\n%s\n' "$extra"; failed=1; }
[ -z "$absent" ] || { printf 'Declared as REDD_API, but not in libredd.so:\n%s\n' "$absent"; failed=1; }
for name in $declared; do
    [[ $name == redd_* ]] || { echo "$name does not begin with redd_"; failed=1; }
done

for module in "$build"/modules/redd-*.so; do
    [ -e "$module" ] || continue
    [ "$(exported "$module")" = redd_extension_entry ] ||
        { echo "$(basename "$module") exports more, or less, than redd_extension_entry:"; exported "$module"; failed=1; }
done
exit $failed

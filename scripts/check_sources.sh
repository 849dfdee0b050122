#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The project's own rules for C sources; what breaks one is printed as FILE:LINE: why.
set -eu
shopt -s lastpipe # so that report can set failed
. "$(dirname "$0")/sources.sh"

report() { # WHY, with FILE:LINE:TEXT lines on standard input
    local line
    while IFS= read -r line; do
        failed=1
        printf '%s\n    %s\n' "$line" "$1"
    done
}
# search PATTERN [FOLDER...]: calls and directives; "." and ">" before a name make it a member, not the function.
search() {
    local pattern=$1
    shift
    c_files "$@" | xargs grep -nP "$pattern" || true
}
call() { printf '(?<![\\w.>"])(%s)\\s*\\(' "$1"; }

search "$(call 'strn?cpy|strn?cat|stpcpy|v?sprintf|gets|strtok|ato[ilf]|atoll|v?[fs]?scanf|alloca|s?rand|rand_r|tmpnam|mktemp')" |
    report "This function is banned: it has no bound, no error, or shared state (CONTRIBUTING.md names what to use)."
search "$(call 'malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|free|strn?dup|v?asprintf')" runtime ext |
    grep -v '^runtime/base/alloc\.c:' |
    report "Memory comes from the redd_allocator in hand."

for extension in ext/*/; do
    extension=${extension%/}
    search '^\s*#\s*include\s*"' "$extension" |
        grep -vE "\"($extension/([a-z0-9_]+/)?[a-z0-9_]+\.h|runtime/base/list\.h)\"" |
        report "An extension includes public headers (<redd/...>), its own, and runtime/base/list.h."
done

c_files | xargs grep -LE '^/\* SPDX-License-Identifier: MIT \*/$' |
    report "The first line is /* SPDX-License-Identifier: MIT */."
find scripts cmake tests fuzz examples .ci -name node_modules -prune -o -type f \
    \( -name '*.sh' -o -name '*.py' -o -name '*.js' -o -name '*.mjs' -o -name '*.cmake' -o -name CMakeLists.txt \) -print 2>/dev/null |
    xargs grep -L 'SPDX-License-Identifier: MIT' |
    report "A comment at the top says SPDX-License-Identifier: MIT."

c_files | xargs wc -l | awk '$2 != "total" && $1 > 500 { print $2 ":" $1 ":" }' |
    report "A file has at most 500 lines: split it by subject."

for header in $(c_files | grep '\.h$'); do
    guard=${header#include/redd/} guard=${guard#runtime/} guard=${guard#ext/}
    guard=REDD_$(printf '%s' "$guard" | tr 'a-z/.-' 'A-Z___')
    grep -qE "^#ifndef ${guard/TESTS_UNIT_/TESTS_(UNIT_)?}\$" "$header" || echo "$header:1:"
done | report "The header guard is REDD_, the folder and the file's name."

exit $failed

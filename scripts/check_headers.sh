#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_headers.sh BUILD_FOLDER: every public header compiles alone and through <redd/redd.h>, as C17 and as C++17.
set -euo pipefail
build=$(realpath "${1:?usage: check_headers.sh BUILD_FOLDER}")
. "$(dirname "$0")/sources.sh"

strict=(-Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -Iinclude "-I$build/include")
for path in include/redd/*.h "$build/include/redd/version.h"; do
    header="redd/$(basename "$path")"
    # Twice, so that a broken guard shows; ISO C wants a declaration in every unit.
    unit=$(printf '#include <%s>\n#include <%s>\nextern int unit;\n' "$header" "$header")
    "${CC:-cc}" -x c -std=c17 "${strict[@]}" - <<<"$unit" || { echo "$header does not stand alone in C17"; failed=1; }
    "${CXX:-c++}" -x c++ -std=c++17 "${strict[@]}" - <<<"$unit" || { echo "$header does not stand alone in C++17"; failed=1; }
    case $header in
        redd/redd.h) ;;
        *) grep -q "^#include <$header>" include/redd/redd.h || { echo "redd.h does not include <$header>"; failed=1; } ;;
    esac
done
exit $failed

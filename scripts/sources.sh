# SPDX-License-Identifier: MIT
# For sourcing: the folders that hold redd's C, and functions that the checks share.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=$(nproc 2>/dev/null || echo 2)
failed=0

# c_files [FOLDER...]: the C sources and headers below them, one a line.
c_files() {
    [ $# -gt 0 ] || set -- runtime ext include tests fuzz examples
    find "$@" -name node_modules -prune -o -type f -name '*.[ch]' -print 2>/dev/null | sort
}

# step NAME COMMAND...: runs it, says how long it took, and remembers a failure.
step() {
    local name=$1 start=$SECONDS verdict=ok
    shift
    "$@" || { verdict=FAILED; failed=1; }
    printf '%-28s %s (%d s)\n' "$name" "$verdict" $((SECONDS - start))
}

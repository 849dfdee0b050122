#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fuzz_smoke.sh [TARGET...]: every fuzz target (fuzz/TARGET_fuzz.c) for SECONDS_EACH seconds (30), from its committed corpus.
# New inputs go to build/fuzz/corpus; what crashes is written to build/fuzz/found and named.
set -euo pipefail
. "$(dirname "$0")/sources.sh"
seconds=${SECONDS_EACH:-30}
[ $# -gt 0 ] || set -- $(ls fuzz/*_fuzz.c 2>/dev/null | sed -E 's|fuzz/(.*)_fuzz\.c|\1|')

cmake --preset fuzz >/dev/null
said=$(cmake --build --preset fuzz --target fuzzers -j "$jobs" 2>&1) || { printf '%s\n' "$said"; exit 1; }

fuzz_one() {
    local target=$1 corpus=build/fuzz/corpus/$1 found=build/fuzz/found/$1
    mkdir -p "$corpus" "$found"
    local inputs=("$corpus")
    for folder in "fuzz/corpus/$target" "fuzz/regression/$target"; do
        [ -d "$folder" ] && inputs+=("$folder")
    done
    local dictionary=()
    [ -f "fuzz/$target.dict" ] && dictionary=("-dict=fuzz/$target.dict")
    if build/fuzz/fuzz/"${target}"_fuzz -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
        -print_final_stats=1 -artifact_prefix="$found/" "${dictionary[@]}" "${inputs[@]}" >"$found.log" 2>&1 </dev/null; then
        printf '%-28s ok, %s inputs\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: //p' "$found.log")"
    else
        tail -n 60 "$found.log"
        printf '%-28s FAILED, see %s\n' "$target" "$found"
        return 1
    fi
}
export -f fuzz_one
export seconds
printf '%s\n' "$@" | xargs -r -P "$jobs" -I{} bash -c 'fuzz_one {}'

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A configuration without a dependency fails and names the package that brings it.
set -euo pipefail
. "$(dirname "$0")/sources.sh"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# Without its folders pkg-config finds nothing; CMake has a switch for each package that it finds itself.
if said=$(PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=/nowhere cmake -S . -B "$build" -G Ninja -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON 2>&1); then
    echo "a configuration without libuv, zlib and OpenSSL succeeds"
    exit 1
fi
for sentence in "libuv 1.44 or later was not found: install libuv1-dev." \
    "zlib was not found: install zlib1g-dev." "OpenSSL 3 was not found: install libssl-dev."; do
    grep -qF "$sentence" <<<"$said" || { printf 'not said: %s\n' "$sentence"; failed=1; }
done
exit $failed

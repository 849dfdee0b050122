#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# deps.sh SET... : installs what is missing of the sets build, test, lint and fuzz. Says nothing when all is there.
set -euo pipefail

missing=()

# need PACKAGE COMMAND... : the package is missing when the command fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
program() { command -v "$1"; }
any_program() { for name in "$@"; do command -v "$name" && return; done; return 1; }
header() { echo "#include <$1>" | "${CC:-cc}" -E -x c -; }
library() { pkg-config --exists "$1"; }
llhttp() { pkg-config --exists libllhttp || [ -f /usr/share/llhttp/llhttp.c ]; }
python_module() { /usr/bin/python3 -c "import $1"; }
libfuzzer() { echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
    clang -fsanitize=fuzzer,address,undefined -x c -o /dev/null -; }

# Debian 13 and Ubuntu 24.04 have the library, Debian 12 has the generated sources.
llhttp_package() {
    if apt-cache show libllhttp-dev >/dev/null 2>&1; then echo libllhttp-dev; else echo node-llhttp; fi
}

need_build() {
    need gcc program "${CC:-cc}"
    need libc6-dev header stdlib.h
    need cmake program cmake
    need ninja-build program ninja
    need pkg-config program pkg-config
    need libuv1-dev library libuv
    need llhttp llhttp
    need libwslay-dev header wslay/wslay.h
    need libssl-dev library libcrypto
    need zlib1g-dev library zlib
    need libbrotli-dev library libbrotlienc
    need libzstd-dev library libzstd
}
need_test() {
    need libcmocka-dev library cmocka
    need curl program curl
    need brotli program brotli
    need zstd program zstd
    need wrk program wrk
    need haproxy any_program haproxy /usr/sbin/haproxy
    need openssl program openssl
    need procps program ps
    need python3 test -x /usr/bin/python3
    need python3-websockets python_module websockets
    need python3-prometheus-client python_module prometheus_client
    need nodejs any_program node nodejs
    need npm program npm
    need chromium any_program chromium chromium-browser google-chrome
    need g++ program c++
    need binutils program nm
}
need_lint() {
    need clang-format program clang-format
    need clang-tidy program clang-tidy
    need cppcheck program cppcheck
}
need_fuzz() {
    need clang program clang
    need libclang-rt-dev libfuzzer
}

[ $# -gt 0 ] || { echo "usage: deps.sh build|test|lint|fuzz ..." >&2; exit 2; }
for set in "$@"; do
    case $set in
        build | test | lint | fuzz) "need_$set" ;;
        *) echo "deps.sh: there is no set \"$set\"" >&2; exit 2 ;;
    esac
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "These are missing, under the names of their Debian packages; please install them:" >&2
    printf '  %s\n' "${missing[@]/#llhttp/libllhttp-dev (or node-llhttp)}" >&2
    exit 1
fi

root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Please install as root: ${missing[*]}" >&2; exit 1; }
    root=(sudo)
fi
apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null; }
apt update
for i in "${!missing[@]}"; do
    if [ "${missing[i]}" = llhttp ]; then missing[i]=$(llhttp_package); fi
done
echo "Installing ${missing[*]}"
apt install -y --no-install-recommends "${missing[@]}"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_install.sh BUILD_FOLDER: installs it into a staging folder, moves that elsewhere, and uses it as a stranger would: by
# pkg-config, by the CMake package, shared and static, and through the program.
set -euo pipefail
build=$(realpath "${1:?usage: check_install.sh BUILD_FOLDER}")
. "$(dirname "$0")/sources.sh"
examples=$PWD/examples
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }

# serves COMMAND...: it says where it listens, answers a request, and ends well at TERM.
serves() {
    local url="" log=$work/serve.log
    "$@" >"$log" 2>&1 &
    server=$!
    for _ in $(seq 200); do
        url=$(sed -n 's/.*Listening on \(http[^ ]*\).*/\1/p' "$log")
        [ -z "$url" ] && kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    [ -n "$url" ] || fail "$* does not serve: $(cat "$log")"
    curl --silent --show-error --fail --max-time 10 "$url" >/dev/null || fail "$* does not answer at $url"
    kill -TERM "$server"
    wait "$server" || fail "$* did not end with 0: $(cat "$log")"
    server=
}

cmake --install "$build" --prefix "$work/staged" >/dev/null
mv "$work/staged" "$work/prefix" # nothing may remember where it was installed
prefix=$work/prefix
libdir=$(dirname "$(find "$prefix" -name libredd.so)")
for file in "$prefix"/{bin/redd,include/redd/redd.h,include/redd/version.h,share/doc/redd/LICENSE} \
    "$libdir"/redd/redd-{net,http,websocket}.so; do
    [ -e "$file" ] || fail "${file#"$prefix/"} is not installed"
done
cd "$work"

export PKG_CONFIG_PATH=$libdir/pkgconfig
strict=(-std=gnu17 -Wall -Wextra -Wpedantic -Werror)
cc "${strict[@]}" "$examples/embed/embed.c" -o shared $(pkg-config --cflags --libs redd libuv) "-Wl,-rpath,$libdir"
serves ./shared 0
cc "${strict[@]}" "$examples/embed/embed.c" -o static \
    $(pkg-config --static --cflags --libs redd libuv | sed 's/-lredd /-l:libredd.a /g')
ldd static | grep -q libredd && fail "the static link took the shared library"
serves ./static 0

# The examples are projects of their own.
for example in embed extension host; do
    cmake -S "$examples/$example" -B "$example" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
    cmake --build "$example" >/dev/null
done
serves embed/embed 0
mkdir with_static
cat >with_static/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(with_static LANGUAGES C)
find_package(redd 0.1 REQUIRED COMPONENTS static)
add_executable(embed $examples/embed/embed.c)
target_link_libraries(embed PRIVATE redd::redd_static redd::uv)
END
cmake -S with_static -B with_static/build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build with_static/build >/dev/null
serves with_static/build/embed 0

# The program finds its library and its headers beside itself.
version="redd $(pkg-config --modversion redd)"
[ "$("$prefix/bin/redd" --version)" = "$version" ] || fail "redd --version does not say $version"
export XDG_CACHE_HOME=$work/cache
serves "$prefix/bin/redd" serve --host 127.0.0.1 --port 0 "$examples/hello.c"
echo "pkg-config, the CMake package and the program of the installed tree work, shared and static"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_install.sh BUILD_FOLDER: installs it into a staging folder, moves that elsewhere, and uses it as a stranger would: by
# pkg-config, by the CMake package, shared and static, and through the program.
set -euo pipefail
build=$(realpath "${1:?usage: check_install.sh BUILD_FOLDER}")
. "$(dirname "$0")/sources.sh"
source=$PWD
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/staged" >/dev/null
mv "$work/staged" "$work/prefix" # nothing may remember where it was installed
prefix=$work/prefix
libdir=$(dirname "$(find "$prefix" -name libredd.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
for file in bin/redd include/redd/redd.h include/redd/version.h share/doc/redd/LICENSE; do
    [ -e "$prefix/$file" ] || { echo "$file is not installed"; exit 1; }
done
for module in net http websocket; do
    [ -e "$libdir/redd/redd-$module.so" ] || { echo "redd-$module.so is not installed"; exit 1; }
done

mkdir "$work/app"
cd "$work/app"
cat >app.c <<'END'
#include <redd/redd.h>
#include <stdio.h>
static int fail(int err)
{
    (void)fprintf(stderr, "%s\n", redd_error_text(err));
    return 1;
}
int main(void)
{
    redd_runtime *rt;
    int err = redd_runtime_new(NULL, &rt);
    if (err)
        return fail(err);
    if ((err = redd_runtime_add(rt, &redd_net_extension)) || (err = redd_runtime_add(rt, &redd_http_extension)) ||
        (err = redd_runtime_add(rt, &redd_websocket_extension)) || (err = redd_runtime_seal(rt)))
        return fail(err);
    redd_runtime_free(rt);
    return puts("redd " REDD_VERSION) < 0;
}
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES C)
find_package(redd 0.1 REQUIRED COMPONENTS static)
add_executable(app_shared app.c)
target_link_libraries(app_shared PRIVATE redd::redd)
add_executable(app_static app.c)
target_link_libraries(app_static PRIVATE redd::redd_static)
END
expect() { # WORDS COMMAND...
    local words=$1 said
    shift
    said=$("$@") || { echo "failed: $*"; exit 1; }
    [ "$said" = "$words" ] || { printf '%s\n  said     %s\n  expected %s\n' "$*" "$said" "$words"; exit 1; }
}
version=$(pkg-config --modversion redd)
strict=(-std=c17 -Wall -Wextra -Wpedantic -Werror)

cc "${strict[@]}" app.c -o by_pkg_config $(pkg-config --cflags --libs redd) "-Wl,-rpath,$libdir"
expect "redd $version" ./by_pkg_config
cc "${strict[@]}" app.c -o by_pkg_config_static $(pkg-config --static --cflags --libs redd | sed 's/-lredd /-l:libredd.a /')
expect "redd $version" ./by_pkg_config_static
! ldd by_pkg_config_static | grep -q libredd || { echo "the static link took the shared library"; exit 1; }
cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build build >/dev/null
expect "redd $version" build/app_shared
expect "redd $version" build/app_static

# The examples that are projects of their own.
for example in embed extension host; do
    [ -f "$source/examples/$example/CMakeLists.txt" ] || continue
    cmake -S "$source/examples/$example" -B "$work/$example" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
    cmake --build "$work/$example" >/dev/null
done

# The program finds its library and its headers beside itself, whatever the tree that it came from holds.
expect "redd $version" "$prefix/bin/redd" --version
export XDG_CACHE_HOME=$work/cache
cp "$source/examples/hello.c" .
"$prefix/bin/redd" serve --host 127.0.0.1 --port 0 hello.c >"$work/serve.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    url=$(sed -n 's/.*Listening on \(http[^ ]*\).*/\1/p' "$work/serve.log")
    [ -z "$url" ] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
done
[ -n "$url" ] || { echo "the installed redd serve does not serve:"; cat "$work/serve.log"; exit 1; }
curl --silent --show-error --fail --max-time 10 "$url" >/dev/null
kill -TERM "$server"
wait "$server" || { echo "redd serve did not end with 0"; cat "$work/serve.log"; exit 1; }
server=
echo "pkg-config, CMake package and program of the installed tree: all work"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# llhttp9.sh [BUILD_DIR]: builds and runs the HTTP unit tests with Debian 13's llhttp 9 (Debian 12 ships 8.1), so that both
# versions give the same answers. The packages are fetched into a temporary folder from the mirror that the system uses;
# nothing of the system changes. Where llhttp 9 is installed already, the ordinary build has it, and nothing is done here.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/llhttp9}

if pkg-config --exists 'libllhttp >= 9'; then
    echo "llhttp 9 is the system's: the ordinary build uses it"
    exit 0
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mirror=$(apt-get --print-uris update | sed -n "s|^'\(.*\)/dists/$codename/InRelease'.*|\1|p" | head -n 1)
[ -n "$mirror" ] || { echo "llhttp9.sh: apt knows no Debian mirror" >&2; exit 1; }

mkdir -p "$root"/{state/lists/partial,cache/archives/partial,parts,tree}
: >"$root/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$root/sources.list"
cat >"$root/apt.conf" <<EOF
Dir::State "$root/state";
Dir::State::status "$root/status";
Dir::Cache "$root/cache";
Dir::Etc::sourcelist "$root/sources.list";
Dir::Etc::sourceparts "$root/parts";
APT::Sandbox::User "root";
Acquire::Retries "3";
EOF
export APT_CONFIG=$root/apt.conf
apt-get -qq update
(cd "$root" && apt-get -qq download libllhttp-dev)
dpkg-deb -x "$root"/libllhttp-dev_*.deb "$root/tree"

# The static library goes into the tests; the package's paths are made the folder's.
pc=$(find "$root/tree" -name libllhttp.pc)
sed -i "s|/usr|$root/tree/usr|g" "$pc"
find "$root/tree" -name 'libllhttp.so*' -delete
unset APT_CONFIG
export PKG_CONFIG_PATH=${pc%/*}

rm -rf "$build"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DREDD_SANITIZE=address,undefined -DREDD_WERROR=ON \
    -DREDD_EXAMPLES=OFF >/dev/null
tests=$(cd tests/unit && ls http_*_test.c | sed 's/\.c$//')
log=$(cmake --build "$build" --target $tests 2>&1) || { printf '%s\n' "$log"; exit 1; }
printf 'llhttp %s\n' "$(pkg-config --modversion libllhttp)"
ctest --test-dir "$build" -R '^unit/http_' --output-on-failure --progress | tail -n 12

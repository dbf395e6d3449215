#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The C library that the wheels are linked against: Debian 11's (2.31, as in Ubuntu 20.04), unpacked into a folder.
# Objects compiled for Debian 12 link with it; the linker then asks for symbol versions that old systems have.
#
# usage: old_glibc.sh FOLDER [amd64|arm64]
set -eu
root=$1
arch=${2:-amd64}
packages="libc6 libc6-dev libgcc-s1"
[ "$(cat "$root/packages" 2>/dev/null)" = "$packages $arch" ] && exit 0
mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial"
root=$(cd "$root" && pwd)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bullseye main" \
  >"$root/apt/sources.list"
old() {
  apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User=root \
    -o Dir::Etc::SourceList="$root/apt/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::lists="$root/apt/lists" -o Dir::Cache="$root/apt/cache" -o Dir::State::status=/dev/null \
    -o Debug::NoLocking=1 "$@"
}
old update
# shellcheck disable=SC2086
old install --download-only -y --no-install-recommends $packages
for deb in "$root"/apt/cache/archives/libc6*.deb "$root"/apt/cache/archives/libgcc-s1*.deb; do dpkg -x "$deb" "$root"; done
# Absolute links would lead to this machine's library.
find "$root" -type l -lname '/*' | while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done
echo "$packages $arch" >"$root/packages"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Debian's arm64 packages, unpacked into a folder: what the toolkit and the server link, and a Python with numpy to try the wheel under
# qemu-user. Nothing is installed; apt keeps its lists for the foreign architecture in that folder, too.
#
# usage: sysroot_arm64.sh FOLDER
set -eu
root=$1
packages="libgrpc++-dev libprotobuf-dev libyaml-cpp-dev libjpeg62-turbo-dev libpng-dev python3-minimal python3-numpy"
[ "$(cat "$root/packages" 2>/dev/null)" = "$packages" ] && exit 0
mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial"
root=$(cd "$root" && pwd)
foreign() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
    -o Dir::State::lists="$root/apt/lists" -o Dir::Cache="$root/apt/cache" -o Dir::State::status=/dev/null \
    -o Debug::NoLocking=1 "$@"
}
foreign update
# shellcheck disable=SC2086
foreign install --download-only -y --no-install-recommends $packages
for deb in "$root"/apt/cache/archives/*.deb; do dpkg -x "$deb" "$root"; done
echo "$packages" >"$root/packages"

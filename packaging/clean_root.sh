#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A system as somebody has just installed it: a folder made by mmdebstrap from the distribution's own archive, with the
# packages that are named and nothing of ours. Made once and kept; who tries something works in a copy (in_root.sh).
#
# usage: clean_root.sh FOLDER SUITE [PACKAGE...]
set -eu
root=$1
suite=$2
shift 2
packages=$(echo "$*" | tr ' ' ,)
[ "$(cat "$root/.made-of" 2>/dev/null)" = "$suite $packages" ] && exit 0
rm -rf "$root"
mkdir -p "$(dirname "$root")"
debian() { echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $1 main"; }
case $suite in
  bullseye | bookworm | trixie) lines=$(debian "$suite") ;;
  focal | jammy | noble | resolute)
    # Ubuntu's keys as a Debian package.
    keys=$(dirname "$root")/ubuntu-keyring
    if [ ! -e "$keys/usr/share/keyrings/ubuntu-archive-keyring.gpg" ]; then
      mkdir -p "$keys/lists/partial" "$keys/cache/archives/partial"
      keys=$(cd "$keys" && pwd)
      debian trixie >"$keys/sources.list"
      for step in update "install --download-only -y --no-install-recommends ubuntu-archive-keyring"; do
        # shellcheck disable=SC2086
        apt-get -qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$keys/sources.list" -o Dir::Etc::SourceParts=- \
          -o Dir::State::lists="$keys/lists" -o Dir::Cache="$keys/cache" -o Dir::State::status=/dev/null \
          -o Debug::NoLocking=1 $step >/dev/null
      done
      for deb in "$keys"/cache/archives/ubuntu*.deb; do dpkg -x "$deb" "$keys"; done
    fi
    keys=$(cd "$keys" && pwd)
    lines="deb [signed-by=$keys/usr/share/keyrings/ubuntu-archive-keyring.gpg] http://archive.ubuntu.com/ubuntu $suite main universe" ;;
  *) echo "clean_root: the suite $suite is not known" >&2; exit 2 ;;
esac
echo "$lines" | mmdebstrap --quiet --variant=apt --mode=root --aptopt='Acquire::Retries "3"' \
  ${packages:+--include="$packages"} "$suite" "$root" - >"$root.log" 2>&1 || { tail -5 "$root.log"; rm -rf "$root"; exit 1; }
echo "$suite $packages" >"$root/.made-of"

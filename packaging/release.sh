#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes everything that is published, out of finished builds: wheels, Debian packages, the bill of materials, the notices,
# the examples, checksums. Versions and dates come from src/base/version.h; same builds give the same bytes.
#
# usage: release.sh BUILD_FOLDER OUTPUT [MACHINE...]      machines: x86_64 (BUILD_FOLDER/release), aarch64 (BUILD_FOLDER/aarch64)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
output=$2
shift 2
python=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1
rm -rf "$output"
mkdir -p "$output"
share=$build/share
rm -rf "$share"
$python "$here/command_line.py" "$build/release/tools/rknn/rknn" "$share"
for machine in "${@:-$(uname -m)}"; do
  if [ "$machine" = "$(uname -m)" ]; then tree=$build/release sysroot=/; else tree=$build/$machine sysroot=$build/sysroot-arm64; fi
  case $machine in x86_64) arch=amd64 ;; *) arch=arm64 ;; esac
  "$here/static_libraries.sh" "$build/static-$machine" "$machine"
  "$here/old_glibc.sh" "$build/glibc-2.31-$machine" "$arch"
  rm -rf "$build/portable-$machine"
  $python "$here/portable_link.py" --build "$tree" --static "$build/static-$machine" --glibc "$build/glibc-2.31-$machine" \
    --output "$build/portable-$machine" --machine "$machine" --sysroot "$sysroot" >/dev/null
  $python "$here/bundled.py" --static "$build/static-$machine" --output "$output"
  $python "$here/../python/make_wheel.py" --portable "$build/portable-$machine" --notices "$output" --output "$output" \
    --machine "$machine" --share "$share" >/dev/null
  $python "$here/make_debs.py" --build "$tree" --portable "$build/portable-$machine" --notices "$output" --output "$output" \
    --arch "$arch" --share "$share" >/dev/null
done
# The examples that the first steps use, dated like everything else.
version=$(sed -n 's/.*RK_PROJECT_VERSION "\(.*\)"/\1/p' "$here/../src/base/version.h")
day=$(sed -n 's/.*RK_RELEASE_DATE "\(.*\)"/\1/p' "$here/../src/base/version.h")
tar -C "$here/../examples" --sort=name --mtime="$day UTC" --owner=0 --group=0 --numeric-owner --exclude=__pycache__ \
  --transform="s,^,openrknn-examples-$version/," -cf - digits python signs segmentation yolov5 utils |
  gzip -n9 >"$output/openrknn-examples-$version.tar.gz"
(cd "$output" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
ls "$output"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# configure.sh PRESET BUILD_FOLDER: cmake --preset, quiet unless it fails, with a sentence where CMake has only its own
# text: a missing cross compiler, and a cache of a tree that was copied or moved.
set -u
preset=$1 build=$2
folder=$build/$preset log=$build/configure-$preset.log
mkdir -p "$build"

if [[ $preset == aarch64* ]]; then
  missing=()
  command -v aarch64-linux-gnu-g++ >/dev/null || missing+=(crossbuild-essential-arm64)
  command -v qemu-aarch64 >/dev/null || missing+=(qemu-user)
  if ((${#missing[@]})); then
    echo "$preset: 64-bit ARM is cross-compiled and tried under qemu-user, which are not here:" \
         "install ${missing[*]} (apt-get install ${missing[*]})" >&2
    exit 1
  fi
fi

# A cache remembers the folder it was made in and, after a failure, half of what it found: neither is worth keeping.
cache=$folder/CMakeCache.txt
if [[ -f $cache ]]; then
  made_in=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$cache")
  if [[ -n $made_in && $made_in != "$(realpath "$folder")" ]]; then
    echo "$folder was configured in $made_in: configuring it anew" >&2
    rm -rf "$folder"
  elif [[ ! -f $folder/build.ninja ]]; then
    rm -rf "$folder"
  fi
fi

cmake --preset "$preset" >"$log" 2>&1 && exit 0
cat "$log"
# The next try starts from the beginning.
[[ -f $folder/build.ninja ]] || rm -rf "$folder"
exit 1

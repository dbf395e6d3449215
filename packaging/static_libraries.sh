#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The libraries that the wheels carry inside their own, as position-independent archives: Debian's own archives of these
# are not, and its shared libraries need the C library of Debian 12. Compiled from Debian's source packages, in the
# versions whose headers the build used.
#
# usage: static_libraries.sh FOLDER [aarch64]        leaves lib/*.a and sources.txt (package and version) in FOLDER
set -eu
folder=$1
machine=${2:-$(uname -m)}
# source package, a binary package of it that tells its version, CMake folder, options
list="zlib zlib1g-dev . -
libpng1.6 libpng-dev . -DPNG_SHARED=OFF,-DPNG_TESTS=OFF,-DPNG_HARDWARE_OPTIMIZATIONS=OFF
libjpeg-turbo libjpeg62-turbo-dev . -DENABLE_SHARED=OFF,-DWITH_TURBOJPEG=OFF
yaml-cpp libyaml-cpp-dev . -DYAML_CPP_BUILD_TESTS=OFF,-DYAML_CPP_BUILD_TOOLS=OFF
protobuf libprotobuf-dev cmake -Dprotobuf_BUILD_TESTS=OFF,-Dprotobuf_BUILD_PROTOC_BINARIES=OFF,-Dprotobuf_BUILD_SHARED_LIBS=OFF
c-ares libc-ares-dev . -DCARES_SHARED=OFF,-DCARES_STATIC=ON,-DCARES_STATIC_PIC=ON,-DCARES_BUILD_TOOLS=OFF
re2 libre2-dev . -DRE2_BUILD_TESTING=OFF
abseil libabsl-dev . -DCMAKE_CXX_STANDARD=14,-DABSL_ENABLE_INSTALL=ON,-DBUILD_TESTING=OFF"

wanted=$(echo "$list" | while read -r source binary _ _; do
  echo "$source $(dpkg-query -W -f='${source:Version}' "$binary")"
done)
[ "$(cat "$folder/wanted.txt" 2>/dev/null)" = "$wanted" ] && exit 0
mkdir -p "$folder/lib" "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/src" "$folder/obj"
folder=$(cd "$folder" && pwd)
cat >"$folder/apt/sources.list" <<LIST
deb-src http://deb.debian.org/debian bookworm main
deb-src http://deb.debian.org/debian bookworm-updates main
deb-src http://deb.debian.org/debian-security bookworm-security main
LIST
debian() {
  apt-get -qq -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User=root \
    -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" -o Debug::NoLocking=1 "$@"
}
debian update
cross=
if [ "$machine" = aarch64 ] && [ "$(uname -m)" != aarch64 ]; then
  cross="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc \
    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_FIND_ROOT_PATH=$folder;/usr/aarch64-linux-gnu \
    -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY"
fi
# The same bytes whatever the folder is called. Whoever links them hides their symbols (--exclude-libs).
flags="-O2 -ffile-prefix-map=$folder=. -fstack-protector-strong -D_FORTIFY_SOURCE=2"
echo "$list" >"$folder/list"
while read -r source binary where options <&3; do
  version=$(dpkg-query -W -f='${source:Version}' "$binary")
  # A security update replaces the source of what may be installed still, and mirrors lag: then one that can be had.
  (cd "$folder/src" && { [ -e "$source.done" ] || { { debian source "$source=$version" ||
    debian source "$source" || debian source "$source/bookworm"; } \
    >../apt/source.log 2>&1 && touch "$source.done"; }; }) || { cat "$folder/apt/source.log"; exit 1; }
  grep -qx "$source $version" "$folder/compiled.txt" 2>/dev/null && continue
  tree=$(find "$folder/src" -maxdepth 1 -type d -name "$source-*" | sort | tail -1)
  # Debian's zlib has no files for other systems; its CMakeLists.txt names one all the same.
  [ "$source" != zlib ] || { mkdir -p "$tree/win32" && : >"$tree/win32/zlib1.rc"; }
  # Nor are tables of re2 in its source package: they come from Debian's unicode-data.
  [ "$source" != re2 ] || PATH=/usr/bin:$PATH make -s -C "$tree" REBUILD_TABLES=1 re2/perl_groups.cc \
    re2/unicode_casefold.cc re2/unicode_groups.cc
  # shellcheck disable=SC2046,SC2086
  cmake -S "$tree/$where" -B "$folder/obj/$source" -G Ninja $cross -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR:STRING=lib -DCMAKE_PREFIX_PATH="$folder" \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" \
    $([ "$options" = - ] || echo "$options" | tr , ' ') >"$folder/obj/$source.log" 2>&1 &&
    cmake --build "$folder/obj/$source" >>"$folder/obj/$source.log" 2>&1 &&
    cmake --install "$folder/obj/$source" >>"$folder/obj/$source.log" 2>&1 ||
    { tail -20 "$folder/obj/$source.log"; exit 1; }
  echo "$source $version" >>"$folder/compiled.txt"
done 3<"$folder/list"
rm -f "$folder"/lib/*.so "$folder"/lib/*.so.*
rm -rf "$folder/obj"
for file in "$folder"/src/*.dsc; do sed -n 's/^Source: //p; s/^Version: //p' "$file" | head -2 | paste -d' ' - -; done |
  sort >"$folder/sources.txt"
echo "$wanted" >"$folder/wanted.txt"

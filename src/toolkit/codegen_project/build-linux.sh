#!/bin/sh
# ./build-linux.sh [-a x86_64|aarch64] [-l FOLDER_OF_LIBRKNNRT]
# Builds the program into install/linux_<arch>/, with lib/, model/ and data/ beside it.
set -e
arch=$(uname -m)
lib=
while getopts a:l: option; do
  case $option in
    a) arch=$OPTARG ;;
    l) lib=$(cd "$OPTARG" && pwd) ;;
    *) echo "usage: $0 [-a x86_64|aarch64] [-l FOLDER_OF_LIBRKNNRT]" >&2; exit 2 ;;
  esac
done
cd "$(dirname "$0")"  # behind the options: FOLDER is seen from the caller's folder
toolchain=
[ "$arch" = "$(uname -m)" ] || toolchain="-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/$arch.cmake"
cmake -S . -B "build/$arch" $toolchain ${lib:+-DRKNN_LIB_DIR="$lib"} -DCMAKE_INSTALL_PREFIX="$PWD/install/linux_$arch"
cmake --build "build/$arch"
cmake --install "build/$arch"
echo "built: install/linux_$arch/@PROJECT@"

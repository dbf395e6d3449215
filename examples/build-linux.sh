#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build-linux.sh -t CHIP -a x86_64|aarch64 -d NAME [-m MODEL.rknn]
# Builds the example NAME into install/CHIP_linux_ARCH/rknn_NAME_demo: the program, lib/ and model/. Without -m the bundled
# network of the example is converted for the chip, where there is one. aarch64 is cross-compiled (crossbuild-essential-arm64).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
chip= arch= name= model=
usage() {
  echo "usage: $0 -t CHIP -a x86_64|aarch64 -d NAME [-m MODEL.rknn]" >&2
  echo "  CHIP: rk3562 rk3566 rk3568 rk3576 rk3588 ...; NAME: a folder of examples/ with a main.cpp" >&2
  exit 2
}
while getopts t:a:d:m: option; do
  case $option in
    t) chip=$OPTARG ;;
    a) arch=$OPTARG ;;
    d) name=$OPTARG ;;
    m) model=$OPTARG ;;
    *) usage ;;
  esac
done
[ -n "$chip" ] && [ -n "$arch" ] && [ -n "$name" ] || usage
case $arch in
  x86_64) preset=release ;;
  aarch64) preset=aarch64 ;;
  *) usage ;;
esac
[ -f "$root/examples/$name/main.cpp" ] || { echo "$0: no example '$name' in C++" >&2; usage; }
[ "$arch$name" != aarch64video ] || { echo "$0: video is not cross-built: FFmpeg's libraries of this machine are the only ones found" >&2; exit 2; }
demo=$name
[ "$name" = classification ] && demo=mobilenet
build=${BUILD:-$root/build}
[ "$preset" = release ] || "$root/cmake/sysroot_arm64.sh" "$build/sysroot-arm64"
[ -f "$build/$preset/build.ninja" ] || (cd "$root" && cmake/configure.sh "$preset" "$build")
ninja -C "$build/$preset" "rknn_${demo}_demo" rknnrt rga >/dev/null

out=$PWD/install/${chip}_linux_$arch/rknn_${name}_demo
rm -rf "$out"
mkdir -p "$out/lib" "$out/model"
cp "$build/$preset/examples/rknn_${demo}_demo" "$out/rknn_${name}_demo"
cp "$build/$preset/src/capi/librknnrt.so" "$build/$preset/src/rga/librga.so" "$out/lib/"

examples=$root/examples
case $name in
  yolov5 | tracking | pool | video) network=signs/signs.onnx data=signs/dataset.txt mean=0 std=255 sample=segmentation/test/0.ppm ;;
  segmentation) network=segmentation/shapes.onnx data=segmentation/dataset.txt mean=0 std=255 sample=segmentation/test/0.ppm ;;
  face_compare) network=face_compare/faces.onnx data=face_compare/dataset.txt mean=127.5 std=127.5 sample=face_compare/test/0_0.ppm ;;
  *) network= ;;
esac
if [ -n "$model" ]; then
  cp "$model" "$out/model/"
elif [ -n "$network" ]; then
  # The converter runs on this machine whatever the program is for.
  [ -f "$build/release/build.ninja" ] || (cd "$root" && cmake/configure.sh release "$build")
  ninja -C "$build/release" rknn >/dev/null
  "$build/release/tools/rknn/rknn" convert "$examples/$network" -o "$out/model/$(basename "$network" .onnx).rknn" --target "$chip" \
    --mean "$mean,$mean,$mean" --std "$std,$std,$std" --dataset "$examples/$data" >/dev/null
  cp "$examples/$sample" "$out/model/"
else
  echo "model/ is empty: the network of '$name' is not bundled (examples/$name/README.md)" >&2
fi
echo "built: install/${chip}_linux_$arch/rknn_${name}_demo"

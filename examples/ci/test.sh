#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh [PREFIX]: builds the application and tests it without a board. PREFIX has include/ and lib/ of OpenRKNN (/usr).
# Ends with 0 only when the application
#   - gives the golden results as RK3588, with everything refused that the board refuses (RKNN_STRICT),
#   - makes none of the mistakes that a board punishes in silence (RKNN_VALIDATE),
#   - ends with an error of its own, not a crash, when any call of the NPU fails (RKNN_FAULT).
set -eu
cd "$(dirname "$0")"
prefix=${1:-/usr}
model=model/digits.rknn data=data/digits.raw out=build/test
fail() { echo "FAILED: $*" >&2; exit 1; }

cmake -S . -B build -DOPENRKNN="$prefix" >build-cmake.log || { cat build-cmake.log; fail "configure"; }
cmake --build build
mkdir -p $out
export LD_LIBRARY_PATH="$prefix/lib" RKNN_TARGET=rk3588 RKNN_STRICT=1 RKNN_VALIDATE=1

echo "== golden results, strict, validated"
# The preloaded library shows the board's device tree to the application.
LD_PRELOAD="$prefix/lib/libopenrknn_board.so" build/digits $model $data >$out/found.txt 2>$out/log.txt ||
  { cat $out/log.txt $out/found.txt; fail "the application returned an error"; }
grep -h RKNN_VALIDATE $out/log.txt $out/found.txt && fail "the application misuses the API"
diff -u golden/expected.txt $out/found.txt || fail "results differ from golden/expected.txt"

echo "== failing calls"
for call in rknn_init rknn_query rknn_query:2 rknn_create_mem rknn_create_mem:2 rknn_set_io_mem rknn_set_io_mem:2 rknn_run rknn_run:3; do
  code=0
  RKNN_FAULT="$call=-1" build/digits $model $data >$out/fault.txt 2>&1 || code=$?
  [ $code -ne 0 ] || fail "$call failed and the application did not notice"
  [ $code -lt 126 ] || { cat $out/fault.txt; fail "$call failed and the application crashed ($code)"; }
  grep -h RKNN_VALIDATE $out/fault.txt && fail "$call failed and the application left something behind"
done

echo "== a model of another board"
code=0
RKNN_TARGET=rk3566 build/digits $model $data >$out/other.txt 2>&1 || code=$?
[ $code -eq 1 ] || fail "a model for RK3588 was taken as RK3566 ($code)"
echo "passed"

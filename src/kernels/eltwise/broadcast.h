// SPDX-License-Identifier: Apache-2.0
// Two stored operands, element by element, where one may be repeated: a gate of one number per channel, a row, a scalar.
// And what a constant normalization does to blocked activations: a scale and a shift per channel.
//
// Note: int8 here follows the operator in float between dequantize and quantize, not the chip's integer
// rule; the results are those of rk::quantize_f32, bit for bit.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/layout/blocked.h"
#include "kernels/layout/quantize.h"

namespace rk::kernels {

enum class BinaryOp { kAdd, kSub, kMul, kDiv };

inline constexpr int kMaxBroadcastAxes = 6;
// Elements of a run that one unit takes; a multiple of a block.
inline constexpr int64_t kBroadcastPiece = 4096;

// How an operand lies along a run.
enum class RunOperand {
  kStream,  // one element for each of the output
  kBlock,   // 16 elements over and over, as a channel block of one pixel does
  kScalar,  // one element
};

// The output is dense: runs of `run` elements, one after the other over the axes, outermost first.
struct BroadcastShape {
  int axes = 0;
  int64_t extent[kMaxBroadcastAxes] = {};
  int64_t a_step[kMaxBroadcastAxes] = {};  // elements
  int64_t b_step[kMaxBroadcastAxes] = {};
  int64_t run = 1;
  RunOperand a = RunOperand::kStream;
  RunOperand b = RunOperand::kStream;
};
int64_t broadcast_units(const BroadcastShape& shape);

template <typename T>
struct BinaryArgs {
  BroadcastShape shape;
  BinaryOp op = BinaryOp::kAdd;
  const T* a = nullptr;
  const T* b = nullptr;
  // Not null: the operand is this, constants in float32, instead. One of the two at most.
  const float* a_values = nullptr;
  const float* b_values = nullptr;
  T* output = nullptr;  // may be an operand that is not repeated
};
struct BinaryI8Args : BinaryArgs<int8_t> {
  QuantScale a_scale, b_scale, output_scale;
};
// f16: in float32, with one rounding at the end.
void binary_f16(const BinaryArgs<uint16_t>& args, IndexRange units);
// y = quantize(op((a - zero_point) * scale, (b - zero_point) * scale)), each operation in float32.
void binary_i8(const BinaryI8Args& args, IndexRange units);

// Blocked activations: [batch * blocks][pixels][16].
struct AffineShape {
  int64_t planes = 1;  // batch * blocks
  int64_t blocks = 1;
  int64_t pixels = 1;
};
// One unit is one plane.
template <typename T>
struct AffineArgs {
  AffineShape shape;
  const T* input = nullptr;
  T* output = nullptr;           // may be `input`
  const float* scale = nullptr;  // [blocks][16]
  const float* shift = nullptr;
};
// y = fma(x, scale, shift), rounded to fp16.
void affine_f16(const AffineArgs<uint16_t>& args, IndexRange planes);
// y = round(fma(x, scale, shift)) of the stored byte, ties to even, saturated. Every product and shift within 2^21.
void affine_i8(const AffineArgs<int8_t>& args, IndexRange planes);
// One byte of affine_i8, for a caller who looks for a scale and a shift that give a wanted table.
int8_t affine_byte(int8_t x, float scale, float shift);

}  // namespace rk::kernels

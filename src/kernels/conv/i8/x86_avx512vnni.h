// SPDX-License-Identifier: Apache-2.0
// What the packing and the running half of conv_i8__avx512vnni_6x64 agree on. They are separate files because packing
// uses the standard library, and nothing of that may be compiled for a newer CPU.
//
// vpdpbusd multiplies unsigned by signed bytes, so inputs are read as x + 128 and the surplus 128 * sum w is part of
// `start`. A weight offset o adds o * sum x: where all channels share one sum (one group), the sum is taken once per
// pixel; elsewhere w + o is a sum of signed bytes, each in its plane of weights.
#pragma once

#include <cstdint>

#include "kernels/conv/common/bands.h"
#include "kernels/conv/i8/stages.h"
#include "kernels/conv/i8/step_table.h"

namespace rk::kernels::vnni {

inline constexpr int32_t kTile = 64;    // output channels: 4 vectors of 16
inline constexpr int32_t kVector = 16;  // int32 lanes
inline constexpr int32_t kBandPixels = 256;
// Input rows of one band, biased, with their border: 128 KiB of the second-level cache.
inline constexpr int32_t kScratchPixels = 8192;
inline constexpr int32_t kFewPixels = 48;  // a smaller band would read the weights too often
inline constexpr int32_t kMaxPlanes = 32;  // beyond, the generic variant is no slower
inline constexpr int32_t kMaxTaps = 4096;  // planes times taps of the kernel

// The vectors of one tile of output channels, each a block of 16. Blocks are spread evenly over the tiles where groups do
// not tie them to their input: 96 channels are twice 3 vectors, not 4 and 2, and a tile of 3 has more pixels than one of 4.
struct Tile {
  int32_t first_block;
  int32_t vectors;  // 1..4
};
inline Tile tile_of(const ConvFilter& f, int32_t tile) {
  const int32_t blocks = channel_blocks(f.out_channels);
  const int32_t tiles = (blocks + 3) / 4;
  if (f.groups != 1) return {tile * 4, blocks - tile * 4 < 4 ? blocks - tile * 4 : 4};
  const auto first = [=](int64_t t) { return static_cast<int32_t>(t * blocks / tiles); };
  return {first(tile), first(int64_t{tile} + 1) - first(tile)};
}
// Bytes of weights from one output block to the next; the tiles lie one after another.
inline int64_t block_weights(const ConvFilter& f, int32_t planes) {
  const int32_t blocks =
      f.groups == 1 ? channel_blocks(f.in_channels) : max_tile_input_blocks(f, kTile);
  return int64_t{blocks} * planes * f.kernel.h * f.kernel.w * kHostBlock * kVector;
}

// Filters of few input channels read squeezed pixels: a row of the kernel, [kx][ic], is cut into fours as it comes.
inline bool takes_squeezed(const ConvFilter& f) {
  return f.groups == 1 && !f.transposed && f.in_channels < 4 && f.dilation.w == 1 &&
         f.kernel.h * f.kernel.w > 1;
}
inline int64_t squeezed_quads(const ConvFilter& f) {
  return (int64_t{f.kernel.w} * f.in_channels + 3) / 4;
}
// Bytes of a patch in memory: what one output pixel reads, the kernel's rows without gaps.
inline constexpr int64_t kPatchBytes = 32;
// Squeezed pixels become patches where that saves products and two permutations make four of them.
inline bool takes_patches(const ConvFilter& f) {
  const int64_t row = int64_t{f.kernel.w} * f.in_channels;
  return f.kernel.h == 3 && (3 * row + 3) / 4 < 3 * squeezed_quads(f) && 3 * row <= kPatchBytes &&
         3 * int64_t{f.stride.w} * f.in_channels + row <= kPatchBytes;
}

// How sums become bytes.
enum class Ends {
  kFloat,   // every stage is exact in float32
  kDouble,  // in float64
  kLookup,  // a lookup table whose index is exact in float32
  kSlope,   // a slope below zero, in float64
};

// Per-channel constants are arrays of align_up(out_channels, 64).
struct Constants {
  int32_t planes = 1;  // of weights
  bool sums = false;   // some offset is not 0 and is applied to the sum of inputs
  Ends ends = Ends::kDouble;
  bool transformed = false;  // weights are kept as Winograd's points
  bool squeezed = false;     // takes_squeezed, and one plane suffices
  bool patches = false;      // of squeezed pixels
  bool clip_first = false;   // an activation has to be applied before the residual
  bool wide = false;         // cpu::kWide512
  // The float route without a residual: `addend` leaves some 2^23 + v, and out_scale * that + direct_addend is exactly
  // kDirect + out_scale * v.
  bool direct = false;
  float direct_addend = 0;
  int8_t low = -128;  // every other activation is a clamp of the result
  int8_t high = 127;
  const int32_t* start =
      nullptr;  // bias - 128 * sum(w + o) + what makes the sum a float or half a double; wraps
  const int32_t* offset_pair = nullptr;  // (o, 128 * o) as two int16
  const float* multiplier = nullptr;     // m / 2^14
  const float* addend = nullptr;         // what undoes the start of the float route
  // The double route's, where each 16 lanes are 0 1 4 5 8 9 12 13, 2 3 6 7 10 11 14 15: the order of unpacking.
  const double* wide_multiplier = nullptr;
  const double* wide_addend = nullptr;
  // Of a slope, in their usual order: the multipliers as whole numbers, and the factors of sums below zero.
  const double* slope_multiplier = nullptr;
  const double* slope_below = nullptr;
  const StageConstants* stages = nullptr;  // of a lookup or a slope
  StepTable steps;  // of a lookup; without rows the byte of each index is read
};

struct ConstantsPlan {
  int32_t planes = 1;
  bool offset_apart = false;  // weights do not contain their offset
  bool transformed = false;
  bool squeezed = false;
};
// Fills packed.constants; kUnsupported where a stage could leave the range of exact doubles.
Status pack_constants(const ConvI8Params& source, const ConstantsPlan& plan, PackedConvI8& packed);
// Bytes that a weight with its offset takes, at most, and what byte number `plane` of one holds: they add up to it.
Result<int32_t> planes_of_weights(const ConvI8Params& source);
int8_t part(int32_t weight, int32_t plane);
// What `accepts` asks of the stages after the sum.
bool accepts_stages(const PackedConvI8& packed);

// The rounding constants: adding one leaves the rounded integer in the low bits of the mantissa.
inline constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23
inline constexpr uint32_t kMagicBits = 0x4b400000;
// Likewise for results: less than -128 only has to stay so.
inline constexpr int32_t kDirect = (1 << 23) + 256;
inline constexpr uint32_t kDirectBits = 0x4b000100;
inline constexpr double kWideMagic = 6755399441055744.0;  // 1.5 * 2^52
// With 0x43300000 as its high half, a sum that started at 2^31 is this much more as a double.
inline constexpr double kWideStart = 4503599627370496.0 + 2147483648.0;

// What sums start from, beside the layer's own constants. Those of a lookup or a slope are plain integers.
inline int32_t first_bits(const Constants& constants) {
  if (constants.stages != nullptr) return 0;
  return static_cast<int32_t>(constants.ends == Ends::kFloat ? kMagicBits : uint32_t{1} << 31);
}

// Columns of four taps that one row of a depthwise kernel takes.
inline int64_t tap_groups(const ConvFilter& f) { return (axis_plan(f, false).reach() + 3) / 4; }

}  // namespace rk::kernels::vnni

// SPDX-License-Identifier: Apache-2.0
// Sizes that packing and running of the kernels through lane_tiles.h agree on. Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/conv.h"

namespace rk::kernels {

inline constexpr int32_t kLaneTile = 64;             // output channels of one unit
inline constexpr int64_t kLaneScratchPixels = 4096;  // of 16 lanes: within the second-level cache
inline constexpr int64_t kLaneBandPixels = 96;
inline constexpr int64_t kMaxLaneTaps = 4096;

struct StageConstants;  // i8/stages.h

// Bounds of the bytes that a layer gives.
struct ByteClamps {
  int8_t low = -128, high = 127;
};

inline constexpr int32_t kSumStart = 0x4b400000;  // the bits of 1.5 * 2^23

// What int8 kernels of this form keep beside the weights.
struct LaneConstants {
  int32_t weight_bytes = 2;
  bool float_route = false;         // stages after the sum are exact in float32, else in float64
  bool winograd = false;            // the weights allow lane_winograd.h
  const int32_t* totals = nullptr;  // o per channel, where o * sum x is added apart; or null
  const float* scale = nullptr;     // m / 2^multiplier_shift per channel, for the float route
  // Where sums start at kSumStart, which makes their bits floats: what undoes that after `scale`,
  // per channel.
  const float* addend = nullptr;
  ByteClamps clamps;  // activations as they are in the result
  // Where inputs are read as x + 128: starts of sums that undo it, with the bias on the float route only, and with
  // kSumStart where there are addends.
  const int32_t* start = nullptr;
  const StageConstants* stages = nullptr;  // of a table or a slope; null: the usual ones
};

// Packing for them, in lane_pack.cpp because nothing of the standard library may be compiled for a newer CPU.
bool accepts_lanes(const PackedConvI8& packed);
// int16 weights w + o, pairs of channels and of taps.
Status pack_lanes_by_2(const ConvI8Params& source, PackedConvI8& packed);
// int16 weights w + o.
Status pack_lanes_by_1(const ConvI8Params& source, PackedConvI8& packed);
// int8 weights in fours or eights: w + o where that fits, else w and the offsets apart, for which all channels must share
// one sum of inputs; else as pack_lanes_by_1.
Status pack_lanes_by_4(const ConvI8Params& source, PackedConvI8& packed);
Status pack_lanes_by_8(const ConvI8Params& source, PackedConvI8& packed);
// The same for inputs that are read as x + 128, of one group; kUnsupported where weights do not fit bytes.
Status pack_lanes_unsigned_by_4(const ConvI8Params& source, PackedConvI8& packed);
// The inverses (ConvI8Kernel::unpack).
void unpack_lanes_by_2(const PackedConvI8& packed, const int16_t* offset, int8_t* plain);
void unpack_lanes_by_1(const PackedConvI8& packed, const int16_t* offset, int8_t* plain);
void unpack_lanes_by_4(const PackedConvI8& packed, const int16_t* offset, int8_t* plain);
void unpack_lanes_by_8(const PackedConvI8& packed, const int16_t* offset, int8_t* plain);

}  // namespace rk::kernels

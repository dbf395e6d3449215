// SPDX-License-Identifier: Apache-2.0
// The form of weights for CPUs that multiply bytes but add the products up in 16 bits (vpmaddubsw): steps of four input
// channels, a quad, for one block of 16 output channels. Private to kernels/conv.
//
// Inputs are bytes 0..255 (x + 128), weights int8; an instruction makes a * b + c * d of neighbors in int16 and would
// saturate. Packing proves that it never does: over all inputs a sum of products lies between -255 * (the negative
// weights) and 255 * (the positive ones), so 128 of each is safe. Where the two channels of a pair are too heavy the quad
// is split in two, each with one channel of a pair. And where two quads are light enough together their sums are added
// in int16 before they are widened: a double. Three multiplications then do the work of four exact ones of int16.
//
// Steps of a block of output channels lie in any order, each with the number of the quad of inputs it reads:
// (input block * taps + tap) * 4 + quad.
#pragma once

#include <cstdint>

#include "kernels/conv/common/blocking.h"
#include "kernels/conv/common/lane_limits.h"

namespace rk::kernels::quads {

inline constexpr int32_t kTile = 64;                 // output channels of one unit
inline constexpr int64_t kScratchPixels = 8192;      // of 16 bytes
inline constexpr int64_t kBandPixels = 96;
inline constexpr int64_t kMaxPlaces = 8192;          // quads of inputs
inline constexpr int32_t kStepBytes = 64;            // [16 output channels][4 input channels]
inline constexpr int32_t kSafe = 128;                // weights of one sign under one 16-bit sum

// Of one block of 16 output channels.
struct BlockSteps {
  uint32_t first;    // step in the weights and in the list of places
  uint32_t doubles;  // first come pairs of steps that are added in int16,
  uint32_t singles;  // then steps by themselves
};

// What lies in PackedConvI8::constants.
struct Constants {
  LaneConstants lanes;  // `totals` set: weights are without their offsets
  const BlockSteps* blocks = nullptr;
  const uint16_t* places = nullptr;  // per step
  const int32_t* start = nullptr;    // where sums begin, per output channel
};

bool accepts(const PackedConvI8& packed);
bool pays(const ConvI8Params& params);
Status pack(const ConvI8Params& source, PackedConvI8& packed);
void unpack(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain);

}  // namespace rk::kernels::quads

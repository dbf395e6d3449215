// SPDX-License-Identifier: Apache-2.0
// The form of weights for CPUs that multiply bytes but add the products up in 16 bits (vpmaddubsw): steps of four input
// channels, a quad, for two output channels. Private to kernels/conv.
//
// Inputs are bytes 0..255 (x + 128), weights int8; an instruction makes a * b + c * d of neighbors
// in int16 and would saturate. Packing proves that it never does: over all inputs a sum of products
// lies between -255 * (the negative weights) and 255 * (the positive ones), so 128 of each is safe.
// A pair that is too heavy is split over two steps. Steps that are light enough together are added
// in int16 before they are widened: groups of up to four, so that five multiplications do the work
// of eight exact ones of int16. Vectors are eight pixels of one output channel, not channels of one
// pixel: only two channels have to agree which steps go together.
//
// Each pair of channels has groups of its own, the largest first; the lengths of its loops are the
// same for all pixels, which branch predictors learn. The inputs of a few pixels are copied to
// scratch quad by quad, a row for each; a step knows its row. Rows are cut into chunks that fit the
// first-level cache. Where one pixel is left after whole vectors (7x7 pictures have 49), it goes
// with the last of them by vectors of four steps, not of eight pixels.
//
// First layers of one to three channels would leave a quarter of each quad empty: their pixels lie side by side in
// scratch, and a row of the kernel is cut into quads as it comes.
//
// Short sums have heavy weights. Theirs is a row for each way to make pairs of a quad's channels,
// and a step takes the one under which its heaviest sum is lightest.
#pragma once

#include <cstdint>

#include "kernels/conv/common/blocking.h"
#include "kernels/conv/common/lane_limits.h"

namespace rk::kernels::quads {

inline constexpr int32_t kTile = 64;    // output channels of one unit
inline constexpr int32_t kVectors = 3;  // of eight pixels
inline constexpr int32_t kPixels = 8 * kVectors;
// A quad of each pixel; after them those of one pixel more, twice.
inline constexpr int32_t kRowBytes = 4 * kPixels + 32;
inline constexpr int32_t kChunkRows = 144;
inline constexpr int32_t kChunkSpots = kChunkRows / 4;
inline constexpr int32_t kMaxTaps = 128;
inline constexpr int32_t kStepBytes = 8;  // [2 output channels][4 input channels]
inline constexpr int32_t kSafe =
    127;  // weights of one sign under one 16-bit sum; 128 would be safe too

// The channel of a quad at each place of its rows.
inline constexpr int32_t kMostOrders = 3;
inline constexpr uint8_t kOrders[kMostOrders][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};

// Bytes of one row of the input that the pixels of a piece read.
inline constexpr int64_t kSpanBytes = 2048, kSpanSlack = 16;
inline bool takes_squeezed(const ConvFilter& f) {
  const int64_t row = int64_t{f.kernel.w} * f.in_channels;
  return f.groups == 1 && !f.transposed && f.in_channels < 4 && f.kernel.w > 1 &&
         f.dilation.w == 1 && f.kernel.h <= kChunkSpots &&
         f.kernel.h * ((row + 3) / 4) <= kChunkRows &&
         (kPixels + 7) * int64_t{f.stride.w} * f.in_channels + row <= kSpanBytes;
}

// A spot is one block of inputs under one tap, or a row of the kernel where it is squeezed; it has a row per quad of
// channels and order.
struct Rows {
  bool squeezed;
  int64_t row_bytes;   // of a kernel that is squeezed
  int64_t taps;        // spots of a block
  int64_t full, last;  // spots whose block has all four quads, and rows of those that have not

  explicit Rows(const ConvFilter& f)
      : squeezed(takes_squeezed(f)),
        row_bytes(int64_t{f.kernel.w} * f.in_channels),
        taps(squeezed ? f.kernel.h : int64_t{f.kernel.h} * f.kernel.w),
        full(squeezed ? 0 : int64_t{f.in_channels / kHostBlock} * taps),
        last(((squeezed ? row_bytes : f.in_channels % kHostBlock) + 3) / 4) {}

  int64_t spots() const { return full + (last != 0 ? taps : 0); }
  int64_t chunks() const { return (spots() + kChunkSpots - 1) / kChunkSpots; }
  int64_t quads(int64_t spot) const { return spot < full ? 4 : last; }
  int64_t orders() const { return kMostOrders * first(spots()) <= kChunkRows ? kMostOrders : 1; }
  // The quad of a spot, counted from the first of all or of its chunk.
  int64_t first(int64_t spot) const {
    return spot < full ? 4 * spot : 4 * full + (spot - full) * last;
  }
  int64_t in_chunk(int64_t spot) const {
    return first(spot) - first(spot / kChunkSpots * kChunkSpots);
  }
};

inline constexpr uint32_t kMostInGroup = 4;
inline constexpr int32_t kPair = 2;  // output channels
inline constexpr int32_t kPairs = kHostBlock / kPair;

// Of one pair of output channels in one chunk.
struct PairGroups {
  uint16_t of[kMostInGroup + 1] = {};  // how many groups have that many steps; 0 is not used
  uint32_t groups() const { return uint32_t{of[4]} + of[3] + of[2] + of[1]; }
  uint32_t steps() const { return 4u * of[4] + 3u * of[3] + 2u * of[2] + of[1]; }
  // A step takes one, widening the sums of a group another.
  uint32_t products() const { return steps() + groups(); }
};

// Of one block of 16 output channels in one chunk.
struct BlockSteps {
  uint32_t first = 0;  // step of the first pair
  PairGroups pairs[kPairs];
};

// What lies in PackedConvI8::constants.
struct Constants {
  LaneConstants lanes;                 // `totals` set: weights are without their offsets
  const BlockSteps* blocks = nullptr;  // [chunk][block]
  const uint16_t* places = nullptr;    // per step: its row's byte in the chunk
  const int32_t* start = nullptr;      // where sums begin, per output channel
};

bool accepts(const PackedConvI8& packed);
bool takes_interleaved(const PackedConvI8& packed);
bool pays(const ConvI8Params& params);
Status pack(const ConvI8Params& source, PackedConvI8& packed);
void unpack(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain);

}  // namespace rk::kernels::quads

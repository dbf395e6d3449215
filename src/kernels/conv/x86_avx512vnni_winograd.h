// SPDX-License-Identifier: Apache-2.0
// What the packing and the running half of conv_i8__avx512vnni_winograd agree on: 3x3 convolutions of stride 1 with a
// quarter of the products, by Winograd's F(4x4, 3x3), and still exact to the last bit.
//
// Along one axis six inputs d become B d, three weights g become G g, and four results y follow from the six products m
// of both; the plane is both axes after one another, 36 points in all. With rows scaled to integers,
//   B d:  4 (d0 - d2) + (d4 - d2), (d4 - 4 d2) + (d3 - 4 d1), (d4 - 4 d2) - (d3 - 4 d1),
//         (d4 - d2) + 2 (d3 - d1), (d4 - d2) - 2 (d3 - d1), 4 (d1 - d3) + (d5 - d3)
//   G g:  6 g0, g0 + g1 + g2, g0 - g1 + g2, g0 + 2 g1 + 4 g2, g0 - 2 g1 + 4 g2, 6 g2
//   24 y0 = m0 - 4 (m1 + m2) + (m3 + m4)       12 y1 = (m3 - m4) - 2 (m1 - m2)
//    6 y2 = (m3 + m4) - (m1 + m2)               6 y3 = m5 + 2 (m3 - m4) - (m1 - m2)
// Where the last patch of an axis has at most two outputs it is a half, F(2, 3), which takes points 0, 1, 2 and 5 only:
//   B d:  d0 - d2, -3 (d1 + d2), 3 (d1 - d2), d1 - d3       6 y0 = m0 - m1 - m2       6 y1 = m2 - m1 - m5
// Bytes give 16-bit factors: |B d| <= 100 * 255, |G g| <= 49 * 383. Everything after that is integer arithmetic modulo
// 2^32, where sums may wrap: the last step divides by 9 * 2^k, k <= 6, which is exact (a product with the inverse of 9,
// then an arithmetic shift) as soon as the true result is below 2^25.
//
// A newcomer's mistake: transformed weights are eight times as large. Only those of small layers are kept so; others are
// transformed in pieces while running, which costs less than reading them from memory.
#pragma once

#include <cstdint>

#include "kernels/conv/x86_avx512vnni.h"

namespace rk::kernels::vnni::winograd {

inline constexpr int32_t kSide = 4;   // outputs of a patch along one axis
inline constexpr int32_t kPatch = 6;  // inputs
inline constexpr int32_t kPoints = kPatch * kPatch;
inline constexpr int32_t kTaps = 9;
inline constexpr int32_t kPair = 2 * kVector;  // a pair of input channels of 16 output channels
inline constexpr int32_t kMaxChannels = 1024;  // of the input
inline constexpr int64_t kMaxSum = int64_t{1} << 25;  // |acc + bias| is below it
inline constexpr int32_t kMaxOffset = 255;            // |o|
inline constexpr uint32_t kInverseOf9 = 0x38e38e39;   // modulo 2^32
inline constexpr int32_t kStartPoint = kPatch + 1;    // 36 there adds 1 to all sixteen results
inline constexpr uint32_t kStartFactor = 36;

// Vectors of 16 output channels of a tile, all of one width: lane i of vector v holds channel 16 v + i.
inline int32_t vectors_of(const ConvFilter& f, int32_t tile) {
  const int32_t left = channel_blocks(f.out_channels) - tile * 4;
  return left < 4 ? left : 4;
}

inline int64_t channel_pairs(const ConvFilter& f) { return channel_blocks(f.in_channels) * 8; }

// Patches whose inputs are transformed together, and elements of one patch's input at one point: those are written two
// blocks of channels at a time, whether the last exists or not.
inline constexpr int64_t kMaxPatches = 32;
inline constexpr int64_t kInputs = 240 << 10;
inline int64_t input_step(const ConvFilter& f) {
  return (channel_blocks(f.in_channels) + 1) / 2 * 2 * kHostBlock;
}
inline int64_t patches_of_band(const ConvFilter& f) {
  const int64_t fit = (kInputs / kPoints - 32) / input_step(f);
  return fit < kMaxPatches ? fit : kMaxPatches;
}

// Weights as bytes: [tile][pair of input channels][vector][tap][16 lanes][2 input channels], after their offsets,
// [vector of output channels][16 lanes][twice] int16.
inline int64_t offset_bytes(const ConvFilter& f) {
  return int64_t{channel_blocks(f.out_channels)} * kPair * 2;
}
inline int64_t tile_bytes(const ConvFilter& f) { return channel_pairs(f) * 4 * kTaps * kPair; }

// Transformed: [tile][point][pair][vector][16 lanes][2 input channels] int16.
inline int64_t tile_elements(const ConvFilter& f) { return channel_pairs(f) * 4 * kPoints * kPair; }

// Pairs of input channels of a tile of output channels, as bytes, to points `point` elements apart.
struct WeightTransform {
  const int8_t* from;
  const int16_t* offsets;
  int64_t pairs;
  int32_t vectors;
  int16_t* to;
  int64_t point;
};
void transform_weights(const WeightTransform& t);

inline int64_t patches_along(int64_t outputs) { return (outputs + kSide - 1) / kSide; }
// The last patch is a half.
inline bool ends_in_half(int64_t outputs) { return outputs % kSide == 1 || outputs % kSide == 2; }
inline constexpr bool in_half(int point) { return point < 3 || point == 5; }

// A unit is a row of patches of one tile of output channels, or of all tiles where there are rows enough for every
// thread; rows are innermost.
struct PatchUnits {
  static constexpr int64_t kRowsEnough = 5;
  int64_t batch, height, tiles, together;

  PatchUnits(const ConvFilter& f, const ConvExtents& e)
      : batch(e.batch),
        height(patches_along(e.out.h)),
        tiles((f.out_channels + kTile - 1) / kTile),
        together(height >= kRowsEnough ? tiles : 1) {}

  int64_t count() const { return batch * (tiles / together) * height; }

  // Rows of patches of one picture that read the same tiles.
  struct Run {
    int64_t units, picture, first, count;
    TileRange tiles;
  };
  // The longest from `unit` on, of more tiles where the units before `end` hold all their rows.
  Run run(int64_t unit, int64_t end) const {
    const int64_t row = unit % height, group = unit / height % (tiles / together);
    const int64_t left = height - row < end - unit ? height - row : end - unit;
    int64_t groups = 1;
    if (row == 0 && (end - unit) / height > 1) {
      const int64_t whole = (end - unit) / height, rest = tiles / together - group;
      groups = whole < rest ? whole : rest;
    }
    const int64_t first = group * together;
    return {left * groups,
            unit / height / (tiles / together),
            row,
            left,
            {static_cast<int32_t>(first), static_cast<int32_t>(first + groups * together)}};
  }
};

}  // namespace rk::kernels::vnni::winograd

// SPDX-License-Identifier: Apache-2.0
// What the packing and the running half of conv_i8__avx512vnni_winograd agree on; winograd_form.h has the formulas.
//
// Note: transformed weights are eight times as large. Only those of small layers are kept so; others are
// transformed in pieces while running, which costs less than reading them from memory.
#pragma once

#include <cstdint>

#include "kernels/conv/i8/winograd_form.h"
#include "kernels/conv/i8/x86_avx512vnni.h"

namespace rk::kernels::vnni::winograd {

using namespace rk::kernels::winograd;

inline constexpr int32_t kPair = 2 * kVector;  // a pair of input channels of 16 output channels
inline constexpr int32_t kMaxChannels = 1024;  // of the input

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

// A unit is a row of patches of one tile of output channels, or of all tiles where there are rows enough for every
// thread, or an even number for two; rows are innermost.
struct PatchUnits {
  static constexpr int64_t kRowsEnough = 16;
  int64_t batch, height, tiles, together;

  PatchUnits(const ConvFilter& f, const ConvExtents& e)
      : batch(e.batch),
        height(patches_along(e.out.h)),
        tiles((f.out_channels + kTile - 1) / kTile),
        together(height >= kRowsEnough || (height > 4 && height % 2 == 0) ? tiles : 1) {}

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

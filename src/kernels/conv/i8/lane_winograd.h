// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions of stride 1 by Winograd's F(4x4, 3x3) for the vector units of lane_tiles.h that multiply 16-bit
// numbers: a quarter of the products, exact to the last bit. The formulas and the bound are those of winograd_form.h;
// weights are packed as ever and transformed for one block of output channels at a time.
//
// Note: vectors are the compiler's own, which become the instructions of the frame they stand in
// (RK_ISA_BEGIN). Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/common/lane_tiles.h"
#include "kernels/conv/i8/winograd_transforms.h"
#include "kernels/thread_scratch.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

using Words = uint16_t __attribute__((vector_size(32)));  // 16 lanes
using Sums8 = uint32_t __attribute__((vector_size(32)));
using Signed8 = int32_t __attribute__((vector_size(32)));

template <typename Vector, typename T>
inline __attribute__((always_inline)) void load_vector(const T* from, Vector& v) {
  __builtin_memcpy(&v, from, sizeof v);
}
template <typename Vector, typename T>
inline __attribute__((always_inline)) void store_vector(T* to, const Vector& v) {
  __builtin_memcpy(to, &v, sizeof v);
}

template <typename Isa, typename Finish>
class LaneWinograd {
 public:
  static constexpr int64_t kMaxPatches = 32;
  static constexpr int64_t kInputs = 288 << 10;  // elements
  static constexpr int64_t kPieceBlocks = 4;  // input blocks whose weights are transformed together
  static constexpr int64_t kBlockWeights = kLanes * kLanes;

  struct Work {
    alignas(64) int16_t pixels[winograd::kPatch * (4 * kMaxPatches + 2)][kLanes];
    alignas(64) int16_t columns[winograd::kPatch][(4 * kMaxPatches + 2) * kLanes];
    alignas(64) int16_t inputs[kInputs];  // [point][patch][channel]
    alignas(64) int16_t weights[winograd::kPoints][kPieceBlocks * kBlockWeights];
    alignas(64) int32_t products[winograd::kPoints][kMaxPatches][kLanes];
  };
  static_assert(sizeof(Work) <= ThreadScratch::kBytes);

  static int64_t patches_of_band(const ConvFilter& f) {
    const int64_t fit = kInputs / (winograd::kPoints * channel_blocks(f.in_channels) * kLanes);
    return fit < kMaxPatches ? fit : kMaxPatches;
  }

  // Whether it takes less time than the direct tile, counted in products: transformations of weights once per band and
  // of activations, as measured with AVX2.
  static bool pays(const ConvFilter& f, const ConvExtents& e) {
    const int64_t patches = winograd::patches_along(e.out.h) * winograd::patches_along(e.out.w);
    const int64_t most = patches_of_band(f);
    if (most < 4) return false;
    const auto points = static_cast<double>(patches * winograd::kPoints);
    const int64_t bands = (patches + most - 1) / most;
    const double cost = points * (1 + 20.0 / f.out_channels + 30.0 / f.in_channels) +
                        77 * static_cast<double>(bands);
    return cost < 0.9 * winograd::kTaps * e.out.h * e.out.w;
  }

  LaneWinograd(const LaneConv<Isa, Finish, ConvI8Args>& conv, const Finish& finish)
      : conv_(conv),
        finish_(finish),
        filter_(conv.filter()),
        blocks_(channel_blocks(filter_.in_channels)),
        step_(blocks_ * kLanes) {}

  void run(const ConvExtents& extents, IndexRange units, Work& work) const {
    const int64_t most = patches_of_band(filter_);
    const int64_t across = winograd::patches_along(extents.out.w);
    const int64_t rows = across <= most ? most / across : 1;
    const BandLimits limits = {rows * winograd::kSide * extents.out.w, int64_t{1} << 40};
    for_each_band(filter_, extents, {filter_, extents, kLaneTile}, limits, units,
                  [&](const Band& band, TileRange tiles, int64_t n) {
                    const int64_t high = winograd::patches_along(band.rows);
                    const int64_t wide = winograd::patches_along(band.columns);
                    const int64_t pieces = (high * wide + most - 1) / most;
                    const int64_t columns = (wide + pieces - 1) / pieces * winograd::kSide;
                    for (int64_t x = 0; x < band.columns; x += columns) {
                      Band piece = band;
                      piece.ox += x;
                      piece.columns = columns < band.columns - x ? columns : band.columns - x;
                      run_band(piece, tiles, n, work);
                    }
                  });
  }

 private:
  struct Patches {
    int64_t rows, columns;
    int64_t count() const { return rows * columns; }
  };

  void transform_row(const int16_t (*from)[kLanes], int64_t row_pixels, int64_t patches,
                     int64_t point, int16_t* to, Work& work) const {
    using winograd::kPatch;
    for (int64_t x = 0; x < row_pixels; ++x) {
      Words d[kPatch];
#pragma GCC unroll 6
      for (int i = 0; i < kPatch; ++i) load_vector(from[i * row_pixels + x], d[i]);
      winograd::transform_input(d);
#pragma GCC unroll 6
      for (int i = 0; i < kPatch; ++i) store_vector(&work.columns[i][x * kLanes], d[i]);
    }
    for (int i = 0; i < kPatch; ++i) {
      for (int64_t patch = 0; patch < patches; ++patch) {
        Words d[kPatch];
#pragma GCC unroll 6
        for (int j = 0; j < kPatch; ++j)
          load_vector(&work.columns[i][(patch * winograd::kSide + j) * kLanes], d[j]);
        winograd::transform_input(d);
#pragma GCC unroll 6
        for (int j = 0; j < kPatch; ++j)
          store_vector(to + (i * kPatch + j) * point + patch * step_, d[j]);
      }
    }
  }

  // All weights between one block of output channels and `blocks` input blocks.
  static void transform_weights(const int16_t* from, int64_t blocks, Work& work) {
    for (int64_t block = 0; block < blocks; ++block, from += winograd::kTaps * kBlockWeights) {
      for (int64_t i = 0; i < kBlockWeights; i += kLanes) {
        Words g[winograd::kTaps];
#pragma GCC unroll 9
        for (int tap = 0; tap < winograd::kTaps; ++tap)
          load_vector(from + tap * kBlockWeights + i, g[tap]);
        winograd::transform_kernel(
            g, [&](int point, const Words& u) __attribute__((always_inline)) {
              store_vector(&work.weights[point][block * kBlockWeights + i], u);
            });
      }
    }
  }

  template <int kPatches>
  void multiply_patches(const int16_t* inputs, const int16_t* weights, int64_t channels,
                        const int32_t* start, int64_t start_step,
                        int32_t (*products)[kLanes]) const {
    typename Isa::Sums sums[kPatches];
#pragma GCC unroll 8
    for (int p = 0; p < kPatches; ++p) sums[p].load(start + p * start_step);
    const int16_t* x[kPatches];
#pragma GCC unroll 8
    for (int p = 0; p < kPatches; ++p) x[p] = inputs + p * step_;
    for (int64_t i = 0; i < channels; i += Isa::kStep) {
      const typename Isa::Weights w(weights + i * kLanes);
#pragma GCC unroll 8
      for (int p = 0; p < kPatches; ++p) sums[p].add(x[p] + i, w);
    }
#pragma GCC unroll 8
    for (int p = 0; p < kPatches; ++p) sums[p].store(products[p]);
  }

  // All patches at one point from patch `patch` on: whole tiles, then ever smaller ones.
  template <int kPatches>
  void multiply_point(const int16_t* inputs, const int16_t* weights, int64_t channels,
                      const int32_t* start, bool first, int64_t patch, int64_t end,
                      int32_t (*products)[kLanes]) const {
    for (; patch + kPatches <= end; patch += kPatches) {
      multiply_patches<kPatches>(inputs + patch * step_, weights, channels,
                                 first ? start : products[patch], first ? 0 : kLanes,
                                 products + patch);
    }
    if constexpr (kPatches > 1) {
      if (patch < end) {
        multiply_point<kPatches / 2>(inputs, weights, channels, start, first, patch, end, products);
      }
    }
  }

  // The sixteen sums of eight channels of a patch.
  static void patch_sums(const Work& work, int64_t patch, int lane,
                         int32_t (&acc)[winograd::kSide * winograd::kSide][kLanes]) {
    using winograd::kPatch, winograd::kSide;
    Sums8 half[kSide][kPatch];
    for (int j = 0; j < kPatch; ++j) {
      Sums8 m[kPatch], y[kSide];
#pragma GCC unroll 6
      for (int i = 0; i < kPatch; ++i)
        load_vector(&work.products[i * kPatch + j][patch][lane], m[i]);
      winograd::transform_back(m, y);
#pragma GCC unroll 4
      for (int i = 0; i < kSide; ++i) half[i][j] = y[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < kSide; ++i) {
      Sums8 y[kSide];
      winograd::transform_back(half[i], y);
#pragma GCC unroll 4
      for (int j = 0; j < kSide; ++j) {
        const Signed8 ninth = (Signed8)(y[j] * winograd::kInverseOf9);
        const Signed8 sum = ninth >> (winograd::kShift[i] + winograd::kShift[j]);
        store_vector(&acc[i * kSide + j][lane], sum);
      }
    }
  }

  void run_band(const Band& outputs, TileRange tiles, int64_t n, Work& work) const {
    using winograd::kSide;
    const Patches patches = {winograd::patches_along(outputs.rows),
                             winograd::patches_along(outputs.columns)};
    const int64_t rows = patches.rows * kSide, columns = patches.columns * kSide;
    const Band band = {outputs.oy, outputs.ox, rows, columns, rows + 2, columns + 2};
    const int64_t point = patches.count() * step_;
    for (int32_t block = 0; block < blocks_; ++block) {
      conv_.load_block(band, n, block, work.pixels);
      for (int64_t row = 0; row < patches.rows; ++row) {
        transform_row(work.pixels + row * kSide * band.scratch_columns, band.scratch_columns,
                      patches.columns, point,
                      work.inputs + row * patches.columns * step_ + block * kLanes, work);
      }
    }
    const int32_t end = channel_blocks(filter_.out_channels);
    for (int32_t out = tiles.begin * kLaneTileBlocks;
         out < end && out < tiles.end * kLaneTileBlocks; ++out) {
      sum_block(out, patches, point, work);
      finish_block(out, outputs, patches, n, work);
    }
  }

  // The products of one block of output channels.
  void sum_block(int32_t out, const Patches& patches, int64_t point, Work& work) const {
    alignas(64) int32_t start[kLanes], zero[kLanes] = {};
    const int32_t* const finish_start = finish_.start(out);
    for (int c = 0; c < kLanes; ++c) {
      start[c] =
          static_cast<int32_t>(static_cast<uint32_t>(finish_start[c]) * winograd::kStartFactor);
    }
    for (int64_t block = 0; block < blocks_; block += kPieceBlocks) {
      const int64_t count = blocks_ - block < kPieceBlocks ? blocks_ - block : kPieceBlocks;
      transform_weights(conv_.weights() + (out * blocks_ + block) * winograd::kTaps * kBlockWeights,
                        count, work);
      for (int p = 0; p < winograd::kPoints; ++p) {
        multiply_point<Isa::kPixels>(work.inputs + p * point + block * kLanes, work.weights[p],
                                     count * kLanes, p == winograd::kStartPoint ? start : zero,
                                     block == 0, 0, patches.count(), work.products[p]);
      }
    }
  }

  void finish_block(int32_t out, const Band& band, const Patches& patches, int64_t n,
                    const Work& work) const {
    using winograd::kSide;
    const auto target = conv_.target(band, n, out);
    alignas(64) int32_t acc[kSide * kSide][kLanes];
    for (int64_t patch = 0; patch < patches.count(); ++patch) {
      for (int lane = 0; lane < kLanes; lane += 8) patch_sums(work, patch, lane, acc);
      const int64_t y = patch / patches.columns * kSide, x = patch % patches.columns * kSide;
      for (int64_t i = 0; i < kSide && y + i < band.rows; ++i) {
        for (int64_t j = 0; j < kSide && x + j < band.columns; ++j)
          conv_.finish(target, acc[i * kSide + j], (y + i) * conv_.out_width() + x + j);
      }
    }
  }

  const LaneConv<Isa, Finish, ConvI8Args>& conv_;
  const Finish& finish_;
  const ConvFilter& filter_;
  const int32_t blocks_;
  const int64_t step_;  // elements from one patch's input at a point to the next
};

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

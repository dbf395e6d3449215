// SPDX-License-Identifier: Apache-2.0
// 3x3 fp16 convolutions of stride 1 by the formulas of winograd_form.h, for vectors of eight and more floats. A band of
// patches is transformed once; then a few blocks of output channels at a time have their weights transformed, are
// multiplied point by point, and finished. `Isa` says what differs:
//   Vector, kLanes, load, store, add, sub, mul, all    floats
//   widen               kLanes fp16
//   has_nan             a bit for each lane
//   Input               one float for all lanes: fused(w, sum)
//   kOut                output channels together; kPatches by kOut are a tile of sums
//   Finish              what makes outputs of kLanes sums
//
// Note: the including file defines RK_ISA_BEGIN and RK_ISA_END. Padding lanes of the input may hold anything; they are
// transformed, never multiplied. Private to kernels/conv.
#pragma once

#include <cstdint>
#include <utility>

#include "base/half.h"
#include "kernels/conv/common/bands.h"
#include "kernels/conv/f16/winograd_form.h"
#include "kernels/thread_scratch.h"

RK_ISA_BEGIN

namespace rk::kernels::winograd_f16 {
namespace {

template <typename Isa>
class Convolution {
 public:
  using Vector = typename Isa::Vector;
  static constexpr int64_t kBlock = kHostBlock;
  static constexpr int64_t kOut = Isa::kOut, kOutBlocks = kOut / kBlock;
  static_assert(kOutBlocks <= 2);
  static constexpr int64_t kPieceBlocks = kWeights / (kPoints * kBlock * kOut);  // of the input
  static constexpr int64_t kWeightStep = point_step(kPieceBlocks * kBlock * kOut);
  static constexpr int64_t kProductStep = point_step(kMaxPatches * kOut);
  static constexpr int kBlockVectors = kBlock / Isa::kLanes;

  struct Work {
    alignas(64) float inputs[kInputs];
    alignas(64) float weights[kPoints * kWeightStep];    // [point][input block][16 channels][kOut]
    alignas(64) float products[kPoints * kProductStep];  // [point][patch][kOut]
    bool direct[kMaxPatches];                            // patches that see an infinity
  };
  static_assert(sizeof(Work) <= ThreadScratch::kBytes);

  Convolution(const ConvF16Args& args, Work& work)
      : args_(args),
        params_(args.packed->params),
        filter_(params_.filter),
        e_(args.extents),
        work_(work),
        finish_(params_),
        in_blocks_(channel_blocks(filter_.in_channels)),
        out_blocks_(channel_blocks(filter_.out_channels)),
        in_row_(int64_t{e_.in.w} * kBlock),
        in_plane_(e_.in.h * in_row_),
        out_row_(int64_t{e_.out.w} * kBlock),
        out_plane_(e_.out.h * out_row_) {}

  void run(IndexRange units) {
    const int64_t most = patches_of_band(filter_), across = patches_along(e_.out.w);
    const int64_t columns = even_part(across, most);
    for_each_region({filter_, e_, kConvF16Tile}, e_.out.h, units,
                    [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
                      const int64_t first = oy / kSide, end = patches_along(oy + rows);
                      const int64_t high = even_part(end - first, most / columns);
                      for (int64_t y = first; y < end; y += high) {
                        for (int64_t x = 0; x < across; x += columns) {
                          band_ = {
                              n,  y,        x, smaller(high, end - y), smaller(columns, across - x),
                              oy, oy + rows};
                          run_band(tiles);
                        }
                      }
                    });
  }

 private:
  static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

  // Patches, counted from the picture's first.
  struct Band {
    int64_t n, y, x;
    int64_t rows, columns;
    int64_t oy, oy_end;  // of the output, which are written
    int64_t count() const { return rows * columns; }
  };

  void run_band(TileRange tiles) {
    point_ = point_step(in_blocks_ * band_.count() * kBlock);
    for (int64_t i = 0; i < band_.count(); ++i) work_.direct[i] = false;
    for (int64_t block = 0; block < in_blocks_; ++block) {
      for (int64_t row = 0; row < band_.rows; ++row) {
        for (int64_t lane = 0; lane < kBlock; lane += Isa::kLanes) transform_row(block, row, lane);
      }
    }
    constexpr int64_t kTileBlocks = kConvF16Tile / kHostBlock;
    const int64_t end = smaller(tiles.end * kTileBlocks, out_blocks_);
    for (int64_t out = tiles.begin * kTileBlocks; out < end; out += kOutBlocks) {
      const int64_t blocks = smaller(kOutBlocks, end - out);
      sum_blocks(out, blocks);
      finish_blocks(out, blocks);
    }
  }

  // One column of four inputs, transformed; `zero` stays 0 as long as all are finite.
  struct Column {
    Vector at[kPatch];
    Vector zero;
  };
  struct InputRows {
    const uint16_t* row[kPatch];  // at column 0
    int64_t step[kPatch];         // 0 of a row of the border
  };
  inline __attribute__((always_inline)) Column load_column(const InputRows& rows, int64_t x) const {
    Column column;
    column.zero = Isa::all(0.0f);
    if (x < 0 || x >= e_.in.w) {
#pragma GCC unroll 4
      for (int i = 0; i < kPatch; ++i) column.at[i] = column.zero;
      return column;
    }
    Vector d[kPatch];
#pragma GCC unroll 4
    for (int i = 0; i < kPatch; ++i) {
      d[i] = Isa::widen(rows.row[i] + x * rows.step[i]);
      column.zero = Isa::add(column.zero, Isa::mul(d[i], Isa::all(0.0f)));
    }
    transform_input(d[0], d[1], d[2], d[3], column.at);
    return column;
  }
  static inline __attribute__((always_inline)) void transform_input(Vector d0, Vector d1, Vector d2,
                                                                    Vector d3,
                                                                    Vector (&to)[kPatch]) {
    to[0] = Isa::sub(d0, d2);
    to[1] = Isa::add(d1, d2);
    to[2] = Isa::sub(d2, d1);
    to[3] = Isa::sub(d1, d3);
  }

  // Some channels of one input block for a row of patches.
  void transform_row(int64_t block, int64_t row, int64_t lane) {
    alignas(64) static constexpr uint16_t kBorder[kHostBlock] = {};
    const uint16_t* const plane = args_.input + band_.n * in_stride() + block * in_plane_ + lane;
    InputRows rows;
    for (int i = 0; i < kPatch; ++i) {
      const int64_t y = (band_.y + row) * kSide - e_.pad_before.h + i;
      const bool there = y >= 0 && y < e_.in.h;
      rows.row[i] = there ? plane + y * in_row_ : kBorder;
      rows.step[i] = there ? kBlock : 0;
    }
    const int64_t live = filter_.in_channels - block * kBlock - lane;
    const uint32_t live_lanes = live >= Isa::kLanes ? ~0u : live <= 0 ? 0u : (1u << live) - 1;
    float* to = work_.inputs + (block * band_.count() + row * band_.columns) * kBlock + lane;
    bool* direct = work_.direct + row * band_.columns;
    int64_t x = band_.x * kSide - e_.pad_before.w;
    Column a = load_column(rows, x), b = load_column(rows, x + 1);
    for (int64_t i = 0; i < band_.columns; ++i, to += kBlock) {
      x += kSide;
      const Column c = load_column(rows, x), d = load_column(rows, x + 1);
#pragma GCC unroll 4
      for (int p = 0; p < kPatch; ++p) {
        Vector v[kPatch];
        transform_input(a.at[p], b.at[p], c.at[p], d.at[p], v);
#pragma GCC unroll 4
        for (int q = 0; q < kPatch; ++q) Isa::store(to + (p * kPatch + q) * point_, v[q]);
      }
      const Vector zero = Isa::add(Isa::add(a.zero, b.zero), Isa::add(c.zero, d.zero));
      if ((Isa::has_nan(zero) & live_lanes) != 0) direct[i] = true;
      a = c;
      b = d;
    }
  }

  static inline __attribute__((always_inline)) void transform_weight(Vector g0, Vector g1,
                                                                     Vector g2,
                                                                     Vector (&to)[kPatch]) {
    const Vector half = Isa::all(0.5f), outer = Isa::add(g0, g2);
    to[0] = g0;
    to[1] = Isa::mul(half, Isa::add(outer, g1));
    to[2] = Isa::mul(half, Isa::sub(outer, g1));
    to[3] = g2;
  }

  static Vector load_weights(const float* from) { return Isa::load(from); }
  static Vector load_weights(const uint16_t* from) { return Isa::widen(from); }

  // All weights between some blocks of output channels and `count` input blocks from `block` on.
  template <typename Weight>
  void transform_weights(int64_t out, int64_t blocks, int64_t block, int64_t count) {
    constexpr int64_t kTap = kBlock * kBlock;
    const auto* const all = reinterpret_cast<const Weight*>(args_.packed->weights.data());
    for (int64_t o = 0; o < blocks; ++o) {
      const Weight* from = all + ((out + o) * in_blocks_ + block) * kTaps * kTap;
      float* to = work_.weights + o * kBlock;
      for (int64_t i = 0; i < count * kBlock; ++i, from += kBlock, to += kOut) {
        if (i != 0 && i % kBlock == 0) from += (kTaps - 1) * kTap;
        for (int64_t lane = 0; lane < kBlock; lane += Isa::kLanes) {
          Vector columns[3][kPatch];
#pragma GCC unroll 3
          for (int x = 0; x < 3; ++x) {
            transform_weight(load_weights(from + x * kTap + lane),
                             load_weights(from + (3 + x) * kTap + lane),
                             load_weights(from + (6 + x) * kTap + lane), columns[x]);
          }
#pragma GCC unroll 4
          for (int p = 0; p < kPatch; ++p) {
            Vector u[kPatch];
            transform_weight(columns[0][p], columns[1][p], columns[2][p], u);
#pragma GCC unroll 4
            for (int q = 0; q < kPatch; ++q)
              Isa::store(to + (p * kPatch + q) * kWeightStep + lane, u[q]);
          }
        }
      }
    }
  }

  // One piece of the sums at one point.
  struct Pass {
    const float* inputs;  // of patch 0
    const float* weights;
    int64_t block;        // floats of the input to the next block
    int64_t full_blocks;  // with all 16 channels
    int64_t last_lanes;   // channels of one more
    const float* start;   // of kOut sums; null: 0
    bool first;           // else sums go on from the products
    float* products;
  };

  template <int kPatches, int kVectors>
  __attribute__((noinline)) static void multiply(const Pass& pass, int64_t patch) {
    const float* x = pass.inputs + patch * kBlock;
    float* const products = pass.products + patch * kOut;
    Vector sum[kPatches][kVectors];
    if (!pass.first) {
#pragma GCC unroll 14
      for (int p = 0; p < kPatches; ++p) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
          sum[p][v] = Isa::load(products + p * kOut + v * Isa::kLanes);
      }
    } else {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const Vector start =
            pass.start != nullptr ? Isa::load(pass.start + v * Isa::kLanes) : Isa::all(0.0f);
#pragma GCC unroll 14
        for (int p = 0; p < kPatches; ++p) sum[p][v] = start;
      }
    }
    const float* weights = pass.weights;
    const auto add_lanes = [&](int64_t lanes) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (int64_t lane = 0; lane < lanes; ++lane, weights += kOut) {
        Vector w[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) w[v] = Isa::load(weights + v * Isa::kLanes);
#pragma GCC unroll 14
        for (int p = 0; p < kPatches; ++p) {
          const typename Isa::Input input(x[p * kBlock + lane]);
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) sum[p][v] = input.fused(w[v], sum[p][v]);
        }
      }
    };
    for (int64_t block = 0; block < pass.full_blocks; ++block, x += pass.block) add_lanes(kBlock);
    if (pass.last_lanes != 0) add_lanes(pass.last_lanes);
#pragma GCC unroll 14
    for (int p = 0; p < kPatches; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        Isa::store(products + p * kOut + v * Isa::kLanes, sum[p][v]);
    }
  }

  using Multiply = void (*)(const Pass&, int64_t);
  // For 1 to kPatches patches.
  template <int kBlocks, int... kSizes>
  static Multiply multiply_of(int64_t size, std::integer_sequence<int, kSizes...>) {
    static constexpr Multiply kFunctions[] = {multiply<kSizes + 1, kBlocks * kBlockVectors>...};
    return kFunctions[size - 1];
  }

  // All patches in tiles of about equal size: each reads all weights.
  void multiply_all(const Pass& pass, int64_t blocks) const {
    constexpr std::make_integer_sequence<int, Isa::kPatches> kSizes;
    const int64_t count = band_.count();
    int64_t patch = 0;
    for (int64_t tiles = (count + Isa::kPatches - 1) / Isa::kPatches; tiles > 0; --tiles) {
      const int64_t size = (count - patch + tiles - 1) / tiles;
      const Multiply function = blocks == kOutBlocks ? multiply_of<kOutBlocks>(size, kSizes)
                                                     : multiply_of<1>(size, kSizes);
      function(pass, patch);
      patch += size;
    }
  }

  void sum_blocks(int64_t out, int64_t blocks) {
    const auto* const bias =
        reinterpret_cast<const float*>(args_.packed->bias.data()) + out * kBlock;
    const int64_t part = even_part(in_blocks_, kPieceBlocks);
    for (int64_t block = 0; block < in_blocks_; block += part) {
      const int64_t count = smaller(part, in_blocks_ - block);
      args_.packed->half ? transform_weights<uint16_t>(out, blocks, block, count)
                         : transform_weights<float>(out, blocks, block, count);
      const bool last = block + count == in_blocks_;
      const int64_t last_lanes = last ? filter_.in_channels % kBlock : 0;
      for (int p = 0; p < kPoints; ++p) {
        multiply_all(
            {work_.inputs + p * point_ + block * band_.count() * kBlock,
             work_.weights + p * kWeightStep, band_.count() * kBlock,
             last_lanes != 0 ? count - 1 : count, last_lanes, p == kStartPoint ? bias : nullptr,
             block == 0, work_.products + p * kProductStep},
            blocks);
      }
    }
  }

  int64_t in_stride() const {
    return args_.input_batch_stride != 0 ? args_.input_batch_stride : in_blocks_ * in_plane_;
  }

  // Where an output lies, and its residual or null.
  struct Place {
    uint16_t* output;
    const uint16_t* residual;
  };
  Place place_of(int64_t out, int64_t y, int64_t x) const {
    const int64_t dense = out_blocks_ * out_plane_;
    const int64_t stride = args_.output_batch_stride != 0 ? args_.output_batch_stride : dense;
    const int64_t at = out * out_plane_ + y * out_row_ + x * kBlock;
    return {args_.output + band_.n * stride + at,
            params_.has_residual ? args_.residual + band_.n * dense + at : nullptr};
  }

  void finish_blocks(int64_t out, int64_t blocks) {
    for (int64_t patch = 0; patch < band_.count(); ++patch) {
      const int64_t y = (band_.y + patch / band_.columns) * kSide;
      const int64_t x = (band_.x + patch % band_.columns) * kSide;
      if (work_.direct[patch]) {
        for (int64_t o = 0; o < blocks; ++o) direct_patch(out + o, y, x);
        continue;
      }
      for (int64_t o = 0; o < blocks; ++o) {
        for (int64_t lane = 0; lane < kBlock; lane += Isa::kLanes)
          finish_patch(patch, out, o * kBlock + lane, y, x);
      }
    }
  }

  // kLanes channels from number `channel` of the group of blocks on.
  inline __attribute__((always_inline)) void finish_patch(int64_t patch, int64_t out,
                                                          int64_t channel, int64_t y, int64_t x) {
    const float* const from = work_.products + patch * kOut + channel;
    Vector half[kSide][kPatch];
#pragma GCC unroll 4
    for (int q = 0; q < kPatch; ++q) {
      Vector m[kPatch];
#pragma GCC unroll 4
      for (int p = 0; p < kPatch; ++p) m[p] = Isa::load(from + (p * kPatch + q) * kProductStep);
      half[0][q] = Isa::add(Isa::add(m[0], m[1]), m[2]);
      half[1][q] = Isa::sub(Isa::sub(m[1], m[2]), m[3]);
    }
    const Place place = place_of(out + channel / kBlock, y, x);
    const int64_t lane = channel % kBlock;
#pragma GCC unroll 2
    for (int i = 0; i < kSide; ++i) {
      if (y + i < band_.oy || y + i >= band_.oy_end) continue;
      const Vector* const h = half[i];
      const int64_t at = i * out_row_ + lane;
      const auto put = [&](Vector sum, int64_t where) __attribute__((always_inline)) {
        finish_(sum, place.residual != nullptr ? place.residual + where : nullptr,
                place.output + where);
      };
      put(Isa::add(Isa::add(h[0], h[1]), h[2]), at);
      if (x + 1 < e_.out.w) put(Isa::sub(Isa::sub(h[1], h[2]), h[3]), at + kBlock);
    }
  }

  float weight(int64_t at) const {
    const uint8_t* const all = args_.packed->weights.data();
    return args_.packed->half ? half_to_float(reinterpret_cast<const uint16_t*>(all)[at])
                              : reinterpret_cast<const float*>(all)[at];
  }

  // The sums of one output as conv_f16.h states them.
  void direct_sums(int64_t out, int64_t y, int64_t x, float* acc) const {
    const auto* const bias =
        reinterpret_cast<const float*>(args_.packed->bias.data()) + out * kBlock;
    for (int64_t c = 0; c < kBlock; ++c) acc[c] = bias[c];
    for (int64_t i = 0; i < filter_.in_channels; ++i) {
      const int64_t block = i / kBlock;
      const uint16_t* const plane =
          args_.input + band_.n * in_stride() + block * in_plane_ + i % kBlock;
      for (int64_t tap = 0; tap < kTaps; ++tap) {
        const int64_t iy = y + tap / 3 - e_.pad_before.h, ix = x + tap % 3 - e_.pad_before.w;
        if (iy < 0 || iy >= e_.in.h || ix < 0 || ix >= e_.in.w) continue;
        const float value = half_to_float(plane[iy * in_row_ + ix * kBlock]);
        const int64_t row = ((out * in_blocks_ + block) * kTaps + tap) * kBlock + i % kBlock;
        for (int64_t c = 0; c < kBlock; ++c) acc[c] += value * weight(row * kBlock + c);
      }
    }
  }

  __attribute__((noinline)) void direct_patch(int64_t out, int64_t y, int64_t x) const {
    for (int64_t i = 0; i < kSide; ++i) {
      if (y + i < band_.oy || y + i >= band_.oy_end) continue;
      for (int64_t j = 0; j < kSide && x + j < e_.out.w; ++j) {
        alignas(64) float acc[kHostBlock];
        direct_sums(out, y + i, x + j, acc);
        const Place place = place_of(out, y + i, x + j);
        for (int64_t lane = 0; lane < kBlock; lane += Isa::kLanes) {
          finish_(Isa::load(acc + lane),
                  place.residual != nullptr ? place.residual + lane : nullptr, place.output + lane);
        }
      }
    }
  }

  const ConvF16Args& args_;
  const ConvF16Params& params_;
  const ConvFilter& filter_;
  const ConvExtents& e_;
  Work& work_;
  const typename Isa::Finish finish_;
  const int64_t in_blocks_, out_blocks_;
  const int64_t in_row_, in_plane_, out_row_, out_plane_;  // elements
  Band band_ = {};
  int64_t point_ = 0;  // floats of transformed inputs to those of the next point
};

// Units of a filter where it pays; false, and nothing is done, of others.
template <typename Isa>
inline bool run(const ConvF16Args& args, IndexRange units) {
  if (args.interleaved_input || !args.packed->moderate) return false;
  if (!pays(args.packed->params.filter, args.extents)) return false;
  const ThreadScratch scratch;
  using Work = typename Convolution<Isa>::Work;
  Convolution<Isa>(args, *static_cast<Work*>(scratch.data())).run(units);
  return true;
}

}  // namespace
}  // namespace rk::kernels::winograd_f16

RK_ISA_END

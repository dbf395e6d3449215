// SPDX-License-Identifier: Apache-2.0
// conv_i8 with ARM's products of byte matrices: two pixels by two output channels and eight input channels. A weight offset
// o adds o * sum x: the sum is one more product, by ones. Where packing kept int16 weights the kernel is NEON's.
#if defined(__aarch64__)

#include "kernels/arm64_i8mm.h"

#include "kernels/conv/common/lane_limits.h"
#include "kernels/conv/i8/arm64_i16.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

template <bool kTotals>
struct MatrixBytes {
  using Stored = int8_t;
  using Lane = int8_t;
  using Weight = int8_t;
  using Sum = int32_t;
  using FloatLanes = NeonF32;
  using DefaultRounding = FpcrDefault;
  static constexpr int kVectors = kTotals ? 9 : 8;  // of two channels, and the totals
  static constexpr int kStep = 8, kTapStep = 0, kPixels = 4, kRow = kTotals ? 20 : 16;

  static void widen(const int8_t* from, int8_t* to) { vst1q_s8(to, vld1q_s8(from)); }

  struct Weights {  // [16 oc][8 ic]
    int8x16_t w[8];
    explicit Weights(const int8_t* from) {
#pragma GCC unroll 8
      for (int v = 0; v < 8; ++v) w[v] = vld1q_s8(from + v * 16);
    }
  };

  template <int kTilePixels>
  struct Tile {
    static constexpr int kPairs = (kTilePixels + 1) / 2;
    int32x4_t sum[kPairs][kVectors];

    void load(int p, const int32_t* from) {
#pragma GCC unroll 9
      for (int v = 0; v < kVectors; ++v) load_row(sum[p / 2][v], p % 2 != 0, from + 2 * v);
    }
    void store(int p, int32_t* to) const {
#pragma GCC unroll 9
      for (int v = 0; v < kVectors; ++v) store_row(sum[p / 2][v], p % 2 != 0, to + 2 * v);
      // A row of totals has four lanes, all alike.
      if constexpr (kTotals) store_row(sum[p / 2][8], p % 2 != 0, to + 18);
    }
    __attribute__((always_inline)) void add(const int8_t* const (&x)[kTilePixels], int64_t at,
                                            const Weights& w) {
#pragma GCC unroll 4
      for (int q = 0; q < kPairs; ++q) {
        const int second = 2 * q + 1 < kTilePixels ? 2 * q + 1 : 2 * q;
        const int8x16_t pixels = two_rows(x[2 * q] + at, x[second] + at);
#pragma GCC unroll 8
        for (int v = 0; v < 8; ++v) sum[q][v] = vmmlaq_s32(sum[q][v], pixels, w.w[v]);
        if constexpr (kTotals) sum[q][8] = vmmlaq_s32(sum[q][8], pixels, vdupq_n_s8(1));
      }
    }
  };
};

void run_i8(const ConvI8Args& args, IndexRange units) { run_bytes_i8<MatrixBytes>(args, units); }

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {

extern const ConvI8Kernel conv_i8__i8mm_4x16;
const ConvI8Kernel conv_i8__i8mm_4x16 = {"conv_i8__i8mm_4x16", kLaneTile, accepts_lanes,
                                         pack_lanes_by_8,      run_i8,    unpack_lanes_by_8};

}  // namespace rk::kernels

#endif  // 64-bit ARM

// SPDX-License-Identifier: Apache-2.0
// conv_i8 with ARM's dot products of signed bytes. A weight offset o adds o * sum x: the sum is one more dot product, by
// ones. Where packing kept int16 weights (depthwise; groups whose w + o exceed bytes) the kernel is NEON's.
#if defined(__aarch64__)

#include "kernels/target_frame.h"
#if defined(__clang__)
#define RK_ISA_BEGIN RK_TARGET_BEGIN("dotprod")
#else
#define RK_ISA_BEGIN RK_TARGET_BEGIN("arch=armv8.2-a+dotprod")
#endif
#define RK_ISA_END RK_TARGET_END

#include "kernels/arm64_neon.h"

#include "kernels/conv/common/lane_limits.h"
#include "kernels/conv/i8/arm64_i16.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

template <bool kTotals>
struct DotI8 {
  using Stored = int8_t;
  using Lane = int8_t;
  using Weight = int8_t;
  using Sum = int32_t;
  using FloatLanes = NeonF32;
  using DefaultRounding = FpcrDefault;
  static constexpr int kVectors = kTotals ? 5 : 4;
  static constexpr int kStep = 4, kTapStep = 0, kPixels = kTotals ? 4 : 5, kRow = kVectors * 4;

  using Loaded = int8x16_t;
  static constexpr int kLoaded = 16;
  static Loaded load(const int8_t* from) { return vld1q_s8(from); }

  static void widen(const int8_t* from, int8_t* to) { vst1q_s8(to, vld1q_s8(from)); }

  struct Weights {  // [16 oc][4 ic]
    int8x16_t w[4];
    explicit Weights(const int8_t* from) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) w[v] = vld1q_s8(from + v * 16);
    }
  };

  struct Sums {
    int32x4_t sum[kVectors];
    void load(const int32_t* from) {
#pragma GCC unroll 5
      for (int v = 0; v < kVectors; ++v) sum[v] = vld1q_s32(from + 4 * v);
    }
    void store(int32_t* to) const {
#pragma GCC unroll 5
      for (int v = 0; v < kVectors; ++v) vst1q_s32(to + 4 * v, sum[v]);
    }
    void add(const int8_t* x, const Weights& w) {
      int32_t four;
      __builtin_memcpy(&four, x, sizeof four);
      const int8x16_t spread = vreinterpretq_s8_s32(vdupq_n_s32(four));
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) sum[v] = vdotq_s32(sum[v], spread, w.w[v]);
      if constexpr (kTotals) sum[4] = vdotq_s32(sum[4], spread, vdupq_n_s8(1));
    }
    template <int kLane>
    void add_lane(int8x16_t x, const Weights& w) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) sum[v] = vdotq_laneq_s32(sum[v], w.w[v], x, kLane);
      if constexpr (kTotals) sum[4] = vdotq_laneq_s32(sum[4], vdupq_n_s8(1), x, kLane);
    }
  };
};

void run_i8(const ConvI8Args& args, IndexRange units) { run_bytes_i8<DotI8>(args, units); }

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {

extern const ConvI8Kernel conv_i8__dotprod_5x16;
const ConvI8Kernel conv_i8__dotprod_5x16 = {"conv_i8__dotprod_5x16", kLaneTile, accepts_lanes,
                                            pack_lanes_by_4,         run_i8,    unpack_lanes_by_4};

}  // namespace rk::kernels

#endif  // 64-bit ARM

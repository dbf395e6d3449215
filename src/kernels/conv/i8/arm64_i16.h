// SPDX-License-Identifier: Apache-2.0
// The Isa of lane_tiles.h for int8 convolutions with NEON: inputs and w + o as int16, widening multiply-adds into int32.
// Private to kernels/conv.
#pragma once

#if defined(__aarch64__)

#include <cstdint>

#include "kernels/arm64_neon.h"
#include "kernels/conv/i8/lane_finish.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct NeonI16 {
  using Stored = int8_t;
  using Lane = int16_t;
  using Weight = int16_t;
  using Sum = int32_t;
  using FloatLanes = NeonF32;
  using DefaultRounding = IsaRounding;
  static constexpr int kStep = 1, kTapStep = 1, kPixels = 5, kRow = 16;

  using Loaded = int16x8_t;
  static constexpr int kLoaded = 8;
  static Loaded load(const int16_t* from) { return vld1q_s16(from); }

  static void widen(const int8_t* from, int16_t* to) {
    const int8x16_t x = vld1q_s8(from);
    vst1q_s16(to, vmovl_s8(vget_low_s8(x)));
    vst1q_s16(to + 8, vmovl_high_s8(x));
  }

  struct Weights {
    int16x8_t low, high;
    explicit Weights(const int16_t* from) : low(vld1q_s16(from)), high(vld1q_s16(from + 8)) {}
  };
  using TapWeights = Weights;

  struct Sums {
    int32x4_t sum[4];
    void load(const int32_t* from) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) sum[v] = vld1q_s32(from + 4 * v);
    }
    void store(int32_t* to) const {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) vst1q_s32(to + 4 * v, sum[v]);
    }
    void add(int16x8_t low, int16x8_t high, const Weights& w) {
      sum[0] = vmlal_s16(sum[0], vget_low_s16(w.low), vget_low_s16(low));
      sum[1] = vmlal_high_s16(sum[1], w.low, low);
      sum[2] = vmlal_s16(sum[2], vget_low_s16(w.high), vget_low_s16(high));
      sum[3] = vmlal_high_s16(sum[3], w.high, high);
    }
    void add(const int16_t* x, const Weights& w) {
      const int16x8_t spread = vld1q_dup_s16(x);
      add(spread, spread, w);
    }
    template <int kLane>
    void add_lane(int16x8_t x, const Weights& w) {
      sum[0] = vmlal_laneq_s16(sum[0], vget_low_s16(w.low), x, kLane);
      sum[1] = vmlal_high_laneq_s16(sum[1], w.low, x, kLane);
      sum[2] = vmlal_laneq_s16(sum[2], vget_low_s16(w.high), x, kLane);
      sum[3] = vmlal_high_laneq_s16(sum[3], w.high, x, kLane);
    }
    void add_taps(const int16_t* x, const int32_t* tap, const Weights& w) {
      add(vld1q_s16(x + *tap), vld1q_s16(x + *tap + 8), w);
    }
    void load_taps(const int32_t* from) { load(from); }
    void store_taps(int32_t* to) const { store(to); }
  };
};

// Kernels of bytes: Bytes<true> sums the inputs too, where offsets are added apart. Where packing kept int16 weights the
// kernel is NEON's.
template <template <bool> typename Bytes>
void run_bytes_i8(const ConvI8Args& args, IndexRange units) {
  const LaneConstants constants = lane_constants(args);
  if (constants.weight_bytes != 1) {
    run_lanes_i8<NeonI16>(args, units);
  } else if (constants.totals != nullptr) {
    run_lanes_i8<Bytes<true>>(args, units);
  } else {
    run_lanes_i8<Bytes<false>>(args, units);
  }
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

#endif  // 64-bit ARM

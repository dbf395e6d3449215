// SPDX-License-Identifier: Apache-2.0
// Pooling in portable loops.
#include "kernels/half_lanes.h"
#include "kernels/pool/pool.h"
#include "kernels/pool/walk.h"

namespace rk::kernels {
namespace {

template <typename T, int kLanes>
struct Max {
  T best[kLanes];
  bool first;
  void start() { first = true; }
  void take(const T* x) {
    if (first) {
      for (int c = 0; c < kLanes; ++c) best[c] = x[c];
      first = false;
      return;
    }
    // A NaN is taken and stays; for integers the second test is always false.
    for (int c = 0; c < kLanes; ++c) best[c] = x[c] > best[c] || x[c] != x[c] ? x[c] : best[c];
  }
  void finish(int64_t, int64_t, T* y) const {
    for (int c = 0; c < kLanes; ++c) y[c] = best[c];
  }
};

template <int kLanes>
struct AverageF32 {
  float sum[kLanes];
  void start() {
    for (int c = 0; c < kLanes; ++c) sum[c] = 0.0f;
  }
  void take(const float* x) {
    for (int c = 0; c < kLanes; ++c) sum[c] += x[c];
  }
  void finish(int64_t, int64_t count, float* y) const {
    for (int c = 0; c < kLanes; ++c) y[c] = sum[c] / static_cast<float>(count);
  }
};

// fp16 in and out around a float32 pooling.
template <typename Inner>
struct Half {
  Inner inner;
  void start() { inner.start(); }
  void take(const uint16_t* x) {
    float wide[kHostBlock];
    widen_lanes<kHostBlock>(x, wide);
    inner.take(wide);
  }
  void finish(int64_t inside, int64_t count, uint16_t* y) const {
    float wide[kHostBlock];
    inner.finish(inside, count, wide);
    narrow_lanes<kHostBlock>(wide, y);
  }
};

struct AverageI8 {
  const AveragePoolI8Args& args;
  int32_t sum[kHostBlock];
  void start() {
    for (int c = 0; c < kHostBlock; ++c) sum[c] = 0;
  }
  void take(const int8_t* x) {
    for (int c = 0; c < kHostBlock; ++c) sum[c] += x[c];
  }
  void finish(int64_t inside, int64_t count, int8_t* y) const {
    const ScaleShift scale = args.scale_by_count[count];
    const int64_t zero = inside * args.input_zero_point;  // padding is the zero point: it adds 0
    for (int c = 0; c < kHostBlock; ++c) {
      y[c] = to_output(scale_round(sum[c] - zero, scale.scale, scale.shift), args.output_stage);
    }
  }
};

}  // namespace

void max_pool_i8__generic(const PoolArgs<int8_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units, Max<int8_t, kHostBlock>{});
}

void average_pool_i8__generic(const AveragePoolI8Args& args, IndexRange units) {
  walk<kHostBlock, int8_t>(args, channel_blocks(args.shape.channels), units, AverageI8{args, {}});
}

void max_pool_f16__generic(const PoolArgs<uint16_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units,
                   Half<Max<float, kHostBlock>>{});
}

void average_pool_f16__generic(const PoolArgs<uint16_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units,
                   Half<AverageF32<kHostBlock>>{});
}

void max_pool_f32__generic(const PoolArgs<float>& args, IndexRange units) {
  walk<1>(args, args.shape.channels, units, Max<float, 1>{});
}

void average_pool_f32__generic(const PoolArgs<float>& args, IndexRange units) {
  walk<1>(args, args.shape.channels, units, AverageF32<1>{});
}

}  // namespace rk::kernels

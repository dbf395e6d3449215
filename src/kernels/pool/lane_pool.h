// SPDX-License-Identifier: Apache-2.0
// Poolings of 16 lanes for walk.h, as loops that compilers vectorize under the flags of an instruction set, and over any
// float vector (x86_avx2.h, arm64_neon.h). Included in the frame of an instruction set, after walk.h. Private to
// kernels/pool.
//
// Note: fp16 values are compared as integers that order alike, where -0 is below +0. Of zeros of both signs
// the generic kernel keeps the first, this one the positive: equal as numbers.
#pragma once

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct MaxI8Lanes {
  using Lanes = int8_t __attribute__((vector_size(kHostBlock)));
  Lanes best;
  void start() { best = Lanes{} + int8_t{-128}; }
  void take(const int8_t* from) {
    Lanes x;
    __builtin_memcpy(&x, from, sizeof x);
    best = x > best ? x : best;
  }
  void finish(int64_t, int64_t, int8_t* y) const { __builtin_memcpy(y, &best, sizeof best); }
};

struct MaxF16Lanes {
  int16_t best[kHostBlock];
  // Of negative numbers all bits but the sign turn; doing it twice undoes it.
  static int16_t turned(int16_t x) { return static_cast<int16_t>(x ^ ((x >> 15) & 0x7fff)); }
  void start() {
    for (int c = 0; c < kHostBlock; ++c) best[c] = -32768;
  }
  void take(const uint16_t* x) {
    for (int c = 0; c < kHostBlock; ++c) {
      const auto bits = static_cast<int16_t>(x[c]);
      const auto magnitude = static_cast<int16_t>(bits & 0x7fff);
      // A NaN loses its sign, so that it is above everything.
      const int16_t key = magnitude > 0x7c00 ? magnitude : turned(bits);
      best[c] = key > best[c] ? key : best[c];
    }
  }
  void finish(int64_t, int64_t, uint16_t* y) const {
    for (int c = 0; c < kHostBlock; ++c) y[c] = static_cast<uint16_t>(turned(best[c]));
  }
};

// Half::widen and Half::narrow convert 16 lanes.
template <typename Float, typename Half>
struct AverageF16Lanes {
  static constexpr int kVectors = kHostBlock / Float::kLanes;
  typename Float::Vector sum[kVectors];
  void start() {
    for (int v = 0; v < kVectors; ++v) sum[v] = Float::all(0);
  }
  void take(const uint16_t* x) {
    float wide[kHostBlock];
    Half::widen(x, wide);
    for (int v = 0; v < kVectors; ++v)
      sum[v] = Float::add(sum[v], Float::load(wide + v * Float::kLanes));
  }
  void finish(int64_t, int64_t count, uint16_t* y) const {
    float wide[kHostBlock];
    for (int v = 0; v < kVectors; ++v) Float::store(wide + v * Float::kLanes, sum[v]);
    for (int c = 0; c < kHostBlock; ++c) wide[c] /= static_cast<float>(count);
    Half::narrow(wide, y);
  }
};

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

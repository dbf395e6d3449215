// SPDX-License-Identifier: Apache-2.0
// Sixteen float32 lanes out of vectors of any width, down to single floats. What is summed lane by lane is then summed in
// the same order on every CPU, so a network whose integers pass through a softmax has the same bytes everywhere. Included
// in the frame of an instruction set, after its vectors.
#pragma once

#include <cstdint>

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

template <typename Float>
struct WideLanes {
  static constexpr int kLanes = 16;
  static constexpr int kStep = Float::kLanes;
  static constexpr int kCount = kLanes / kStep;
  struct Vector {
    typename Float::Vector part[kCount];
  };

  template <typename Make>
  static Vector make(const Make& make_part) {
    Vector v;
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) v.part[i] = make_part(i);
    return v;
  }
  static Vector load(const float* from) {
    return make([&](int i) { return Float::load(from + i * kStep); });
  }
  static void store(float* to, const Vector& v) {
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) Float::store(to + i * kStep, v.part[i]);
  }
  static Vector load_part(const float* from, int64_t count, float fill) {
    return make([&](int i) {
      const int64_t left = count - i * kStep;
      return left >= kStep ? Float::load(from + i * kStep)
             : left > 0    ? Float::load_part(from + i * kStep, left, fill)
                           : Float::all(fill);
    });
  }
  static void store_part(float* to, const Vector& v, int64_t count) {
    for (int i = 0; i < kCount && i * kStep < count; ++i) {
      const int64_t left = count - i * kStep;
      if (left >= kStep) {
        Float::store(to + i * kStep, v.part[i]);
      } else {
        Float::store_part(to + i * kStep, v.part[i], left);
      }
    }
  }
  static Vector all(float value) {
    return make([&](int) { return Float::all(value); });
  }
  static Vector add(const Vector& a, const Vector& b) {
    return make([&](int i) { return Float::add(a.part[i], b.part[i]); });
  }
  static Vector sub(const Vector& a, const Vector& b) {
    return make([&](int i) { return Float::sub(a.part[i], b.part[i]); });
  }
  static Vector mul(const Vector& a, const Vector& b) {
    return make([&](int i) { return Float::mul(a.part[i], b.part[i]); });
  }
  static Vector div(const Vector& a, const Vector& b) {
    return make([&](int i) { return Float::div(a.part[i], b.part[i]); });
  }
  static Vector fused(const Vector& a, const Vector& b, const Vector& c) {
    return make([&](int i) { return Float::fused(a.part[i], b.part[i], c.part[i]); });
  }
  static Vector max(const Vector& a, const Vector& b) {
    return make([&](int i) { return Float::max(a.part[i], b.part[i]); });
  }
  static Vector at_least(const Vector& v, float bound) {
    return make([&](int i) { return Float::at_least(v.part[i], bound); });
  }
  static Vector zero_below(const Vector& v, const Vector& x, float bound) {
    return make([&](int i) { return Float::zero_below(v.part[i], x.part[i], bound); });
  }
  static Vector add_exponent(const Vector& v, const Vector& biased) {
    return make([&](int i) { return Float::add_exponent(v.part[i], biased.part[i]); });
  }
  // Halves are added to each other, whatever the vectors are.
  static float total(const Vector& v) {
    float lanes[kLanes];
    store(lanes, v);
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    }
    return lanes[0];
  }
  static float largest(const Vector& v) {
    float lanes[kLanes];
    store(lanes, v);
    for (int i = 1; i < kLanes; ++i) lanes[0] = lanes[0] > lanes[i] ? lanes[0] : lanes[i];
    return lanes[0];
  }
};

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

// SPDX-License-Identifier: Apache-2.0
// Softmax, normalization and sums over any float vector with fused multiply-add (x86_avx512_lanes.h, x86_avx2.h,
// arm64_neon.h), or without any. Included in the frame of an instruction set, after everything else. Private to
// kernels/norm.
#pragma once

#include "kernels/wide_lanes.h"

#include "kernels/lane_exp.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

// Numbers that are added in float32 before the sum goes on in double.
constexpr int64_t kAddTogether = 1024;
constexpr float kMinusInfinity = -__builtin_inff();

inline int64_t chunk_end(int64_t begin, int64_t length) {
  return length - begin < kAddTogether ? length : begin + kAddTogether;
}

// A vector of x from i on; beyond `length` there is `fill`.
template <typename Float>
inline typename Float::Vector load_at(const float* x, int64_t i, int64_t length, float fill) {
  return i + Float::kLanes <= length ? Float::load(x + i)
                                     : Float::load_part(x + i, length - i, fill);
}

template <typename Float>
inline void store_at(float* y, int64_t i, int64_t length, typename Float::Vector v) {
  if (i + Float::kLanes <= length) return Float::store(y + i, v);
  Float::store_part(y + i, v, length - i);
}

// The sum of term(i) over a row, a vector at a time.
template <typename Float, typename Term>
inline double sum_of(int64_t length, const Term& term) {
  double total = 0;
  for (int64_t begin = 0; begin < length; begin += kAddTogether) {
    const int64_t end = chunk_end(begin, length);
    typename Float::Vector even = Float::all(0), odd = Float::all(0);
    int64_t i = begin;
    for (; i + Float::kLanes < end; i += 2 * Float::kLanes) {
      even = Float::add(even, term(i));
      odd = Float::add(odd, term(i + Float::kLanes));
    }
    if (i < end) even = Float::add(even, term(i));
    total += static_cast<double>(Float::total(Float::add(even, odd)));
  }
  return total;
}

template <typename Float>
inline void softmax_row(const float* x, float* y, int64_t length) {
  using Vector = typename Float::Vector;
  Vector most = Float::all(kMinusInfinity);
  for (int64_t i = 0; i < length; i += Float::kLanes)
    most = Float::max(most, load_at<Float>(x, i, length, kMinusInfinity));
  const Vector shift = Float::all(Float::largest(most));
  const double sum = sum_of<Float>(
      length, [&](int64_t i) __attribute__((always_inline)) {
        const Vector v =
            exp_lanes<Float>(Float::sub(load_at<Float>(x, i, length, kMinusInfinity), shift));
        store_at<Float>(y, i, length, v);
        return v;
      });
  const Vector factor = Float::all(static_cast<float>(1.0 / sum));
  for (int64_t i = 0; i < length; i += Float::kLanes)
    store_at<Float>(y, i, length, Float::mul(load_at<Float>(y, i, length, 0), factor));
}

template <typename Float>
inline void softmax_part_lanes(const SoftmaxPartArgs& args, IndexRange rows) {
  using Vector = typename Float::Vector;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    float* const x = args.scores + row * args.length;
    const float before = args.largest[row];
    Vector most = Float::all(before);
    for (int64_t i = 0; i < args.length; i += Float::kLanes)
      most = Float::max(most, load_at<Float>(x, i, args.length, kMinusInfinity));
    const float now = Float::largest(most);
    const bool hidden = now == kMinusInfinity;
    const Vector shift = Float::all(hidden ? 0.0f : now);
    const double sum = sum_of<Float>(
        args.length, [&](int64_t i) __attribute__((always_inline)) {
          const Vector v = exp_lanes<Float>(
              Float::sub(load_at<Float>(x, i, args.length, kMinusInfinity), shift));
          store_at<Float>(x, i, args.length, v);
          return v;
        });
    float factor[Float::kLanes];
    Float::store(factor, exp_lanes<Float>(Float::sub(Float::all(before), shift)));
    args.largest[row] = now;
    args.sum[row] = static_cast<float>(args.sum[row] * double{factor[0]} + sum);
    args.factor[row] = factor[0];
  }
}

// A vector of columns, `step` apart.
template <typename Float>
inline void softmax_vector(const float* x, float* y, int64_t length, int64_t step, int64_t lanes) {
  using Vector = typename Float::Vector;
  constexpr int64_t kPart = 64;  // numbers that are added before their sum is, to round less
  Vector most = Float::all(kMinusInfinity), sum = Float::all(0), part = Float::all(0);
  for (int64_t k = 0; k < length; ++k)
    most = Float::max(most, load_at<Float>(x + k * step, 0, lanes, 0));
  for (int64_t k = 0; k < length; ++k) {
    const Vector v = exp_lanes<Float>(Float::sub(load_at<Float>(x + k * step, 0, lanes, 0), most));
    store_at<Float>(y + k * step, 0, lanes, v);
    part = Float::add(part, v);
    if (k % kPart != kPart - 1) continue;
    sum = Float::add(sum, part);
    part = Float::all(0);
  }
  sum = Float::add(sum, part);
  const Vector factor = Float::div(Float::all(1), sum);
  for (int64_t k = 0; k < length; ++k) {
    const Vector v = load_at<Float>(y + k * step, 0, lanes, 0);
    store_at<Float>(y + k * step, 0, lanes, Float::mul(v, factor));
  }
}

template <typename Float>
void softmax_lanes(const SoftmaxArgs& args, IndexRange units) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    if (args.inner == 1) {
      const int64_t at = unit * args.length;
      softmax_row<Float>(args.input + at, args.output + at, args.length);
      continue;
    }
    const SoftmaxColumns columns = softmax_columns(args, unit);
    for (int64_t c = 0; c < columns.count; c += Float::kLanes) {
      const int64_t at = columns.first + c;
      softmax_vector<Float>(args.input + at, args.output + at, args.length, args.inner,
                            columns.count - c);
    }
  }
}

// y = (x - mean) * scale + bias for a run that shares them.
template <typename Float>
inline void scale_run(const float* x, float* y, int64_t count, float mean, float scale,
                      float bias) {
  const auto shift = Float::all(mean), by = Float::all(scale), more = Float::all(bias);
  for (int64_t i = 0; i < count; i += Float::kLanes) {
    const auto v = Float::sub(load_at<Float>(x, i, count, 0), shift);
    store_at<Float>(y, i, count, Float::fused(v, by, more));
  }
}

// The same with a scale and a bias for each element.
template <typename Float>
inline void scale_each(const float* x, float* y, int64_t count, float mean, float factor,
                       const float* scale, const float* bias) {
  const auto shift = Float::all(mean), by = Float::all(factor);
  for (int64_t i = 0; i < count; i += Float::kLanes) {
    const auto v = Float::mul(Float::sub(load_at<Float>(x, i, count, 0), shift), by);
    const auto more = bias != nullptr ? load_at<Float>(bias, i, count, 0) : Float::all(0);
    store_at<Float>(y, i, count, Float::fused(v, load_at<Float>(scale, i, count, 0), more));
  }
}

template <typename Float>
void normalize_rows_lanes(const NormalizeArgs& args, IndexRange rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t length = args.length;
    const float* const x = args.input + row * length;
    float* const y = args.output + row * length;
    double mean = 0;
    if (args.centered) {
      mean = sum_of<Float>(length, [&](int64_t i) { return load_at<Float>(x, i, length, 0); }) /
             static_cast<double>(length);
    }
    const float center = static_cast<float>(mean);
    const double squares = sum_of<Float>(length, [&](int64_t i) {
      const auto v = Float::sub(load_at<Float>(x, i, length, center), Float::all(center));
      return Float::mul(v, v);
    });
    const double factor = inverse_deviation(squares, length, args.epsilon);
    keep_statistics(args, row, mean, factor);
    const int64_t first = row % args.groups * (length / args.run);
    const auto by = static_cast<float>(factor);
    if (args.run == 1) {
      scale_each<Float>(x, y, length, center, by, args.scale + first,
                        args.bias != nullptr ? args.bias + first : nullptr);
      continue;
    }
    for (int64_t i = 0; i < length; i += args.run) {
      const int64_t p = first + i / args.run;
      scale_run<Float>(x + i, y + i, args.run, center, by * args.scale[p],
                       args.bias != nullptr ? args.bias[p] : 0.0f);
    }
  }
}

template <typename Float>
void sum_rows_lanes(const RowSumArgs& args, IndexRange rows) {
  const int64_t length = args.length;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const x = args.input + row * length;
    const double total =
        adds_squares(args.kind)
            ? sum_of<Float>(length,
                            [&](int64_t i) {
                              const auto v = load_at<Float>(x, i, length, 0);
                              return Float::mul(v, v);
                            })
            : sum_of<Float>(length, [&](int64_t i) { return load_at<Float>(x, i, length, 0); });
    args.output[row] = row_result(args.kind, total, length);
  }
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

// SPDX-License-Identifier: Apache-2.0
// When two arrays count as equal.
#pragma once

#include "ir/tensor.h"

namespace rk::conformance {

// |found - expected| <= absolute + relative * |expected| + of_peak * max|expected|. Integers and
// bool are exact unless `steps` allows a difference.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
  double of_peak = 0;
  int64_t steps = 0;
  bool half_range =
      false;  // numbers beyond float16 have become infinite, those far below its smallest zero
};

// As in the ONNX project's own backend test: relative 1e-3, absolute 1e-7. Results declared float16
// or bfloat16 are rounded by the standard's reference after every inner operation, by us once or
// not at all: two units of the last place of the declared type are allowed for those.
Tolerance node_test_tolerance(DType expected);

// A float32 engine against a float golden; quantized nets may be one step off, which is what `step`
// is.
Tolerance layer_tolerance(double step);

// A float16 model against the float32 evaluator fed with the same inputs (rounded to float16
// before, so that both see the same numbers). Weights are rounded (2^-11 relative), each inner
// result is (2^-11), and a node test has up to a few of both: eight roundings, relative to the
// largest element because sums mix elements.
Tolerance half_tolerance();

// For nets of several layers in float16: cosine similarity of at least 0.9995, as the goldens'
// description says. Integers and bool are exact.
Status compare_directions(const Tensor& found, const Tensor& expected);

// Shape, then elements. Where the expected dtype is a float, float32 will do: graphs compute in it.
Status compare(const Tensor& found, const Tensor& expected, const Tolerance& tolerance);

}  // namespace rk::conformance

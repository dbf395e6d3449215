// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix: triangles over the bins of a spectrum whose middles lie evenly on the mel scale.
// [dft_length / 2 + 1, num_mel_bins]; multiplied with a spectrum from the right.
#include <algorithm>
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

enum Input : size_t { kMelBins, kDftLength, kSampleRate, kLowerEdge, kUpperEdge };

Status mel_weight_matrix_infer(InferCall& call) {
  RK_ASSIGN(const int64_t mel_bins, constant_int(call, kMelBins));
  RK_ASSIGN(const int64_t dft_length, constant_int(call, kDftLength));
  for (const size_t i : {kSampleRate, kLowerEdge, kUpperEdge}) {
    if (call.input(i).shape.elements() != 1) {
      return refuse("input ", i, " ('", input_name(call, i), "') is ", rk::to_string(call.input(i)),
                    ", expected one number");
    }
  }
  const auto dtype = dtype_from_onnx(call.node.i64("output_datatype"));
  if (!dtype || *dtype == DType::kBool || mel_bins < 1 || dft_length < 1) {
    return refuse("num_mel_bins ", mel_bins, ", dft_length ", dft_length, ", output_datatype ",
                  call.node.i64("output_datatype"),
                  ": expected at least 1, at least 1, and a float or integer dtype");
  }
  return set_output(call, 0, *dtype, std::array{dft_length / 2 + 1, mel_bins});
}

// Beyond any spectrum, and safe to convert to an integer.
constexpr double kFar = 1e9;

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double ratio(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}
double hertz_of(double mel) { return 700 * (std::pow(10.0, mel / 2595) - 1); }

Status mel_weight_matrix_reference(const EvalCall& call) {
  Tensor& out = call.output(0);
  const int64_t bins = out.shape()[0];
  const int64_t mel_bins = out.shape()[1];
  const double low = mel_of(call.input(kLowerEdge).at_f64(0));
  const double step =
      (mel_of(call.input(kUpperEdge).at_f64(0)) - low) / static_cast<double>(mel_bins + 2);
  const double bins_per_hertz =
      (call.input(kDftLength).at_f64(0) + 1) / call.input(kSampleRate).at_f64(0);
  // The bin that corner `i` of the triangles lies in; corner i + 1 is the top of triangle i.
  const auto corner = [&](int64_t i) {
    const double at = std::floor(hertz_of(low + static_cast<double>(i) * step) * bins_per_hertz);
    return std::isnan(at) ? int64_t{0} : static_cast<int64_t>(std::clamp(at, -kFar, kFar));
  };
  uint8_t* y = out.mutable_data<uint8_t>();
  for (int64_t m = 0; m < mel_bins; ++m) {
    const int64_t left = corner(m);
    const int64_t top = corner(m + 1);
    const int64_t right = corner(m + 2);
    for (int64_t bin = 0; bin < bins; ++bin) {
      double weight = 0;
      if (bin >= top && bin < right) {
        weight = ratio(right - bin, right - top);
      } else if (bin == top) {
        weight = 1;
      } else if (bin > left && bin < top) {
        weight = ratio(bin - left, top - left);
      }
      store_f64(out.dtype(), y + static_cast<size_t>(bin * mel_bins + m) * byte_size(out.dtype()),
                weight);
    }
  }
  return ok_status();
}

}  // namespace

OpDef mel_weight_matrix() {
  return {
      .name = "MelWeightMatrix",
      .doc = "y = matrix that turns a spectrum into mel bands",
      .inputs = {{"num_mel_bins", integers()},
                 {"dft_length", integers()},
                 {"sample_rate", anything()},
                 {"lower_edge_hertz", anything()},
                 {"upper_edge_hertz", anything()}},
      .outputs = {{"y"}},
      .attrs = {{"output_datatype", int64_t{1}, "ONNX number of the dtype"}},
      .infer = mel_weight_matrix_infer,
      .reference = mel_weight_matrix_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops

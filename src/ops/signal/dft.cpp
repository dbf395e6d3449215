// SPDX-License-Identifier: Apache-2.0
// DFT: the discrete Fourier transform along one axis. The last axis holds a real number or a real
// and an imaginary part. One-sided means real signals: forward only the first half of the spectrum
// is given, inverse only that half is read and the result is real.
#include <algorithm>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"
#include "ops/shared/fourier.h"

namespace rk::ops {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kMaxLength = int64_t{1} << 24;

struct Dims {
  int axis = 0;
  int64_t length = 0;  // of the transform
  bool inverse = false;
  bool onesided = false;

  int64_t output_extent() const { return onesided && !inverse ? length / 2 + 1 : length; }
  int64_t output_parts() const { return onesided && inverse ? 1 : 2; }
};

Result<Dims> dft_resolve(const Node& node, const Tensor* length, const Tensor* axis) {
  const Shape& in = node.input(0).shape();
  Dims dims{.inverse = node.i64("inverse") != 0, .onesided = node.i64("onesided") != 0};
  RK_ASSIGN(dims.axis, normalize_axis(axis == nullptr ? -2 : axis->at_i64(0), in.rank()));
  if (dims.axis == in.rank() - 1) return refuse("axis ", dims.axis, " holds the complex parts");
  const int64_t extent = in[dims.axis];
  dims.length = length != nullptr               ? length->at_i64(0)
                : dims.onesided && dims.inverse ? 2 * (extent - 1)
                                                : extent;
  if (dims.length < 1 || dims.length > kMaxLength) {
    return refuse("the transform has ", dims.length, " elements, expected 1 to ", kMaxLength);
  }
  return dims;
}

Status dft_infer(InferCall& call) {
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (call.has_input(i)) RK_TRY(constant_int(call, i).status());
  }
  RK_ASSIGN(const Dims dims, dft_resolve(call.node, call.constant(1), call.constant(2)));
  Shape out = call.input(0).shape;
  const int last = out.rank() - 1;
  const bool complex_only = dims.onesided && dims.inverse;
  const bool real_only = dims.onesided && !dims.inverse;
  if ((out[last] != 1 || complex_only) && (out[last] != 2 || real_only)) {
    return refuse("input 0 ('x') is ", rk::to_string(out), ", expected a last axis of ",
                  complex_only ? "2"
                  : real_only  ? "1"
                               : "1 or 2",
                  " for the complex parts");
  }
  out[dims.axis] = dims.output_extent();
  out[last] = dims.output_parts();
  return set_output(call, 0, call.input(0).dtype, out.dims());
}

// The other half of a real signal's spectrum mirrors the first.
void mirror_spectrum(std::vector<Complex>& values) {
  for (size_t k = values.size() / 2 + 1; k < values.size(); ++k) {
    values[k] = std::conj(values[values.size() - k]);
  }
}

Status dft_compute(const EvalCall& call) {
  RK_ASSIGN(const Dims dims, dft_resolve(call.node, call.has_input(1) ? &call.input(1) : nullptr,
                                         call.has_input(2) ? &call.input(2) : nullptr));
  const Shape& in = call.input(0).shape();
  const int64_t parts = in[in.rank() - 1];
  const AxisSplit split = split_at(in, dims.axis);
  const int64_t inner = split.inner / parts;
  const int64_t used =
      std::min(split.extent, dims.onesided && dims.inverse ? dims.length / 2 + 1 : dims.length);
  const double factor = dims.inverse ? 1.0 / static_cast<double>(dims.length) : 1.0;
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  call.parallel_for(split.outer * inner, 1, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      std::vector<Complex> values(static_cast<size_t>(dims.length));
      for (int64_t n = 0; n < used; ++n) {
        const float* from = x + ((i / inner * split.extent + n) * inner + i % inner) * parts;
        values[static_cast<size_t>(n)] = {from[0], parts == 2 ? from[1] : 0.0};
      }
      if (dims.onesided && dims.inverse) mirror_spectrum(values);
      fourier(values, dims.inverse ? FourierSign::kInverse : FourierSign::kForward);
      for (int64_t k = 0; k < dims.output_extent(); ++k) {
        float* to =
            y + ((i / inner * dims.output_extent() + k) * inner + i % inner) * dims.output_parts();
        const Complex value = values[static_cast<size_t>(k)] * factor;
        to[0] = static_cast<float>(value.real());
        if (dims.output_parts() == 2) to[1] = static_cast<float>(value.imag());
      }
    }
  });
  return ok_status();
}

Status dft_reference(const EvalCall& call) { return in_f32(call, dft_compute); }

Cost dft_cost(const Node& node) {
  return {.ops = 16 * static_cast<uint64_t>(node.output().shape().elements())};
}

}  // namespace

OpDef dft() {
  return {
      .name = "DFT",
      .doc = "y = discrete Fourier transform of x along an axis",
      .inputs = {{"x", floats().rank(2, kMaxRank)},
                 {"dft_length", integers(), ArgDef::kOptional},
                 {"axis", integers(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"inverse", int64_t{0}, "1: the inverse transform, divided by its length"},
                {"onesided", int64_t{0}, "1: the signal is real and half the spectrum is used"}},
      .infer = dft_infer,
      .reference = dft_reference,
      .cost = dft_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops

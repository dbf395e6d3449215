// SPDX-License-Identifier: Apache-2.0
// STFT: Fourier transforms of the frames of a signal [N,L], [N,L,1] or complex [N,L,2]. Frames
// start every frame_step elements and must lie inside; each is multiplied by the window first.
#include "ops/shared/elementwise.h"
#include "ops/shared/fourier.h"

namespace rk::ops {
namespace {

using Complex = std::complex<double>;

enum Input : size_t { kSignal, kStep, kWindow, kLength };

struct Dims {
  int64_t step = 0;
  int64_t length = 0;  // of a frame
  int64_t frames = 0;
  int64_t bins = 0;
};

Result<Dims> stft_resolve(const Node& node, int64_t step, std::optional<int64_t> length) {
  const Shape& in = node.input(kSignal).shape();
  Dims dims{.step = step};
  if (length) {
    dims.length = *length;
  } else if (node.has_input(kWindow)) {
    dims.length = node.input(kWindow).shape().elements();
  } else {
    return refuse("neither frame_length nor a window is given");
  }
  if (dims.step < 1 || dims.length < 1 || dims.length > in[1]) {
    return refuse("frames of ", dims.length, " elements every ", dims.step,
                  ", expected 1 to the signal's ", in[1], " and a step of at least 1");
  }
  dims.frames = (in[1] - dims.length) / dims.step + 1;
  dims.bins = node.i64("onesided") != 0 ? dims.length / 2 + 1 : dims.length;
  return dims;
}

Status stft_infer(InferCall& call) {
  RK_ASSIGN(const int64_t step, constant_int(call, kStep));
  std::optional<int64_t> length;
  if (call.has_input(kLength)) {
    RK_ASSIGN(length, constant_int(call, kLength));
  }
  RK_ASSIGN(const Dims dims, stft_resolve(call.node, step, length));
  const Shape& in = call.input(kSignal).shape;
  const int64_t parts = in.rank() == 3 ? in[2] : 1;
  const bool onesided = call.node.i64("onesided") != 0;
  if (parts != 1 && (parts != 2 || onesided)) {
    return refuse("input 0 ('signal') is ", rk::to_string(in), ", expected ",
                  onesided ? "a real signal, as onesided is 1" : "1 or 2 parts as last axis");
  }
  if (call.has_input(kWindow)) {
    RK_TRY(require_same_dtype(call, kSignal, kWindow));
    RK_TRY(require_shape(call, kWindow, Shape{dims.length}));
  }
  return set_output(call, 0, call.input(kSignal).dtype,
                    std::array{in[0], dims.frames, dims.bins, int64_t{2}});
}

Status stft_compute(const EvalCall& call) {
  std::optional<int64_t> length;
  if (call.has_input(kLength)) length = call.input(kLength).at_i64(0);
  RK_ASSIGN(const Dims dims, stft_resolve(call.node, call.input(kStep).at_i64(0), length));
  const Shape& in = call.input(kSignal).shape();
  const int64_t parts = in.rank() == 3 ? in[2] : 1;
  const float* window = call.has_input(kWindow) ? call.input(kWindow).data<float>() : nullptr;
  const float* signal = call.input(kSignal).data<float>();
  float* y = call.output(0).mutable_data<float>();
  call.parallel_for(in[0] * dims.frames, 1, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      std::vector<Complex> values(static_cast<size_t>(dims.length));
      const int64_t first = i / dims.frames * in[1] + i % dims.frames * dims.step;
      for (int64_t n = 0; n < dims.length; ++n) {
        const float* from = signal + (first + n) * parts;
        const double weight = window == nullptr ? 1.0 : window[n];
        values[static_cast<size_t>(n)] = {weight * from[0], parts == 2 ? weight * from[1] : 0.0};
      }
      fourier(values, FourierSign::kForward);
      for (int64_t k = 0; k < dims.bins; ++k) {
        float* to = y + (i * dims.bins + k) * 2;
        to[0] = static_cast<float>(values[static_cast<size_t>(k)].real());
        to[1] = static_cast<float>(values[static_cast<size_t>(k)].imag());
      }
    }
  });
  return ok_status();
}

Status stft_reference(const EvalCall& call) { return in_f32(call, stft_compute); }

Cost stft_cost(const Node& node) {
  return {.ops = 16 * static_cast<uint64_t>(node.output().shape().elements())};
}

}  // namespace

OpDef stft() {
  return {
      .name = "STFT",
      .doc = "y = Fourier transforms of the frames of a signal",
      .inputs = {{"signal", floats().rank(2, 3)},
                 {"frame_step", integers()},
                 {"window", floats().like(0), ArgDef::kOptional},
                 {"frame_length", integers(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"onesided", int64_t{1}, "1: only the first half of each spectrum"}},
      .infer = stft_infer,
      .reference = stft_reference,
      .cost = stft_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops

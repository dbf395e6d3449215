// SPDX-License-Identifier: Apache-2.0
// Every family but convolutions.
#include "tests/e2e/recompute.h"

#include <algorithm>
#include <cmath>

namespace rk::e2e {
namespace {

using program::CoordinateMode;
using program::NearestMode;

struct Picture4 {  // any tensor as NCHW; ranks below four have leading ones
  int64_t n = 1, c = 1, h = 1, w = 1;
};

Picture4 extents(const Shape& shape) {
  Picture4 out;
  int64_t* const dims[] = {&out.n, &out.c, &out.h, &out.w};
  for (int i = 0; i < shape.rank() && i < 4; ++i)
    *dims[4 - std::min(shape.rank(), 4) + i] = shape[i];
  return out;
}

int64_t staged(int8_t x, const program::InputStage& stage) {
  return scaled(int64_t{x} + stage.offset, stage.scale);
}

class Recomputer {
 public:
  Recomputer(const program::Program& program, const program::Step& step,
             const StoredTensors& stored)
      : variant_(program.main_variant()), step_(step), stored_(stored) {}

  std::span<const int8_t> input(size_t i) const {
    return stored_[static_cast<size_t>(step_.inputs[i])]->span<int8_t>();
  }
  const Shape& input_shape(size_t i) const { return tensor(step_.inputs[i]).shape; }
  const Shape& output_shape() const { return tensor(step_.outputs[0]).shape; }
  std::vector<int8_t> make_output() const {
    return std::vector<int8_t>(static_cast<size_t>(output_shape().elements()));
  }

  std::vector<int8_t> sum(const program::SumParams& params) const {
    std::vector<int8_t> out = make_output();
    for (size_t k = 0; k < out.size(); ++k) {
      int64_t v = 0;
      for (size_t i = 0; i < params.inputs.size(); ++i) v += staged(input(i)[k], params.inputs[i]);
      if (params.activation != program::Activation::kNone) v = std::max<int64_t>(v, 0);
      out[k] = finish(v, params.output);
    }
    return out;
  }

  // Outer index, then the inputs one after the other.
  std::vector<int8_t> concat(const program::ConcatParams& params) const {
    int64_t outer = 1;
    for (int axis = 0; axis < params.axis; ++axis) outer *= output_shape()[axis];
    std::vector<int8_t> out;
    for (int64_t o = 0; o < outer; ++o) {
      for (size_t i = 0; i < step_.inputs.size(); ++i) {
        const size_t part = input(i).size() / static_cast<size_t>(outer);
        for (const int8_t x : input(i).subspan(static_cast<size_t>(o) * part, part)) {
          out.push_back(params.identity ? x : finish(staged(x, params.inputs[i]), params.output));
        }
      }
    }
    return out;
  }

  std::vector<int8_t> pool(const program::PoolParams& params) const {
    const Picture4 in = extents(input_shape(0)), to = extents(output_shape());
    std::vector<int8_t> out;
    for (int64_t plane = 0; plane < to.n * to.c; ++plane) {
      const auto from = input(0).subspan(static_cast<size_t>(plane * in.h * in.w));
      for (int64_t y = 0; y < to.h; ++y) {
        for (int64_t x = 0; x < to.w; ++x) out.push_back(pool_window(params, in, from, y, x));
      }
    }
    return out;
  }

  std::optional<std::vector<int8_t>> resize(const program::ResizeParams& params) const {
    if (params.mode != program::ResizeMode::kNearest) return std::nullopt;
    const Picture4 in = extents(input_shape(0)), to = extents(output_shape());
    std::vector<int8_t> out;
    for (int64_t plane = 0; plane < to.n * to.c; ++plane) {
      for (int64_t y = 0; y < to.h; ++y) {
        const int64_t from_y = nearest(params, y, in.h, to.h, params.scale_h);
        for (int64_t x = 0; x < to.w; ++x) {
          const int64_t from_x = nearest(params, x, in.w, to.w, params.scale_w);
          const int8_t value =
              input(0)[static_cast<size_t>((plane * in.h + from_y) * in.w + from_x)];
          out.push_back(params.identity ? value
                                        : finish(staged(value, params.input), params.output));
        }
      }
    }
    return out;
  }

  std::vector<int8_t> table(const program::TableParams& params) const {
    std::vector<int8_t> out;
    for (const int8_t x : input(0)) out.push_back(params.table[static_cast<size_t>(x + 128)]);
    return out;
  }

  // Operators that keep the order of elements between equally quantized tensors.
  std::optional<std::vector<int8_t>> moved(const program::OpParams& params) const {
    const bool keeps_order = params.op == "Reshape" || params.op == "Flatten" ||
                             params.op == "Squeeze" || params.op == "Unsqueeze" ||
                             params.op == "Identity";
    const auto& from = tensor(step_.inputs[0]);
    const auto& to = tensor(step_.outputs[0]);
    if (!keeps_order || from.scale != to.scale || from.zero_point != to.zero_point)
      return std::nullopt;
    return std::vector<int8_t>(input(0).begin(), input(0).end());
  }

 private:
  const program::ProgramTensor& tensor(int32_t index) const {
    return variant_.tensors[static_cast<size_t>(index)];
  }

  static int8_t pool_window(const program::PoolParams& params, const Picture4& in,
                            std::span<const int8_t> from, int64_t y, int64_t x) {
    int64_t best = -128, total = 0, inside = 0, counted = 0;
    const int32_t offset =
        params.by_count.empty() ? 0 : params.by_count.front().offset;  // the same for every count
    for (int64_t ky = 0; ky < params.kernel.h; ++ky) {
      for (int64_t kx = 0; kx < params.kernel.w; ++kx) {
        const int64_t py = y * params.stride.h - params.pads.top + ky;
        const int64_t px = x * params.stride.w - params.pads.left + kx;
        if (py < in.h + params.pads.bottom && px < in.w + params.pads.right) ++counted;
        if (py < 0 || px < 0 || py >= in.h || px >= in.w) continue;
        const int8_t value = from[static_cast<size_t>(py * in.w + px)];
        best = std::max<int64_t>(best, value);
        total += value + offset;
        ++inside;
      }
    }
    if (params.kind == program::PoolKind::kMax) return static_cast<int8_t>(best);
    const int64_t count = params.count_include_pad ? counted : inside;
    const program::InputStage& stage = params.by_count[static_cast<size_t>(count - 1)];
    return finish(scaled(total, stage.scale), params.output);
  }

  // ONNX Resize, one axis.
  static int64_t nearest(const program::ResizeParams& params, int64_t at, int64_t from, int64_t to,
                         double scale) {
    double x = 0;
    switch (params.coordinates) {
      case CoordinateMode::kHalfPixel:
        x = (static_cast<double>(at) + 0.5) / scale - 0.5;
        break;
      case CoordinateMode::kPytorchHalfPixel:
        x = to > 1 ? (static_cast<double>(at) + 0.5) / scale - 0.5 : 0;
        break;
      case CoordinateMode::kAlignCorners:
        x = to > 1 ? static_cast<double>(at * (from - 1)) / static_cast<double>(to - 1) : 0;
        break;
      case CoordinateMode::kAsymmetric:
        x = static_cast<double>(at) / scale;
        break;
    }
    double rounded = 0;
    switch (params.nearest) {
      case NearestMode::kRoundPreferFloor:
        rounded = std::ceil(x - 0.5);
        break;
      case NearestMode::kRoundPreferCeil:
        rounded = std::floor(x + 0.5);
        break;
      case NearestMode::kFloor:
        rounded = std::floor(x);
        break;
      case NearestMode::kCeil:
        rounded = std::ceil(x);
        break;
    }
    return std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, from - 1);
  }

  const program::Variant& variant_;
  const program::Step& step_;
  const StoredTensors& stored_;
};

}  // namespace

int64_t divide_rne(int64_t value, int shift) {
  const int64_t divisor = int64_t{1} << shift;
  int64_t quotient = value / divisor;
  int64_t rest = value % divisor;
  if (rest < 0) {
    rest += divisor;
    --quotient;
  }
  const bool up = 2 * rest > divisor || (2 * rest == divisor && quotient % 2 != 0);
  return up ? quotient + 1 : quotient;
}

int64_t scaled(int64_t value, const ScaleShift& scale) {
  return divide_rne(value * scale.scale, scale.shift);
}

int8_t finish(int64_t value, const program::OutputStage& stage) {
  return static_cast<int8_t>(
      std::clamp<int64_t>(scaled(value, stage.scale) + stage.zero_point, -128, 127));
}

Result<std::optional<std::vector<int8_t>>> recompute(const program::Program& program,
                                                     const program::Step& step,
                                                     const StoredTensors& stored) {
  using Answer = std::optional<std::vector<int8_t>>;
  if (step.outputs.size() != 1) return Answer();
  const Recomputer work(program, step, stored);
  if (const auto* conv = std::get_if<program::ConvParams>(&step.params)) {
    RK_ASSIGN(auto out, recompute_conv(program, step, *conv, stored));
    return Answer(std::move(out));
  }
  if (const auto* sum = std::get_if<program::SumParams>(&step.params))
    return Answer(work.sum(*sum));
  if (const auto* concat = std::get_if<program::ConcatParams>(&step.params))
    return Answer(work.concat(*concat));
  if (const auto* pool = std::get_if<program::PoolParams>(&step.params))
    return Answer(work.pool(*pool));
  if (const auto* resize = std::get_if<program::ResizeParams>(&step.params))
    return work.resize(*resize);
  if (const auto* table = std::get_if<program::TableParams>(&step.params))
    return Answer(work.table(*table));
  return work.moved(std::get<program::OpParams>(step.params));
}

}  // namespace rk::e2e

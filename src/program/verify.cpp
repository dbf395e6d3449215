// SPDX-License-Identifier: Apache-2.0
// What a legal Program is. The input is hostile: it may come from any file. Whatever runtime/
// computes with without looking again is checked here, including that no int64 in the integer
// arithmetic can overflow.
#include <algorithm>
#include <cmath>
#include <variant>

#include "base/checked_math.h"
#include "program/core_split.h"
#include "program/narrow_weights.h"
#include "program/native_layout.h"
#include "program/program.h"

namespace rk::program {
namespace {

constexpr int32_t kMaxWindow = 1 << 15;         // kernel, stride, dilation and pad extents
constexpr int64_t kMaxTaps = int64_t{1} << 24;  // products summed for one output element
constexpr double kMaxProduct = 0x1p62;          // bound of every intermediate in int64 arithmetic
constexpr int32_t kMaxBatch = 1 << 10;          // samples of one run
constexpr int kMaxLinearShift = 40;             // 22 bits of weights come on top

// One step with what its checks need.
struct Context {
  const Program& program;
  const Variant& variant;
  const Step& step;
  int bias_group = 0;

  bool has_input(size_t i) const { return i < step.inputs.size() && step.inputs[i] != kNone; }
  const ProgramTensor& input(size_t i) const {
    return variant.tensors[static_cast<size_t>(step.inputs[i])];
  }
  const ProgramTensor& output(size_t i = 0) const {
    return variant.tensors[static_cast<size_t>(step.outputs[i])];
  }
  uint64_t constant_bytes(const ProgramTensor& tensor) const {
    return program.weights[static_cast<size_t>(tensor.weight)].bytes.size();
  }
};

Status check_arity(const Context& c, size_t least, size_t most) {
  const size_t count = c.step.inputs.size();
  if (count < least || count > most) {
    return invalid_model(str(count, " inputs, expected ", least, " to ", most));
  }
  if (c.step.outputs.size() != 1) {
    return invalid_model(str(c.step.outputs.size(), " outputs, expected 1"));
  }
  for (size_t i = 0; i < least; ++i) {
    if (!c.has_input(i)) return invalid_model(str("input ", i, " is absent"));
  }
  return ok_status();
}

Status check_feature(const ProgramTensor& tensor) {
  if (tensor.shape.rank() != 4) {
    return invalid_model(str("tensor '", tensor.name, "' has shape ", to_string(tensor.shape),
                             ", expected four extents"));
  }
  for (const int64_t extent : tensor.shape.dims()) {
    if (extent < 1) {
      return invalid_model(str("tensor '", tensor.name, "' has no elements along an axis"));
    }
  }
  return ok_status();
}

Status check_dtype(const ProgramTensor& tensor, DType expected) {
  if (tensor.dtype == expected) return ok_status();
  return invalid_model(str("tensor '", tensor.name, "' is ", to_string(tensor.dtype), ", expected ",
                           to_string(expected)));
}

// int8 or f16, one for the whole step.
Result<bool> is_integer_step(const Context& c) {
  const DType dtype = c.input(0).dtype;
  if (dtype != DType::kI8 && dtype != DType::kF16) {
    return invalid_model(
        str("tensor '", c.input(0).name, "' is ", to_string(dtype), ", expected i8 or f16"));
  }
  RK_TRY(check_dtype(c.output(), dtype));
  return dtype == DType::kI8;
}

Status check_range(std::string_view what, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return ok_status();
  return invalid_model(str(what, " ", value, " is outside ", least, "..", most));
}

Status check_extent(std::string_view what, const Extent2& extent) {
  RK_TRY(check_range(str(what, " height"), extent.h, 1, kMaxWindow));
  return check_range(str(what, " width"), extent.w, 1, kMaxWindow);
}

Status check_pads(const Pads2& pads) {
  RK_TRY(check_range("pad top", pads.top, 0, kMaxWindow));
  RK_TRY(check_range("pad left", pads.left, 0, kMaxWindow));
  RK_TRY(check_range("pad bottom", pads.bottom, 0, kMaxWindow));
  return check_range("pad right", pads.right, 0, kMaxWindow);
}

Status check_scale(const ScaleShift& scale) {
  RK_TRY(check_range("scale", scale.scale, 0, 65535));
  return check_range("shift", scale.shift, 0, 62);
}

Status check_bound(double bound) {
  if (bound < kMaxProduct) return ok_status();
  return invalid_model("its constants can overflow 64-bit arithmetic");
}

// The largest |rne(v * scale / 2^shift)| for |v| <= bound; the product itself must fit.
Result<double> scaled_bound(double bound, const ScaleShift& scale) {
  RK_TRY(check_scale(scale));
  const double product = bound * scale.scale;
  RK_TRY(check_bound(product));
  return std::ldexp(product, -scale.shift) + 1;
}

// `count` int8 values brought to a common unit.
Result<double> stage_bound(const InputStage& stage, double count = 1) {
  RK_TRY(check_range("input offset", stage.offset, -65536, 65536));
  return scaled_bound(count * (128.0 + std::abs(static_cast<double>(stage.offset))), stage.scale);
}

Status check_output_stage(const OutputStage& stage, double bound) {
  RK_TRY(check_range("output zero point", stage.zero_point, -65536, 65536));
  return scaled_bound(bound, stage.scale).status();
}

Status check_activation(Activation activation, bool clip_allowed) {
  if (activation == Activation::kNone || activation == Activation::kRelu) return ok_status();
  if (activation == Activation::kClip && clip_allowed) return ok_status();
  return invalid_model(str("activation ", static_cast<int>(activation), " is not known here"));
}

Status check_same_shape(const ProgramTensor& a, const ProgramTensor& b) {
  if (a.shape == b.shape) return ok_status();
  return invalid_model(str("tensors '", a.name, "' ", to_string(a.shape), " and '", b.name, "' ",
                           to_string(b.shape), " differ in shape"));
}

Status check_constant(const Context& c, size_t i, std::string_view what) {
  if (!c.input(i).is_constant()) {
    return invalid_model(str(what, " '", c.input(i).name, "' is not a constant"));
  }
  return ok_status();
}

Status check_plain_constant(const Context& c, const ProgramTensor& tensor) {
  RK_ASSIGN(const uint64_t needed, checked_byte_size({tensor.dtype, tensor.shape}));
  const uint64_t found = c.constant_bytes(tensor);
  if (found < needed) {
    return invalid_model(
        str("constant '", tensor.name, "' needs ", needed, " bytes, the file has ", found));
  }
  return ok_status();
}

struct Axis {
  std::string_view name;
  int64_t in, out, kernel, stride, dilation, pad_before, pad_after;
};

Status check_conv_axis(const Axis& a, bool transposed) {
  const int64_t window = (a.kernel - 1) * a.dilation + 1;
  if (!transposed) {
    const int64_t room = a.in + a.pad_before + a.pad_after - window;
    const int64_t expected = room < 0 ? 0 : room / a.stride + 1;
    if (a.out == expected) return ok_status();
    return invalid_model(str("output ", a.name, " ", a.out, ", computed ", expected));
  }
  // Output padding is not stored: the output extent says how much there is.
  const int64_t least = (a.in - 1) * a.stride + window - a.pad_before - a.pad_after;
  const int64_t most = least + std::max(a.stride, a.dilation) - 1;
  if (a.out >= least && a.out <= most) return ok_status();
  return invalid_model(
      str("output ", a.name, " ", a.out, ", computed ", least, "..", most, " (transposed)"));
}

struct Axes {
  Axis y, x;
};
Axes axes_of(const Shape& in, const Shape& out, Extent2 kernel, Extent2 stride, Extent2 dilation,
             const Pads2& pads) {
  return {{"height", in[2], out[2], kernel.h, stride.h, dilation.h, pads.top, pads.bottom},
          {"width", in[3], out[3], kernel.w, stride.w, dilation.w, pads.left, pads.right}};
}

Status check_weight_shape(const ConvParams& p, const ProgramTensor& weight, int64_t in_channels,
                          int64_t out_channels) {
  const Shape& s = weight.shape;
  if (s.rank() == 4 && s[2] == p.kernel.h && s[3] == p.kernel.w) {
    const int64_t first = p.transposed ? in_channels : out_channels;
    const int64_t second = p.transposed ? out_channels : in_channels;
    if (s[0] == first && s[1] == second / p.group) return ok_status();
    const bool depthwise = p.group == in_channels && p.group == out_channels;
    if (depthwise && s[0] == 1 && s[1] == p.group) return ok_status();
  }
  return invalid_model(str("weight '", weight.name, "' has shape ", to_string(s),
                           ", which does not fit ", in_channels, " input and ", out_channels,
                           " output channels in ", p.group, " groups, kernel ", p.kernel.h, "x",
                           p.kernel.w));
}

// `bound` of v before the stage; the result is that of v after it.
Result<double> lookup_bound(const LookupStage& s, double bound) {
  RK_TRY(check_range("entries of a lookup table", static_cast<int64_t>(s.low.size()),
                     kLookupEntries, kLookupEntries));
  RK_TRY(check_range("entries of a lookup table", static_cast<int64_t>(s.high.size()),
                     kLookupEntries, kLookupEntries));
  RK_TRY(check_range("lookup multiplier", s.multiplier, -65536, 65536));
  RK_TRY(check_range("lookup shift", s.shift, 0, 62));
  RK_TRY(check_range("lookup entry shift", s.entry_shift, 0, 16));
  RK_TRY(check_range("lookup start", s.start, -(1 << 26), 0));
  RK_TRY(check_range("lookup end", s.end, 0, 1 << 26));
  const double product =
      bound * std::abs(static_cast<double>(s.multiplier)) + std::abs(static_cast<double>(s.addend));
  RK_TRY(check_bound(product));
  const double index = std::ldexp(product, -s.shift) + 1 + (1 << 26);
  RK_ASSIGN(const double below, scaled_bound(index, s.below));
  RK_ASSIGN(const double above, scaled_bound(index, s.above));
  return std::max(below, above) + 32768;
}

Result<double> slope_bound(const SlopeStage& s, double product, double v, int64_t channels) {
  const auto count = static_cast<int64_t>(s.factor.size());
  if (count != 1 && count != channels) {
    return invalid_model(str(count, " slopes for ", channels, " channels"));
  }
  RK_TRY(check_range("shift of negative sums", s.negative_multiplier_shift, 0, 62));
  RK_TRY(check_range("shift", s.positive_shift, 0, 62));
  RK_ASSIGN(const double negative,
            scaled_bound(std::ldexp(product, -s.negative_multiplier_shift) + 1,
                         {32768, s.negative_shift}));
  return std::max(negative, v);
}

// Of (acc + bias) * m over all channels, where |x| and |w| are at most 128.
Result<double> product_bound(const Context& c, double taps) {
  const ByteSpan bytes = c.program.weights[static_cast<size_t>(c.input(2).weight)].bytes;
  RK_ASSIGN(const BiasBlock block, unpack_bias(bytes, c.output().shape[1], c.bias_group));
  double largest = 0;
  for (size_t i = 0; i < block.bias.size(); ++i) {
    const double sum = taps * 128 * (128 + std::abs(static_cast<double>(block.offset[i])));
    largest = std::max(largest, (sum + std::abs(static_cast<double>(block.bias[i]))) *
                                    std::abs(static_cast<double>(block.multiplier[i])));
  }
  RK_TRY(check_bound(largest));
  return largest;
}

Status check_conv_integer(const Context& c, const ConvParams& p, double taps) {
  const ProgramTensor& weight = c.input(1);
  RK_TRY(check_dtype(weight, DType::kI8));
  if (weight.layout == Layout::kWeight) {
    RK_TRY(check_native_weights(c.constant_bytes(weight), weight.native_shape, weight.shape));
  } else {
    RK_TRY(check_plain_constant(c, weight));
  }
  if (!c.has_input(2)) return invalid_model("an int8 convolution needs its bias block");
  RK_TRY(check_constant(c, 2, "bias"));
  if (c.bias_group < 1) return invalid_model("the target has no int8 convolution");
  const uint64_t channels = static_cast<uint64_t>(c.output().shape[1]);
  const uint64_t group = static_cast<uint64_t>(c.bias_group);
  if (c.constant_bytes(c.input(2)) < align_up(channels, group) * 8) {
    return invalid_model(str("bias block '", c.input(2).name, "' of ", c.constant_bytes(c.input(2)),
                             " bytes is too short for ", channels, " channels"));
  }
  RK_TRY(check_range("pad value", p.pad_value, -128, 127));
  RK_TRY(check_range("multiplier shift", p.multiplier_shift, 0, 62));
  RK_TRY(check_range("clip limit", p.clip_limit, 0, INT32_MAX));
  RK_ASSIGN(const double product, product_bound(c, taps));
  double bound = product;
  bound = std::ldexp(bound, -p.multiplier_shift) + 1;
  if (p.lookup || p.slope) {
    if ((p.lookup && p.slope) || p.activation != Activation::kNone) {
      return invalid_model("two activations before the addition");
    }
    RK_ASSIGN(bound, p.lookup ? lookup_bound(*p.lookup, bound)
                              : slope_bound(*p.slope, product, bound, c.output().shape[1]));
  }
  if (c.has_input(3)) {
    RK_ASSIGN(const double addend, stage_bound(p.addend));
    bound += addend;
  }
  return check_output_stage(p.output, bound);
}

// See narrow_weights.h.
Status check_narrow_weights(const Context& c, const ProgramTensor& weight) {
  const uint64_t needed = narrow_size_bytes(weight.dtype, weight.shape.elements());
  if (c.constant_bytes(weight) < needed) {
    return invalid_model(str("constant '", weight.name, "' needs ", needed, " bytes, the file has ",
                             c.constant_bytes(weight)));
  }
  if (!c.has_input(4))
    return invalid_model(str("weight '", weight.name, "' is narrow but has no scales"));
  RK_TRY(check_constant(c, 4, "weight scales"));
  RK_TRY(check_dtype(c.input(4), DType::kF32));
  const Shape& shape = c.input(4).shape;
  if (shape.rank() != 3 || shape[0] != 2 || shape[1] != c.output().shape[1] || shape[2] < 1) {
    return invalid_model(str("weight scales '", c.input(4).name, "' have shape ", to_string(shape),
                             ", expected [2,", c.output().shape[1], ",groups]"));
  }
  return check_plain_constant(c, c.input(4));
}

Status check_conv_float(const Context& c, const ConvParams& p) {
  const ProgramTensor& weight = c.input(1);
  const bool narrow = weight.dtype == DType::kI8 || weight.dtype == DType::kI4;
  if (weight.dtype != DType::kF16 && weight.dtype != DType::kF32 && !narrow) {
    return invalid_model(str("weight '", weight.name, "' is ", to_string(weight.dtype),
                             ", expected f16, f32, i8 or i4"));
  }
  if (weight.layout == Layout::kWeight) {
    return invalid_model(str("weight '", weight.name, "': blocked float weights are not known"));
  }
  RK_TRY(narrow ? check_narrow_weights(c, weight) : check_plain_constant(c, weight));
  if (c.has_input(2)) {
    RK_TRY(check_constant(c, 2, "bias"));
    RK_TRY(check_dtype(c.input(2), DType::kF32));
    if (c.input(2).shape.elements() != c.output().shape[1]) {
      return invalid_model(str("bias '", c.input(2).name, "' has shape ",
                               to_string(c.input(2).shape), ", expected ", c.output().shape[1],
                               " values"));
    }
    RK_TRY(check_plain_constant(c, c.input(2)));
  }
  if (p.activation == Activation::kClip && !(p.clip_limit_f32 >= 0))
    return invalid_model("clip limit is negative");
  return ok_status();
}

Status check(const Context& c, const ConvParams& p) {
  RK_TRY(check_arity(c, 2, 5));
  RK_ASSIGN(const bool integer, is_integer_step(c));
  RK_TRY(check_feature(c.input(0)));
  RK_TRY(check_feature(c.output()));
  RK_TRY(check_extent("kernel", p.kernel));
  RK_TRY(check_extent("stride", p.stride));
  RK_TRY(check_extent("dilation", p.dilation));
  RK_TRY(check_pads(p.pads));
  RK_TRY(check_activation(p.activation, true));
  RK_TRY(check_activation(p.post_activation, false));  // the chip has no clip after the add
  const Shape &in = c.input(0).shape, &out = c.output().shape;
  if (in[0] != out[0]) return invalid_model("input and output differ in batch");
  if (p.group < 1 || in[1] % p.group != 0 || out[1] % p.group != 0) {
    return invalid_model(
        str(p.group, " groups do not divide ", in[1], " input and ", out[1], " output channels"));
  }
  const Axes axes = axes_of(in, out, p.kernel, p.stride, p.dilation, p.pads);
  RK_TRY(check_conv_axis(axes.y, p.transposed));
  RK_TRY(check_conv_axis(axes.x, p.transposed));
  RK_TRY(check_constant(c, 1, "weight"));
  RK_TRY(check_weight_shape(p, c.input(1), in[1], out[1]));
  const int64_t taps = in[1] / p.group * p.kernel.h * p.kernel.w;
  RK_TRY(check_range("products per output", taps, 1, kMaxTaps));
  if (c.has_input(3)) {
    RK_TRY(check_dtype(c.input(3), c.input(0).dtype));
    RK_TRY(check_same_shape(c.input(3), c.output()));
  }
  if (integer) return check_conv_integer(c, p, static_cast<double>(taps));
  return check_conv_float(c, p);
}

Status check(const Context& c, const SumParams& p) {
  RK_TRY(check_arity(c, 1, 64));
  RK_ASSIGN(const bool integer, is_integer_step(c));
  RK_TRY(check_activation(p.activation, false));
  if (integer && p.inputs.size() != c.step.inputs.size()) {
    return invalid_model(
        str(p.inputs.size(), " input stages for ", c.step.inputs.size(), " inputs"));
  }
  double bound = 0;
  for (size_t i = 0; i < c.step.inputs.size(); ++i) {
    if (!c.has_input(i)) return invalid_model(str("input ", i, " is absent"));
    RK_TRY(check_dtype(c.input(i), c.input(0).dtype));
    RK_TRY(check_same_shape(c.input(i), c.output()));
    if (c.input(i).is_constant()) RK_TRY(check_plain_constant(c, c.input(i)));
    if (!integer) continue;
    RK_ASSIGN(const double stage, stage_bound(p.inputs[i]));
    bound += stage;
  }
  return integer ? check_output_stage(p.output, bound) : ok_status();
}

Status check(const Context& c, const ConcatParams& p) {
  RK_TRY(check_arity(c, 1, 4096));
  const Shape& out = c.output().shape;
  RK_TRY(check_range("axis", p.axis, 0, out.rank() - 1));
  if (!p.identity) {
    RK_TRY(check_dtype(c.output(), DType::kI8));
    if (p.inputs.size() != c.step.inputs.size()) {
      return invalid_model(
          str(p.inputs.size(), " input stages for ", c.step.inputs.size(), " inputs"));
    }
  }
  int64_t sum = 0;
  for (size_t i = 0; i < c.step.inputs.size(); ++i) {
    if (!c.has_input(i)) return invalid_model(str("input ", i, " is absent"));
    RK_TRY(check_dtype(c.input(i), c.output().dtype));
    if (c.input(i).is_constant()) RK_TRY(check_plain_constant(c, c.input(i)));
    Shape expected = out;
    if (c.input(i).shape.rank() == out.rank()) expected[p.axis] = c.input(i).shape[p.axis];
    if (!(c.input(i).shape == expected)) {
      return invalid_model(str("tensor '", c.input(i).name, "' ", to_string(c.input(i).shape),
                               " does not fit output ", to_string(out), " on axis ", p.axis));
    }
    sum += expected[p.axis];
    if (p.identity) continue;
    RK_ASSIGN(const double bound, stage_bound(p.inputs[i]));
    RK_TRY(check_output_stage(p.output, bound));
  }
  if (sum == out[p.axis]) return ok_status();
  return invalid_model(
      str("inputs sum to ", sum, " on axis ", p.axis, ", output has ", out[p.axis]));
}

// Every window must hold at least one element of the input.
Status check_pool_axis(const Axis& a) {
  if (a.pad_before < a.kernel && (a.out - 1) * a.stride - a.pad_before < a.in) return ok_status();
  return invalid_model(str("output ", a.name, " ", a.out, ": a window of ", a.kernel, ", stride ",
                           a.stride, ", pad ", a.pad_before, " lies outside the input of ", a.in));
}

Status check(const Context& c, const PoolParams& p) {
  RK_TRY(check_arity(c, 1, 1));
  RK_ASSIGN(const bool integer, is_integer_step(c));
  RK_TRY(check_feature(c.input(0)));
  RK_TRY(check_feature(c.output()));
  RK_TRY(check_extent("kernel", p.kernel));
  RK_TRY(check_extent("stride", p.stride));
  RK_TRY(check_pads(p.pads));
  const Shape &in = c.input(0).shape, &out = c.output().shape;
  if (in[0] != out[0] || in[1] != out[1]) {
    return invalid_model("input and output differ in batch or channels");
  }
  const Axes axes = axes_of(in, out, p.kernel, p.stride, {1, 1}, p.pads);
  RK_TRY(check_pool_axis(axes.y));
  RK_TRY(check_pool_axis(axes.x));
  if (p.kind == PoolKind::kMax) return ok_status();
  if (p.kind != PoolKind::kAverage) return invalid_model("pool kind is not known");
  if (!integer) return ok_status();
  const int64_t count = int64_t{p.kernel.h} * p.kernel.w;
  if (static_cast<int64_t>(p.by_count.size()) != count) {
    return invalid_model(str(p.by_count.size(), " stages by count, expected ", count));
  }
  for (size_t i = 0; i < p.by_count.size(); ++i) {
    if (p.by_count[i].offset != p.by_count[0].offset) {
      return invalid_model("stages by count differ in their offset");
    }
    RK_ASSIGN(const double bound, stage_bound(p.by_count[i], static_cast<double>(i + 1)));
    RK_TRY(check_output_stage(p.output, bound));
  }
  return ok_status();
}

Status check(const Context& c, const ResizeParams& p) {
  RK_TRY(check_arity(c, 1, 1));
  RK_ASSIGN(const bool integer, is_integer_step(c));
  RK_TRY(check_feature(c.input(0)));
  RK_TRY(check_feature(c.output()));
  if (p.mode > ResizeMode::kLinear || p.coordinates > CoordinateMode::kAsymmetric ||
      p.nearest > NearestMode::kCeil) {
    return invalid_model("resize mode is not known");
  }
  const Shape &in = c.input(0).shape, &out = c.output().shape;
  if (in[0] != out[0] || in[1] != out[1]) {
    return invalid_model("input and output differ in batch or channels");
  }
  for (const float scale : {p.scale_h, p.scale_w}) {
    if (!(scale > 0) || !std::isfinite(scale)) {
      return invalid_model(str("resize factor ", scale, " is not a positive number"));
    }
  }
  if (p.identity && p.mode != ResizeMode::kNearest) {
    return invalid_model("only a nearest resize copies bytes");
  }
  if (!integer || p.identity) return ok_status();
  RK_TRY(check_range("input shift", p.input.scale.shift, 0, kMaxLinearShift));
  // The sum of the weights is 2^22 when linear; the shift takes them out again.
  RK_TRY(stage_bound(p.input, 0x1p22).status());
  RK_ASSIGN(const double bound, stage_bound(p.input));
  return check_output_stage(p.output, bound);
}

Status check(const Context& c, const TableParams& p) {
  RK_TRY(check_arity(c, 1, 1));
  RK_TRY(check_dtype(c.input(0), DType::kI8));
  RK_TRY(check_dtype(c.output(), DType::kI8));
  RK_TRY(check_same_shape(c.input(0), c.output()));
  if (p.table.size() == 256) return ok_status();
  return invalid_model(str("table of ", p.table.size(), " entries, expected 256"));
}

Status check(const Context& c, const OpParams& p) {
  if (p.op.empty()) return invalid_model("the operator has no name");
  if (c.step.outputs.empty()) return invalid_model("no outputs");
  for (size_t i = 0; i < c.step.inputs.size(); ++i) {
    if (!c.has_input(i) || !c.input(i).is_constant()) continue;
    if (c.input(i).layout == Layout::kWeight) {
      return invalid_model(str("constant '", c.input(i).name, "' is blocked, expected plain"));
    }
    RK_TRY(check_plain_constant(c, c.input(i)));
  }
  return ok_status();
}

Status check_tensor(const Program& program, const Variant& variant, const ProgramTensor& t) {
  if (byte_size(t.dtype) == 0) return invalid_model("dtype is not known");
  RK_TRY(Shape::make(t.shape.dims()).status());
  RK_ASSIGN(const uint64_t plain_bytes, checked_byte_size({t.dtype, t.shape}));
  if (plain_bytes > kMaxObjectBytes || t.size_bytes > kMaxObjectBytes) {
    return invalid_model(str(std::max(plain_bytes, t.size_bytes), " bytes; the limit is 1 GiB"));
  }
  if (!(t.scale >= 0) || !std::isfinite(t.scale)) {
    return invalid_model(str("scale ", t.scale, " is not a positive number"));
  }
  if (t.quantized()) {
    if (t.dtype == DType::kI8) {
      RK_TRY(check_range("zero point", t.zero_point, -128, 127));
    } else if (t.dtype == DType::kU8) {
      RK_TRY(check_range("zero point", t.zero_point, 0, 255));
    } else {
      RK_TRY(check_range("zero point", t.zero_point, -65536, 65536));
    }
  }
  if (t.weight != kNone) {
    if (t.weight < 0 || static_cast<size_t>(t.weight) >= program.weights.size()) {
      return invalid_model(str("weight index ", t.weight, " of ", program.weights.size()));
    }
    return ok_status();
  }
  const bool in_arena = t.kind == TensorKind::kInput || t.kind == TensorKind::kOutput ||
                        t.kind == TensorKind::kInternal;
  const auto end = checked_add(t.offset_in_arena, t.size_bytes);
  if (in_arena && (!end || *end > variant.arena_bytes)) {
    return invalid_model(str("lies at ", t.offset_in_arena, " + ", t.size_bytes,
                             ", beyond the arena of ", variant.arena_bytes, " bytes"));
  }
  return ok_status();
}

// Indices of one step, and that its inputs exist by the time it runs.
Status check_places(const Variant& variant, const Step& step, std::vector<bool>& defined) {
  const auto count = static_cast<int64_t>(variant.tensors.size());
  for (const int32_t i : step.inputs) {
    if (i == kNone) continue;
    RK_TRY(check_range("input tensor", i, 1, count - 1));
    const auto index = static_cast<size_t>(i);
    if (!defined[index]) {
      return invalid_model(
          str("reads tensor '", variant.tensors[index].name, "' before it is written"));
    }
  }
  for (const int32_t i : step.outputs) {
    RK_TRY(check_range("output tensor", i, 1, count - 1));
    const auto index = static_cast<size_t>(i);
    if (defined[index]) {
      return invalid_model(str("writes tensor '", variant.tensors[index].name,
                               "', which is a constant, an input or written already"));
    }
    defined[index] = true;
  }
  return ok_status();
}

// The shares of the cores cover the output's rows, each row once.
Status check_core_rows(const Variant& variant, const Step& step) {
  const Shape& shape = variant.tensors[static_cast<size_t>(step.outputs.front())].shape;
  size_t counted = 0;
  for (int cores = 2; counted < step.core_rows.size(); ++cores) {
    const std::span<const int32_t> rows = rows_by_core(step.core_rows, cores);
    int64_t sum = 0;
    for (const int32_t count : rows) {
      if (count < 0) return invalid_model(str("a core has ", count, " rows"));
      sum += count;
    }
    if (rows.empty() || shape.rank() != 4 || sum != shape[2]) {
      return invalid_model(
          str("the rows of ", cores, " cores do not add up to the output ", to_string(shape)));
    }
    counted += rows.size();
  }
  return ok_status();
}

Status verify_variant(const Program& program, const Variant& variant, int bias_group) {
  if (variant.tensors.size() > (1u << 24) || variant.steps.size() > (1u << 24)) {
    return invalid_model("more than 2^24 tensors or steps");
  }
  if (variant.tensors.empty()) return invalid_model("tensor 0, the dummy, is missing");
  if (variant.arena_bytes > kMaxObjectBytes) {
    return invalid_model(str("arena of ", variant.arena_bytes, " bytes; the limit is 1 GiB"));
  }
  const auto count = static_cast<int64_t>(variant.tensors.size());
  std::vector<bool> defined(variant.tensors.size());
  for (size_t i = 1; i < variant.tensors.size(); ++i) {
    const ProgramTensor& tensor = variant.tensors[i];
    if (Status status = check_tensor(program, variant, tensor); !status.ok()) {
      return status.with_context(str("tensor ", i, " '", tensor.name, "'"));
    }
    defined[i] = tensor.is_constant();
  }
  if (variant.inputs.size() != program.inputs.size()) {
    return invalid_model(str(variant.inputs.size(), " input tensors, ", program.inputs.size(),
                             " input descriptions"));
  }
  for (const int32_t i : variant.inputs) {
    RK_TRY(check_range("model input tensor", i, 1, count - 1));
    if (defined[static_cast<size_t>(i)]) {
      return invalid_model(str("model input '", variant.tensors[static_cast<size_t>(i)].name,
                               "' is a constant or listed twice"));
    }
    defined[static_cast<size_t>(i)] = true;
  }
  for (const Step& step : variant.steps) {
    const Context context{program, variant, step, bias_group};
    Status status = check_places(variant, step, defined);
    if (status.ok()) {
      status = std::visit([&](const auto& params) { return check(context, params); }, step.params);
    }
    if (status.ok() && !step.core_rows.empty()) status = check_core_rows(variant, step);
    if (!status.ok()) return status.with_context(str("step '", step.name, "' (", step.type, ")"));
  }
  for (const int32_t i : variant.outputs) {
    RK_TRY(check_range("model output tensor", i, 1, count - 1));
    if (!defined[static_cast<size_t>(i)]) {
      return invalid_model(str("model output '", variant.tensors[static_cast<size_t>(i)].name,
                               "' is never written"));
    }
  }
  return ok_status();
}

}  // namespace

Blob make_blob(std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  const ByteSpan view = *owner;
  return {std::move(owner), view};
}

Status verify(const Program& program) {
  RK_ASSIGN(const target::Target* const target, target::find_target(program.target));
  RK_TRY(check_range("batch", program.batch, 1, kMaxBatch));
  if (!program.removed.empty()) {
    return invalid_model(str(program.removed.size(),
                             " constants were left out (remove_weight): load the model with "
                             "RKNN_FLAG_SHARE_WEIGHT_MEM and a context that has them"));
  }
  if (!program.coded.empty())
    return invalid_model(str(program.coded.size(), " constants have not been decoded"));
  if (program.variants.empty()) return invalid_model("the program has no variant");
  for (const InputInfo& info : program.inputs) {
    for (const float value : info.std) {
      if (!std::isfinite(value) || value == 0) {
        return invalid_model(str("input std ", value, " cannot divide"));
      }
    }
  }
  for (size_t i = 0; i < program.variants.size(); ++i) {
    const Status status =
        verify_variant(program, program.variants[i], target->weights_i8.bias_group);
    if (!status.ok()) {
      return program.variants.size() == 1 ? status : status.with_context(str("variant ", i));
    }
    if (program.variants[i].outputs.size() != program.variants[0].outputs.size()) {
      return invalid_model(str("variant ", i, " has ", program.variants[i].outputs.size(),
                               " outputs, variant 0 has ", program.variants[0].outputs.size()));
    }
  }
  return ok_status();
}

}  // namespace rk::program

// SPDX-License-Identifier: Apache-2.0
#include "compiler/conv_step.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/fixed_point.h"
#include "base/half.h"
#include "program/narrow_weights.h"
#include "target/registers.h"

namespace rk::compiler {
namespace {

constexpr double kMultiplierOne = 16384;
// Models with scales of their own: the multiplier may have 15 bits, and the shift after it is a register, so v can have a
// finer unit than the sums. It is made so fine that kFineSteps of it are a step of the output.
constexpr double kLargestMultiplier = 32767;
constexpr double kFineSteps = 1024;
constexpr int32_t kUsualShift = 14;

template <typename T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  const auto* from = reinterpret_cast<const uint8_t*>(values.data());
  return {from, from + values.size() * sizeof(T)};
}

// The output channel that a weight of a plain tensor belongs to.
class ChannelOf {
 public:
  explicit ChannelOf(const ConvSpec& spec)
      : taps_(spec.weight_shape[2] * spec.weight_shape[3]),
        second_(spec.weight_shape[1]),
        transposed_(spec.params.transposed),
        in_per_group_(spec.in_channels / spec.params.group),
        out_per_group_(spec.out_channels / spec.params.group) {}

  size_t operator()(size_t index) const {
    const auto row = static_cast<int64_t>(index) / taps_;
    if (!transposed_) return static_cast<size_t>(row / second_);
    const int64_t in = row / second_, out = row % second_;
    return static_cast<size_t>(in / in_per_group_ * out_per_group_ + out);
  }

 private:
  int64_t taps_, second_;
  bool transposed_;
  int64_t in_per_group_, out_per_group_;
};

bool is_depthwise(const ConvSpec& spec) {
  return spec.params.group > 1 && spec.params.group == spec.in_channels &&
         spec.params.group == spec.out_channels;
}

Status check_scales(const ConvSpec& spec) {
  const auto bad = [](float scale) { return !(scale > 0) || !std::isfinite(scale); };
  if (std::ranges::any_of(spec.weight_scale, bad)) {
    return invalid_model("a weight scale is not a positive number");
  }
  if (bad(spec.in.scale) || bad(spec.out.scale)) {
    return invalid_model("the scale of input or output is not a positive number");
  }
  return ok_status();
}

// Below this a channel's weights are requantized: the multiplier would be too coarse or, for scales that the model
// brought, would be 0 or leave no room for the bias.
double least_scale(const ConvSpec& spec, size_t channel, double max_scale) {
  if (!spec.keep_weight_scales) return max_scale * spec.least_scale_share;
  const double b = spec.bias.empty() ? 0.0 : std::fabs(spec.bias[channel]);
  constexpr double kBiasRoom = 1 << 30;
  return std::max(max_scale / kMultiplierOne, std::min(max_scale, b / spec.in.scale / kBiasRoom));
}

// `exact` is the number that was rounded to `scale`.
bool is_exact(double exact, float scale) { return static_cast<float>(exact) == scale; }

// Note: weights, multipliers and biases of a model without scales of its own are computed in float32, in this order of
// operations, because the vendor's compiler does: ties would fall elsewhere in double (docs/fidelity.md, "Register lists").
int8_t quantize_weight(const ConvSpec& spec, float weight, double scale, int32_t zero_point) {
  if (!spec.keep_weight_scales) {
    const float sum = std::clamp(weight / static_cast<float>(scale), -1024.0F, 1024.0F) +
                      static_cast<float>(zero_point);
    return saturate_i8(std::isnan(sum) ? zero_point : static_cast<int64_t>(round_even(sum)));
  }
  const double scaled = std::clamp(weight / scale, -1024.0, 1024.0);
  return saturate_i8(std::isnan(scaled) ? zero_point
                                        : static_cast<int64_t>(round_even(scaled)) + zero_point);
}

int16_t quantize_multiplier(const ConvSpec& spec, double one, double scale, double max_scale) {
  if (spec.keep_weight_scales) return static_cast<int16_t>(round_even(one * scale / max_scale));
  const float share = static_cast<float>(scale) * (1.0F / static_cast<float>(max_scale));
  return static_cast<int16_t>(round_even(share * static_cast<float>(one)));
}

// `scale` is the channel's.
double quantize_bias(const ConvSpec& spec, size_t channel, double scale) {
  const double b = spec.bias.empty() ? 0.0 : spec.bias[channel];
  if (spec.keep_weight_scales) return round_even(b / (spec.in.scale * scale));
  const double in =
      is_exact(spec.exact_in_scale, spec.in.scale) ? spec.exact_in_scale : spec.in.scale;
  const bool known = channel < spec.exact_weight_scale.size() &&
                     is_exact(spec.exact_weight_scale[channel], static_cast<float>(scale));
  const auto unit = static_cast<float>(in * (known ? spec.exact_weight_scale[channel] : scale));
  return round_even(static_cast<float>(b) / unit);
}

// The largest multiplier and the shift after it.
struct MultiplierForm {
  double largest = kMultiplierOne;
  int32_t shift = kUsualShift;
};

// `sums_unit` is the unit of the sums, `largest_sum` bounds them with their bias.
MultiplierForm multiplier_form(const ConvSpec& spec, double sums_unit, double largest_sum) {
  // Below this every stage is exact in float32, which the fast kernels compute in; the chip has 32 bits.
  constexpr double kRoom = 1 << 22;
  MultiplierForm form;
  if (!spec.keep_weight_scales) return form;
  const auto unit = [&](int32_t shift) {
    return std::ldexp(sums_unit / kLargestMultiplier, shift);
  };
  const auto fits = [&](int32_t shift) {
    const double added = spec.addend == program::kNone ? 0 : spec.added.scale / unit(shift);
    const bool clips = spec.params.activation == program::Activation::kClip;
    const double limit = clips ? spec.clip_limit / unit(shift) : 0;
    return largest_sum * sums_unit / unit(shift) + 256 * added < kRoom && limit < kRoom &&
           added < kMultiplierOne;
  };
  if (!fits(kUsualShift)) return form;
  form.largest = kLargestMultiplier;
  while (form.shift > 0 && spec.out.scale / unit(form.shift) < kFineSteps && fits(form.shift - 1))
    --form.shift;
  return form;
}

int32_t add_integer_weights(const ConvSpec& spec, const QuantizedConv& conv, Builder& builder) {
  ConstantSpec constant{.name = spec.weight_name, .dtype = DType::kI8, .shape = spec.weight_shape};
  const bool depthwise = is_depthwise(spec);
  const auto& layout = builder.target().weights_i8;
  if (!spec.params.transposed && (depthwise || spec.params.group == 1)) {
    if (depthwise) {
      constant.shape = {1, spec.out_channels, spec.weight_shape[2], spec.weight_shape[3]};
    }
    const auto use = depthwise            ? program::WeightUse::kDepthwise
                     : spec.reads_picture ? program::WeightUse::kPicture
                                          : program::WeightUse::kDense;
    constant.native_shape = program::native_weight_shape(layout, constant.shape, use);
  }
  if (constant.native_shape.empty()) {
    constant.bytes = bytes_of(conv.weights);
  } else {
    constant.layout = program::Layout::kWeight;
    constant.bytes = program::pack_weights(conv.weights, constant.shape, conv.channels.offset,
                                           constant.native_shape);
  }
  return builder.add_constant(std::move(constant));
}

int32_t add_bias_block(const ConvSpec& spec, const QuantizedConv& conv, Builder& builder) {
  const auto& layout = builder.target().weights_i8;
  const int align = is_depthwise(spec) ? std::max(layout.depthwise_c2, layout.bias_channel_align)
                                       : layout.bias_channel_align;
  ConstantSpec constant{
      .name = spec.bias_name, .dtype = DType::kI32, .shape = Shape{spec.out_channels}};
  constant.bytes = program::pack_bias(conv.channels, layout.bias_group, align);
  constant.native_shape = {static_cast<int32_t>(constant.bytes.size() / 4)};
  return builder.add_constant(std::move(constant));
}

int32_t add_float_weights(const ConvSpec& spec, Builder& builder) {
  std::vector<uint16_t> halves(spec.weights.size());
  std::ranges::transform(spec.weights, halves.begin(), float_to_half);
  return builder.add_constant({.name = spec.weight_name,
                               .dtype = DType::kF16,
                               .shape = spec.weight_shape,
                               .bytes = bytes_of(halves)});
}

bool is_narrow(const ConvSpec& spec, const Builder& builder) {
  const CompileOptions& options = builder.options();
  return options.float_weight_bits < 16 &&
         static_cast<int64_t>(spec.weights.size()) >= options.least_narrow_weights;
}

// Returns the weight and its scales.
std::pair<int32_t, int32_t> add_narrow_weights(const ConvSpec& spec, Builder& builder) {
  const CompileOptions& options = builder.options();
  const std::string_view method = options.float_weight_method;
  program::NarrowSpec narrow{.bits = options.float_weight_bits, .per_layer = method == "layer"};
  constexpr std::string_view kGroup = "group";
  if (method.starts_with(kGroup))
    narrow.group = std::stoll(std::string(method.substr(kGroup.size())));
  const auto channel_of =
      program::output_channels(spec.weight_shape, spec.params, spec.in_channels, spec.out_channels);
  program::NarrowWeights stored =
      program::narrow_weights(spec.weights, channel_of, spec.out_channels, narrow);
  const int32_t weight = builder.add_constant({.name = spec.weight_name,
                                               .dtype = stored.dtype,
                                               .shape = spec.weight_shape,
                                               .bytes = std::move(stored.bytes)});
  const int32_t scales = builder.add_constant({.name = spec.weight_name + "_scales",
                                               .dtype = DType::kF32,
                                               .shape = Shape{2, spec.out_channels, stored.groups},
                                               .bytes = bytes_of(stored.constants)});
  return {weight, scales};
}

int32_t add_float_bias(const ConvSpec& spec, Builder& builder) {
  if (spec.bias.empty()) return program::kNone;
  return builder.add_constant({.name = spec.bias_name,
                               .dtype = DType::kF32,
                               .shape = Shape{spec.out_channels},
                               .bytes = bytes_of(spec.bias)});
}

}  // namespace

std::optional<ChannelScales> channel_scales(const Value& weight, int axis, int64_t channels) {
  const QuantParams& quant = weight.quant;
  if (quant.dtype != DType::kI8 && quant.dtype != DType::kU8) return std::nullopt;
  const size_t count = static_cast<size_t>(channels);
  const size_t given = quant.scale.size();
  if (given != 1 && (given != count || quant.axis != axis)) return std::nullopt;
  if (!quant.zero_point.empty() && quant.zero_point.size() != given) return std::nullopt;
  const int32_t shift = quant.dtype == DType::kU8 ? 128 : 0;
  ChannelScales out;
  for (size_t c = 0; c < count; ++c) {
    const size_t i = given == 1 ? 0 : c;
    out.scale.push_back(quant.scale[i]);
    out.zero_point.push_back((quant.zero_point.empty() ? 0 : quant.zero_point[i]) - shift);
  }
  return out;
}

Result<ScaleShift> output_scale(const ConvSpec& spec, double accumulator_scale) {
  if (spec.keep_weight_scales) return to_scale_shift(accumulator_scale / spec.out.scale);
  return to_scale_shift(static_cast<float>(accumulator_scale) / spec.out.scale);
}

std::vector<double> exact_scales(const QuantParams& quant) {
  constexpr double kSteps = 255;
  std::vector<double> out;
  if (quant.min.size() != quant.max.size()) return out;
  for (size_t i = 0; i < quant.min.size(); ++i)
    out.push_back((double{quant.max[i]} - double{quant.min[i]}) / kSteps);
  return out;
}

Result<QuantizedConv> quantize_conv(const ConvSpec& spec) {
  RK_TRY(check_scales(spec));
  const size_t channels = static_cast<size_t>(spec.out_channels);
  const double max_scale = *std::ranges::max_element(spec.weight_scale);
  std::vector<double> scale(channels);
  QuantizedConv out;
  for (size_t c = 0; c < channels; ++c) {
    scale[c] = std::max<double>(spec.weight_scale[c], least_scale(spec, c, max_scale));
    out.channels.offset.push_back(static_cast<int16_t>(-spec.weight_zero_point[c]));
  }
  const ChannelOf channel_of(spec);
  std::vector<int64_t> sums(channels), peaks(channels);
  out.weights.reserve(spec.weights.size());
  for (size_t i = 0; i < spec.weights.size(); ++i) {
    const size_t c = channel_of(i);
    const int8_t w = quantize_weight(spec, spec.weights[i], scale[c], spec.weight_zero_point[c]);
    out.weights.push_back(w);
    sums[c] += w - spec.weight_zero_point[c];
    peaks[c] += 128 * std::abs(w - spec.weight_zero_point[c]);
  }
  double largest_sum = 0;
  for (size_t c = 0; c < channels; ++c) {
    const double b = spec.bias.empty() ? 0.0 : spec.bias[c];
    const double bias = std::fabs(b / (spec.in.scale * scale[c]));
    largest_sum = std::max(largest_sum,
                           bias + 2 * static_cast<double>(peaks[c]));  // the zero point's part too
  }
  const double sums_unit = spec.in.scale * max_scale;
  const auto [one, shift] = multiplier_form(spec, sums_unit, largest_sum);
  out.multiplier_shift = shift;
  out.accumulator_scale = std::ldexp(sums_unit / one, shift);
  for (size_t c = 0; c < channels; ++c) {
    const double b = spec.bias.empty() ? 0.0 : spec.bias[c];
    out.channels.multiplier.push_back(quantize_multiplier(spec, one, scale[c], max_scale));
    // A kept narrow channel has a coarse multiplier, which must not blur the bias too.
    const double by =
        spec.keep_weight_scales ? max_scale * out.channels.multiplier[c] / one : scale[c];
    const double bias = quantize_bias(spec, c, by) -
                        static_cast<double>(spec.in.zero_point) * static_cast<double>(sums[c]);
    if (!(bias >= INT32_MIN && bias <= INT32_MAX)) {
      return invalid_model(str("bias ", b, " of channel ", c, " does not fit 32 bits at scale ",
                               spec.in.scale * scale[c],
                               "; keep this layer in float16 (hybrid quantization)"));
    }
    out.channels.bias.push_back(static_cast<int32_t>(bias));
  }
  return out;
}

namespace {

// A slope's sums leave the bias stage by so small a shift that the last one is not above this.
constexpr int32_t kMostOutputShift = 36;
// In front of an addition they lose this many bits more.
constexpr int32_t kShiftBeforeAdd = 8;

// Returns the unit of v behind the slope.
Result<double> fill_slope(ConvSpec& spec, double sums_unit) {
  program::ConvParams& p = spec.params;
  RK_ASSIGN(const ScaleShift whole, to_scale_shift(sums_unit / spec.out.scale));
  p.multiplier_shift = std::max(0, whole.shift - kMostOutputShift);
  const int32_t shift = spec.addend == program::kNone ? 0 : kShiftBeforeAdd;
  p.slope = program::SlopeStage{.negative_multiplier_shift = p.multiplier_shift + kUsualShift,
                                .positive_shift = shift,
                                .negative_shift = shift,
                                .factor = spec.slope};
  return std::ldexp(sums_unit, p.multiplier_shift + shift);
}

}  // namespace

void add_tail(const ConvTail& tail, ConvSpec& spec) {
  spec.type += tail.suffix;
  spec.lookup = tail.lookup;
  spec.slope = tail.slope;
}

Status fill_integer_params(ConvSpec& spec, const QuantizedConv& conv, bool addend_first) {
  program::ConvParams& p = spec.params;
  double unit = conv.accumulator_scale;
  p.multiplier_shift = conv.multiplier_shift;
  p.pad_value = spec.in.zero_point;
  p.output.zero_point = spec.out.zero_point;
  if (spec.lookup) {
    RK_ASSIGN(program::LookupConstants table,
              program::make_lookup(*spec.lookup, unit, spec.out.scale, addend_first));
    p.multiplier_shift += table.coarser_bits;
    p.lookup = std::move(table.stage);
    p.output.scale = table.output;
    return ok_status();
  }
  if (!spec.slope.empty()) {
    RK_ASSIGN(unit, fill_slope(spec, std::ldexp(unit, -conv.multiplier_shift)));
  }
  RK_ASSIGN(p.output.scale, output_scale(spec, unit));
  if (p.activation == program::Activation::kClip) {
    // A limit beyond int32 clips nothing.
    p.clip_limit = static_cast<int64_t>(
        std::min(round_even(spec.clip_limit / unit), static_cast<double>(INT32_MAX)));
  }
  if (spec.addend != program::kNone) {
    p.addend.offset = -spec.added.zero_point;
    RK_ASSIGN(p.addend.scale, to_scale_shift(spec.added.scale / unit));
  }
  return ok_status();
}

Status emit_conv_step(ConvSpec spec, Builder& builder) {
  int32_t weight = program::kNone, bias = program::kNone, scales = program::kNone;
  if (spec.in.scale != 0) {
    RK_ASSIGN(const QuantizedConv conv, quantize_conv(spec));
    const target::ConvRegisters* const chip = target::conv_registers(builder.target().name);
    RK_TRY(fill_integer_params(spec, conv, chip != nullptr && chip->lookup.addend_first));
    weight = add_integer_weights(spec, conv, builder);
    bias = add_bias_block(spec, conv, builder);
  } else {
    spec.params.clip_limit_f32 = spec.clip_limit;
    if (is_narrow(spec, builder)) {
      std::tie(weight, scales) = add_narrow_weights(spec, builder);
    } else {
      weight = add_float_weights(spec, builder);
    }
    bias = add_float_bias(spec, builder);
  }
  program::Step step{.type = spec.type,
                     .name = spec.name,
                     .inputs = {spec.data, weight},
                     .outputs = {spec.output},
                     .params = spec.params,
                     .macs = spec.macs};
  const bool added = spec.addend != program::kNone;
  const bool narrow = scales != program::kNone;
  if (bias != program::kNone || added || narrow) step.inputs.push_back(bias);
  if (added || narrow) step.inputs.push_back(spec.addend);
  if (narrow) step.inputs.push_back(scales);
  builder.add_step(std::move(step));
  return ok_status();
}

}  // namespace rk::compiler

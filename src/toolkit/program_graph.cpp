// SPDX-License-Identifier: Apache-2.0
#include "toolkit/program_graph.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/file.h"
#include "format/reader.h"
#include "frontends/frontend.h"
#include "ir/custom_op.h"
#include "ops/registry.h"
#include "program/lookup_table.h"
#include "program/names.h"
#include "program/narrow_weights.h"
#include "program/native_layout.h"
#include "program/operands.h"

namespace rk::toolkit {
namespace {

using namespace program;

std::vector<int64_t> list_of(const Extent2& e) { return {e.h, e.w}; }

// Padding after the input that gives `out` windows; what the model said may be more or less than is
// needed.
int64_t pad_after(int64_t in, int64_t out, int64_t stride, int64_t reach, int64_t before) {
  return std::max<int64_t>(0, (out - 1) * stride + reach - in - before);
}

struct Geometry {
  Extent2 kernel, stride, dilation;
  Pads2 pads;
};

std::vector<int64_t> pads_of(const Geometry& g, const Shape& in, const Shape& out) {
  const auto reach = [](int32_t kernel, int32_t dilation) {
    return int64_t{kernel - 1} * dilation + 1;
  };
  return {g.pads.top, g.pads.left,
          pad_after(in[2], out[2], g.stride.h, reach(g.kernel.h, g.dilation.h), g.pads.top),
          pad_after(in[3], out[3], g.stride.w, reach(g.kernel.w, g.dilation.w), g.pads.left)};
}

class GraphMaker {
 public:
  GraphMaker(const Program& program, const OpRegistry& operators)
      : program_(program), variant_(program.main_variant()), graph_(operators) {}

  Result<Graph> make() {
    graph_.name = program_.name.empty() ? "lifted" : program_.name;
    for (const int32_t input : variant_.inputs) RK_TRY(add_input(input));
    for (const Step& step : variant_.steps) {
      const Status status =
          std::visit([&](const auto& params) { return add(step, params); }, step.params);
      if (!status.ok()) return status.with_context(str("step '", step.name, "' (", step.type, ")"));
    }
    for (const int32_t output : variant_.outputs) RK_TRY(add_output(output));
    return std::move(graph_);
  }

 private:
  struct Attributes {
    std::string op;
    AttrMap attrs = {};
  };

  const ProgramTensor& tensor(int32_t index) const {
    return variant_.tensors[static_cast<size_t>(index)];
  }
  bool is_quantized(int32_t index) const {
    const ProgramTensor& t = tensor(index);
    return t.quantized() && (t.dtype == DType::kI8 || t.dtype == DType::kU8 ||
                             t.dtype == DType::kI16 || t.dtype == DType::kU16);
  }
  // The name of what a step computes for a tensor, before quantization.
  std::string result_name(int32_t index) const {
    return is_quantized(index) ? tensor(index).name + "_real" : tensor(index).name;
  }

  // ONNX Runtime wants names of nodes to differ.
  std::string node_name(const std::string& op) { return str(op, "_", node_count_++); }

  Result<Value*> node(const Attributes& what, std::vector<Value*> inputs, std::string output = "") {
    RK_ASSIGN(Node* const made, graph_.add_node({.op = what.op,
                                                 .name = node_name(what.op),
                                                 .inputs = std::move(inputs),
                                                 .outputs = {std::move(output)},
                                                 .attrs = what.attrs}));
    return &made->output();
  }
  Value* constant(const std::string& name, Tensor value) {
    return graph_.add_constant(graph_.unique_name(name), std::move(value));
  }

  Status add_input(int32_t index) {
    const ProgramTensor& t = tensor(index);
    const bool real = is_quantized(index) || is_float(t.dtype);
    const std::string name = is_quantized(index) ? t.name + "_real" : t.name;
    RK_ASSIGN(Value* const input, graph_.add_input(name, {real ? DType::kF32 : t.dtype, t.shape}));
    return finish(index, input);
  }

  Status add_output(int32_t index) {
    RK_ASSIGN(Value * value, real(index));
    const bool computed = value->producer() != nullptr && !graph_.is_output(*value);
    if (!computed || value->name() != tensor(index).name) {
      RK_ASSIGN(value, node({"Identity"}, {value}, graph_.unique_name(tensor(index).name)));
    }
    return graph_.add_output(value);
  }

  Result<Tensor> zero_points(DType dtype, const Shape& shape, const std::vector<int32_t>& values) {
    Tensor out = Tensor::make({dtype, shape});
    for (size_t i = 0; i < values.size(); ++i) {
      store_f64(dtype, out.mutable_data<uint8_t>() + i * byte_size(dtype), values[i]);
    }
    return out;
  }

  // `value` is what the step computed; int8 tensors are rounded to their scale.
  Status finish(int32_t index, Value* value) {
    const ProgramTensor& t = tensor(index);
    if (!is_quantized(index)) {
      if (value->dtype() == DType::kF16 || value->dtype() == DType::kBF16) {
        RK_ASSIGN(value, node({"Cast", {{"to", int64_t{static_cast<int>(DType::kF32)}}}}, {value}));
      }
      real_[index] = value;
      return ok_status();
    }
    Value* const scale = constant(t.name + "_scale", Tensor::scalar(t.scale));
    RK_ASSIGN(Tensor zero, zero_points(t.dtype, {}, {t.zero_point}));
    Value* const zero_point = constant(t.name + "_zero_point", std::move(zero));
    RK_ASSIGN(Value* const stored, node({"QuantizeLinear"}, {value, scale, zero_point}));
    return finish_stored(index, stored, scale, zero_point);
  }

  Status finish_stored(int32_t index, Value* stored, Value* scale, Value* zero_point) {
    stored_[index] = stored;
    RK_ASSIGN(real_[index],
              node({"DequantizeLinear"}, {stored, scale, zero_point}, tensor(index).name));
    return ok_status();
  }

  // The plain elements of a constant.
  Result<Tensor> plain(int32_t index) const {
    const ProgramTensor& t = tensor(index);
    const ByteSpan bytes = program_.weights[static_cast<size_t>(t.weight)].bytes;
    RK_ASSIGN(const uint64_t size_bytes, checked_byte_size(TensorType{t.dtype, t.shape}));
    if ((t.layout != Layout::kPlain && t.layout != Layout::kNchw) || bytes.size() < size_bytes) {
      return unsupported(str("constant '", t.name, "' has layout ", name_of(t.layout),
                             "; only plain ones have a form in ONNX"));
    }
    return Tensor::from_bytes({t.dtype, t.shape}, bytes.first(static_cast<size_t>(size_bytes)));
  }

  // A tensor as real numbers; null where an optional operand is absent.
  Result<Value*> real(int32_t index) {
    if (index == kNone) return static_cast<Value*>(nullptr);
    const auto known = real_.find(index);
    if (known != real_.end()) return known->second;
    const ProgramTensor& t = tensor(index);
    if (!t.is_constant())
      return invalid_model(str("tensor '", t.name, "' is read before it is written"));
    RK_ASSIGN(Tensor value, plain(index));
    // Scalars of vendor files may be int32 with a scale.
    if (is_quantized(index) || (t.quantized() && t.dtype == DType::kI32)) {
      std::vector<float> numbers = value.to_f32();
      for (float& x : numbers) x = (x - static_cast<float>(t.zero_point)) * t.scale;
      value = Tensor::f32(t.shape, numbers);
    } else if (is_float(t.dtype)) {
      value = value.cast(DType::kF32);
    }
    return real_[index] = constant(t.name, std::move(value));
  }

  Result<Value*> activate(Value* value, Activation activation, float limit) {
    if (activation == Activation::kNone) return value;
    if (activation == Activation::kRelu) return node({"Relu"}, {value});
    return node({"Clip"}, {value, constant("clip_min", Tensor::scalar(0)),
                           constant("clip_max", Tensor::scalar(limit))});
  }

  // The real value of one step before the output conversion.
  double output_unit(const Step& step, const ConvParams& p) const {
    return std::ldexp(static_cast<double>(p.output.scale.scale), -p.output.scale.shift) *
           tensor(step.outputs[0]).scale;
  }

  // Scale of v, the accumulator after its channel's multiplier: s_in * max s_w. In front of a table it says how far
  // the numbers of the function are apart; where the function is not recognized it is that of the table's index.
  double unit_of(const Step& step, const ConvParams& p) const {
    if (p.slope) return std::ldexp(output_unit(step, p), -p.slope->positive_shift);
    if (!p.lookup) return output_unit(step, p);
    const double index = std::ldexp(static_cast<double>(p.lookup->multiplier), -p.lookup->shift);
    const program::LookupFunction* const function = function_of(step, p);
    return function == nullptr ? index : index * function->half_range / p.lookup->end;
  }

  // The function whose values the table holds; null when they are another's.
  const program::LookupFunction* function_of(const Step& step, const ConvParams& p) const {
    const LookupStage& l = *p.lookup;
    const program::LookupFunction* const named = program::lookup_function_of(step.type);
    // Alpha and beta of HardSigmoid are in the index only.
    if (named == nullptr || named->op == "HardSigmoid" || l.low.size() != kLookupEntries ||
        l.high.size() != kLookupEntries)
      return nullptr;
    const double unit = output_unit(step, p);
    const double center =
        std::ldexp(static_cast<double>(l.addend), -l.shift) / l.end * named->half_range;
    if (std::abs(center - named->center) > 1e-3 * named->half_range) return nullptr;
    // The first entry may be a stand-in for what lies below.
    for (size_t i = 1; i < 2 * kLookupEntries; ++i) {
      const bool upper = i >= kLookupEntries;
      const double at = static_cast<double>(i % kLookupEntries) / (kLookupEntries - 1);
      const double x = named->half_range * (upper ? at : at - 1) - named->center;
      const double entry = upper ? l.high[i % kLookupEntries] : l.low[i];
      constexpr double kEntriesOff = 4;
      if (std::abs(named->value(static_cast<float>(x), 1) / unit - entry) > kEntriesOff)
        return nullptr;
    }
    return named;
  }

  Result<Value*> scalar_op(const char* op, Value* a, double b) {
    return node({op}, {a, constant(op, Tensor::scalar(static_cast<float>(b)))});
  }

  // `x` in the unit of the index, without the addend: straight lines between the entries of the
  // table and beyond its ends.
  Result<Value*> interpolate(const Step& step, const ConvParams& p, Value* x) {
    const LookupStage& l = *p.lookup;
    std::vector<float> entries(l.low.begin(), l.low.end() - 1);
    entries.insert(entries.end(), l.high.begin(), l.high.end());
    const auto last = static_cast<double>(entries.size() - 1);
    const Shape shape{static_cast<int64_t>(entries.size())};
    RK_ASSIGN(Value* const index,
              scalar_op("Add", x, std::ldexp(static_cast<double>(l.addend), -l.shift)));
    RK_ASSIGN(
        Value* const inside,
        node({"Clip"}, {index, constant("table_start", Tensor::scalar(static_cast<float>(l.start))),
                        constant("table_end", Tensor::scalar(static_cast<float>(l.end)))}));
    RK_ASSIGN(Value* const outside, node({"Sub"}, {index, inside}));
    RK_ASSIGN(Value* const shifted, scalar_op("Sub", inside, l.start));
    RK_ASSIGN(Value* const place, scalar_op("Mul", shifted, std::ldexp(1.0, -l.entry_shift)));
    RK_ASSIGN(Value* const floor, node({"Floor"}, {place}));
    RK_ASSIGN(Value* const rest, node({"Sub"}, {place, floor}));
    RK_ASSIGN(Value* const after, scalar_op("Add", floor, 1));
    RK_ASSIGN(Value* const next, scalar_op("Min", after, last));
    Value* const table = constant(step.name + "_table", Tensor::f32(shape, entries));
    const auto look_up = [&](Value* at) -> Result<Value*> {
      RK_ASSIGN(Value* const whole,
                node({"Cast", {{"to", int64_t{static_cast<int>(DType::kI64)}}}}, {at}));
      return node({"Gather"}, {table, whole});
    };
    RK_ASSIGN(Value* const low, look_up(floor));
    RK_ASSIGN(Value* const high, look_up(next));
    RK_ASSIGN(Value* const rise, node({"Sub"}, {high, low}));
    RK_ASSIGN(Value* const part, node({"Mul"}, {rise, rest}));
    RK_ASSIGN(Value * sum, node({"Add"}, {low, part}));
    const auto slope = [](const ScaleShift& s) {
      return std::ldexp(static_cast<double>(s.scale), -s.shift);
    };
    RK_ASSIGN(Value* const under, scalar_op("Min", outside, 0));
    RK_ASSIGN(Value* const below, scalar_op("Mul", under, slope(l.below)));
    RK_ASSIGN(Value* const over, scalar_op("Max", outside, 0));
    RK_ASSIGN(Value* const above, scalar_op("Mul", over, slope(l.above)));
    RK_ASSIGN(sum, node({"Add"}, {sum, below}));
    RK_ASSIGN(sum, node({"Add"}, {sum, above}));
    return scalar_op("Mul", sum, output_unit(step, p));
  }

  Result<Value*> apply_function(const program::LookupFunction& function, Value* x) {
    if (function.op == "exSwish") {
      RK_ASSIGN(Value* const gate, node({"Sigmoid"}, {x}));
      return node({"Mul"}, {x, gate});
    }
    if (function.op == "exMish") {
      RK_ASSIGN(Value* const plus, node({"Softplus"}, {x}));
      RK_ASSIGN(Value* const gate, node({"Tanh"}, {plus}));
      return node({"Mul"}, {x, gate});
    }
    if (function.op == "exGelu") {
      RK_ASSIGN(Value* const scaled, scalar_op("Div", x, std::sqrt(2.0)));
      RK_ASSIGN(Value* const erf, node({"Erf"}, {scaled}));
      RK_ASSIGN(Value* const gate, scalar_op("Add", erf, 1));
      RK_ASSIGN(Value* const product, node({"Mul"}, {x, gate}));
      return scalar_op("Mul", product, 0.5);
    }
    return node({std::string(function.op)}, {x});
  }

  // LeakyRelu, or PRelu where each channel has its slope.
  Result<Value*> apply_slope(const ConvParams& p, Value* x) {
    const SlopeStage& s = *p.slope;
    const int exponent =
        p.multiplier_shift + s.positive_shift - s.negative_multiplier_shift - s.negative_shift;
    std::vector<float> slopes;
    for (const int16_t factor : s.factor)
      slopes.push_back(static_cast<float>(std::ldexp(static_cast<double>(factor), exponent)));
    if (slopes.size() == 1) return node({"LeakyRelu", {{"alpha", slopes[0]}}}, {x});
    const Shape shape{static_cast<int64_t>(slopes.size()), 1, 1};
    return node({"PRelu"}, {x, constant("slopes", Tensor::f32(shape, slopes))});
  }

  Shape weight_shape(const Step& step, const ConvParams& p) const {
    const int64_t in = tensor(conv::data(step)).shape[1], out = tensor(step.outputs[0]).shape[1];
    return p.transposed ? Shape{in, out / p.group, p.kernel.h, p.kernel.w}
                        : Shape{out, in / p.group, p.kernel.h, p.kernel.w};
  }

  struct RealConv {
    Value* weight = nullptr;
    Value* bias = nullptr;  // null: none
  };

  Result<RealConv> integer_constants(const Step& step, const ConvParams& p) {
    const ProgramTensor& in = tensor(conv::data(step));
    RK_ASSIGN(const ConvConstants constants, unpack_conv_constants(program_, variant_, step));
    const Shape shape = weight_shape(step, p);
    const int64_t out_channels = tensor(step.outputs[0]).shape[1];
    const std::vector<int32_t> channel_of = output_channels(shape, p, in.shape[1], out_channels);
    const double widest = unit_of(step, p) / in.scale;
    const auto channels = static_cast<size_t>(out_channels);
    std::vector<float> scale(channels), bias(channels);
    std::vector<int64_t> sums(channels);
    for (size_t i = 0; i < constants.weights.size(); ++i) {
      const auto c = static_cast<size_t>(channel_of[i]);
      sums[c] += constants.weights[i] + constants.channels.offset[c];
    }
    std::vector<int32_t> zero(channels);
    for (size_t c = 0; c < channels; ++c) {
      const double of_channel =
          widest *
          std::ldexp(static_cast<double>(constants.channels.multiplier[c]), -p.multiplier_shift);
      scale[c] = static_cast<float>(of_channel);
      zero[c] = -constants.channels.offset[c];
      const double sum = static_cast<double>(constants.channels.bias[c]) +
                         static_cast<double>(in.zero_point) * static_cast<double>(sums[c]);
      bias[c] = static_cast<float>(sum * in.scale * of_channel);
    }
    RealConv out;
    RK_ASSIGN(out.weight,
              integer_weight(step, p, shape, channel_of, constants.weights, scale, zero));
    out.bias =
        constant(tensor(conv::bias(step)).name + "_real", Tensor::f32(Shape{out_channels}, bias));
    return out;
  }

  // The stored integers behind a DequantizeLinear; as float where a channel's scale or zero point
  // has no place in it.
  Result<Value*> integer_weight(const Step& step, const ConvParams& p, const Shape& shape,
                                std::span<const int32_t> channel_of,
                                const std::vector<int8_t>& weights, const std::vector<float>& scale,
                                const std::vector<int32_t>& zero) {
    const std::string& name = tensor(conv::weight(step)).name;
    const auto representable = [](int32_t z) { return z >= -128 && z <= 127; };
    const bool by_channel = !(p.transposed && p.group > 1) &&
                            std::ranges::all_of(zero, representable) &&
                            std::ranges::all_of(scale, [](float s) { return s > 0; });
    if (!by_channel) {
      std::vector<float> numbers(weights.size());
      for (size_t i = 0; i < weights.size(); ++i) {
        const auto c = static_cast<size_t>(channel_of[i]);
        numbers[i] = static_cast<float>(weights[i] - zero[c]) * scale[c];
      }
      return constant(name, Tensor::f32(shape, numbers));
    }
    const Shape per_channel{static_cast<int64_t>(scale.size())};
    RK_ASSIGN(Tensor zeros, zero_points(DType::kI8, per_channel, zero));
    return node({"DequantizeLinear", {{"axis", int64_t{p.transposed ? 1 : 0}}}},
                {constant(name, Tensor::of<int8_t>(DType::kI8, shape, weights)),
                 constant(name + "_scale", Tensor::f32(per_channel, scale)),
                 constant(name + "_zero_point", std::move(zeros))});
  }

  Result<RealConv> float_constants(const Step& step, const ConvParams& p) {
    RealConv out;
    const ProgramTensor& weight = tensor(conv::weight(step));
    if (conv::scales(step) != kNone) {
      const Shape shape = weight_shape(step, p);
      const int64_t out_channels = tensor(step.outputs[0]).shape[1];
      const std::vector<int32_t> channel_of =
          output_channels(shape, p, tensor(conv::data(step)).shape[1], out_channels);
      RK_ASSIGN(const Tensor scales, plain(conv::scales(step)));
      const ByteSpan bytes = program_.weights[static_cast<size_t>(weight.weight)].bytes;
      out.weight = constant(weight.name,
                            Tensor::f32(shape, widen_weights(weight.dtype, bytes, scales.to_f32(),
                                                             channel_of, out_channels)));
    } else {
      RK_ASSIGN(const Tensor stored, plain(conv::weight(step)));
      out.weight = constant(weight.name, stored.cast(DType::kF32).reshaped(weight_shape(step, p)));
    }
    RK_ASSIGN(out.bias, real(conv::bias(step)));
    return out;
  }

  Result<Attributes> conv_attributes(const Step& step, const ConvParams& p) const {
    const Shape &in = tensor(conv::data(step)).shape, &out = tensor(step.outputs[0]).shape;
    Attributes what{p.transposed ? "ConvTranspose" : "Conv",
                    {{"kernel_shape", list_of(p.kernel)},
                     {"strides", list_of(p.stride)},
                     {"dilations", list_of(p.dilation)},
                     {"group", int64_t{p.group}}}};
    if (!p.transposed) {
      what.attrs["pads"] = pads_of({p.kernel, p.stride, p.dilation, p.pads}, in, out);
      return what;
    }
    // What the whole result has too much is cut off after it, what it lacks is added there.
    const auto cut = [](int64_t in_extent, int64_t out_extent, int64_t stride, int64_t kernel,
                        int64_t dilation, int64_t before) {
      return (in_extent - 1) * stride + (kernel - 1) * dilation + 1 - before - out_extent;
    };
    const int64_t h = cut(in[2], out[2], p.stride.h, p.kernel.h, p.dilation.h, p.pads.top);
    const int64_t w = cut(in[3], out[3], p.stride.w, p.kernel.w, p.dilation.w, p.pads.left);
    what.attrs["pads"] = std::vector<int64_t>{p.pads.top, p.pads.left, std::max<int64_t>(h, 0),
                                              std::max<int64_t>(w, 0)};
    what.attrs["output_padding"] =
        std::vector<int64_t>{std::max<int64_t>(-h, 0), std::max<int64_t>(-w, 0)};
    return what;
  }

  Status add(const Step& step, const ConvParams& p) {
    const bool integer = is_quantized(conv::data(step));
    RK_ASSIGN(const RealConv constants,
              integer ? integer_constants(step, p) : float_constants(step, p));
    RK_ASSIGN(const Attributes what, conv_attributes(step, p));
    RK_ASSIGN(Value* const data, real(conv::data(step)));
    std::vector<Value*> inputs = {data, constants.weight};
    if (constants.bias != nullptr) inputs.push_back(constants.bias);
    RK_ASSIGN(Value * value, node(what, std::move(inputs)));
    const float limit =
        integer ? static_cast<float>(static_cast<double>(p.clip_limit) * unit_of(step, p))
                : p.clip_limit_f32;
    RK_ASSIGN(value, activate(value, p.activation, limit));
    if (p.slope) {
      RK_ASSIGN(value, apply_slope(p, value));
    }
    if (p.lookup) {
      const program::LookupFunction* const function = function_of(step, p);
      RK_ASSIGN(value, function != nullptr ? apply_function(*function, value)
                                           : interpolate(step, p, value));
    }
    if (conv::addend(step) != kNone) {
      RK_ASSIGN(Value* const addend, real(conv::addend(step)));
      RK_ASSIGN(value, node({"Add"}, {value, addend}));
    }
    RK_ASSIGN(value, activate(value, p.post_activation, limit));
    return finish(step.outputs[0], value);
  }

  Result<std::vector<Value*>> operands(const Step& step) {
    std::vector<Value*> out;
    for (const int32_t input : step.inputs) {
      RK_ASSIGN(Value* const value, real(input));
      out.push_back(value);
    }
    return out;
  }

  Status add(const Step& step, const SumParams& p) {
    RK_ASSIGN(std::vector<Value*> inputs, operands(step));
    RK_ASSIGN(Value * value, node({inputs.size() == 2 ? "Add" : "Sum"}, std::move(inputs)));
    RK_ASSIGN(value, activate(value, p.activation, 0));
    return finish(step.outputs[0], value);
  }

  Status add(const Step& step, const ConcatParams& p) {
    RK_ASSIGN(std::vector<Value*> inputs, operands(step));
    RK_ASSIGN(Value* const value, node({"Concat", {{"axis", int64_t{p.axis}}}}, std::move(inputs)));
    return finish(step.outputs[0], value);
  }

  Status add(const Step& step, const PoolParams& p) {
    RK_ASSIGN(std::vector<Value*> inputs, operands(step));
    const Shape &in = tensor(step.inputs[0]).shape, &out = tensor(step.outputs[0]).shape;
    const bool average = p.kind == PoolKind::kAverage;
    Attributes what{average ? "AveragePool" : "MaxPool",
                    {{"kernel_shape", list_of(p.kernel)},
                     {"strides", list_of(p.stride)},
                     {"pads", pads_of({p.kernel, p.stride, {1, 1}, p.pads}, in, out)}}};
    if (average) what.attrs["count_include_pad"] = int64_t{p.count_include_pad};
    RK_ASSIGN(Value* const value, node(what, std::move(inputs)));
    return finish(step.outputs[0], value);
  }

  Status add(const Step& step, const ResizeParams& p) {
    RK_ASSIGN(Value* const data, real(step.inputs[0]));
    const Shape& out = tensor(step.outputs[0]).shape;
    const Attributes what{"Resize",
                          {{"mode", std::string(name_of(p.mode))},
                           {"coordinate_transformation_mode", std::string(name_of(p.coordinates))},
                           {"nearest_mode", std::string(name_of(p.nearest))}}};
    Value* const sizes = constant("sizes", Tensor::i64({4}, {out[0], out[1], out[2], out[3]}));
    RK_ASSIGN(Value* const value, node(what, {data, nullptr, nullptr, sizes}));
    return finish(step.outputs[0], value);
  }

  // Exactly the table: entry [x + 128] of the stored bytes.
  Status add(const Step& step, const TableParams& p) {
    const auto stored = stored_.find(step.inputs[0]);
    if (stored == stored_.end()) return unsupported("a table of a tensor that is not int8");
    const int32_t output = step.outputs[0];
    const ProgramTensor& t = tensor(output);
    RK_ASSIGN(Value* const wide,
              node({"Cast", {{"to", int64_t{static_cast<int>(DType::kI64)}}}}, {stored->second}));
    RK_ASSIGN(Value* const index,
              node({"Add"}, {wide, constant("table_origin", Tensor::i64({}, {128}))}));
    const Shape entries{static_cast<int64_t>(p.table.size())};
    RK_ASSIGN(Value* const found,
              node({"Gather"}, {constant(p.function + "_table",
                                         Tensor::of<int8_t>(DType::kI8, entries, p.table)),
                                index}));
    Value* const scale = constant(t.name + "_scale", Tensor::scalar(t.scale));
    RK_ASSIGN(Tensor zero, zero_points(t.dtype, {}, {t.zero_point}));
    return finish_stored(output, found, scale, constant(t.name + "_zero_point", std::move(zero)));
  }

  Status add(const Step& step, const OpParams& p) {
    if (is_custom(p.op)) return unsupported("a custom operator has no definition to write");
    RK_ASSIGN(std::vector<Value*> inputs, operands(step));
    while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
    std::vector<std::string> outputs;
    for (const int32_t output : step.outputs)
      outputs.push_back(output == kNone ? std::string() : result_name(output));
    AttrMap attrs = p.attrs;
    // Conversions between float types say nothing in a graph of float32.
    const auto to = attrs.find("to");
    if (p.op == "Cast" && to != attrs.end() && std::holds_alternative<int64_t>(to->second) &&
        is_float(static_cast<DType>(std::get<int64_t>(to->second)))) {
      to->second = int64_t{static_cast<int>(DType::kF32)};
    }
    RK_ASSIGN(Node* const made, graph_.add_node({.op = p.op,
                                                 .name = node_name(p.op),
                                                 .inputs = std::move(inputs),
                                                 .outputs = std::move(outputs),
                                                 .attrs = std::move(attrs)}));
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] != kNone) RK_TRY(finish(step.outputs[i], &made->output(i)));
    }
    return ok_status();
  }

  const Program& program_;
  const Variant& variant_;
  Graph graph_;
  size_t node_count_ = 0;
  std::map<int32_t, Value*> real_;    // float32, or the tensor's own type where it is not quantized
  std::map<int32_t, Value*> stored_;  // after QuantizeLinear
};

}  // namespace

Result<Graph> graph_of(const Program& program, const OpRegistry& operators) {
  return GraphMaker(program, operators).make();
}

Result<std::vector<std::string>> lift_to_onnx(const std::string& rknn, const std::string& onnx) {
  RK_ASSIGN(std::vector<uint8_t> file, read_file(rknn));
  RK_ASSIGN(const Program program, format::read_rknn(std::move(file)));
  RK_ASSIGN(const Graph graph, graph_of(program, ops::registry()));
  RK_TRY(rk::verify(graph));
  RK_ASSIGN(const std::vector<uint8_t> bytes, frontends::export_onnx(graph));
  RK_TRY(write_file(onnx, bytes));
  std::vector<std::string> notes;
  const Variant& variant = program.main_variant();
  const auto listed = [](const std::vector<float>& values) {
    std::string out;
    for (const float value : values) out += str(out.empty() ? "" : ",", value);
    return out;
  };
  for (size_t i = 0; i < program.inputs.size() && i < variant.inputs.size(); ++i) {
    const InputInfo& info = program.inputs[i];
    if (info.mean.empty() && info.std.empty()) continue;
    notes.push_back(str("input '", variant.tensors[static_cast<size_t>(variant.inputs[i])].name,
                        "': the API subtracts mean ", listed(info.mean), " and divides by std ",
                        listed(info.std), "; the ONNX model takes the result"));
  }
  if (program.variants.size() > 1) {
    notes.push_back(str("the file has ", program.variants.size(),
                        " sets of input shapes; the ONNX model has the first"));
  }
  return notes;
}

}  // namespace rk::toolkit

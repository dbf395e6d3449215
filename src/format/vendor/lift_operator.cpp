// SPDX-License-Identifier: Apache-2.0
// Nodes that the runtime evaluates by the IR's definition, and custom operators. An attribute that is not in the file is
// a reason to refuse where an operator's result depends on it: fused nodes come without attributes, and a default would
// be a guess.
#include <algorithm>
#include <cmath>

#include "format/vendor/lift_context.h"
#include "ir/custom_op.h"

namespace rk::format {
namespace {

using program::kNone;
using program::OpParams;
namespace reg = target::reg;

struct OperatorRow {
  std::string_view type;                        // in the file
  std::string_view op;                          // in the IR
  std::vector<std::string_view> required = {};  // attributes
};

// Operands are ONNX's, results too. What needs more than that has a function below.
const std::vector<OperatorRow>& operator_rows() {
  static const std::vector<OperatorRow> rows = {
      {"Abs", "Abs"},
      {"Add", "Add"},
      {"Ceil", "Ceil"},
      {"Celu", "Celu", {"alpha"}},
      {"Clip", "Clip"},
      {"Cos", "Cos"},
      {"CumSum", "CumSum"},
      {"DepthToSpace", "DepthToSpace", {"blocksize"}},
      {"Div", "Div"},
      {"Einsum", "Einsum", {"equation"}},
      {"Elu", "Elu", {"alpha"}},
      {"Equal", "Equal"},
      {"Erf", "Erf"},
      {"Exp", "Exp"},
      {"Expand", "Expand"},
      {"Floor", "Floor"},
      {"Gather", "Gather", {"axis"}},
      {"GatherElements", "GatherElements", {"axis"}},
      {"Gelu", "Gelu"},
      {"Greater", "Greater"},
      {"GreaterOrEqual", "GreaterOrEqual"},
      {"HardSigmoid", "HardSigmoid", {"alpha", "beta"}},
      {"HardSwish", "HardSwish"},
      {"Identity", "Identity"},
      {"LeakyRelu", "LeakyRelu", {"alpha"}},
      {"Less", "Less"},
      {"LessOrEqual", "LessOrEqual"},
      {"Log", "Log"},
      {"LogSoftmax", "LogSoftmax", {"axis"}},
      {"MatMul", "MatMul"},
      {"Max", "Max"},
      {"Min", "Min"},
      {"Mul", "Mul"},
      {"Neg", "Neg"},
      {"PRelu", "PRelu"},
      {"Pow", "Pow"},
      {"Reciprocal", "Reciprocal"},
      {"Relu", "Relu"},
      {"Round", "Round"},
      {"Selu", "Selu"},
      {"Sigmoid", "Sigmoid"},
      {"Sin", "Sin"},
      {"Slice", "Slice"},
      {"Softmax", "Softmax", {"axis"}},
      {"Softplus", "Softplus"},
      {"Softsign", "Softsign"},
      {"SpaceToDepth", "SpaceToDepth", {"blocksize"}},
      {"Sqrt", "Sqrt"},
      {"Sub", "Sub"},
      {"Tanh", "Tanh"},
      {"ThresholdedRelu", "ThresholdedRelu", {"alpha"}},
      {"Tile", "Tile"},
      {"Transpose", "Transpose", {"perm"}},
      {"exDataConvert", "exDataConvert"},
      {"exGelu", "exGelu"},
      {"exGlu", "exGlu", {"axis"}},
      {"exMish", "exMish"},
      {"exSwish", "exSwish"},
  };
  return rows;
}

// The target shape is the output's: the file's own shape vector may use 0 and -1.
Status lift_reshape(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> inputs, c.operands(1));
  RK_ASSIGN(const int32_t in, c.plain(inputs[0]));
  const int32_t out = c.output();
  const Shape shape = c.tensor(out).shape;
  const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  const int32_t target = c.add_integers(c.tensor(out).name + ".shape", dims);
  c.add_operator("Reshape", {in, target}, out);
  return ok_status();
}

Status lift_arg_max(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> inputs, c.operands(1));
  const int32_t in = inputs[0], out = c.output();
  AttrMap attrs;
  if (const auto* p = std::get_if<FileArgMaxParams>(&c.node().params)) {
    attrs["axis"] = static_cast<int64_t>(p->axis);
  } else if (const auto axis = c.integer("axis")) {
    attrs["axis"] = *axis;
  } else {
    return unsupported("its axis is missing");
  }
  attrs["keepdims"] =
      static_cast<int64_t>(c.tensor(in).shape.rank() == c.tensor(out).shape.rank() ? 1 : 0);
  if (const auto last = c.integer("select_last_index")) attrs["select_last_index"] = *last;
  c.add_operator(c.node().type, {in}, out, std::move(attrs));
  return ok_status();
}

// Axes from the parameter table or the second operand; none: all. The output's rank says whether they are kept.
Status lift_reduce(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> inputs, c.operands(1));
  const int32_t in = inputs[0], out = c.output();
  std::vector<int32_t> all = {in};
  if (const auto axes = c.integers("axes"); axes && !axes->empty()) {
    all.push_back(c.add_integers(c.tensor(out).name + ".axes", *axes));
  } else if (inputs.size() > 1 && inputs[1] != kNone) {
    RK_ASSIGN(const int32_t given, c.plain(inputs[1]));
    all.push_back(given);
  }
  const bool kept = c.tensor(in).shape.rank() == c.tensor(out).shape.rank();
  c.add_operator(c.node().type, std::move(all), out, {{"keepdims", int64_t{kept}}});
  return ok_status();
}

// What the tasks of an int8 Pad write around the copy: they multiply what lies there by 0 and add
// the stored constant, which the converter cuts off where we would round (205.8 becomes 205).
// Nothing where they do something else.
std::optional<int32_t> fill_from_registers(LiftContext& c, int32_t out) {
  std::optional<int32_t> fill;
  while (const Task* task = c.tasks.next()) {
    const auto from = c.lists.address_of(*task, reg::DPU_RDMA_RDMA_SRC_BASE_ADDR);
    const auto to = c.lists.address_of(*task, reg::DPU_DST_BASE_ADDR);
    if (!from || !to || from->tensor != out || to->tensor != out) continue;
    const target::RegisterFile& r = c.tasks.registers();
    const bool clears =
        r.is_on(reg::DPU_BS_CFG__BS_ALU_BYPASS) && !r.is_on(reg::DPU_BS_CFG__BS_BYPASS) &&
        !r.is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS) && !r.is_on(reg::DPU_BS_MUL_CFG__BS_MUL_SRC) &&
        r.get(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND) == 0;
    const bool adds =
        !r.is_on(reg::DPU_BN_CFG__BN_BYPASS) && !r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS) &&
        !r.is_on(reg::DPU_BN_CFG__BN_ALU_SRC) && r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS) &&
        r.is_on(reg::DPU_BN_CFG__BN_RELU_BYPASS);
    const bool as_is =
        r.is_on(reg::DPU_EW_CFG__EW_BYPASS) && r.get(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE) == 1 &&
        r.get(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT) == 0 && r.get(reg::DPU_OUT_CVT_OFFSET) == 0;
    const int32_t value = r.get_signed(reg::DPU_BN_ALU_CFG);
    if (!clears || !adds || !as_is || value < -128 || value > 127 || (fill && *fill != value))
      return std::nullopt;
    fill = value;
  }
  return fill;
}

Status lift_pad(LiftContext& c) {
  RK_ASSIGN(std::vector<int32_t> inputs, plain_operands(c));
  const auto mode = c.text("mode");
  if (!mode) return unsupported("attribute 'mode' is not stored with the node");
  const int32_t out = c.output();
  if (*mode == "constant" && inputs.size() > 2 && inputs[2] != kNone && c.is_i8(inputs[0]) &&
      c.is_i8(out) && c.registers != nullptr && c.registers->has_stages) {
    if (const auto fill = fill_from_registers(c, out)) {
      const program::ProgramTensor& t = c.tensor(out);
      const float value = static_cast<float>(*fill - t.zero_point) * t.scale;
      inputs[2] = c.add_floats(t.name + ".fill", Shape{}, {value});
    }
  }
  c.add_step(std::move(inputs), outputs_of(c), OpParams{"Pad", {{"mode", *mode}}});
  return ok_status();
}

// The condition is an int8 of scale 1.
Status lift_where(LiftContext& c) {
  RK_ASSIGN(std::vector<int32_t> inputs, plain_operands(c));
  if (inputs.size() != 3) return unsupported(str(inputs.size(), " operands, expected three"));
  if (c.tensor(inputs[0]).dtype != DType::kBool) {
    const int32_t condition =
        c.add_internal_f32(c.tensor(c.output()).name + ".condition", c.tensor(inputs[0]).shape);
    c.variant().tensors[static_cast<size_t>(condition)].dtype = DType::kBool;
    constexpr int64_t kOnnxBool = 9;
    c.add_operator("Cast", {inputs[0]}, condition, {{"to", kOnnxBool}});
    inputs[0] = condition;
  }
  c.add_operator("Where", std::move(inputs), c.output());
  return ok_status();
}

// The result's own type decides: a real number stays one, however it is stored.
Status lift_cast(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> inputs, plain_operands(c));
  if (inputs.empty() || inputs[0] == kNone) return unsupported("operand 0 is missing");
  const program::ProgramTensor& out = c.tensor(c.output());
  const bool real = out.quantized() || is_float(out.dtype);
  constexpr int64_t kOnnxFloat = 1;
  const int64_t to = real ? kOnnxFloat : static_cast<int64_t>(out.dtype);
  c.add_operator("Cast", {inputs[0]}, c.output(), {{"to", to}});
  return ok_status();
}

// Mean and variance are folded already: y = gamma * x + beta. In int8 files gamma is an int16 with a scale and beta an
// int32 that belongs to the stored x, zero point included.
Status lift_batch_norm(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> inputs, c.operands(3));
  const int32_t in = inputs[0], out = c.output();
  const program::ProgramTensor x = c.tensor(in), gamma = c.tensor(inputs[1]);
  RK_ASSIGN(std::vector<float> factor, c.floats(inputs[1]));
  RK_ASSIGN(std::vector<float> addend, c.floats(inputs[2]));
  const auto channels = static_cast<size_t>(x.shape.rank() > 1 ? x.shape[1] : 0);
  if (factor.size() != channels || addend.size() != channels) {
    return unsupported(str("gamma and beta have ", factor.size(), " and ", addend.size(),
                           " values for ", channels, " channels"));
  }
  if (gamma.dtype == DType::kI16) {
    if (!gamma.quantized() || !x.quantized() || c.tensor(inputs[2]).quantized()) {
      return unsupported("gamma, beta and data are not quantized as known files have them");
    }
    for (size_t i = 0; i < channels; ++i) {
      const double unit = double{x.scale} * gamma.scale;
      const double stored_factor = factor[i] / double{gamma.scale};
      addend[i] = static_cast<float>((addend[i] + stored_factor * x.zero_point) * unit);
    }
  }
  std::vector<int64_t> dims(static_cast<size_t>(x.shape.rank()), 1);
  dims[1] = static_cast<int64_t>(channels);
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  const std::string stem = c.tensor(out).name;
  const int32_t product = c.add_internal_f32(stem + ".scaled", x.shape);
  c.add_operator("Mul", {in, c.add_floats(stem + ".gamma", shape, factor)}, product);
  const int32_t beta = c.add_floats(stem + ".beta", shape, addend);
  if (c.node().type != "BatchNormalizationRelu") {
    c.add_operator("Add", {product, beta}, out);
    return ok_status();
  }
  const int32_t sum = c.add_internal_f32(stem + ".shifted", x.shape);
  c.add_operator("Add", {product, beta}, sum);
  c.add_operator("Relu", {sum}, out);
  return ok_status();
}

using Lift = Status (*)(LiftContext&);
Lift special_lift(std::string_view type) {
  if (type == "Reshape" || type == "Squeeze" || type == "Unsqueeze" || type == "Flatten")
    return lift_reshape;
  if (type == "ArgMax" || type == "ArgMin") return lift_arg_max;
  if (type.starts_with("Reduce")) return lift_reduce;
  if (type == "Pad") return lift_pad;
  if (type == "Where") return lift_where;
  if (type == "Cast") return lift_cast;
  if (type == "BatchNormalization" || type == "BatchNormalizationRelu") return lift_batch_norm;
  return nullptr;
}

}  // namespace

Result<std::vector<int32_t>> plain_operands(LiftContext& c) {
  RK_ASSIGN(std::vector<int32_t> inputs, c.operands());
  for (int32_t& input : inputs) {
    RK_ASSIGN(input, c.plain(input));
  }
  return inputs;
}

std::vector<int32_t> outputs_of(LiftContext& c) {
  std::vector<int32_t> out;
  for (size_t i = 0; i < c.node().outputs.size(); ++i) out.push_back(c.output(i));
  while (!out.empty() && out.back() == kNone) out.pop_back();
  return out;
}

AttrMap to_attrs(const std::vector<Attribute>& attributes) {
  AttrMap out;
  for (const Attribute& attribute : attributes) {
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, double>) {
            out[attribute.name] = static_cast<float>(value);
          } else if constexpr (std::is_same_v<T, std::vector<double>>) {
            out[attribute.name] = std::vector<float>(value.begin(), value.end());
          } else {
            out[attribute.name] = value;
          }
        },
        attribute.value);
  }
  return out;
}

// The slope of a LeakyRelu on its own that is only in the registers (container 0x1004): what comes out below zero for one unit,
// over what comes out above.
std::optional<Attribute> slope_from_registers(LiftContext& c) {
  const target::ConvRegisters* const where = c.registers;
  if (c.node().type != "LeakyRelu" || where == nullptr || where->slope.offset == 0 ||
      where->slope_multiplier_shift.offset == 0 || c.tasks.next() == nullptr)
    return std::nullopt;
  const target::RegisterFile& r = c.tasks.registers();
  if (!r.is_on(reg::DPU_BN_CFG__BN_MUL_PRELU)) return std::nullopt;
  const auto below = static_cast<int>(r.get(where->negative_shift));
  const auto above = static_cast<int>(r.get(where->slope_multiplier_shift));
  const auto slope = static_cast<int16_t>(r.get(where->slope));
  return Attribute{"alpha", std::ldexp(static_cast<double>(slope), above - below)};
}

Status lift_operator(LiftContext& c) {
  const std::string& type = c.node().type;
  if (const Lift lift = special_lift(type)) return lift(c);
  const auto& rows = operator_rows();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const OperatorRow& r) { return r.type == type; });
  if (row == rows.end()) return unsupported("this operator is not decoded");
  std::vector<Attribute> wanted;
  for (const std::string_view name : row->required) {
    if (const Attribute* const found = c.find(name)) {
      wanted.push_back(*found);
    } else if (const std::optional<Attribute> slope = slope_from_registers(c)) {
      wanted.push_back(*slope);
    } else {
      return unsupported(str("attribute '", name, "' is not stored with the node"));
    }
  }
  RK_ASSIGN(std::vector<int32_t> inputs, plain_operands(c));
  c.add_step(std::move(inputs), outputs_of(c), OpParams{std::string(row->op), to_attrs(wanted)});
  return ok_status();
}

Status lift_custom(LiftContext& c) {
  RK_ASSIGN(std::vector<int32_t> inputs, plain_operands(c));
  c.add_step(std::move(inputs), outputs_of(c),
             OpParams{custom_name(c.node().type), to_attrs(c.attributes)});
  return ok_status();
}

}  // namespace rk::format

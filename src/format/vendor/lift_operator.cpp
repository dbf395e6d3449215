// SPDX-License-Identifier: Apache-2.0
// Nodes that the runtime evaluates by the IR's definition, and custom operators. An attribute that is not in the file is
// a reason to refuse where an operator's result depends on it: fused nodes come without attributes, and a default would
// be a guess.
#include <algorithm>

#include "format/vendor/lift_context.h"
#include "ir/custom_op.h"

namespace rk::format {
namespace {

using program::kNone;
using program::OpParams;

struct OperatorRow {
  std::string_view type;  // in the file
  std::string_view op;    // in the IR
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
      {"Pad", "Pad", {"mode"}},
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
      {"exSoftmax13", "Softmax", {"axis"}},
      {"exSwish", "exSwish"},
  };
  return rows;
}

// Operands with constants as operators take them.
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

Status lift_split(LiftContext& c) {
  RK_ASSIGN(std::vector<int32_t> inputs, plain_operands(c));
  if (inputs.empty() || inputs[0] == kNone) return unsupported("operand 0 is missing");
  const auto axis = c.integer("axis");
  if (!axis) return unsupported("its axis is not stored with the node");
  if (inputs.size() < 2) {
    const auto sizes = c.integers("split");
    if (!sizes) return unsupported("the sizes of its parts are not stored with the node");
    inputs.push_back(c.add_integers(c.tensor(c.output()).name + ".sizes", *sizes));
  }
  c.add_step(std::move(inputs), outputs_of(c), OpParams{"Split", {{"axis", *axis}}});
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
  if (type == "Split") return lift_split;
  if (type == "Where") return lift_where;
  if (type == "Cast") return lift_cast;
  if (type == "BatchNormalization" || type == "BatchNormalizationRelu") return lift_batch_norm;
  return nullptr;
}

}  // namespace

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

Status lift_operator(LiftContext& c) {
  const std::string& type = c.node().type;
  if (const Lift lift = special_lift(type)) return lift(c);
  const auto& rows = operator_rows();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const OperatorRow& r) { return r.type == type; });
  if (row == rows.end()) return unsupported("this operator is not decoded");
  std::vector<Attribute> wanted;
  for (const std::string_view name : row->required) {
    const Attribute* const found = c.find(name);
    if (found == nullptr) {
      return unsupported(str("attribute '", name, "' is not stored with the node"));
    }
    wanted.push_back(*found);
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

// SPDX-License-Identifier: Apache-2.0
// Nodes that the runtime evaluates by the IR's definition, pooling, and custom operators. An attribute that is not in
// the file is a reason to refuse where an operator's result depends on it: fused nodes come without attributes, and a
// default would be a guess.
#include <algorithm>

#include "format/vendor/lift_context.h"
#include "ir/custom_op.h"

namespace rk::format {
namespace {

using program::kNone;
using program::OpParams;
using program::PoolKind;
using program::PoolParams;

struct OperatorRow {
  std::string_view type;                   // in the file
  std::string_view op;                     // in the IR
  std::vector<std::string_view> required;  // attributes
};

const std::vector<OperatorRow>& operator_rows() {
  static const std::vector<OperatorRow> rows = {
      {"Abs", "Abs", {}},
      {"Add", "Add", {}},
      {"Cast", "Cast", {"to"}},
      {"Div", "Div", {}},
      {"Elu", "Elu", {"alpha"}},
      {"Equal", "Equal", {}},
      {"Erf", "Erf", {}},
      {"Exp", "Exp", {}},
      {"Flatten", "Flatten", {"axis"}},
      {"Gather", "Gather", {"axis"}},
      {"Gelu", "Gelu", {}},
      {"HardSigmoid", "HardSigmoid", {"alpha", "beta"}},
      {"HardSwish", "HardSwish", {}},
      {"LeakyRelu", "LeakyRelu", {"alpha"}},
      {"Log", "Log", {}},
      {"LogSoftmax", "LogSoftmax", {"axis"}},
      {"MatMul", "MatMul", {}},
      {"Max", "Max", {}},
      {"Min", "Min", {}},
      {"Mul", "Mul", {}},
      {"Neg", "Neg", {}},
      {"PRelu", "PRelu", {}},
      {"Pow", "Pow", {}},
      {"ReduceMax", "ReduceMax", {"axes", "keepdims"}},
      {"ReduceMean", "ReduceMean", {"axes", "keepdims"}},
      {"ReduceMin", "ReduceMin", {"axes", "keepdims"}},
      {"ReduceSum", "ReduceSum", {"axes", "keepdims"}},
      {"Relu", "Relu", {}},
      {"Sigmoid", "Sigmoid", {}},
      {"Softmax", "Softmax", {"axis"}},
      {"Softplus", "Softplus", {}},
      {"Sqrt", "Sqrt", {}},
      {"Sub", "Sub", {}},
      {"Tanh", "Tanh", {}},
      {"Transpose", "Transpose", {"perm"}},
      {"exSoftmax13", "Softmax", {"axis"}},
      {"exSwish", "exSwish", {}},
  };
  return rows;
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

// Operands as the file lists them, less the compiler's scratch tensors at the end.
std::vector<int32_t> operands(LiftContext& c) {
  std::vector<int32_t> out;
  for (size_t i = 0; i < c.node().inputs.size(); ++i) {
    const int32_t input = c.input(i);
    if (input != kNone && c.tensor(input).name.ends_with("_exSecondary")) continue;
    out.push_back(input);
  }
  while (!out.empty() && out.back() == kNone) out.pop_back();
  return out;
}

Status check_operands(LiftContext& c, const std::vector<int32_t>& inputs) {
  for (const int32_t input : inputs) {
    if (input == kNone) continue;
    const program::ProgramTensor& t = c.tensor(input);
    if (t.is_constant() && (t.layout == program::Layout::kWeight || t.dtype == DType::kI8)) {
      return unsupported(str("constant operand '", t.name, "' has no scale in the file"));
    }
  }
  return ok_status();
}

// The target shape is the output's: the file's own shape vector may use 0 and -1.
Status lift_reshape(LiftContext& c) {
  const int32_t in = c.input(0), out = c.node().outputs[0];
  if (in == kNone) return invalid_model("no input");
  const Shape shape = c.tensor(out).shape;
  std::vector<uint8_t> bytes(static_cast<size_t>(shape.rank()) * 8);
  if (shape.rank() > 0) std::memcpy(bytes.data(), shape.dims().data(), bytes.size());
  const int32_t target =
      c.add_constant(c.tensor(out).name + ".shape", DType::kI64, {shape.rank()}, std::move(bytes));
  c.add_step({in, target}, {out}, OpParams{"Reshape", {}});
  return ok_status();
}

Status lift_arg_max(LiftContext& c) {
  const int32_t in = c.input(0), out = c.node().outputs[0];
  if (in == kNone) return invalid_model("no input");
  AttrMap attrs = to_attrs(c.attributes);
  if (const auto* p = std::get_if<FileArgMaxParams>(&c.node().params)) {
    attrs["axis"] = static_cast<int64_t>(p->axis);
  } else if (!attrs.contains("axis")) {
    return unsupported("its axis is missing");
  }
  attrs["keepdims"] =
      static_cast<int64_t>(c.tensor(in).shape.rank() == c.tensor(out).shape.rank() ? 1 : 0);
  c.add_step({in}, {out}, OpParams{c.node().type, std::move(attrs)});
  return ok_status();
}

int64_t pad_same(int64_t in, int64_t out, int64_t window, int64_t stride) {
  return std::max<int64_t>(0, (out - 1) * stride + window - in);
}

Result<program::Extent2> extent_of(const std::vector<int64_t>& values, std::string_view what) {
  if (values.empty()) return program::Extent2{1, 1};
  constexpr int64_t kMost = 1 << 15;
  if (values.size() != 2 || values[0] < 1 || values[1] < 1 || values[0] > kMost ||
      values[1] > kMost) {
    return unsupported(str(what, " has ", values.size(), " extents or one out of range; two of 1..",
                           kMost, " are known"));
  }
  return program::Extent2{static_cast<int32_t>(values[0]), static_cast<int32_t>(values[1])};
}

// Extra room at the end, as ceil_mode makes it: the output extent rules.
int32_t reach(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t before,
              int64_t after) {
  return static_cast<int32_t>(std::max(after, (out - 1) * stride + kernel - before - in));
}

}  // namespace

Result<Window> make_window(const WindowTexts& texts, const Shape& in, const Shape& out) {
  Window w;
  RK_ASSIGN(w.kernel, extent_of(texts.kernel, "kernel_shape"));
  RK_ASSIGN(w.stride, extent_of(texts.stride, "strides"));
  RK_ASSIGN(w.dilation, extent_of(texts.dilation, "dilations"));
  if (texts.auto_pad.starts_with("SAME")) {
    const int64_t y =
        pad_same(in[2], out[2], int64_t{w.kernel.h - 1} * w.dilation.h + 1, w.stride.h);
    const int64_t x =
        pad_same(in[3], out[3], int64_t{w.kernel.w - 1} * w.dilation.w + 1, w.stride.w);
    const bool upper = texts.auto_pad == "SAME_UPPER";
    const auto less_y = static_cast<int32_t>(y / 2), less_x = static_cast<int32_t>(x / 2);
    const auto more_y = static_cast<int32_t>(y - y / 2), more_x = static_cast<int32_t>(x - x / 2);
    w.pads = upper ? program::Pads2{less_y, less_x, more_y, more_x}
                   : program::Pads2{more_y, more_x, less_y, less_x};
    return w;
  }
  if (texts.auto_pad == "VALID" || texts.pads.empty()) return w;
  if (texts.pads.size() != 4) return unsupported(str(texts.pads.size(), " pads, four are known"));
  for (const int64_t pad : texts.pads) {
    if (pad < 0 || pad > (1 << 15)) return unsupported(str("pad ", pad));
  }
  w.pads = {static_cast<int32_t>(texts.pads[0]), static_cast<int32_t>(texts.pads[1]),
            static_cast<int32_t>(texts.pads[2]), static_cast<int32_t>(texts.pads[3])};
  return w;
}

Status lift_pool(LiftContext& c) {
  const int32_t in = c.input(0), out = c.node().outputs[0];
  const std::string& type = c.node().type;
  if (in == kNone || c.tensor(in).shape.rank() != 4 || c.tensor(out).shape.rank() != 4) {
    return unsupported("only two-dimensional pooling is decoded");
  }
  const bool average = type == "AveragePool" || type == "GlobalAveragePool";
  if (!average && type != "MaxPool" && type != "GlobalMaxPool") {
    return unsupported("this kind of pooling is not decoded");
  }
  const Shape in_shape = c.tensor(in).shape, out_shape = c.tensor(out).shape;
  WindowTexts texts;
  if (type.starts_with("Global")) {
    texts.kernel = {in_shape[2], in_shape[3]};
  } else {
    const auto kernel = c.integers("kernel_shape");
    if (!kernel) return unsupported("its kernel_shape is not among the node's attributes");
    texts.kernel = *kernel;
    texts.stride = c.integers("strides").value_or(std::vector<int64_t>());
    texts.dilation = c.integers("dilations").value_or(std::vector<int64_t>());
    texts.pads = c.integers("pads").value_or(std::vector<int64_t>());
    texts.auto_pad = c.text("auto_pad").value_or("");
  }
  RK_ASSIGN(const Window w, make_window(texts, in_shape, out_shape));
  if (w.dilation != program::Extent2{1, 1}) return unsupported("dilated pooling is not decoded");
  PoolParams p;
  p.kind = average ? PoolKind::kAverage : PoolKind::kMax;
  p.kernel = w.kernel;
  p.stride = w.stride;
  p.pads = w.pads;
  p.pads.bottom =
      reach(in_shape[2], out_shape[2], w.kernel.h, w.stride.h, w.pads.top, w.pads.bottom);
  p.pads.right =
      reach(in_shape[3], out_shape[3], w.kernel.w, w.stride.w, w.pads.left, w.pads.right);
  p.count_include_pad = c.integer("count_include_pad").value_or(0) != 0;
  if (c.is_i8(in) && !average &&
      (c.tensor(in).scale != c.tensor(out).scale ||
       c.tensor(in).zero_point != c.tensor(out).zero_point)) {
    return unsupported("MaxPool between different scales is not decoded");
  }
  if (average && c.is_i8(in) && c.is_i8(out)) {
    const int64_t count = int64_t{w.kernel.h} * w.kernel.w;
    if (count > (1 << 16)) return unsupported(str("a window of ", count, " elements"));
    for (int64_t n = 1; n <= count; ++n) {
      RK_ASSIGN(const program::InputStage stage,
                derived_input_stage(c.tensor(in), c.tensor(out), 1.0 / static_cast<double>(n)));
      p.by_count.push_back(stage);
    }
    p.output = derived_output_stage(c.tensor(out));
  }
  c.add_step({in}, {out}, std::move(p));
  return ok_status();
}

Status lift_operator(LiftContext& c) {
  const std::string& type = c.node().type;
  if (type == "Reshape" || type == "Squeeze" || type == "Unsqueeze" || type == "Flatten") {
    return lift_reshape(c);
  }
  if (type == "ArgMax" || type == "ArgMin") return lift_arg_max(c);
  const auto& rows = operator_rows();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const OperatorRow& r) { return r.type == type; });
  if (row == rows.end()) return unsupported("this operator is not decoded");
  for (const std::string_view name : row->required) {
    if (c.find(name) == nullptr) {
      return unsupported(str("attribute '", name, "' is not stored with the node"));
    }
  }
  std::vector<int32_t> inputs = operands(c);
  RK_TRY(check_operands(c, inputs));
  c.add_step(std::move(inputs), c.node().outputs,
             OpParams{std::string(row->op), to_attrs(c.attributes)});
  return ok_status();
}

Status lift_custom(LiftContext& c) {
  std::vector<int32_t> inputs = operands(c);
  RK_TRY(check_operands(c, inputs));
  c.add_step(std::move(inputs), c.node().outputs,
             OpParams{custom_name(c.node().type), to_attrs(c.attributes)});
  return ok_status();
}

}  // namespace rk::format

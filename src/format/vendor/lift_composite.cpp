// SPDX-License-Identifier: Apache-2.0
// Nodes that stand for a small graph: normalization, matrix product, attention. They become the operators of that graph
// with float32 values in between, so that only the result is rounded to its type.
#include <algorithm>
#include <cmath>

#include "format/vendor/lift_context.h"

namespace rk::format {
namespace {

using program::kNone;
using program::Layout;
using program::ProgramTensor;
namespace reg = target::reg;

Shape permuted(const Shape& shape, const std::vector<int64_t>& perm) {
  Shape out = shape;
  for (int i = 0; i < shape.rank(); ++i) out[i] = shape[static_cast<int>(perm[static_cast<size_t>(i)])];
  return out;
}

int32_t add_transpose(LiftContext& c, int32_t in, const std::vector<int64_t>& perm,
                      const std::string& name) {
  const Shape shape = permuted(c.tensor(in).shape, perm);
  const int32_t out =
      c.tensor(in).is_constant() ? c.add_internal_f32(name, shape) : c.add_internal(name, in, shape);
  c.add_operator("Transpose", {in}, out, {{"perm", perm}});
  return out;
}

Status check_rank4(LiftContext& c, std::initializer_list<int32_t> tensors) {
  for (const int32_t i : tensors) {
    if (c.tensor(i).shape.rank() == 4) continue;
    return unsupported(str("tensor '", c.tensor(i).name, "' has shape ",
                           to_string(c.tensor(i).shape), ", four extents are known"));
  }
  return ok_status();
}

// y * gamma + beta as far as they are there, into the node's result.
Status add_affine(LiftContext& c, int32_t y, const std::vector<int32_t>& operands, int32_t out) {
  const bool has_gamma = operands.size() > 1 && operands[1] != kNone;
  const bool has_beta = operands.size() > 2 && operands[2] != kNone;
  const std::string stem = c.tensor(out).name;
  if (has_gamma) {
    RK_ASSIGN(const int32_t gamma, c.plain(operands[1]));
    const int32_t to = has_beta ? c.add_internal_f32(stem + ".scaled", c.tensor(out).shape) : out;
    c.add_operator("Mul", {y, gamma}, to);
    y = to;
  }
  if (has_beta) {
    RK_ASSIGN(const int32_t beta, c.plain(operands[2]));
    c.add_operator("Add", {y, beta}, out);
  }
  if (!has_gamma && !has_beta) c.add_operator("Identity", {y}, out);
  return ok_status();
}

// (x - mean) / sqrt(mean((x - mean)^2) + eps) over the axes.
Status lift_layer_norm(LiftContext& c, const std::vector<int32_t>& operands,
                       const std::vector<int64_t>& axes, double eps) {
  const int32_t x = operands[0], out = c.output();
  const Shape shape = c.tensor(x).shape;
  const std::string stem = c.tensor(out).name;
  Shape reduced = shape;
  for (const int64_t axis : axes) reduced[static_cast<int>(axis)] = 1;
  const auto axes_constant = [&](const char* name) { return c.add_integers(stem + name, axes); };
  const int32_t mean = c.add_internal_f32(stem + ".mean", reduced);
  c.add_operator("ReduceMean", {x, axes_constant(".axes")}, mean, {{"keepdims", int64_t{1}}});
  const int32_t centered = c.add_internal_f32(stem + ".centered", shape);
  c.add_operator("Sub", {x, mean}, centered);
  const int32_t square = c.add_internal_f32(stem + ".square", shape);
  c.add_operator("Mul", {centered, centered}, square);
  const int32_t variance = c.add_internal_f32(stem + ".variance", reduced);
  c.add_operator("ReduceMean", {square, axes_constant(".axes2")}, variance,
                 {{"keepdims", int64_t{1}}});
  const int32_t safe = c.add_internal_f32(stem + ".safe", reduced);
  const int32_t epsilon = c.add_floats(stem + ".eps", Shape{1}, {static_cast<float>(eps)});
  c.add_operator("Add", {variance, epsilon}, safe);
  const int32_t deviation = c.add_internal_f32(stem + ".deviation", reduced);
  c.add_operator("Sqrt", {safe}, deviation);
  const int32_t y = c.add_internal_f32(stem + ".normal", shape);
  c.add_operator("Div", {centered, deviation}, y);
  return add_affine(c, y, operands, out);
}

// Over the channels alone the IR's own LayerNormalization serves, with the channels moved to the end.
Status lift_channel_norm(LiftContext& c, const std::vector<int32_t>& operands, double eps) {
  const int32_t x = operands[0], out = c.output();
  const Shape shape = c.tensor(x).shape;
  const std::string stem = c.tensor(out).name;
  const int64_t channels = shape[1];
  const auto values_of = [&](size_t i, float fallback) -> Result<std::vector<float>> {
    if (i >= operands.size() || operands[i] == kNone)
      return std::vector<float>(static_cast<size_t>(channels), fallback);
    RK_ASSIGN(std::vector<float> values, c.floats(operands[i]));
    if (values.size() == 1) values.resize(static_cast<size_t>(channels), values[0]);
    return values;
  };
  RK_ASSIGN(const std::vector<float> gamma, values_of(1, 1));
  RK_ASSIGN(const std::vector<float> beta, values_of(2, 0));
  if (std::ssize(gamma) != channels || std::ssize(beta) != channels) {
    return unsupported(str("gamma and beta have ", gamma.size(), " and ", beta.size(),
                           " values for ", channels, " channels"));
  }
  const std::vector<int64_t> to_last = {0, 2, 3, 1}, back = {0, 3, 1, 2};
  const int32_t moved = add_transpose(c, x, to_last, stem + ".moved");
  const int32_t normal = c.add_internal(stem + ".normal", out, c.tensor(moved).shape);
  c.add_operator("LayerNormalization",
                 {moved, c.add_floats(stem + ".gamma", {channels}, gamma),
                  c.add_floats(stem + ".beta", {channels}, beta)},
                 normal, {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(eps)}});
  c.add_operator("Transpose", {normal}, out, {{"perm", back}});
  return ok_status();
}

Status lift_l2_norm(LiftContext& c, const std::vector<int32_t>& operands,
                    const std::vector<int64_t>& axes, double eps) {
  const int32_t x = operands[0], out = c.output();
  const std::string stem = c.tensor(out).name;
  Shape reduced = c.tensor(x).shape;
  for (const int64_t axis : axes) reduced[static_cast<int>(axis)] = 1;
  const int32_t length = c.add_internal_f32(stem + ".length", reduced);
  c.add_operator("ReduceL2", {x, c.add_integers(stem + ".axes", axes)}, length,
                 {{"keepdims", int64_t{1}}});
  const int32_t safe = c.add_internal_f32(stem + ".safe", reduced);
  const int32_t epsilon = c.add_floats(stem + ".eps", Shape{1}, {static_cast<float>(eps)});
  c.add_operator("Max", {length, epsilon}, safe);
  const int32_t y = c.add_internal_f32(stem + ".normal", c.tensor(x).shape);
  c.add_operator("Div", {x, safe}, y);
  return add_affine(c, y, operands, out);
}

// Constant A of exMatMul: per matrix of the batch a block of 1x1 convolution weights [M, K]. The result is [N, 1, M, K].
Result<int32_t> constant_matrix(LiftContext& c, int32_t a, int32_t b, int32_t out) {
  const ProgramTensor t = c.tensor(a);
  const int64_t batch = c.tensor(out).shape[0];
  const ByteSpan bytes = c.bytes(a);
  if (t.shape.rank() != 4 || t.shape[2] != 1 || t.shape[3] != 1 || batch < 1) {
    return unsupported(str("constant matrix '", t.name, "' has shape ", to_string(t.shape)));
  }
  const int64_t rows = t.shape[0], columns = t.shape[1];
  const size_t part = bytes.size() / static_cast<size_t>(batch);
  const size_t element = byte_size(t.dtype);
  if (t.dtype != DType::kF16 && t.dtype != DType::kI8) {
    return unsupported(str("constant matrix '", t.name, "' of ", to_string(t.dtype)));
  }
  double unit = 1;
  int32_t offset = 0;
  if (t.dtype == DType::kI8) {
    const Task* const task = c.tasks.next_with(kUnitCna);
    if (task == nullptr || c.registers == nullptr || c.registers->layer_offset.offset == 0 ||
        !c.is_i8(out) || !c.is_i8(b)) {
      return unsupported("the scale of its constant int8 matrix is not known on this chip");
    }
    const target::RegisterFile& r = c.tasks.registers();
    offset = static_cast<int16_t>(r.get(c.registers->layer_offset));
    unit = std::ldexp(static_cast<double>(r.get(c.registers->output_scale)),
                      -static_cast<int>(r.get(c.registers->output_shift))) *
           double{c.tensor(out).scale} / double{c.tensor(b).scale};
  }
  std::vector<float> values;
  for (int64_t n = 0; n < batch; ++n) {
    const ByteSpan block = bytes.subspan(static_cast<size_t>(n) * part, part / element * element);
    RK_ASSIGN(const std::vector<uint8_t> plain,
              program::unpack_weight_elements(block, t.native_shape, t.shape, element));
    for (int64_t i = 0; i < rows * columns; ++i) {
      const double stored = load_f64(t.dtype, plain.data() + static_cast<size_t>(i) * element);
      values.push_back(static_cast<float>((stored + offset) * unit));
    }
  }
  return c.add_floats(t.name + ".matrix", Shape{batch, 1, rows, columns}, values);
}

}  // namespace

Status lift_norm(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(1));
  RK_TRY(check_rank4(c, {operands[0], c.output()}));
  const auto mode = c.text("mode");
  const auto eps = c.real("eps");
  const auto axes = c.integers("axes");
  if (!mode || !eps || !axes || axes->empty()) {
    return unsupported("its parameter table (mode, eps, axes) is missing");
  }
  for (const int64_t axis : *axes) {
    if (axis < 0 || axis > 3) return invalid_model(str("axis ", axis, " of 4 dimensions"));
  }
  if (*mode == "l2") return lift_l2_norm(c, operands, *axes, *eps);
  if (*mode != "layer") return unsupported(str("normalization mode '", *mode, "' is not known"));
  if (*axes == std::vector<int64_t>{1}) return lift_channel_norm(c, operands, *eps);
  return lift_layer_norm(c, operands, *axes, *eps);
}

// A [N, K, 1, M], B [N, K, 1, P] -> [N, M, 1, P], then times or plus C.
// The feature of an int8 product has 9 bits without its zero point. Where the tasks convert it to 8
// on its way in, the values that are multiplied are those: (x + offset) * scale / 2^shift.
int32_t converted_feature(LiftContext& c, int32_t feature, const std::string& name) {
  if (!c.is_i8(feature) || c.registers == nullptr || !c.registers->has_stages) return feature;
  std::optional<program::InputStage> stage;
  while (const Task* task = c.tasks.next()) {
    const target::RegisterFile& r = c.tasks.registers();
    if ((task->units & kUnitCna) == 0 || r.is_on(reg::CNA_CVT_CON0__CVT_BYPASS)) continue;
    const program::InputStage found{
        static_cast<int16_t>(r.get(reg::CNA_CVT_CON1__CVT_OFFSET0)),
        {static_cast<int32_t>(r.get(reg::CNA_CVT_CON1__CVT_SCALE0)),
         static_cast<int32_t>(r.get(reg::CNA_CVT_CON0__CVT_TRUNCATE_0))}};
    if (stage && !(*stage == found)) return feature;
    stage = found;
  }
  const ProgramTensor t = c.tensor(feature);
  if (!stage || stage->scale.scale == 0 || stage->offset != -t.zero_point) return feature;
  const int32_t out = c.add_internal(name, feature, t.shape);
  ProgramTensor& made = c.variant().tensors[static_cast<size_t>(out)];
  made.scale = static_cast<float>(
      std::ldexp(double{t.scale}, stage->scale.shift) / stage->scale.scale);
  made.zero_point = 0;
  program::ConcatParams copy;
  copy.axis = 0;
  copy.inputs = {*stage};
  copy.output = {{16384, 14}, 0};
  c.add_step({feature}, {out}, std::move(copy));
  return out;
}

Status lift_matmul(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(2));
  const int32_t a = operands[0], b = operands[1], out = c.output();
  RK_TRY(check_rank4(c, {b, out}));
  const std::string stem = c.tensor(out).name;
  int32_t left = kNone;
  if (c.tensor(a).is_constant() && c.tensor(a).layout == Layout::kWeight) {
    RK_ASSIGN(left, constant_matrix(c, a, b, out));
  } else {
    RK_ASSIGN(const int32_t plain, c.plain(a));
    RK_TRY(check_rank4(c, {plain}));
    left = add_transpose(c, plain, {0, 2, 3, 1}, stem + ".left");
  }
  RK_ASSIGN(const int32_t plain_b, c.plain(b));
  const int32_t feature = converted_feature(c, plain_b, stem + ".feature");
  const int32_t right = add_transpose(c, feature, {0, 2, 1, 3}, stem + ".right");
  const Shape &l = c.tensor(left).shape, &r = c.tensor(right).shape;
  const Shape product_shape{std::max(l[0], r[0]), 1, l[2], r[3]};
  const auto kind = c.text("c_type");
  if (kind && *kind != "mul" && *kind != "add") {
    return unsupported(str("c_type '", *kind, "' is not known"));
  }
  const bool has_third = kind.has_value();
  if (has_third && (operands.size() < 3 || operands[2] == kNone)) {
    return unsupported("its third operand is missing");
  }
  const int32_t product = has_third ? c.add_internal_f32(stem + ".product", product_shape)
                                    : c.add_internal(stem + ".product", out, product_shape);
  c.add_operator("MatMul", {left, right}, product);
  const int32_t moved =
      has_third ? c.add_internal_f32(stem + ".moved", c.tensor(out).shape) : out;
  c.add_operator("Transpose", {product}, moved, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  if (!has_third) return ok_status();
  RK_ASSIGN(const int32_t third, c.plain(operands[2]));
  c.add_operator(*kind == "mul" ? "Mul" : "Add", {moved, third}, out);
  return ok_status();
}

// Q [N, C, 1, Lq], K and V [N, C, 1, Lk] -> [N, C, 1, Lq].
Status lift_attention(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(3));
  if (operands.size() > 3) return unsupported("attention with a fourth operand is not known");
  const int32_t out = c.output();
  RK_TRY(check_rank4(c, {operands[0], operands[1], operands[2], out}));
  const double scale = c.real("scale").value_or(1.0);
  const std::string stem = c.tensor(out).name;
  const std::vector<int64_t> rows = {0, 2, 3, 1}, back = {0, 3, 1, 2};
  std::vector<int32_t> inputs;
  const char* const names[] = {".q", ".k", ".v"};
  for (size_t i = 0; i < 3; ++i) {
    RK_ASSIGN(int32_t plain, c.plain(operands[i]));
    if (i == 0) plain = converted_feature(c, plain, stem + ".feature");
    inputs.push_back(add_transpose(c, plain, rows, stem + names[i]));
  }
  const Shape shape = permuted(c.tensor(out).shape, rows);
  const int32_t result = c.add_internal(stem + ".rows", out, shape);
  c.add_operator("exSDPAttention", std::move(inputs), result,
                 {{"scale", static_cast<float>(scale)}});
  c.add_operator("Transpose", {result}, out, {{"perm", back}});
  return ok_status();
}

}  // namespace rk::format

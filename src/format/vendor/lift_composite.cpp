// SPDX-License-Identifier: Apache-2.0
// Normalization: a node that stands for a small graph. It becomes the operators of that graph with
// float32 values in between, so that only the result is rounded to its type.
#include <algorithm>
#include <cmath>

#include "format/vendor/composite.h"

namespace rk::format {

Shape permuted(const Shape& shape, const std::vector<int64_t>& perm) {
  Shape out = shape;
  for (int i = 0; i < shape.rank(); ++i)
    out[i] = shape[static_cast<int>(perm[static_cast<size_t>(i)])];
  return out;
}

int32_t add_transpose(LiftContext& c, int32_t in, const std::vector<int64_t>& perm,
                      const std::string& name) {
  const Shape shape = permuted(c.tensor(in).shape, perm);
  const int32_t out = c.tensor(in).is_constant() ? c.add_internal_f32(name, shape)
                                                 : c.add_internal(name, in, shape);
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

namespace {

using program::kNone;
using program::Layout;
using program::ProgramTensor;
namespace reg = target::reg;

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

// Over the channels alone the IR's own LayerNormalization serves, with the channels moved to the
// end.
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

}  // namespace rk::format

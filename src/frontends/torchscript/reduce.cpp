// SPDX-License-Identifier: Apache-2.0
// Operators that reduce axes, and those that go along one.
#include "frontends/torchscript/operators.h"

namespace rk::frontends::torchscript {
namespace {

// Axes of an argument; all of them where it is None or empty.
Result<std::vector<int64_t>> axes_of(Call& call, size_t i, int rank) {
  std::vector<int64_t> out;
  if (call.has(i)) {
    RK_ASSIGN(out, call.ints(i, "the axes"));
  }
  for (int64_t& axis : out) {
    RK_ASSIGN(axis, call.axis_of(axis, rank));
  }
  if (out.empty()) {
    for (int64_t axis = 0; axis < rank; ++axis) out.push_back(axis);
  }
  return out;
}

Result<Value*> reduced(Call& call, std::string_view op, Value* value, std::vector<int64_t> axes,
                       bool keeps, std::string_view suffix = "/y") {
  if (value->shape().rank() == 0) return value;
  return call.emit(op, suffix, {value, call.ints_value("/axes", axes)},
                   {{"keepdims", static_cast<int64_t>(keeps)}});
}

Result<Value*> converted(Call& call, Value* value, size_t dtype_argument) {
  if (call.has(dtype_argument)) {
    const auto dtype = dtype_of_torch(call.integer_or(dtype_argument, 6));
    if (!dtype) return unsupported("of this dtype is not taken");
    return call.cast(value, *dtype);
  }
  return value;
}

// (x, dtype) or (x, axes, keepdim, dtype).
Status reduce(Call& call, std::string_view op) {
  const bool has_axes = call.count() > 2;
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(value, converted(call, value, has_axes ? 3 : 1));
  if (!is_float(value->dtype()) && (op == "ReduceMean" || value->dtype() == DType::kBool)) {
    RK_ASSIGN(value, call.cast(value, op == "ReduceMean" ? DType::kF32 : DType::kI64));
  }
  const int rank = value->shape().rank();
  std::vector<int64_t> axes;
  RK_ASSIGN(axes, axes_of(call, has_axes ? 1 : 99, rank));
  RK_ASSIGN(Value* const out, reduced(call, op, value, axes, has_axes && call.flag_or(2, false)));
  if (op == "ReduceMean") return call.give_like(out);
  return call.give(out);
}

Status reduce_bool(Call& call, std::string_view op) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(value, call.cast(value, DType::kBool));
  RK_ASSIGN(value, call.cast(value, DType::kI32));
  RK_ASSIGN(const auto axes, axes_of(call, 1, value->shape().rank()));
  RK_ASSIGN(value, reduced(call, op, value, axes, call.flag_or(2, false)));
  RK_ASSIGN(value, call.cast(value, DType::kBool));
  return call.give(value);
}

Status arg_extreme(Call& call, std::string_view op) {
  RK_ASSIGN(Value * value, call.tensor(0));
  int64_t axis = 0;
  bool keeps = call.flag_or(2, false);
  if (call.has(1)) {
    RK_ASSIGN(axis, call.axis(1, value->shape().rank()));
  } else {
    RK_ASSIGN(value, call.reshaped(value, {value->shape().elements()}, "/flat"));
    keeps = false;
  }
  RK_ASSIGN(
      Value* const out,
      call.emit(op, "/y", {value}, {{"axis", axis}, {"keepdims", static_cast<int64_t>(keeps)}}));
  return call.give(out);
}

// (x), (x, other) or (x, axis, keepdim) with values and indices.
Status extreme(Call& call, bool largest) {
  if (call.count() == 1 && call.arg(0).is_list()) return extreme_scalar(call, largest);
  if (call.count() == 2 && (call.arg(0).is_tensor() || call.arg(1).is_tensor())) {
    return binary(call, largest ? "Max" : "Min");
  }
  if (call.count() == 2) return extreme_scalar(call, largest);
  RK_ASSIGN(Value* const value, call.tensor(0));
  const std::string_view op = largest ? "ReduceMax" : "ReduceMin";
  if (call.count() == 1) {
    RK_ASSIGN(const auto axes, axes_of(call, 99, value->shape().rank()));
    RK_ASSIGN(Value* const out, reduced(call, op, value, axes, false));
    return call.give_moved(out);
  }
  RK_ASSIGN(const int64_t axis, call.axis(1, value->shape().rank()));
  const bool keeps = call.flag_or(2, false);
  RK_ASSIGN(Value* const out, reduced(call, op, value, {axis}, keeps));
  RK_TRY(call.give_moved(out));
  if (call.node().outputs.size() < 2) return ok_status();
  RK_ASSIGN(Value* const place,
            call.emit(largest ? "ArgMax" : "ArgMin", "/place", {value},
                      {{"axis", axis}, {"keepdims", static_cast<int64_t>(keeps)}}));
  return call.give(Item::of_tensor(place), 1);
}

Status amax(Call& call, std::string_view op) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const auto axes, axes_of(call, 1, value->shape().rank()));
  RK_ASSIGN(Value* const out, reduced(call, op, value, axes, call.flag_or(2, false)));
  return call.give_moved(out);
}

// (x, unbiased), or (x, axes, unbiased or correction, keepdim).
Status variance(Call& call, bool root) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  const bool has_axes = call.count() > 2;
  const int rank = value->shape().rank();
  RK_ASSIGN(const auto axes, axes_of(call, has_axes ? 1 : 99, rank));
  const double correction = call.real_or(has_axes ? 2 : 1, 1);
  const bool keeps = has_axes && call.flag_or(3, false);
  double count = 1;
  for (const int64_t axis : axes)
    count *= static_cast<double>(value->shape()[static_cast<int>(axis)]);
  RK_ASSIGN(Value* const mean, reduced(call, "ReduceMean", value, axes, true, "/mean"));
  RK_ASSIGN(Value* const apart, call.emit("Sub", "/apart", {value, mean}));
  RK_ASSIGN(Value* const squares, call.emit("Mul", "/squares", {apart, apart}));
  RK_ASSIGN(Value * out, reduced(call, "ReduceMean", squares, axes, keeps, "/variance"));
  if (correction != 0) {
    RK_ASSIGN(out, call.emit("Mul", "/corrected",
                             {out, call.scalar("/factor", count / (count - correction))}));
  }
  if (root) {
    RK_ASSIGN(out, call.emit("Sqrt", "/y", {out}));
  }
  return call.give(out);
}

// (x, p), (x, p, axes, keepdim) and linalg's (x, ord, axes, keepdim, dtype).
Status norm(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  const double p = call.real_or(1, 2);
  RK_ASSIGN(const auto axes, axes_of(call, 2, value->shape().rank()));
  const bool keeps = call.flag_or(3, false);
  if (p != 1 && p != 2) return unsupported(str("of order ", p, " is not taken; 1 and 2 are"));
  RK_ASSIGN(Value* const out, reduced(call, p == 1 ? "ReduceL1" : "ReduceL2", value, axes, keeps));
  return call.give(out);
}

// (x, y, axis, epsilon): sum of products over both lengths.
Status cosine_similarity(Call& call) {
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  RK_ASSIGN(const int64_t axis, call.axis_of(call.integer_or(2, 1), pair.first->shape().rank()));
  RK_ASSIGN(Value* const products, call.emit("Mul", "/products", {pair.first, pair.second}));
  RK_ASSIGN(Value* const sum, reduced(call, "ReduceSum", products, {axis}, false));
  Value* const least = call.scalar("/least", call.real_or(3, 1e-8));
  Value* lengths[2] = {pair.first, pair.second};
  for (Value*& length : lengths) {
    RK_ASSIGN(length, reduced(call, "ReduceL2", length, {axis}, false));
    RK_ASSIGN(length, call.emit("Max", "/length", {length, least}));
  }
  RK_ASSIGN(Value* const both, call.emit("Mul", "/lengths", {lengths[0], lengths[1]}));
  RK_ASSIGN(Value* const out, call.emit("Div", "/y", {sum, both}));
  return call.give(out);
}

// (x, y, order, epsilon, keeps the axis): the length of x - y + epsilon along the last axis.
Status pairwise_distance(Call& call) {
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  const double p = call.real_or(2, 2);
  if (p != 1 && p != 2) return unsupported(str("of order ", p, " is not taken; 1 and 2 are"));
  RK_ASSIGN(Value * apart, call.emit("Sub", "/apart", {pair.first, pair.second}));
  RK_ASSIGN(apart,
            call.emit("Add", "/shifted", {apart, call.scalar("/epsilon", call.real_or(3, 1e-6))}));
  const int64_t axis = apart->shape().rank() - 1;
  if (axis < 0) return invalid_model("of scalars");
  RK_ASSIGN(Value* const out,
            reduced(call, p == 1 ? "ReduceL1" : "ReduceL2", apart, {axis}, call.flag_or(4, false)));
  return call.give(out);
}

Status logsumexp(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const auto axes, axes_of(call, 1, value->shape().rank()));
  RK_ASSIGN(Value* const out,
            reduced(call, "ReduceLogSumExp", value, axes, call.flag_or(2, false)));
  return call.give(out);
}

Status softmax(Call& call, std::string_view op) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(value, call.cast(value, DType::kF32));
  RK_ASSIGN(const int64_t axis, call.axis(1, value->shape().rank()));
  RK_ASSIGN(Value* const out, call.emit(op, "/y", {value}, {{"axis", axis}}));
  return call.give(out);
}

Status cumsum(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(value, converted(call, value, 2));
  if (value->dtype() == DType::kBool) {
    RK_ASSIGN(value, call.cast(value, DType::kI64));
  }
  RK_ASSIGN(const int64_t axis, call.axis(1, value->shape().rank()));
  RK_ASSIGN(Value* const out,
            call.emit("CumSum", "/y",
                      {value, call.scalar("/axis", static_cast<double>(axis), DType::kI64)}));
  return call.give(out);
}

}  // namespace

std::span<const OperatorRow> reduce_operators() {
  // clang-format off
  static constexpr OperatorRow kRows[] = {
      {"aten::softmax", [](Call& c) { return softmax(c, "Softmax"); }},
      {"aten::log_softmax", [](Call& c) { return softmax(c, "LogSoftmax"); }},
      {"aten::mean", [](Call& c) { return reduce(c, "ReduceMean"); }},
      {"aten::sum", [](Call& c) { return reduce(c, "ReduceSum"); }},
      {"aten::prod", [](Call& c) { return reduce(c, "ReduceProd"); }},
      {"aten::any", [](Call& c) { return reduce_bool(c, "ReduceMax"); }},
      {"aten::all", [](Call& c) { return reduce_bool(c, "ReduceMin"); }},
      {"aten::max", [](Call& c) { return extreme(c, true); }},
      {"aten::min", [](Call& c) { return extreme(c, false); }},
      {"aten::amax", [](Call& c) { return amax(c, "ReduceMax"); }},
      {"aten::amin", [](Call& c) { return amax(c, "ReduceMin"); }},
      {"aten::argmax", [](Call& c) { return arg_extreme(c, "ArgMax"); }},
      {"aten::argmin", [](Call& c) { return arg_extreme(c, "ArgMin"); }},
      {"aten::var", [](Call& c) { return variance(c, false); }},
      {"aten::std", [](Call& c) { return variance(c, true); }},
      {"aten::norm", norm},
      {"aten::frobenius_norm", [](Call& c) { return c.count() == 3 ? amax(c, "ReduceL2") : norm(c); }},
      {"aten::linalg_norm", norm},
      {"aten::linalg_vector_norm", norm},
      {"aten::cosine_similarity", cosine_similarity},
      {"aten::pairwise_distance", pairwise_distance},
      {"aten::logsumexp", logsumexp},
      {"aten::cumsum", cumsum},
  };
  // clang-format on
  return kRows;
}

}  // namespace rk::frontends::torchscript

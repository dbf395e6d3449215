// SPDX-License-Identifier: Apache-2.0
// Operators element by element, reductions, and conversions between types.
#include <algorithm>

#include "frontends/channels_last/layers.h"

namespace rk::frontends::layers {
namespace {

// Input 0 in the order it was computed in.
Result<Order> own_order(LayerImport& op, Value*& value, size_t input = 0) {
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({input}, values));
  value = values[0];
  return order;
}

// The last axis of the file.
int64_t channel_axis(const Value& value, Order order) {
  return order == Order::kFirst ? 1 : value.shape().rank() - 1;
}

}  // namespace

Status unary(LayerImport& op, std::string_view name, AttrMap attrs) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit(name, "/result", {value}, std::move(attrs)));
  return op.bind(0, value, order);
}

Status binary(LayerImport& op, std::string_view name, Fused activation) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  RK_ASSIGN(Value * value, op.emit(name, "/result", values));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, order, name == "Add" ? Rounding::kTwice : Rounding::kOnce);
}

Status clipped(LayerImport& op, float low, float high) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value,
            op.emit("Clip", "/clip", {value, op.scalar("/min", low), op.scalar("/max", high)}));
  return op.bind(0, value, order);
}

Status softmax(LayerImport& op, float beta) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  if (beta != 1) {
    RK_ASSIGN(value, op.emit("Mul", "/beta", {value, op.scalar("/factor", beta)}));
  }
  RK_ASSIGN(value, op.emit("Softmax", "/result", {value}, {{"axis", channel_axis(*value, order)}}));
  return op.bind(0, value, order);
}

Status log_softmax(LayerImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value,
            op.emit("LogSoftmax", "/result", {value}, {{"axis", channel_axis(*value, order)}}));
  return op.bind(0, value, order);
}

Status l2_normalization(LayerImport& op, Fused activation) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit("LpNormalization", "/result", {value},
                           {{"axis", channel_axis(*value, order)}, {"p", int64_t{2}}}));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, order);
}

// A power, which the NPU has; it has neither Sqrt nor Reciprocal.
Status rsqrt(LayerImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit("Pow", "/result", {value, op.scalar("/exponent", -0.5f)}));
  return op.bind(0, value, order);
}

Status square(LayerImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit("Mul", "/result", {value, value}));
  return op.bind(0, value, order);
}

Status squared_difference(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  RK_ASSIGN(Value * value, op.emit("Sub", "/difference", values));
  RK_ASSIGN(value, op.emit("Mul", "/result", {value, value}));
  return op.bind(0, value, order);
}

Status not_equal(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  RK_ASSIGN(Value * value, op.emit("Equal", "/equal", values));
  RK_ASSIGN(value, op.emit("Not", "/result", {value}));
  return op.bind(0, value, order);
}

// Rounds down; integers go through double, which holds every int32 exactly.
Status floor_div(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  if (!is_float(values[0]->dtype())) {
    // a - mod(a, b), divided exactly.
    RK_ASSIGN(Value* const rest, op.emit("Mod", "/rest", values));
    RK_ASSIGN(values[0], op.emit("Sub", "/multiple", {values[0], rest}));
    RK_ASSIGN(Value* const value, op.emit("Div", "/result", values));
    return op.bind(0, value, order);
  }
  RK_ASSIGN(Value * value, op.emit("Div", "/quotient", values));
  RK_ASSIGN(value, op.emit("Floor", "/result", {value}));
  return op.bind(0, value, order);
}

// The sign of the divisor.
Status floor_mod(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  if (!is_float(values[0]->dtype())) {
    RK_ASSIGN(Value* const value, op.emit("Mod", "/result", values));
    return op.bind(0, value, order);
  }
  RK_ASSIGN(Value * value, op.emit("Div", "/quotient", values));
  RK_ASSIGN(value, op.emit("Floor", "/whole", {value}));
  RK_ASSIGN(value, op.emit("Mul", "/multiple", {value, values[1]}));
  RK_ASSIGN(value, op.emit("Sub", "/result", {values[0], value}));
  return op.bind(0, value, order);
}

Status add_n(LayerImport& op) {
  RK_TRY(op.need_inputs(1));
  std::vector<size_t> all(op.input_count());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together(all, values));
  RK_ASSIGN(Value* const value, op.emit("Sum", "/result", values));
  return op.bind(0, value, order);
}

Status select(LayerImport& op, bool rows_of_condition) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(Held* const condition, op.held(0));
  RK_ASSIGN(const Held* const chosen, op.held(1));
  if (rows_of_condition && condition->shape().rank() == 1 && chosen->shape().rank() > 1) {
    std::vector<int64_t> dims(static_cast<size_t>(chosen->shape().rank()), 1);
    dims[0] = condition->shape()[0];
    RK_ASSIGN(Value * rows, op.last(0));
    RK_ASSIGN(rows, reshaped(op.builder(), rows, dims, "/rows"));
    RK_ASSIGN(Value* const yes, op.last(1));
    RK_ASSIGN(Value* const no, op.last(2));
    RK_ASSIGN(Value* const value, op.emit("Where", "/result", {rows, yes, no}));
    return op.bind(0, value, Order::kFile);
  }
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1, 2}, values));
  RK_ASSIGN(Value* const value, op.emit("Where", "/result", values));
  return op.bind(0, value, order);
}

Status cast(LayerImport& op, DType dtype) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit("Cast", "/result", {value},
                           {{"to", static_cast<int64_t>(computing_dtype(dtype))}}));
  return op.bind(0, value, order);
}

namespace {

struct Reduced {
  Value* value = nullptr;
  Order order = Order::kFile;
  std::vector<int64_t> axes;
};

// Input 0 and the axes of input 1. Axes that go away leave the others in the file's order.
Result<Reduced> reduced_input(LayerImport& op, bool keeps) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(std::vector<int64_t> axes, op.ints(1, "axes"));
  RK_ASSIGN(Held* const held, op.held(0));
  const int rank = held->shape().rank();
  std::vector<bool> goes(static_cast<size_t>(rank), false);
  for (int64_t& axis : axes) {
    RK_ASSIGN(axis, op.axis(axis, rank));
    goes[static_cast<size_t>(axis)] = true;
  }
  std::ranges::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  // Channels first without keeping: the channels may only stay where no other axis but the batch
  // stays.
  bool in_order = true;
  if (held->is_first && !keeps && !goes.back()) {
    for (size_t axis = 1; axis + 1 < goes.size(); ++axis) in_order = in_order && goes[axis];
  }
  Reduced out;
  if (held->is_first && in_order) {
    RK_ASSIGN(out.value, op.first(0));
    for (const int64_t axis : axes) out.axes.push_back(first_axis(axis, rank));
    std::ranges::sort(out.axes);
    out.order = keeps ? Order::kFirst : Order::kFile;
  } else {
    RK_ASSIGN(out.value, op.last(0));
    out.axes = axes;
  }
  return out;
}

}  // namespace

Status reduce(LayerImport& op, std::string_view name, bool keep) {
  RK_ASSIGN(Reduced reduced, reduced_input(op, keep));
  if (reduced.axes.empty()) return op.bind_moved(0, reduced.value, reduced.order);
  RK_ASSIGN(Value* const value,
            op.emit(name, "/result", {reduced.value, op.ints_value("/axes", reduced.axes)},
                    {{"keepdims", int64_t{keep}}}));
  return op.bind(0, value, reduced.order);
}

// Of truth values: the largest (any) or smallest (all) of 0 and 1.
Status reduce_bool(LayerImport& op, std::string_view name, bool keep) {
  RK_ASSIGN(Reduced reduced, reduced_input(op, keep));
  RK_ASSIGN(Value * value, op.emit("Cast", "/numbers", {reduced.value},
                                   {{"to", static_cast<int64_t>(DType::kI32)}}));
  RK_ASSIGN(value, op.emit(name, "/reduced", {value, op.ints_value("/axes", reduced.axes)},
                           {{"keepdims", int64_t{keep}}}));
  RK_ASSIGN(value,
            op.emit("Cast", "/result", {value}, {{"to", static_cast<int64_t>(DType::kBool)}}));
  return op.bind(0, value, reduced.order);
}

Status arg_select(LayerImport& op, std::string_view name, DType dtype) {
  RK_ASSIGN(Reduced reduced, reduced_input(op, false));
  if (reduced.axes.size() != 1) return unsupported("over several axes is not taken");
  RK_ASSIGN(Value * value, op.emit(name, "/index", {reduced.value},
                                   {{"axis", reduced.axes[0]}, {"keepdims", int64_t{0}}}));
  if (dtype != DType::kI64) {
    RK_ASSIGN(value, op.emit("Cast", "/result", {value}, {{"to", static_cast<int64_t>(dtype)}}));
  }
  return op.bind(0, value, reduced.order);
}

Status cumsum(LayerImport& op, bool exclusive, bool reverse) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const value, op.last(0));
  RK_ASSIGN(int64_t axis, op.integer(1, "axis"));
  RK_ASSIGN(axis, op.axis(axis, value->shape().rank()));
  Value* const at = op.constant("/axis", Tensor::i64({}, {axis}));
  RK_ASSIGN(Value* const sum,
            op.emit("CumSum", "/result", {value, at},
                    {{"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}}));
  return op.bind(0, sum, Order::kFile);
}

Status passed_on(LayerImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  return op.bind_moved(0, value, order);
}

Status batch_matmul(LayerImport& op, bool adjoint_a, bool adjoint_b) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  for (size_t i = 0; i < 2; ++i) {
    RK_ASSIGN(Value * value, op.last(i));
    const int rank = value->shape().rank();
    if (rank < 2) return invalid_model(str("input ", i, " is ", to_string(value->shape())));
    if (i == 0 ? adjoint_a : adjoint_b) {
      std::vector<int64_t> perm;
      for (int64_t axis = 0; axis < rank; ++axis) perm.push_back(axis);
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      RK_ASSIGN(value, transposed(op.builder(), value, perm, "/adjoint"));
    }
    values.push_back(value);
  }
  RK_ASSIGN(Value* const value, op.emit("MatMul", "/matmul", values));
  return op.bind(0, value, Order::kFile);
}

}  // namespace rk::frontends::layers

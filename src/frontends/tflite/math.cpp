// SPDX-License-Identifier: Apache-2.0
// Operators element by element, reductions, and conversions between types.
#include <algorithm>

#include "frontends/tflite/importer.h"

namespace rk::frontends::tflite {
namespace {

// Input 0 in the order it was computed in.
Result<Order> own_order(OpImport& op, Value*& value, size_t input = 0) {
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

Status unary(OpImport& op, std::string_view name, AttrMap attrs) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit(name, "/result", {value}, std::move(attrs)));
  return op.bind(0, value, order);
}

Status binary(OpImport& op, std::string_view name, bool has_activation) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  RK_ASSIGN(Value * value, op.emit(name, "/result", values));
  if (has_activation) {
    RK_ASSIGN(const auto activation, op.option<int8_t>(0, 0));
    RK_ASSIGN(value, op.activated(value, activation));
  }
  return op.bind(0, value, order, name == "Add" ? Rounding::kTwice : Rounding::kOnce);
}

Status clipped(OpImport& op, float low, float high) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value,
            op.emit("Clip", "/clip", {value, op.scalar("/min", low), op.scalar("/max", high)}));
  return op.bind(0, value, order);
}

Status softmax(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(const float beta, op.option<float>(0, 0));
  if (beta != 1) {
    RK_ASSIGN(value, op.emit("Mul", "/beta", {value, op.scalar("/factor", beta)}));
  }
  RK_ASSIGN(value, op.emit("Softmax", "/result", {value}, {{"axis", channel_axis(*value, order)}}));
  return op.bind(0, value, order);
}

Status log_softmax(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value,
            op.emit("LogSoftmax", "/result", {value}, {{"axis", channel_axis(*value, order)}}));
  return op.bind(0, value, order);
}

Status l2_normalization(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit("LpNormalization", "/result", {value},
                           {{"axis", channel_axis(*value, order)}, {"p", int64_t{2}}}));
  RK_ASSIGN(const auto activation, op.option<int8_t>(0, 0));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, order);
}

Status prelu(OpImport& op) { return binary(op, "PRelu", false); }

Status leaky_relu(OpImport& op) {
  RK_ASSIGN(const float alpha, op.option<float>(0, 0));
  return unary(op, "LeakyRelu", {{"alpha", alpha}});
}

Status gelu(OpImport& op) {
  RK_ASSIGN(const auto approximate, op.option<uint8_t>(0, 0));
  return unary(op, "Gelu", {{"approximate", std::string(approximate != 0 ? "tanh" : "none")}});
}

Status rsqrt(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit("Sqrt", "/sqrt", {value}));
  RK_ASSIGN(value, op.emit("Reciprocal", "/result", {value}));
  return op.bind(0, value, order);
}

Status square(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit("Mul", "/result", {value, value}));
  return op.bind(0, value, order);
}

Status squared_difference(OpImport& op) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  RK_ASSIGN(Value * value, op.emit("Sub", "/difference", values));
  RK_ASSIGN(value, op.emit("Mul", "/result", {value, value}));
  return op.bind(0, value, order);
}

Status not_equal(OpImport& op) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  RK_ASSIGN(Value * value, op.emit("Equal", "/equal", values));
  RK_ASSIGN(value, op.emit("Not", "/result", {value}));
  return op.bind(0, value, order);
}

// Rounds down; integers go through double, which holds every int32 exactly.
Status floor_div(OpImport& op) {
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
Status floor_mod(OpImport& op) {
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

Status add_n(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  std::vector<size_t> all(op.input_count());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together(all, values));
  RK_ASSIGN(Value* const value, op.emit("Sum", "/result", values));
  return op.bind(0, value, order);
}

Status select(OpImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(Held* const condition, op.held(0));
  RK_ASSIGN(const Held* const chosen, op.held(1));
  // SELECT's condition of rank 1 chooses whole rows.
  if (op.op().code == Code::kSelect && condition->shape().rank() == 1 &&
      chosen->shape().rank() > 1) {
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

Status cast(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  const DType dtype = op.output(0).dtype;
  if (dtype == DType::kUndefined) {
    return unsupported(str("to ", op.output(0).foreign_type, " is not taken"));
  }
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  RK_ASSIGN(value, op.emit("Cast", "/result", {value},
                           {{"to", static_cast<int64_t>(computing_dtype(dtype))}}));
  return op.bind(0, value, order);
}

// To another scale: the rounding is bind()'s.
Status quantize(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  return op.bind_moved(0, value, order);
}

// Quantized tensors are real numbers already; float16 constants are converted where they are used.
Status dequantize(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(const Held* const held, op.held(0));
  return op.bind_held(0, *held);
}

// Rounds to 2^bits steps of [min, max], moved so that zero is one of them.
Status fake_quant(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(const float low, op.option<float>(0, 0));
  RK_ASSIGN(const float high, op.option<float>(1, 0));
  RK_ASSIGN(const int64_t bits, op.option<int32_t>(2, 0));
  RK_ASSIGN(const auto narrow, op.option<uint8_t>(3, 0));
  if (bits != 8 || narrow != 0 || !(low <= 0 && high >= 0 && high > low)) {
    return unsupported(str("with ", bits, " bits from ", low, " to ", high,
                           narrow != 0 ? ", narrow range" : "", "; 8 bits around zero are taken"));
  }
  const float scale = (high - low) / 255.0f;
  const auto point = static_cast<int64_t>(std::clamp(-128.0f - low / scale + 0.5f, -128.0f, 127.0f) +
                                          256.0f) - 256;
  Value* value = nullptr;
  RK_ASSIGN(const Order order, own_order(op, value));
  Value* const step = op.scalar("/scale", scale);
  Value* const zero = op.builder().constant(op.output(0).name + "/zero_point",
                                            Tensor::i64({}, {point}).cast(DType::kI8));
  RK_ASSIGN(value, op.emit("QuantizeLinear", "/quantized", {value, step, zero}));
  RK_ASSIGN(value, op.emit("DequantizeLinear", "/result", {value, step, zero}));
  return op.bind(0, value, order);
}

namespace {

struct Reduced {
  Value* value = nullptr;
  Order order = Order::kFile;
  std::vector<int64_t> axes;
};

// Input 0 and the axes of input 1. Axes that go away leave the others in the file's order.
Result<Reduced> reduced_input(OpImport& op, bool keeps) {
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
  // Channels first without keeping: the channels may only stay where no other axis but the batch stays.
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

Status reduce(OpImport& op, std::string_view name) {
  RK_ASSIGN(const auto keep, op.option<uint8_t>(0, 0));
  RK_ASSIGN(Reduced reduced, reduced_input(op, keep != 0));
  if (reduced.axes.empty()) return op.bind_moved(0, reduced.value, reduced.order);
  RK_ASSIGN(Value* const value,
            op.emit(name, "/result", {reduced.value, op.ints_value("/axes", reduced.axes)},
                    {{"keepdims", int64_t{keep != 0}}}));
  return op.bind(0, value, reduced.order);
}

// Of truth values: the largest (any) or smallest (all) of 0 and 1.
Status reduce_bool(OpImport& op, std::string_view name) {
  RK_ASSIGN(const auto keep, op.option<uint8_t>(0, 0));
  RK_ASSIGN(Reduced reduced, reduced_input(op, keep != 0));
  RK_ASSIGN(Value * value, op.emit("Cast", "/numbers", {reduced.value},
                                   {{"to", static_cast<int64_t>(DType::kI32)}}));
  RK_ASSIGN(value, op.emit(name, "/reduced", {value, op.ints_value("/axes", reduced.axes)},
                           {{"keepdims", int64_t{keep != 0}}}));
  RK_ASSIGN(value, op.emit("Cast", "/result", {value}, {{"to", static_cast<int64_t>(DType::kBool)}}));
  return op.bind(0, value, reduced.order);
}

Status arg_select(OpImport& op, std::string_view name) {
  RK_ASSIGN(Reduced reduced, reduced_input(op, false));
  if (reduced.axes.size() != 1) return unsupported("over several axes is not taken");
  RK_ASSIGN(Value * value, op.emit(name, "/index", {reduced.value},
                                   {{"axis", reduced.axes[0]}, {"keepdims", int64_t{0}}}));
  if (op.output(0).dtype != DType::kI64) {
    RK_ASSIGN(value, op.emit("Cast", "/result", {value},
                             {{"to", static_cast<int64_t>(op.output(0).dtype)}}));
  }
  return op.bind(0, value, reduced.order);
}

Status cumsum(OpImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const value, op.last(0));
  RK_ASSIGN(int64_t axis, op.integer(1, "axis"));
  RK_ASSIGN(axis, op.axis(axis, value->shape().rank()));
  RK_ASSIGN(const auto exclusive, op.option<uint8_t>(0, 0));
  RK_ASSIGN(const auto reverse, op.option<uint8_t>(1, 0));
  Value* const at = op.builder().constant(op.output(0).name + "/axis", Tensor::i64({}, {axis}));
  RK_ASSIGN(Value* const sum, op.emit("CumSum", "/result", {value, at},
                                      {{"exclusive", int64_t{exclusive != 0}},
                                       {"reverse", int64_t{reverse != 0}}}));
  return op.bind(0, sum, Order::kFile);
}

}  // namespace rk::frontends::tflite

// SPDX-License-Identifier: Apache-2.0
// Elementwise operators.
#include <cmath>

#include "frontends/torchscript/operators.h"

namespace rk::frontends::torchscript {
namespace {

Result<Value*> real_tensor(Call& call, size_t i) {
  RK_ASSIGN(Value* const value, call.tensor(i));
  return is_float(value->dtype()) ? value : call.cast(value, DType::kF32);
}

Result<Value*> bool_tensor(Call& call, size_t i) {
  RK_ASSIGN(Value* const value, call.tensor(i));
  return call.cast(value, DType::kBool);
}

// A bound of Clip: a number or a tensor of one element, in the type of x.
Result<Value*> bound(Call& call, size_t i, DType dtype) {
  if (!call.has(i)) return static_cast<Value*>(nullptr);
  RK_ASSIGN(const double number, call.real(i, "the bound"));
  return call.scalar("/bound", number, dtype);
}

Status unary(Call& call, std::string_view op, AttrMap attrs = {}) {
  if (call.arg(0).is_number() && op == "Neg") {
    const Item& number = call.arg(0);
    return call.give(number.kind == Item::Kind::kDouble || number.integer == INT64_MIN
                         ? Item::of_double(-number.as_double())
                         : Item::of_int(-number.integer));
  }
  if (call.arg(0).is_number() && op == "Abs") {
    const Item& number = call.arg(0);
    return call.give(number.kind == Item::Kind::kDouble || number.integer == INT64_MIN
                         ? Item::of_double(std::abs(number.as_double()))
                         : Item::of_int(std::abs(number.integer)));
  }
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(Value* const out, call.emit(op, "/y", {value}, std::move(attrs)));
  return call.give_like(out);
}

Status unary_real(Call& call, std::string_view op, AttrMap attrs = {}) {
  if (call.arg(0).is_number()) {
    static const std::map<std::string_view, double (*)(double)> functions = {
        {"Sqrt", [](double x) { return std::sqrt(x); }},
        {"Exp", [](double x) { return std::exp(x); }},
        {"Log", [](double x) { return std::log(x); }},
        {"Sin", [](double x) { return std::sin(x); }},
        {"Cos", [](double x) { return std::cos(x); }},
        {"Tan", [](double x) { return std::tan(x); }},
        {"Atan", [](double x) { return std::atan(x); }},
        {"Round", [](double x) { return std::nearbyint(x); }}};
    if (const auto found = functions.find(op); found != functions.end()) {
      return call.give(Item::of_double(found->second(call.arg(0).as_double())));
    }
  }
  if (call.arg(0).is_number() && op == "Floor") {
    return integer_scalar(call, [](double x) { return std::floor(x); });
  }
  if (call.arg(0).is_number() && op == "Ceil") {
    return integer_scalar(call, [](double x) { return std::ceil(x); });
  }
  RK_ASSIGN(Value* const value, real_tensor(call, 0));
  RK_ASSIGN(Value* const out, call.emit(op, "/y", {value}, std::move(attrs)));
  return call.give_like(out);
}

}  // namespace

Status binary(Call& call, std::string_view op) {
  bool done = false;
  RK_TRY(scalar_binary(call, op, done));
  if (done) return ok_status();
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  auto [a, b] = pair;
  const bool compares = op == "Equal" || op.starts_with("Less") || op.starts_with("Greater");
  const bool of_bools = a->dtype() == DType::kBool && op != "Equal";
  if (of_bools) {
    RK_ASSIGN(a, call.cast(a, compares ? DType::kI32 : DType::kI64));
    RK_ASSIGN(b, call.cast(b, compares ? DType::kI32 : DType::kI64));
  }
  RK_ASSIGN(Value * out, call.emit(op, "/y", {a, b}));
  if (of_bools && !compares) {
    RK_ASSIGN(out, call.cast(out, DType::kBool));
  }
  if (compares) return call.give(out);
  return call.give_like(out);
}

namespace {

// a + alpha * b, a - alpha * b.
Status add_sub(Call& call, std::string_view op) {
  const double alpha = call.real_or(2, 1);
  if (alpha == 1) return binary(call, op);
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  const auto [a, b] = pair;
  RK_ASSIGN(Value* const scaled,
            call.emit("Mul", "/scaled", {b, call.scalar("/alpha", alpha, b->dtype())}));
  RK_ASSIGN(Value* const out, call.emit(op, "/y", {a, scaled}));
  return call.give_like(out);
}

Status reverse_sub(Call& call) {
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  auto [a, b] = pair;
  if (const double alpha = call.real_or(2, 1); alpha != 1) {
    RK_ASSIGN(a, call.emit("Mul", "/scaled", {a, call.scalar("/alpha", alpha, a->dtype())}));
  }
  RK_ASSIGN(Value* const out, call.emit("Sub", "/y", {b, a}));
  return call.give(out);
}

Status floor_divide(Call& call) {
  bool done = false;
  RK_TRY(scalar_binary(call, "FloorDiv", done));
  if (done) return ok_status();
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  auto [a, b] = pair;
  const DType dtype = a->dtype();
  RK_ASSIGN(a, call.cast(a, DType::kF32));
  RK_ASSIGN(b, call.cast(b, DType::kF32));
  RK_ASSIGN(Value* const quotient, call.emit("Div", "/quotient", {a, b}));
  RK_ASSIGN(Value * out, call.emit("Floor", "/y", {quotient}));
  RK_ASSIGN(out, call.cast(out, dtype));
  return call.give(out);
}

Status divide(Call& call) {
  const Item& mode = call.arg(2);
  if (mode.kind == Item::Kind::kText && mode.text == "floor") return floor_divide(call);
  bool done = false;
  if (!mode.is_none() && mode.kind == Item::Kind::kText) {
    if (mode.text != "trunc")
      return unsupported(str("rounding mode '", mode.text, "' is not taken"));
    RK_ASSIGN(const auto pair, call.operands(0, 1));
    auto [a, b] = pair;
    RK_ASSIGN(Value * out, call.emit("Div", "/quotient", {a, b}));
    if (is_float(out->dtype())) {
      RK_ASSIGN(Value* const size, call.emit("Abs", "/abs", {out}));
      RK_ASSIGN(Value* const whole, call.emit("Floor", "/floor", {size}));
      RK_ASSIGN(Value* const sign, call.emit("Sign", "/sign", {out}));
      RK_ASSIGN(out, call.emit("Mul", "/y", {whole, sign}));
    }
    return call.give(out);
  }
  RK_TRY(scalar_binary(call, "Div", done));
  if (done) return ok_status();
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  auto [a, b] = pair;
  if (!is_float(a->dtype())) {
    RK_ASSIGN(a, call.cast(a, DType::kF32));
    RK_ASSIGN(b, call.cast(b, DType::kF32));
  }
  RK_ASSIGN(Value* const out, call.emit("Div", "/y", {a, b}));
  return call.give(out);
}

// With the sign of the divisor, or (fmod) of the dividend.
Status remainder(Call& call, bool truncates) {
  bool done = false;
  if (!truncates) RK_TRY(scalar_binary(call, "Mod", done));
  if (done) return ok_status();
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  auto [a, b] = pair;
  if (truncates || !is_float(a->dtype())) {
    RK_ASSIGN(Value* const out,
              call.emit("Mod", "/y", {a, b}, {{"fmod", static_cast<int64_t>(truncates)}}));
    return call.give(out);
  }
  RK_ASSIGN(Value* const quotient, call.emit("Div", "/quotient", {a, b}));
  RK_ASSIGN(Value* const whole, call.emit("Floor", "/floor", {quotient}));
  RK_ASSIGN(Value* const part, call.emit("Mul", "/part", {whole, b}));
  RK_ASSIGN(Value* const out, call.emit("Sub", "/y", {a, part}));
  return call.give(out);
}

Status square(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(Value* const out, call.emit("Mul", "/y", {value, value}));
  return call.give(out);
}

Status power(Call& call) {
  bool done = false;
  RK_TRY(scalar_binary(call, "Pow", done));
  if (done) return ok_status();
  if (call.arg(1).is_number() && call.arg(1).as_double() == 2) return square(call);
  if (call.arg(1).is_number() && call.arg(1).as_double() == 0.5) return unary_real(call, "Sqrt");
  return binary(call, "Pow");
}

Status not_equal(Call& call) {
  bool done = false;
  RK_TRY(scalar_binary(call, "NotEqual", done));
  if (done) return ok_status();
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  RK_ASSIGN(Value* const equal, call.emit("Equal", "/equal", {pair.first, pair.second}));
  RK_ASSIGN(Value* const out, call.emit("Not", "/y", {equal}));
  return call.give(out);
}

Status logical(Call& call, std::string_view op) {
  if (call.arg(0).is_number() && call.arg(1).is_number()) return logical_scalar(call, op);
  RK_ASSIGN(Value* const a, bool_tensor(call, 0));
  RK_ASSIGN(Value* const b, bool_tensor(call, 1));
  RK_ASSIGN(Value* const out, call.emit(op, "/y", {a, b}));
  return call.give(out);
}

Status bitwise(Call& call, std::string_view logical_op, std::string_view integer_op) {
  if (call.arg(0).is_number() && call.arg(1).is_number()) return logical_scalar(call, logical_op);
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  const bool of_bools = pair.first->dtype() == DType::kBool;
  RK_ASSIGN(Value* const out,
            call.emit(of_bools ? logical_op : integer_op, "/y", {pair.first, pair.second}));
  return call.give(out);
}

Status logical_not(Call& call) {
  if (call.arg(0).is_number()) return logical_scalar(call, "Not");
  RK_ASSIGN(Value* const value, bool_tensor(call, 0));
  RK_ASSIGN(Value* const out, call.emit("Not", "/y", {value}));
  return call.give(out);
}

Status clamp(Call& call, size_t low, size_t high) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  const auto is_wide = [&](size_t i) {
    return call.arg(i).is_tensor() && call.arg(i).value->shape().elements() != 1;
  };
  if (is_wide(low) || is_wide(high)) {
    Value* out = value;
    for (const size_t i : {low, high}) {
      if (!call.has(i)) continue;
      RK_ASSIGN(Value * other, call.tensor(i));
      RK_ASSIGN(other, call.cast(other, out->dtype()));
      RK_ASSIGN(out, call.emit(i == low ? "Max" : "Min", "/bounded", {out, other}));
    }
    return call.give_like(out);
  }
  RK_ASSIGN(Value* const least, bound(call, low, value->dtype()));
  RK_ASSIGN(Value* const most, bound(call, high, value->dtype()));
  RK_ASSIGN(Value* const out, call.emit("Clip", "/y", {value, least, most}));
  return call.give_like(out);
}

Status clipped(Call& call, double low, double high) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(Value* const out, call.emit("Clip", "/y",
                                        {value, call.scalar("/min", low, value->dtype()),
                                         call.scalar("/max", high, value->dtype())}));
  return call.give_like(out);
}

Status hypot(Call& call) {
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  RK_ASSIGN(Value* const a, call.emit("Mul", "/square0", {pair.first, pair.first}));
  RK_ASSIGN(Value* const b, call.emit("Mul", "/square1", {pair.second, pair.second}));
  RK_ASSIGN(Value* const sum, call.emit("Add", "/sum", {a, b}));
  RK_ASSIGN(Value* const out, call.emit("Sqrt", "/y", {sum}));
  return call.give(out);
}

Status outer(Call& call) {
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  if (pair.first->shape().rank() != 1 || pair.second->shape().rank() != 1) {
    return invalid_model(
        str("of ", to_string(pair.first->shape()), " and ", to_string(pair.second->shape())));
  }
  RK_ASSIGN(Value* const column, call.reshaped(pair.first, {pair.first->shape()[0], 1}, "/column"));
  RK_ASSIGN(Value* const out, call.emit("Mul", "/y", {column, pair.second}));
  return call.give(out);
}

Status silu(Call& call) {
  RK_ASSIGN(Value* const value, real_tensor(call, 0));
  RK_ASSIGN(Value* const gate, call.emit("Sigmoid", "/sigmoid", {value}));
  RK_ASSIGN(Value* const out, call.emit("Mul", "/y", {value, gate}));
  return call.give_like(out);
}

Status gelu(Call& call) {
  const Item& mode = call.arg(1);
  const std::string form = mode.kind == Item::Kind::kText ? mode.text : "none";
  return unary_real(call, "Gelu", {{"approximate", form}});
}

// log(1 + exp(beta * x)) / beta; x itself where beta * x is above a threshold, which a float cannot tell apart at 20.
Status softplus(Call& call) {
  const double beta = call.real_or(1, 1);
  if (call.real_or(2, 20) < 15) return unsupported("with a threshold below 15 is not taken");
  RK_ASSIGN(Value * value, real_tensor(call, 0));
  if (beta == 1) return unary_real(call, "Softplus");
  RK_ASSIGN(value, call.emit("Mul", "/scaled", {value, call.scalar("/beta", beta)}));
  RK_ASSIGN(value, call.emit("Softplus", "/softplus", {value}));
  RK_ASSIGN(value, call.emit("Div", "/y", {value, call.scalar("/beta", beta)}));
  return call.give(value);
}

Status elu(Call& call) {
  if (call.real_or(2, 1) != 1 || call.real_or(3, 1) != 1) {
    return unsupported("with scale or input_scale other than 1 is not taken");
  }
  return unary_real(call, "Elu", {{"alpha", static_cast<float>(call.real_or(1, 1))}});
}

Status leaky_relu(Call& call) {
  return unary_real(call, "LeakyRelu", {{"alpha", static_cast<float>(call.real_or(1, 0.01))}});
}

// In inference: the mean of the slopes it draws from in training.
Status rrelu(Call& call) {
  const double slope = (call.real_or(1, 1.0 / 8) + call.real_or(2, 1.0 / 3)) / 2;
  return unary_real(call, "LeakyRelu", {{"alpha", static_cast<float>(slope)}});
}

Status prelu(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(Value * slope, call.tensor(1));
  std::vector<int64_t> dims(1, slope->shape().elements());
  if (dims[0] != 1) dims.resize(static_cast<size_t>(std::max(value->shape().rank() - 1, 1)), 1);
  RK_ASSIGN(slope, call.reshaped(slope, dims, "/slope"));
  RK_ASSIGN(Value* const out, call.emit("PRelu", "/y", {value, slope}));
  return call.give_like(out);
}

// x where x > threshold, else a value.
Status threshold(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const double limit, call.real(1, "threshold"));
  RK_ASSIGN(const double other, call.real(2, "value"));
  if (limit == 0 && other == 0) return unary(call, "Relu");
  RK_ASSIGN(Value* const above,
            call.emit("Greater", "/above", {value, call.scalar("/limit", limit, value->dtype())}));
  RK_ASSIGN(Value* const out,
            call.emit("Where", "/y", {above, value, call.scalar("/other", other, value->dtype())}));
  return call.give_like(out);
}

Status glu(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  int64_t axis = call.integer_or(1, -1);
  RK_ASSIGN(axis, call.axis_of(axis, value->shape().rank()));
  RK_ASSIGN(const auto halves,
            call.emit_many("Split", {value}, 2, {{"axis", axis}, {"num_outputs", int64_t{2}}}));
  RK_ASSIGN(Value* const gate, call.emit("Sigmoid", "/gate", {halves[1]}));
  RK_ASSIGN(Value* const out, call.emit("Mul", "/y", {halves[0], gate}));
  return call.give(out);
}

Status shrink(Call& call, bool soft) {
  const auto limit = static_cast<float>(call.real_or(1, 0.5));
  return unary_real(call, "Shrink", {{"lambd", limit}, {"bias", soft ? limit : 0.0f}});
}

Status log_sigmoid(Call& call) {
  RK_ASSIGN(Value * value, real_tensor(call, 0));
  RK_ASSIGN(value, call.emit("Neg", "/neg", {value}));
  RK_ASSIGN(value, call.emit("Softplus", "/softplus", {value}));
  RK_ASSIGN(value, call.emit("Neg", "/y", {value}));
  return call.give(value);
}

Status log_base(Call& call, double base) {
  RK_ASSIGN(Value * value, real_tensor(call, 0));
  RK_ASSIGN(value, call.emit("Log", "/log", {value}));
  RK_ASSIGN(value, call.emit("Mul", "/y", {value, call.scalar("/base", 1 / std::log(base))}));
  return call.give(value);
}

Status log1p(Call& call) {
  RK_ASSIGN(Value * value, real_tensor(call, 0));
  RK_ASSIGN(value, call.emit("Add", "/plus_one", {value, call.scalar("/one", 1)}));
  RK_ASSIGN(value, call.emit("Log", "/y", {value}));
  return call.give(value);
}

Status expm1(Call& call) {
  RK_ASSIGN(Value * value, real_tensor(call, 0));
  RK_ASSIGN(value, call.emit("Exp", "/exp", {value}));
  RK_ASSIGN(value, call.emit("Sub", "/y", {value, call.scalar("/one", 1)}));
  return call.give(value);
}

Status rsqrt(Call& call) {
  RK_ASSIGN(Value * value, real_tensor(call, 0));
  RK_ASSIGN(value, call.emit("Sqrt", "/sqrt", {value}));
  RK_ASSIGN(value, call.emit("Reciprocal", "/y", {value}));
  return call.give(value);
}

Status erfc(Call& call) {
  RK_ASSIGN(Value * value, real_tensor(call, 0));
  RK_ASSIGN(value, call.emit("Erf", "/erf", {value}));
  RK_ASSIGN(value, call.emit("Sub", "/y", {call.scalar("/one", 1), value}));
  return call.give(value);
}

Status trunc(Call& call) {
  RK_ASSIGN(Value* const value, real_tensor(call, 0));
  RK_ASSIGN(Value* const size, call.emit("Abs", "/abs", {value}));
  RK_ASSIGN(Value* const whole, call.emit("Floor", "/floor", {size}));
  RK_ASSIGN(Value* const sign, call.emit("Sign", "/sign", {value}));
  RK_ASSIGN(Value* const out, call.emit("Mul", "/y", {whole, sign}));
  return call.give(out);
}

// a + weight * (b - a).
Status lerp(Call& call) {
  RK_ASSIGN(Value* const a, real_tensor(call, 0));
  RK_ASSIGN(Value* const b, real_tensor(call, 1));
  RK_ASSIGN(Value* const weight, real_tensor(call, 2));
  RK_ASSIGN(Value* const way, call.emit("Sub", "/way", {b, a}));
  RK_ASSIGN(Value* const part, call.emit("Mul", "/part", {way, weight}));
  RK_ASSIGN(Value* const out, call.emit("Add", "/y", {a, part}));
  return call.give(out);
}

// a + value * (b op c).
Status add_product(Call& call, std::string_view op) {
  RK_ASSIGN(Value* const a, real_tensor(call, 0));
  RK_ASSIGN(Value* const b, real_tensor(call, 1));
  RK_ASSIGN(Value* const c, real_tensor(call, 2));
  RK_ASSIGN(Value * product, call.emit(op, "/product", {b, c}));
  if (const double value = call.real_or(3, 1); value != 1) {
    RK_ASSIGN(product, call.emit("Mul", "/scaled", {product, call.scalar("/value", value)}));
  }
  RK_ASSIGN(Value* const out, call.emit("Add", "/y", {a, product}));
  return call.give(out);
}

Status where(Call& call) {
  if (call.count() != 3) {
    return unsupported(
        "of a condition alone gives as many results as it holds at run time, which is "
        "not taken");
  }
  RK_ASSIGN(Value* const condition, bool_tensor(call, 0));
  RK_ASSIGN(const auto pair, call.operands(1, 2));
  RK_ASSIGN(Value* const out, call.emit("Where", "/y", {condition, pair.first, pair.second}));
  return call.give(out);
}

Status masked_fill(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(Value* const mask, bool_tensor(call, 1));
  RK_ASSIGN(Value * other, call.tensor(2));
  RK_ASSIGN(other, call.cast(other, value->dtype()));
  RK_ASSIGN(Value* const out, call.emit("Where", "/y", {mask, other, value}));
  return call.give(out);
}

}  // namespace

std::span<const OperatorRow> math_operators() {
  // clang-format off
  static constexpr OperatorRow kRows[] = {
      {"aten::__not__", logical_not},
      {"aten::add", [](Call& c) { return add_sub(c, "Add"); }},
      {"aten::sub", [](Call& c) { return add_sub(c, "Sub"); }},
      {"aten::subtract", [](Call& c) { return add_sub(c, "Sub"); }},
      {"aten::rsub", reverse_sub},
      {"aten::mul", [](Call& c) { return binary(c, "Mul"); }},
      {"aten::multiply", [](Call& c) { return binary(c, "Mul"); }},
      {"aten::div", divide},
      {"aten::divide", divide},
      {"aten::true_divide", divide},
      {"aten::floor_divide", floor_divide},
      {"aten::floordiv", floor_divide},
      {"aten::remainder", [](Call& c) { return remainder(c, false); }},
      {"aten::fmod", [](Call& c) { return remainder(c, true); }},
      {"aten::pow", power},
      {"aten::maximum", [](Call& c) { return binary(c, "Max"); }},
      {"aten::minimum", [](Call& c) { return binary(c, "Min"); }},
      {"aten::eq", [](Call& c) { return binary(c, "Equal"); }},
      {"aten::ne", not_equal},
      {"aten::lt", [](Call& c) { return binary(c, "Less"); }},
      {"aten::le", [](Call& c) { return binary(c, "LessOrEqual"); }},
      {"aten::gt", [](Call& c) { return binary(c, "Greater"); }},
      {"aten::ge", [](Call& c) { return binary(c, "GreaterOrEqual"); }},
      {"aten::logical_and", [](Call& c) { return logical(c, "And"); }},
      {"aten::logical_or", [](Call& c) { return logical(c, "Or"); }},
      {"aten::logical_xor", [](Call& c) { return logical(c, "Xor"); }},
      {"aten::logical_not", logical_not},
      {"aten::bitwise_not", logical_not},
      {"aten::__and__", [](Call& c) { return bitwise(c, "And", "BitwiseAnd"); }},
      {"aten::__or__", [](Call& c) { return bitwise(c, "Or", "BitwiseOr"); }},
      {"aten::__xor__", [](Call& c) { return bitwise(c, "Xor", "BitwiseXor"); }},
      {"aten::bitwise_and", [](Call& c) { return bitwise(c, "And", "BitwiseAnd"); }},
      {"aten::bitwise_or", [](Call& c) { return bitwise(c, "Or", "BitwiseOr"); }},
      {"aten::bitwise_xor", [](Call& c) { return bitwise(c, "Xor", "BitwiseXor"); }},
      {"aten::hypot", hypot},
      {"aten::outer", outer},
      {"aten::where", where},
      {"aten::masked_fill", masked_fill},
      {"aten::lerp", lerp},
      {"aten::addcmul", [](Call& c) { return add_product(c, "Mul"); }},
      {"aten::addcdiv", [](Call& c) { return add_product(c, "Div"); }},
      {"aten::abs", [](Call& c) { return unary(c, "Abs"); }},
      {"aten::neg", [](Call& c) { return unary(c, "Neg"); }},
      {"aten::sign", [](Call& c) { return unary(c, "Sign"); }},
      {"aten::relu", [](Call& c) { return unary(c, "Relu"); }},
      {"aten::exp", [](Call& c) { return unary_real(c, "Exp"); }},
      {"aten::log", [](Call& c) { return unary_real(c, "Log"); }},
      {"aten::sqrt", [](Call& c) { return unary_real(c, "Sqrt"); }},
      {"aten::floor", [](Call& c) { return unary_real(c, "Floor"); }},
      {"aten::ceil", [](Call& c) { return unary_real(c, "Ceil"); }},
      {"aten::round", [](Call& c) { return unary_real(c, "Round"); }},
      {"aten::sin", [](Call& c) { return unary_real(c, "Sin"); }},
      {"aten::cos", [](Call& c) { return unary_real(c, "Cos"); }},
      {"aten::tan", [](Call& c) { return unary_real(c, "Tan"); }},
      {"aten::asin", [](Call& c) { return unary_real(c, "Asin"); }},
      {"aten::acos", [](Call& c) { return unary_real(c, "Acos"); }},
      {"aten::atan", [](Call& c) { return unary_real(c, "Atan"); }},
      {"aten::sinh", [](Call& c) { return unary_real(c, "Sinh"); }},
      {"aten::cosh", [](Call& c) { return unary_real(c, "Cosh"); }},
      {"aten::erf", [](Call& c) { return unary_real(c, "Erf"); }},
      {"aten::reciprocal", [](Call& c) { return unary_real(c, "Reciprocal"); }},
      {"aten::isnan", [](Call& c) { return unary(c, "IsNaN"); }},
      {"aten::isinf", [](Call& c) { return unary(c, "IsInf"); }},
      {"aten::log2", [](Call& c) { return log_base(c, 2); }},
      {"aten::log10", [](Call& c) { return log_base(c, 10); }},
      {"aten::log1p", log1p},
      {"aten::expm1", expm1},
      {"aten::rsqrt", rsqrt},
      {"aten::square", square},
      {"aten::erfc", erfc},
      {"aten::trunc", trunc},
      {"aten::fix", trunc},
      {"aten::clamp", [](Call& c) { return clamp(c, 1, 2); }},
      {"aten::clip", [](Call& c) { return clamp(c, 1, 2); }},
      {"aten::hardtanh", [](Call& c) { return clamp(c, 1, 2); }},
      {"aten::clamp_min", [](Call& c) { return clamp(c, 1, 9); }},
      {"aten::clamp_max", [](Call& c) { return clamp(c, 9, 1); }},
      {"aten::relu6", [](Call& c) { return clipped(c, 0, 6); }},
      {"aten::silu", silu},
      {"aten::mish", [](Call& c) { return unary_real(c, "Mish"); }},
      {"aten::hardswish", [](Call& c) { return unary_real(c, "HardSwish"); }},
      {"aten::gelu", gelu},
      {"aten::selu", [](Call& c) { return unary_real(c, "Selu"); }},
      {"aten::softsign", [](Call& c) { return unary_real(c, "Softsign"); }},
      {"aten::celu", [](Call& c) { return unary_real(c, "Celu", {{"alpha", static_cast<float>(c.real_or(1, 1))}}); }},
      {"aten::softplus", softplus},
      {"aten::elu", elu},
      {"aten::leaky_relu", leaky_relu},
      {"aten::rrelu", rrelu},
      {"aten::prelu", prelu},
      {"aten::threshold", threshold},
      {"aten::glu", glu},
      {"aten::hardshrink", [](Call& c) { return shrink(c, false); }},
      {"aten::softshrink", [](Call& c) { return shrink(c, true); }},
      {"aten::log_sigmoid", log_sigmoid},
      {"quantized::relu6", [](Call& c) { return clipped(c, 0, 6); }},
  };
  // clang-format on
  return kRows;
}

}  // namespace rk::frontends::torchscript

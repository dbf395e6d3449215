// SPDX-License-Identifier: Apache-2.0
// What the operators' functions share.
#include <algorithm>
#include <cmath>

#include "frontends/torchscript/importer.h"

namespace rk::frontends::torchscript {
namespace {

const Item kNone;

std::string describe(const Item& item) {
  switch (item.kind) {
    case Item::Kind::kNone:
      return "None";
    case Item::Kind::kBool:
      return item.integer != 0 ? "True" : "False";
    case Item::Kind::kInt:
      return str(item.integer);
    case Item::Kind::kDouble:
      return str(item.real);
    case Item::Kind::kText:
      return str("'", item.text, "'");
    case Item::Kind::kTensor:
      return str("a tensor ", to_string(item.value->type()));
    case Item::Kind::kList:
      return str("a list of ", item.items->size());
    case Item::Kind::kTuple:
      return str("a tuple of ", item.items->size());
    case Item::Kind::kDict:
      return str("a dict of ", item.items->size());
    case Item::Kind::kLayer:
      return "a packed layer";
    case Item::Kind::kLost:
      break;
  }
  return "nothing";
}

// 0: bool, 1: integers, 2: real numbers.
int category(DType dtype) { return dtype == DType::kBool ? 0 : is_float(dtype) ? 2 : 1; }

// Of operands with dimensions first; one without counts only where its category is higher.
DType promoted(DType a, DType b) {
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (a == b || is_float(a)) return a;
  if (byte_size(a) != byte_size(b)) return byte_size(a) > byte_size(b) ? a : b;
  return DType::kI16;  // int8 and uint8
}

}  // namespace

const Item& Call::arg(size_t i) const {
  return i < node_.inputs.size() ? importer_.items_.at(node_.inputs[i]) : kNone;
}

std::string Call::name() const {
  return node_.outputs.empty() || node_.outputs[0].name.empty() ? "node" : node_.outputs[0].name;
}

Result<Value*> Call::tensor_of(const Item& item) {
  if (item.is_tensor()) return item.value;
  switch (item.kind) {
    case Item::Kind::kDouble:
      return scalar("/number", item.real);
    case Item::Kind::kInt:
      return scalar("/number", static_cast<double>(item.integer), DType::kI64);
    case Item::Kind::kBool:
      return scalar("/number", static_cast<double>(item.integer), DType::kBool);
    default:
      break;
  }
  return invalid_model(str("an argument is ", describe(item), "; a tensor is expected"));
}

Result<Value*> Call::tensor(size_t i) {
  auto value = tensor_of(arg(i));
  if (!value.ok()) return value.status().with_context(str("argument ", i));
  return value;
}

Result<std::pair<Value*, Value*>> Call::operands(size_t a, size_t b) {
  RK_ASSIGN(Value * first, tensor(a));
  RK_ASSIGN(Value * second, tensor(b));
  const auto weak = [&](size_t i, const Value& value) {
    return !arg(i).is_tensor() || value.shape().rank() == 0;
  };
  const bool weak_first = weak(a, *first), weak_second = weak(b, *second);
  DType dtype = promoted(first->dtype(), second->dtype());
  if (weak_first != weak_second) {
    const DType strong = weak_first ? second->dtype() : first->dtype();
    if (category(strong) == category(dtype)) dtype = strong;
  }
  RK_ASSIGN(first, cast(first, dtype));
  RK_ASSIGN(second, cast(second, dtype));
  return std::pair(first, second);
}

Result<std::vector<Value*>> Call::tensors(size_t i) {
  const Item& list = arg(i);
  if (!list.is_list() || list.items->empty()) {
    return invalid_model(str("argument ", i, " is ", describe(list), "; tensors are expected"));
  }
  std::vector<Value*> out;
  for (const Item& item : *list.items) {
    if (item.kind == Item::Kind::kLost) return unsupported(item.text);
    RK_ASSIGN(Value* const value, tensor_of(item));
    out.push_back(value);
  }
  DType dtype = out[0]->dtype();
  for (const Value* value : out) dtype = promoted(dtype, value->dtype());
  for (Value*& value : out) {
    RK_ASSIGN(value, cast(value, dtype));
  }
  return out;
}

Result<double> Call::real_of(const Item& item, std::string_view what) const {
  if (item.is_number()) return item.as_double();
  if (item.is_tensor() && item.value->is_constant() && item.value->shape().elements() == 1) {
    return item.value->constant().at_f64(0);
  }
  if (item.is_tensor()) {
    return unsupported(str(what, " is known at run time only (", to_string(item.value->type()),
                           "); it must not depend on the values of inputs"));
  }
  return invalid_model(str(what, " is ", describe(item), "; a number is expected"));
}

Result<int64_t> Call::integer_of(const Item& item, std::string_view what) const {
  if (item.kind == Item::Kind::kInt || item.kind == Item::Kind::kBool) return item.integer;
  if (item.is_tensor() && item.value->is_constant() && item.value->shape().elements() == 1) {
    return item.value->constant().at_i64(0);
  }
  RK_ASSIGN(const double number, real_of(item, what));
  if (!(std::abs(number) < 9e18)) return invalid_model(str(what, " is ", number));
  return static_cast<int64_t>(number);
}

Result<double> Call::real(size_t i, std::string_view what) { return real_of(arg(i), what); }
Result<int64_t> Call::integer(size_t i, std::string_view what) { return integer_of(arg(i), what); }

Result<bool> Call::flag(size_t i, std::string_view what) {
  RK_ASSIGN(const double number, real(i, what));
  return number != 0;
}

Result<std::vector<int64_t>> Call::ints(size_t i, std::string_view what, size_t repeat) {
  const Item& item = arg(i);
  std::vector<int64_t> out;
  if (item.is_list()) {
    for (const Item& inner : *item.items) {
      RK_ASSIGN(const int64_t number, integer_of(inner, what));
      out.push_back(number);
    }
  } else if (item.is_tensor() && item.value->is_constant() && is_integer(item.value->dtype())) {
    out = item.value->constant().to_i64();
  } else {
    RK_ASSIGN(const int64_t number, integer_of(item, what));
    out.push_back(number);
  }
  if (repeat != 0 && out.size() == 1) out.resize(repeat, out[0]);
  if (repeat != 0 && out.size() != repeat) {
    return invalid_model(str(what, " has ", out.size(), " numbers, expected ", repeat));
  }
  return out;
}

Result<int64_t> Call::axis_of(int64_t axis, int rank) const {
  const int64_t bound = std::max(rank, 1);
  if (axis < -bound || axis >= bound) {
    return invalid_model(str("axis ", axis, " of a tensor of rank ", rank));
  }
  return axis < 0 ? axis + bound : axis;
}

Result<int64_t> Call::axis(size_t i, int rank) {
  RK_ASSIGN(const int64_t number, integer(i, "the axis"));
  return axis_of(number, rank);
}

bool Call::flag_or(size_t i, bool fallback) const {
  return arg(i).is_number() ? arg(i).as_double() != 0 : fallback;
}
int64_t Call::integer_or(size_t i, int64_t fallback) const {
  const auto number = integer_of(arg(i), "");
  return has(i) && number.ok() ? *number : fallback;
}
double Call::real_or(size_t i, double fallback) const {
  const auto number = real_of(arg(i), "");
  return has(i) && number.ok() ? *number : fallback;
}

Result<Value*> Call::emit(std::string_view op, std::string_view suffix, std::vector<Value*> inputs,
                          AttrMap attrs) {
  NodeDraft draft;
  draft.name = name();
  return builder().emit(draft, op, suffix, std::move(inputs), std::move(attrs));
}

Result<std::vector<Value*>> Call::emit_many(std::string_view op, std::vector<Value*> inputs,
                                            size_t outputs, AttrMap attrs) {
  NodeDraft draft;
  draft.name = name();
  draft.op = op;
  draft.inputs = std::move(inputs);
  draft.attrs = std::move(attrs);
  for (size_t i = 0; i < outputs; ++i) draft.outputs.push_back(str(draft.name, "/", i));
  return builder().emit(std::move(draft));
}

Value* Call::ints_value(std::string_view suffix, const std::vector<int64_t>& values) {
  NodeDraft draft;
  draft.name = name();
  return builder().ints(draft, suffix, values);
}

Value* Call::scalar(std::string_view suffix, double value, DType dtype) {
  Tensor tensor = Tensor::make({dtype, {}});
  store_f64(dtype, tensor.mutable_data<uint8_t>(), value);
  return builder().constant(name() + std::string(suffix), std::move(tensor));
}

Result<Value*> Call::cast(Value* value, DType dtype) {
  if (value->dtype() == dtype) return value;
  return emit("Cast", "/cast", {value}, {{"to", static_cast<int64_t>(dtype)}});
}

Result<Value*> Call::reshaped(Value* value, const std::vector<int64_t>& dims,
                              std::string_view suffix) {
  if (std::ranges::equal(value->shape().dims(), dims)) return value;
  return emit("Reshape", suffix, {value, ints_value("/dims", dims)}, {{"allowzero", int64_t{1}}});
}

Result<Value*> Call::transposed(Value* value, const std::vector<int64_t>& perm,
                                std::string_view suffix) {
  if (std::ranges::is_sorted(perm)) return value;
  return emit("Transpose", suffix, {value}, {{"perm", perm}});
}

Result<Value*> Call::constant(const StoredTensor& stored, std::string_view suffix) {
  return importer_.constant(stored, name() + std::string(suffix));
}

Result<Value*> Call::rounded(Value* value, const QuantScale& to) {
  if (to.zero_point < -128 || to.zero_point > 127) {
    return invalid_model(str("zero point ", to.zero_point + 128, " is outside of 0..255"));
  }
  if (!(to.scale > 0) || !std::isfinite(to.scale)) {
    return invalid_model(str("scale ", to.scale, " is not a positive number"));
  }
  importer_.zero_points_.insert(to.zero_point + 128);
  Value* const scale = scalar("/scale", to.scale);
  Value* const point = scalar("/zero_point", static_cast<double>(to.zero_point), DType::kI8);
  RK_ASSIGN(Value* const integers, emit("QuantizeLinear", "/quantized", {value, scale, point}));
  return emit("DequantizeLinear", "/real", {integers, scale, point});
}

Status Call::give(Item item, size_t output) {
  if (output >= node_.outputs.size()) return invalid_model(str("result ", output, " is not there"));
  const bool shares = is_view(node_.kind) && arg(0).is_tensor();
  importer_.bind(node_.outputs[output], std::move(item), shares ? arg(0).storage : 0);
  return ok_status();
}

Status Call::give_constant() {
  if (!node_.constant) return unsupported("reads an attribute that changes at run time");
  RK_ASSIGN(Item item, importer_.item_of(*node_.constant, name()));
  return give(std::move(item));
}

Status Call::give_state() {
  RK_ASSIGN(Importer::Attribute* const found, importer_.attribute(node_));
  found->is_read = found->is_read || !found->is_set;
  return give(Item(found->now));
}

Status Call::set_state() {
  RK_ASSIGN(Importer::Attribute* const found, importer_.attribute(node_));
  found->is_set = true;
  found->now = arg(0);
  return ok_status();
}

Status Call::give_rounded(Value* value, const QuantScale& scale) {
  RK_ASSIGN(Value* const real, rounded(value, scale));
  Item item = Item::of_tensor(real);
  item.quant = scale;
  return give(std::move(item));
}

Status Call::give_like(Value* value) {
  if (arg(0).is_tensor() && arg(0).quant) return give_rounded(value, *arg(0).quant);
  return give(value);
}

Status Call::give_moved(Value* value) {
  Item item = Item::of_tensor(value);
  item.quant = arg(0).quant;
  return give(std::move(item));
}

Status Call::give_cast(DType dtype) {
  RK_ASSIGN(Value * value, tensor(0));
  RK_ASSIGN(value, cast(value, dtype));
  return give(value);
}

void Call::count_weights(const Affine& affine) {
  importer_.has_weights_ = true;
  if (std::ranges::any_of(affine.zero_point, [](int64_t point) { return point != 0; })) {
    importer_.has_asymmetric_weights_ = true;
  }
}

}  // namespace rk::frontends::torchscript

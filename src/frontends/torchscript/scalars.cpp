// SPDX-License-Identifier: Apache-2.0
// Numbers, lists and what is known of tensors without their values: decided at import.
#include <algorithm>
#include <cmath>

#include "frontends/torchscript/operators.h"

namespace rk::frontends::torchscript {
namespace {

bool equal_items(const Item& a, const Item& b) {
  if (a.is_number() && b.is_number()) return a.as_double() == b.as_double();
  if (a.is_list() && b.is_list()) {
    return std::ranges::equal(*a.items, *b.items, equal_items);
  }
  return a.kind == b.kind && a.text == b.text && a.value == b.value;
}

Result<int64_t> place_of(int64_t place, size_t count) {
  const auto size = static_cast<int64_t>(count);
  if (place < -size || place >= size) {
    return invalid_model(str("element ", place, " of a list of ", size));
  }
  return place < 0 ? place + size : place;
}

// Division as Python has it: rounded down.
int64_t floor_div(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

Result<Item> integers(std::string_view op, int64_t a, int64_t b) {
  int64_t out = 0;
  bool overflows = false;
  if (op == "Add") {
    overflows = __builtin_add_overflow(a, b, &out);
  } else if (op == "Sub") {
    overflows = __builtin_sub_overflow(a, b, &out);
  } else if (op == "Mul") {
    overflows = __builtin_mul_overflow(a, b, &out);
  } else if (op == "FloorDiv" || op == "Mod") {
    if (b == 0) return invalid_model("divides by zero");
    if (b == -1) {
      overflows = __builtin_sub_overflow(int64_t{0}, a, &out);
      if (op == "Mod") return Item::of_int(0);
    } else {
      out = op == "FloorDiv" ? floor_div(a, b) : a - floor_div(a, b) * b;
    }
  } else {
    return Item::none();
  }
  if (overflows) return invalid_model(str(a, " ", op, " ", b, " does not fit"));
  return Item::of_int(out);
}

Result<Item> reals(std::string_view op, double a, double b) {
  if (op == "Add") return Item::of_double(a + b);
  if (op == "Sub") return Item::of_double(a - b);
  if (op == "Mul") return Item::of_double(a * b);
  if (op == "Div") return Item::of_double(a / b);
  if (op == "FloorDiv") return Item::of_double(std::floor(a / b));
  if (op == "Mod") return Item::of_double(a - std::floor(a / b) * b);
  if (op == "Pow") return Item::of_double(std::pow(a, b));
  if (op == "Max") return Item::of_double(std::max(a, b));
  if (op == "Min") return Item::of_double(std::min(a, b));
  if (op == "Less") return Item::of_bool(a < b);
  if (op == "LessOrEqual") return Item::of_bool(a <= b);
  if (op == "Greater") return Item::of_bool(a > b);
  if (op == "GreaterOrEqual") return Item::of_bool(a >= b);
  return Item::none();
}

}  // namespace

std::optional<DType> dtype_of_torch(int64_t number) {
  switch (number) {
    case 0:
      return DType::kU8;
    case 1:
      return DType::kI8;
    case 2:
      return DType::kI16;
    case 3:
      return DType::kI32;
    case 4:
      return DType::kI64;
    case 5:
    case 6:
    case 7:
    case 15:
      return DType::kF32;
    case 11:
      return DType::kBool;
    default:
      return std::nullopt;
  }
}

Status scalar_binary(Call& call, std::string_view op, bool& found) {
  const Item &a = call.arg(0), &b = call.arg(1);
  found = !a.is_tensor() && !b.is_tensor();
  if (!found) return ok_status();
  if (op == "Equal") return call.give(Item::of_bool(equal_items(a, b)));
  if (op == "NotEqual") return call.give(Item::of_bool(!equal_items(a, b)));
  if (op == "Add" && a.is_list() && a.kind == b.kind && a.kind != Item::Kind::kDict) {
    std::vector<Item> items = *a.items;
    items.insert(items.end(), b.items->begin(), b.items->end());
    return call.give(Item::of_items(a.kind, std::move(items)));
  }
  if (!a.is_number() || !b.is_number()) {
    return unsupported(str("of these kinds of values is not taken (", op, ")"));
  }
  Item out;
  const bool whole = a.kind != Item::Kind::kDouble && b.kind != Item::Kind::kDouble;
  if (whole) {
    RK_ASSIGN(out, integers(op, a.integer, b.integer));
  }
  if (out.is_none()) {
    RK_ASSIGN(out, reals(op, a.as_double(), b.as_double()));
    const bool keeps_whole = op == "Max" || op == "Min" || (op == "Pow" && b.as_double() >= 0);
    if (whole && keeps_whole && std::abs(out.real) < 9e15) {
      out = Item::of_int(static_cast<int64_t>(out.real));
    }
  }
  if (out.is_none()) return unsupported(str("of two numbers is not taken (", op, ")"));
  return call.give(std::move(out));
}

namespace {

Status constant_node(Call& call) { return call.give_constant(); }
Status get_state(Call& call) { return call.give_state(); }
Status set_state(Call& call) { return call.set_state(); }

Status list_construct(Call& call) {
  std::vector<Item> items;
  for (size_t i = 0; i < call.count(); ++i) items.push_back(call.arg(i));
  return call.give(Item::of_items(Item::Kind::kList, std::move(items)));
}

Status tuple_construct(Call& call) {
  std::vector<Item> items;
  for (size_t i = 0; i < call.count(); ++i) items.push_back(call.arg(i));
  return call.give(Item::of_items(Item::Kind::kTuple, std::move(items)));
}

// Keys and values take turns.
Status dict_construct(Call& call) {
  if (call.count() % 2 != 0) return invalid_model("has a key without a value");
  std::vector<Item> keys, items;
  for (size_t i = 0; i < call.count(); i += 2) {
    keys.push_back(call.arg(i));
    items.push_back(call.arg(i + 1));
  }
  Item out = Item::of_items(Item::Kind::kDict, std::move(items));
  out.keys = std::make_shared<std::vector<Item>>(std::move(keys));
  return call.give(std::move(out));
}

// Where a list or dict has what the second argument says; nothing for a key that is not there.
Result<std::optional<size_t>> place_in(Call& call) {
  const Item& holder = call.arg(0);
  if (holder.kind == Item::Kind::kDict) {
    const auto found = std::ranges::find_if(
        *holder.keys, [&](const Item& key) { return equal_items(key, call.arg(1)); });
    if (found == holder.keys->end()) return std::optional<size_t>();
    return std::optional(static_cast<size_t>(found - holder.keys->begin()));
  }
  if (!holder.is_list()) return unsupported("of what is no list is not taken");
  RK_ASSIGN(const int64_t place, call.integer(1, "the place"));
  RK_ASSIGN(const int64_t found, place_of(place, holder.items->size()));
  return std::optional(static_cast<size_t>(found));
}

Status list_unpack(Call& call) {
  const Item& list = call.arg(0);
  if (!list.is_list()) return invalid_model("unpacks what is no list");
  const std::vector<Item> items = *list.items;
  if (items.size() != call.node().outputs.size()) {
    return invalid_model(
        str("unpacks ", items.size(), " elements into ", call.node().outputs.size()));
  }
  for (size_t i = 0; i < items.size(); ++i) RK_TRY(call.give(items[i], i));
  return ok_status();
}

Status get_item(Call& call) {
  RK_ASSIGN(const std::optional<size_t> place, place_in(call));
  if (!place) return invalid_model("asks for a key that the dict does not have");
  return call.give(Item((*call.arg(0).items)[*place]));
}

// dict.get(key, default)
Status get_or(Call& call) {
  if (call.arg(0).kind != Item::Kind::kDict) return unsupported("of what is no dict is not taken");
  RK_ASSIGN(const std::optional<size_t> place, place_in(call));
  return call.give(place ? Item((*call.arg(0).items)[*place]) : Item(call.arg(2)));
}

// The last argument can be put into the list or dict that is the first one.
Status check_holder(const Call& call) {
  constexpr size_t kMostItems = 10'000;
  const Item& holder = call.arg(0);
  const bool holds = holder.kind == Item::Kind::kList || holder.kind == Item::Kind::kDict;
  if (!holds || call.count() < 2) return invalid_model("needs a list");
  if (holder.items->size() >= kMostItems) return unsupported("makes a list too long");
  // A list in itself would never end.
  if (call.arg(call.count() - 1).is_list()) return unsupported("of a list to a list is not taken");
  return ok_status();
}

Status give_holder(Call& call) {
  return call.node().outputs.empty() ? ok_status() : call.give(Item(call.arg(0)));
}

Status append(Call& call) {
  RK_TRY(check_holder(call));
  if (call.arg(0).kind != Item::Kind::kList) return invalid_model("needs a list");
  call.arg(0).items->push_back(call.arg(1));
  return give_holder(call);
}

// list[place] = item, dict[key] = item
Status set_item(Call& call) {
  RK_TRY(check_holder(call));
  if (call.count() != 3) return invalid_model("needs a place and an item");
  const Item& holder = call.arg(0);
  RK_ASSIGN(const std::optional<size_t> place, place_in(call));
  if (place) {
    (*holder.items)[*place] = call.arg(2);
  } else {
    holder.keys->push_back(call.arg(1));
    holder.items->push_back(call.arg(2));
  }
  return give_holder(call);
}

Status extend(Call& call) {
  constexpr size_t kMostItems = 10'000;
  const Item &list = call.arg(0), &more = call.arg(1);
  if (list.kind != Item::Kind::kList || more.kind != Item::Kind::kList)
    return invalid_model("needs two lists");
  const std::vector<Item> added = *more.items;  // may be the same list
  const auto is_plain = [](const Item& item) { return !item.is_list(); };
  if (!std::ranges::all_of(added, is_plain)) return unsupported("by lists of lists is not taken");
  if (list.items->size() + added.size() > kMostItems) return unsupported("makes a list too long");
  list.items->insert(list.items->end(), added.begin(), added.end());
  return give_holder(call);
}

Status pop(Call& call) {
  const Item& list = call.arg(0);
  if (list.kind != Item::Kind::kList) return unsupported("of what is no list is not taken");
  RK_ASSIGN(const int64_t place, place_of(call.integer_or(1, -1), list.items->size()));
  Item item = (*list.items)[static_cast<size_t>(place)];
  list.items->erase(list.items->begin() + place);
  return call.give(std::move(item));
}

Status copy_of_list(Call& call) {
  const Item& list = call.arg(0);
  if (!list.is_list()) return unsupported("of what is no list is not taken");
  return call.give(Item::of_items(Item::Kind::kList, *list.items));
}

// dict(): empty; of a dict: a copy; of a list of pairs.
Status make_dict(Call& call) {
  const Item& from = call.arg(0);
  std::vector<Item> keys, items;
  if (from.kind == Item::Kind::kDict) {
    keys = *from.keys;
    items = *from.items;
  } else if (from.kind == Item::Kind::kList) {
    for (const Item& pair : *from.items) {
      if (!pair.is_list() || pair.items->size() != 2)
        return unsupported("of what are no pairs is not taken");
      keys.push_back((*pair.items)[0]);
      items.push_back((*pair.items)[1]);
    }
  } else if (!from.is_none()) {
    return unsupported("of what is no list is not taken");
  }
  Item out = Item::of_items(Item::Kind::kDict, std::move(items));
  out.keys = std::make_shared<std::vector<Item>>(std::move(keys));
  return call.give(std::move(out));
}

Status dict_keys(Call& call) {
  const Item& dict = call.arg(0);
  if (dict.kind != Item::Kind::kDict) return unsupported("of what is no dict is not taken");
  return call.give(Item::of_items(Item::Kind::kList, *dict.keys));
}

Status dict_items(Call& call) {
  const Item& dict = call.arg(0);
  if (dict.kind != Item::Kind::kDict) return unsupported("of what is no dict is not taken");
  std::vector<Item> pairs;
  for (size_t i = 0; i < dict.items->size(); ++i) {
    pairs.push_back(Item::of_items(Item::Kind::kTuple, {(*dict.keys)[i], (*dict.items)[i]}));
  }
  return call.give(Item::of_items(Item::Kind::kList, std::move(pairs)));
}

// range(start, stop, step): how many, and which one is next.
Status range_length(Call& call) {
  RK_ASSIGN(const int64_t start, call.integer(0, "the start"));
  RK_ASSIGN(const int64_t stop, call.integer(1, "the end"));
  RK_ASSIGN(const int64_t step, call.integer(2, "the step"));
  if (step == 0) return invalid_model("has a step of 0");
  const double count = std::ceil((static_cast<double>(stop) - static_cast<double>(start)) /
                                 static_cast<double>(step));
  if (!(count < 1e9)) return unsupported("counts too far");
  return call.give(Item::of_int(std::max(int64_t{0}, static_cast<int64_t>(std::max(count, 0.0)))));
}

Status range_item(Call& call) {
  RK_ASSIGN(const int64_t round, call.integer(0, "the round"));
  RK_ASSIGN(const int64_t start, call.integer(1, "the start"));
  RK_ASSIGN(const int64_t step, call.integer(2, "the step"));
  int64_t out = 0;
  if (__builtin_mul_overflow(round, step, &out) || __builtin_add_overflow(out, start, &out)) {
    return invalid_model("counts too far");
  }
  return call.give(Item::of_int(out));
}

}  // namespace

Status same(Call& call) { return call.give(Item(call.arg(0))); }

namespace {

Status nothing(Call& call) {
  for (size_t i = 0; i < call.node().outputs.size(); ++i) RK_TRY(call.give(Item::none(), i));
  return ok_status();
}

Status raise(Call& call) {
  const Item& text = call.arg(0);
  return unsupported(str("the model raises an exception for these shapes",
                         text.kind == Item::Kind::kText ? ": " : "", text.text));
}

Status to_int(Call& call) {
  RK_ASSIGN(const int64_t number, call.integer(0, "the number"));
  return call.give(Item::of_int(number));
}

Status to_float(Call& call) {
  RK_ASSIGN(const double number, call.real(0, "the number"));
  return call.give(Item::of_double(number));
}

Status to_bool(Call& call) {
  RK_ASSIGN(const bool flag, call.flag(0, "the condition"));
  return call.give(Item::of_bool(flag));
}

Status size(Call& call) {
  RK_ASSIGN(const Value* const value, call.tensor(0));
  const Shape& shape = value->shape();
  if (!call.has(1)) return call.give(Item::of_ints(shape.dims()));
  RK_ASSIGN(const int64_t axis, call.axis(1, shape.rank()));
  if (axis >= shape.rank()) return invalid_model("asks for an axis of a scalar");
  return call.give(Item::of_int(shape[static_cast<int>(axis)]));
}

Status dim(Call& call) {
  RK_ASSIGN(const Value* const value, call.tensor(0));
  return call.give(Item::of_int(value->shape().rank()));
}

Status numel(Call& call) {
  RK_ASSIGN(const Value* const value, call.tensor(0));
  return call.give(Item::of_int(value->shape().elements()));
}

Status length(Call& call) {
  const Item& item = call.arg(0);
  if (item.is_list()) return call.give(Item::of_int(static_cast<int64_t>(item.items->size())));
  if (item.kind == Item::Kind::kText) {
    return call.give(Item::of_int(static_cast<int64_t>(item.text.size())));
  }
  RK_ASSIGN(const Value* const value, call.tensor(0));
  if (value->shape().rank() == 0) return invalid_model("asks for the length of a scalar");
  return call.give(Item::of_int(value->shape()[0]));
}

Status dtype_query(Call& call) {
  RK_ASSIGN(const Value* const value, call.tensor(0));
  if (call.arg(0).quant) return call.give(Item::of_int(13));
  for (const int64_t number : {6, 0, 1, 2, 3, 4, 11}) {
    if (dtype_of_torch(number) == value->dtype()) return call.give(Item::of_int(number));
  }
  return unsupported(str("of ", to_string(value->dtype()), " is not taken"));
}

Status is_floating(Call& call) {
  RK_ASSIGN(const Value* const value, call.tensor(0));
  return call.give(Item::of_bool(is_float(value->dtype())));
}

Status is_item(Call& call, bool equal) {
  const Item &a = call.arg(0), &b = call.arg(1);
  const bool is_same = a.kind == b.kind && equal_items(a, b);
  return call.give(Item::of_bool(is_same == equal));
}

}  // namespace

Status logical_scalar(Call& call, std::string_view op) {
  RK_ASSIGN(const bool a, call.flag(0, "the condition"));
  if (op == "Not") return call.give(Item::of_bool(!a));
  RK_ASSIGN(const bool b, call.flag(1, "the condition"));
  return call.give(Item::of_bool(op == "And" ? a && b : op == "Or" ? a || b : a != b));
}

namespace {

Status contains(Call& call) {
  const Item& list = call.arg(0);
  if (!list.is_list()) return unsupported("of what is no list is not taken");
  const auto& items = list.kind == Item::Kind::kDict ? *list.keys : *list.items;
  return call.give(Item::of_bool(std::ranges::any_of(
      items, [&](const Item& item) { return equal_items(item, call.arg(1)); })));
}

Status text_of(Call& call) {
  const Item& first = call.arg(0);
  return call.give(Item::of_text(first.kind == Item::Kind::kText ? first.text : ""));
}

Status false_value(Call& call) { return call.give(Item::of_bool(false)); }

}  // namespace

Status extreme_scalar(Call& call, bool largest) {
  std::vector<Item> items;
  if (call.arg(0).is_list()) {
    items = *call.arg(0).items;
  } else {
    for (size_t i = 0; i < call.count(); ++i) items.push_back(call.arg(i));
  }
  const bool numbers =
      !items.empty() && std::ranges::all_of(items, [](const Item& i) { return i.is_number(); });
  if (!numbers) return unsupported("of what is no number is not taken");
  const auto less = [](const Item& a, const Item& b) { return a.as_double() < b.as_double(); };
  return call.give(Item(largest ? *std::ranges::max_element(items, less)
                                : *std::ranges::min_element(items, less)));
}

Status integer_scalar(Call& call, double (*function)(double)) {
  RK_ASSIGN(const double number, call.real(0, "the number"));
  const double out = function(number);
  if (!(std::abs(out) < 9e18)) return invalid_model(str(number, " is too large"));
  return call.give(Item::of_int(static_cast<int64_t>(out)));
}

namespace {

// torch.tensor(data, dtype, ...): a number, or a list of them.
Status tensor_from_data(Call& call) {
  std::vector<double> numbers;
  std::vector<int64_t> dims;
  bool real = false;
  const std::function<Status(const Item&, size_t)> read = [&](const Item& item,
                                                              size_t depth) -> Status {
    if (!item.is_list()) {
      RK_ASSIGN(const double number, call.real_of(item, "an element"));
      real = real || item.kind == Item::Kind::kDouble;
      numbers.push_back(number);
      return depth == dims.size() ? ok_status() : invalid_model("its lists differ in length");
    }
    if (depth >= 8) return invalid_model("its lists are nested too deeply");
    const auto size = static_cast<int64_t>(item.items->size());
    if (dims.size() == depth && numbers.empty()) dims.push_back(size);
    if (depth >= dims.size() || dims[depth] != size) {
      return invalid_model("its lists differ in length");
    }
    for (const Item& inner : *item.items) RK_TRY(read(inner, depth + 1));
    return ok_status();
  };
  if (call.arg(0).is_tensor()) return call.give(Item(call.arg(0)));
  RK_TRY(read(call.arg(0), 0));
  auto dtype = real ? DType::kF32 : DType::kI64;
  if (call.has(1)) dtype = dtype_of_torch(call.integer_or(1, 6)).value_or(dtype);
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  if (shape.elements() != static_cast<int64_t>(numbers.size())) {
    return invalid_model("its lists differ in length");
  }
  Tensor out = Tensor::make({dtype, shape});
  for (size_t i = 0; i < numbers.size(); ++i) {
    store_f64(dtype, out.mutable_data<uint8_t>() + i * byte_size(dtype), numbers[i]);
  }
  return call.give(call.builder().constant(call.name() + "/data", std::move(out)));
}

}  // namespace

std::span<const OperatorRow> scalar_operators() {
  // clang-format off
  static constexpr OperatorRow kRows[] = {
      {"prim::Constant", constant_node},
      {"prim::GetAttr", constant_node},
      {"state::get", get_state},
      {"state::set", set_state},
      {"prim::ListConstruct", list_construct},
      {"prim::TupleConstruct", tuple_construct},
      {"prim::DictConstruct", dict_construct},
      {"prim::ListUnpack", list_unpack},
      {"prim::TupleUnpack", list_unpack},
      {"prim::TupleIndex", get_item},
      {"aten::__getitem__", get_item},
      {"aten::append", append},
      {"aten::_set_item", set_item},
      {"aten::extend", extend},
      {"aten::pop", pop},
      {"aten::get", get_or},
      {"aten::dict", make_dict},
      {"aten::keys", dict_keys},
      {"aten::values", copy_of_list},
      {"aten::items", dict_items},
      {"aten::list", copy_of_list},
      {"aten::__range_length", range_length},
      {"aten::__derive_index", range_item},
      {"prim::NumToTensor", same},
      {"aten::scalar_tensor", tensor_from_data},
      {"aten::tensor", tensor_from_data},
      {"aten::as_tensor", tensor_from_data},
      {"prim::ImplicitTensorToNum", same},
      {"prim::unchecked_cast", same},
      {"prim::unchecked_unwrap_optional", same},
      {"aten::_unwrap_optional", same},
      {"prim::data", same},
      {"prim::Uninitialized", nothing},
      {"prim::Print", nothing},
      {"aten::warn", nothing},
      {"prim::RaiseException", raise},
      {"aten::Int", to_int},
      {"aten::IntImplicit", to_int},
      {"prim::Int", to_int},
      {"aten::Float", to_float},
      {"aten::FloatImplicit", to_float},
      {"aten::ScalarImplicit", same},
      {"aten::item", same},
      {"aten::Bool", to_bool},
      {"prim::Bool", to_bool},
      {"aten::size", size},
      {"prim::shape", size},
      {"aten::dim", dim},
      {"aten::numel", numel},
      {"aten::len", length},
      {"prim::dtype", dtype_query},
      {"aten::is_floating_point", is_floating},
      {"prim::device", [](Call& c) { return c.give(Item::of_text("cpu")); }},
      {"prim::type", [](Call& c) { return c.give(Item::of_text("cpu")); }},
      {"prim::layout", [](Call& c) { return c.give(Item::of_int(0)); }},
      {"prim::is_cuda", false_value},
      {"prim::requires_grad", false_value},
      {"aten::is_scripting", false_value},
      {"aten::__is__", [](Call& c) { return is_item(c, true); }},
      {"aten::__isnot__", [](Call& c) { return is_item(c, false); }},
      {"aten::__contains__", contains},
      {"aten::format", text_of},
      {"aten::percentFormat", text_of},
      {"prim::min", [](Call& c) { return extreme_scalar(c, false); }},
      {"prim::max", [](Call& c) { return extreme_scalar(c, true); }},
      {"aten::contiguous", same},
      {"aten::clone", same},
      {"aten::detach", same},
      {"aten::alias", same},
      {"aten::dropout", same},
      {"aten::feature_dropout", same},
      {"aten::alpha_dropout", same},
      {"aten::feature_alpha_dropout", same},
      {"aten::cpu", same},
  };
  // clang-format on
  return kRows;
}

}  // namespace rk::frontends::torchscript

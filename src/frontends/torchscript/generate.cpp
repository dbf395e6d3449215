// SPDX-License-Identifier: Apache-2.0
// Tensors from nothing, orders, and elements put into others.
#include <algorithm>
#include <cmath>

#include "frontends/torchscript/operators.h"

namespace rk::frontends::torchscript {
namespace {

Result<Tensor> filled_tensor(Call& call, DType dtype, const std::vector<int64_t>& dims,
                             double value) {
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  RK_ASSIGN(Tensor out, call.builder().described({dtype, shape}));
  if (value == 0) return out;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    store_f64(dtype, out.mutable_data<uint8_t>() + static_cast<size_t>(i) * byte_size(dtype),
              value);
  }
  return out;
}

DType dtype_argument(Call& call, size_t i, DType fallback) {
  return call.has(i) ? dtype_of_torch(call.integer_or(i, 6)).value_or(fallback) : fallback;
}

Status give_filled(Call& call, DType dtype, const std::vector<int64_t>& dims, double value) {
  RK_ASSIGN(Tensor out, filled_tensor(call, dtype, dims, value));
  return call.give(call.builder().constant(call.name() + "/filled", std::move(out)));
}

DType dtype_of_number(const Item& item) {
  return item.kind == Item::Kind::kInt    ? DType::kI64
         : item.kind == Item::Kind::kBool ? DType::kBool
                                          : DType::kF32;
}

Result<std::vector<int64_t>> shape_of(Call& call) {
  RK_ASSIGN(const Value* const value, call.tensor(0));
  const auto dims = value->shape().dims();
  return std::vector<int64_t>(dims.begin(), dims.end());
}

Status give_numbers(Call& call, DType dtype, double first, double step, int64_t count) {
  if (count < 0) return invalid_model(str("makes ", count, " elements"));
  RK_ASSIGN(Tensor out, filled_tensor(call, dtype, {count}, 0));
  for (int64_t i = 0; i < count; ++i) {
    store_f64(dtype, out.mutable_data<uint8_t>() + static_cast<size_t>(i) * byte_size(dtype),
              first + step * static_cast<double>(i));
  }
  return call.give(call.builder().constant(call.name() + "/numbers", std::move(out)));
}

// (shape, dtype, ...)
Status filled(Call& call, double value) {
  RK_ASSIGN(const auto dims, call.ints(0, "the shape"));
  return give_filled(call, dtype_argument(call, 1, DType::kF32), dims, value);
}

Status full(Call& call) {
  RK_ASSIGN(const auto dims, call.ints(0, "the shape"));
  RK_ASSIGN(const double value, call.real(1, "the value"));
  return give_filled(call, dtype_argument(call, 2, dtype_of_number(call.arg(1))), dims, value);
}

Status filled_like(Call& call, double value) {
  RK_ASSIGN(const auto dims, shape_of(call));
  return give_filled(call, dtype_argument(call, 1, call.arg(0).value->dtype()), dims, value);
}

Status full_like(Call& call) {
  RK_ASSIGN(const auto dims, shape_of(call));
  RK_ASSIGN(const double value, call.real(1, "the value"));
  return give_filled(call, dtype_argument(call, 2, call.arg(0).value->dtype()), dims, value);
}

// (x, shape, dtype, ...)
Status new_filled(Call& call, double value) {
  RK_ASSIGN(const Value* const like, call.tensor(0));
  RK_ASSIGN(const auto dims, call.ints(1, "the shape"));
  return give_filled(call, dtype_argument(call, 2, like->dtype()), dims, value);
}

Status new_full(Call& call) {
  RK_ASSIGN(const Value* const like, call.tensor(0));
  RK_ASSIGN(const auto dims, call.ints(1, "the shape"));
  RK_ASSIGN(const double value, call.real(2, "the value"));
  return give_filled(call, dtype_argument(call, 3, like->dtype()), dims, value);
}

// (end, ...), (begin, end, ...) or (begin, end, step, ...), with four arguments behind.
Status arange(Call& call) {
  const size_t own = call.count() > 4 ? call.count() - 4 : call.count();
  if (own < 1 || own > 3) return invalid_model(str("has ", call.count(), " arguments"));
  double numbers[3] = {0, 0, 1};
  bool whole = true;
  for (size_t i = 0; i < own; ++i) {
    RK_ASSIGN(const double number, call.real(i, "a bound"));
    numbers[own == 1 ? 1 : i] = number;
    whole = whole && call.arg(i).kind != Item::Kind::kDouble;
  }
  const double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
  if (!(count >= 0 && count < 1e9)) return invalid_model(str("has ", count, " elements"));
  return give_numbers(call, dtype_argument(call, own, whole ? DType::kI64 : DType::kF32),
                      numbers[0], numbers[2], static_cast<int64_t>(count));
}

Status linspace(Call& call) {
  RK_ASSIGN(const double first, call.real(0, "the first"));
  RK_ASSIGN(const double last, call.real(1, "the last"));
  RK_ASSIGN(const int64_t count, call.integer(2, "the number"));
  return give_numbers(call, dtype_argument(call, 3, DType::kF32), first,
                      count > 1 ? (last - first) / static_cast<double>(count - 1) : 0, count);
}

Status triangle(Call& call, bool upper) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  const auto diagonal = static_cast<double>(call.integer_or(1, 0));
  RK_ASSIGN(Value* const out,
            call.emit("Trilu", "/y", {value, call.scalar("/diagonal", diagonal, DType::kI64)},
                      {{"upper", static_cast<int64_t>(upper)}}));
  return call.give(out);
}

Status ordered(Call& call, Value* value, int64_t count, int64_t axis, bool largest) {
  RK_ASSIGN(const auto both,
            call.emit_many("TopK", {value, call.ints_value("/count", {count})}, 2,
                           {{"axis", axis}, {"largest", static_cast<int64_t>(largest)}}));
  RK_TRY(call.give_moved(both[0]));
  return call.node().outputs.size() > 1 ? call.give(Item::of_tensor(both[1]), 1) : ok_status();
}

// (x, k, axis, largest, sorted)
Status topk(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t count, call.integer(1, "the number"));
  RK_ASSIGN(const int64_t axis, call.axis_of(call.integer_or(2, -1), value->shape().rank()));
  return ordered(call, value, count, axis, call.flag_or(3, true));
}

// (x, axis, descending), or with "stable" between
Status sort(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  const size_t at = call.count() > 3 ? 2 : 1;
  RK_ASSIGN(const int64_t axis, call.axis_of(call.integer_or(at, -1), value->shape().rank()));
  if (value->shape().rank() == 0) return unsupported("of a scalar is not taken");
  return ordered(call, value, value->shape()[static_cast<int>(axis)], axis,
                 call.flag_or(at + 1, false));
}

Status one_hot(Call& call) {
  RK_ASSIGN(Value* const indices, call.tensor(0));
  RK_ASSIGN(const int64_t classes, call.integer(1, "the number of classes"));
  if (classes < 1) return unsupported("without a number of classes is not taken");
  Value* const values = call.ints_value("/values", {0, 1});
  RK_ASSIGN(Value* const out,
            call.emit("OneHot", "/y", {indices, call.ints_value("/classes", {classes}), values},
                      {{"axis", int64_t{-1}}}));
  return call.give(out);
}

Status meshgrid(Call& call) {
  RK_ASSIGN(const auto values, call.tensors(0));
  const bool xy = call.arg(1).kind == Item::Kind::kText && call.arg(1).text == "xy";
  if (xy && values.size() > 2)
    return unsupported("of more than two with indexing 'xy' is not taken");
  const size_t rank = values.size();
  if (rank > 8) return unsupported("of more than eight is not taken");
  std::vector<int64_t> dims(rank);
  const auto axis_of = [&](size_t i) { return xy && rank == 2 ? 1 - i : i; };
  for (size_t i = 0; i < rank; ++i) dims[axis_of(i)] = values[i]->shape().elements();
  std::vector<Item> items;
  for (size_t i = 0; i < rank; ++i) {
    std::vector<int64_t> own(rank, 1);
    own[axis_of(i)] = values[i]->shape().elements();
    RK_ASSIGN(Value* const row, call.reshaped(values[i], own, "/row"));
    RK_ASSIGN(Value* const out,
              call.emit("Expand", "/grid", {row, call.ints_value("/dims", dims)}));
    items.push_back(Item::of_tensor(out));
  }
  return call.give(Item::of_items(Item::Kind::kList, std::move(items)));
}

// (x, axis, indices, source or number)
Status scatter(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis(1, value->shape().rank()));
  RK_ASSIGN(Value* const indices, call.tensor(2));
  RK_ASSIGN(Value * source, call.tensor(3));
  RK_ASSIGN(source, call.cast(source, value->dtype()));
  if (source->shape() != indices->shape()) {
    const auto dims = indices->shape().dims();
    if (source->shape().rank() != 0) return unsupported("of a larger source is not taken");
    RK_ASSIGN(source, call.emit("Expand", "/source",
                                {source, call.ints_value("/dims", {dims.begin(), dims.end()})}));
  }
  RK_ASSIGN(Value* const out,
            call.emit("ScatterElements", "/y", {value, indices, source}, {{"axis", axis}}));
  return call.give(out);
}

// x[mask] = number; x[i] = rows.
Status index_put(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  const Item& list = call.arg(1);
  if (!list.is_list() || list.items->size() != 1 || (*list.items)[0].is_none()) {
    return unsupported("with more than one index is not taken");
  }
  RK_ASSIGN(Value* const index, call.tensor_of((*list.items)[0]));
  RK_ASSIGN(Value * source, call.tensor(2));
  RK_ASSIGN(source, call.cast(source, value->dtype()));
  const bool adds = call.flag_or(3, false);
  if (index->dtype() == DType::kBool) {
    if (source->shape().elements() != 1 || adds || index->shape() != value->shape()) {
      return unsupported("with a mask takes a single number; use torch.where");
    }
    RK_ASSIGN(source, call.reshaped(source, {}, "/number"));
    RK_ASSIGN(Value* const out, call.emit("Where", "/y", {index, source, value}));
    return call.give(out);
  }
  if (value->shape().rank() == 0) return invalid_model("puts into a scalar");
  const auto places = index->shape().dims(), rest = value->shape().dims().subspan(1);
  std::vector<int64_t> dims(places.begin(), places.end());
  std::vector<int64_t> column = dims;
  column.push_back(1);
  dims.insert(dims.end(), rest.begin(), rest.end());
  RK_ASSIGN(source, call.emit("Expand", "/source", {source, call.ints_value("/dims", dims)}));
  RK_ASSIGN(Value* const tuples, call.reshaped(index, column, "/places"));
  RK_ASSIGN(Value* const out, call.emit("ScatterND", "/y", {value, tuples, source},
                                        {{"reduction", std::string(adds ? "add" : "none")}}));
  return call.give(out);
}

}  // namespace

std::span<const OperatorRow> generate_operators() {
  // clang-format off
  static constexpr OperatorRow kRows[] = {
      {"aten::topk", topk},
      {"aten::sort", sort},
      {"aten::index_put", index_put},
      {"aten::scatter", scatter},
      {"aten::zeros", [](Call& c) { return filled(c, 0); }},
      {"aten::ones", [](Call& c) { return filled(c, 1); }},
      {"aten::empty", [](Call& c) { return filled(c, 0); }},
      {"aten::full", full},
      {"aten::zeros_like", [](Call& c) { return filled_like(c, 0); }},
      {"aten::ones_like", [](Call& c) { return filled_like(c, 1); }},
      {"aten::empty_like", [](Call& c) { return filled_like(c, 0); }},
      {"aten::full_like", full_like},
      {"aten::new_zeros", [](Call& c) { return new_filled(c, 0); }},
      {"aten::new_ones", [](Call& c) { return new_filled(c, 1); }},
      {"aten::new_full", new_full},
      {"aten::zero", [](Call& c) { return filled_like(c, 0); }},
      {"aten::fill", full_like},
      {"aten::arange", arange},
      {"aten::linspace", linspace},
      {"aten::meshgrid", meshgrid},
      {"aten::one_hot", one_hot},
      {"aten::tril", [](Call& c) { return triangle(c, false); }},
      {"aten::triu", [](Call& c) { return triangle(c, true); }},
  };
  // clang-format on
  return kRows;
}

}  // namespace rk::frontends::torchscript

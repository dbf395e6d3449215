// SPDX-License-Identifier: Apache-2.0
// Operators that move elements.
#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "frontends/torchscript/operators.h"

namespace rk::frontends::torchscript {
namespace {

std::vector<int64_t> dims_of(const Value* value) {
  const auto dims = value->shape().dims();
  return {dims.begin(), dims.end()};
}

std::vector<int64_t> counted(int rank) {
  std::vector<int64_t> out;
  for (int64_t axis = 0; axis < rank; ++axis) out.push_back(axis);
  return out;
}

// A shape with at most one -1, as many elements as `value` has.
Result<std::vector<int64_t>> resolved(std::vector<int64_t> dims, const Value* value) {
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& extent : dims) {
    if (extent == -1 && open == nullptr) {
      open = &extent;
    } else if (extent < 0 || __builtin_mul_overflow(known, extent, &known)) {
      return invalid_model(str("asks for an extent of ", extent));
    }
  }
  const int64_t elements = value->shape().elements();
  if (open != nullptr) *open = known == 0 ? 0 : elements / known;
  if (open != nullptr ? known * *open != elements : known != elements) {
    return invalid_model(
        str("cannot give ", to_string(value->shape()), " another shape of ", known, " elements"));
  }
  return dims;
}

Result<Value*> sliced(Call& call, Value* value, int64_t axis, int64_t begin, int64_t end,
                      int64_t step = 1, std::string_view suffix = "/slice") {
  return call.emit("Slice", suffix,
                   {value, call.ints_value("/begin", {begin}), call.ints_value("/end", {end}),
                    call.ints_value("/axes", {axis}), call.ints_value("/steps", {step})});
}

Status give_parts(Call& call, Value* value, int64_t axis, const std::vector<int64_t>& sizes) {
  constexpr size_t kMostParts = 4096;
  if (sizes.empty() || sizes.size() > kMostParts) {
    return unsupported(str("into ", sizes.size(), " parts is not taken"));
  }
  std::vector<Item> items;
  if (sizes.size() == 1) {
    items.push_back(call.arg(0));
  } else {
    RK_ASSIGN(const auto parts, call.emit_many("Split", {value, call.ints_value("/sizes", sizes)},
                                               sizes.size(), {{"axis", axis}}));
    for (Value* part : parts) {
      items.push_back(Item::of_tensor(part));
      items.back().quant = call.arg(0).quant;
    }
  }
  return call.give(Item::of_items(Item::Kind::kList, std::move(items)));
}

Result<int64_t> extent_along(const Value* value, int64_t axis) {
  if (axis >= value->shape().rank()) return invalid_model("needs a tensor with dimensions");
  return value->shape()[static_cast<int>(axis)];
}

Status view(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(std::vector<int64_t> dims, call.ints(1, "the shape"));
  RK_ASSIGN(dims, resolved(std::move(dims), value));
  RK_ASSIGN(value, call.reshaped(value, dims));
  return call.give_moved(value);
}

Status view_as(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(const Value* const other, call.tensor(1));
  RK_ASSIGN(const auto dims, resolved(dims_of(other), value));
  RK_ASSIGN(value, call.reshaped(value, dims));
  return call.give_moved(value);
}

Status flatten(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  const int rank = value->shape().rank();
  if (rank == 0) {
    RK_ASSIGN(value, call.reshaped(value, {1}));
    return call.give_moved(value);
  }
  RK_ASSIGN(const int64_t first, call.axis_of(call.integer_or(1, 0), rank));
  RK_ASSIGN(const int64_t last, call.axis_of(call.integer_or(2, -1), rank));
  if (first > last) return invalid_model(str("from axis ", first, " to ", last));
  std::vector<int64_t> dims;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t extent = value->shape()[static_cast<int>(axis)];
    if (axis > first && axis <= last) {
      dims.back() *= extent;
    } else {
      dims.push_back(extent);
    }
  }
  RK_ASSIGN(value, call.reshaped(value, dims));
  return call.give_moved(value);
}

Status unflatten(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis(1, value->shape().rank()));
  RK_ASSIGN(const auto sizes, call.ints(2, "the sizes"));
  std::vector<int64_t> dims = dims_of(value);
  if (dims.empty()) return invalid_model("needs a tensor with dimensions");
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, sizes.begin(), sizes.end());
  RK_ASSIGN(dims, resolved(dims, value));
  RK_ASSIGN(value, call.reshaped(value, dims));
  return call.give_moved(value);
}

Status permute(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(std::vector<int64_t> perm, call.ints(1, "the order"));
  if (perm.size() != static_cast<size_t>(value->shape().rank())) {
    return invalid_model(str("an order of ", perm.size(), " axes for ", to_string(value->shape())));
  }
  for (int64_t& axis : perm) {
    RK_ASSIGN(axis, call.axis_of(axis, value->shape().rank()));
  }
  RK_ASSIGN(value, call.transposed(value, perm));
  return call.give_moved(value);
}

Status transpose(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  const int rank = value->shape().rank();
  if (rank == 0) return call.give_moved(value);
  RK_ASSIGN(const int64_t a, call.axis(1, rank));
  RK_ASSIGN(const int64_t b, call.axis(2, rank));
  std::vector<int64_t> perm = counted(rank);
  std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(b)]);
  RK_ASSIGN(value, call.transposed(value, perm));
  return call.give_moved(value);
}

Status transpose_2d(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  if (value->shape().rank() > 2) return invalid_model("is for matrices");
  if (value->shape().rank() == 2) {
    RK_ASSIGN(value, call.transposed(value, {1, 0}));
  }
  return call.give_moved(value);
}

Status movedim(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  const int rank = value->shape().rank();
  RK_ASSIGN(std::vector<int64_t> from, call.ints(1, "the axes"));
  RK_ASSIGN(std::vector<int64_t> to, call.ints(2, "the axes", from.size()));
  std::vector<int64_t> perm(static_cast<size_t>(rank), -1);
  std::vector<bool> used(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < from.size(); ++i) {
    RK_ASSIGN(const int64_t source, call.axis_of(from[i], rank));
    RK_ASSIGN(const int64_t target, call.axis_of(to[i], rank));
    if (rank == 0 || perm[static_cast<size_t>(target)] != -1 || used[static_cast<size_t>(source)]) {
      return invalid_model("moves an axis twice");
    }
    perm[static_cast<size_t>(target)] = source;
    used[static_cast<size_t>(source)] = true;
  }
  size_t next = 0;
  for (int64_t& axis : perm) {
    if (axis != -1) continue;
    while (used[next]) ++next;
    axis = static_cast<int64_t>(next++);
  }
  RK_ASSIGN(value, call.transposed(value, perm));
  return call.give_moved(value);
}

Status squeeze(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  const int rank = value->shape().rank();
  std::vector<int64_t> axes;
  if (call.has(1)) {
    RK_ASSIGN(axes, call.ints(1, "the axes"));
  } else {
    axes = counted(rank);
  }
  std::vector<int64_t> dims = dims_of(value);
  for (const int64_t axis : axes) {
    RK_ASSIGN(const int64_t found, call.axis_of(axis, rank));
    if (rank > 0 && value->shape()[static_cast<int>(found)] == 1)
      dims[static_cast<size_t>(found)] = -1;
  }
  std::erase(dims, -1);
  RK_ASSIGN(value, call.reshaped(value, dims));
  return call.give_moved(value);
}

Status unsqueeze(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis(1, value->shape().rank() + 1));
  std::vector<int64_t> dims = dims_of(value);
  dims.insert(dims.begin() + axis, 1);
  RK_ASSIGN(value, call.reshaped(value, dims));
  return call.give_moved(value);
}

Status expanded(Call& call, Value* value, std::vector<int64_t> dims) {
  const size_t rank = static_cast<size_t>(value->shape().rank());
  if (dims.size() < rank) return invalid_model("has fewer extents than the tensor");
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_new = i < dims.size() - rank;
    if (dims[i] == -1 && !is_new)
      dims[i] = value->shape()[static_cast<int>(i - (dims.size() - rank))];
  }
  if (dims == dims_of(value)) return call.give_moved(value);
  RK_ASSIGN(Value* const out,
            call.emit("Expand", "/expand", {value, call.ints_value("/dims", dims)}));
  return call.give_moved(out);
}

Status expand(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(std::vector<int64_t> dims, call.ints(1, "the shape"));
  return expanded(call, value, std::move(dims));
}

Status expand_as(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const Value* const other, call.tensor(1));
  return expanded(call, value, dims_of(other));
}

Status repeat(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(std::vector<int64_t> times, call.ints(1, "the repetitions"));
  std::vector<int64_t> dims = dims_of(value);
  while (dims.size() < times.size()) dims.insert(dims.begin(), 1);
  while (times.size() < dims.size()) times.insert(times.begin(), 1);
  RK_ASSIGN(value, call.reshaped(value, dims));
  RK_ASSIGN(Value* const out,
            call.emit("Tile", "/tile", {value, call.ints_value("/times", times)}));
  return call.give_moved(out);
}

Status cat(Call& call) {
  RK_ASSIGN(std::vector<Value*> values, call.tensors(0));
  // An empty vector joins anything.
  if (values.size() > 1) {
    std::erase_if(values,
                  [](const Value* v) { return v->shape().rank() == 1 && v->shape()[0] == 0; });
  }
  if (values.empty()) return invalid_model("has nothing to join");
  RK_ASSIGN(const int64_t axis, call.axis(1, values[0]->shape().rank()));
  RK_ASSIGN(Value* const out, call.emit("Concat", "/y", std::move(values), {{"axis", axis}}));
  // Quantized ones are joined on the scale of the first.
  const std::vector<Item>& parts = *call.arg(0).items;
  if (!parts[0].quant) return call.give(out);
  if (std::ranges::any_of(parts, [&](const Item& one) { return one.quant != parts[0].quant; })) {
    return call.give_rounded(out, *parts[0].quant);
  }
  Item item = Item::of_tensor(out);
  item.quant = parts[0].quant;
  return call.give(std::move(item));
}

Status stack(Call& call) {
  RK_ASSIGN(std::vector<Value*> values, call.tensors(0));
  RK_ASSIGN(const int64_t axis, call.axis(1, values[0]->shape().rank() + 1));
  for (Value*& value : values) {
    std::vector<int64_t> dims = dims_of(value);
    if (static_cast<size_t>(axis) > dims.size()) return invalid_model("its tensors differ in rank");
    dims.insert(dims.begin() + axis, 1);
    RK_ASSIGN(value, call.reshaped(value, dims, "/row"));
  }
  RK_ASSIGN(Value* const out, call.emit("Concat", "/y", std::move(values), {{"axis", axis}}));
  return call.give(out);
}

Status chunk(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t count, call.integer(1, "the number of parts"));
  RK_ASSIGN(const int64_t axis, call.axis_of(call.integer_or(2, 0), value->shape().rank()));
  RK_ASSIGN(const int64_t extent, extent_along(value, axis));
  if (count < 1) return invalid_model(str("into ", count, " parts"));
  const int64_t size = std::max<int64_t>(extent / count + (extent % count != 0 ? 1 : 0), 1);
  std::vector<int64_t> sizes;
  for (int64_t begin = 0; begin < extent && sizes.size() < 5000; begin += size) {
    sizes.push_back(std::min(size, extent - begin));
  }
  return give_parts(call, value, axis, sizes);
}

// (x, number of parts or places to cut, axis): the first parts are larger by one where it does not divide.
Status tensor_split(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis_of(call.integer_or(2, 0), value->shape().rank()));
  RK_ASSIGN(const int64_t extent, extent_along(value, axis));
  std::vector<int64_t> sizes;
  if (call.arg(1).is_list()) {
    RK_ASSIGN(const auto places, call.ints(1, "the places"));
    int64_t begin = 0;
    for (const int64_t place : places) {
      const int64_t end = std::clamp<int64_t>(place < 0 ? place + extent : place, begin, extent);
      sizes.push_back(end - begin);
      begin = end;
    }
    sizes.push_back(extent - begin);
  } else {
    RK_ASSIGN(const int64_t count, call.integer(1, "the number of parts"));
    if (count < 1 || count > extent)
      return invalid_model(str("into ", count, " parts of ", extent));
    for (int64_t i = 0; i < count && sizes.size() < 5000; ++i) {
      sizes.push_back(extent / count + (i < extent % count ? 1 : 0));
    }
  }
  return give_parts(call, value, axis, sizes);
}

// (x, size or sizes, axis).
Status split(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis_of(call.integer_or(2, 0), value->shape().rank()));
  RK_ASSIGN(const int64_t extent, extent_along(value, axis));
  std::vector<int64_t> sizes;
  if (call.arg(1).is_list()) {
    RK_ASSIGN(sizes, call.ints(1, "the sizes"));
  } else {
    RK_ASSIGN(const int64_t size, call.integer(1, "the size"));
    if (size < 1) return invalid_model(str("into parts of ", size));
    for (int64_t begin = 0; begin < extent && sizes.size() < 5000; begin += size) {
      sizes.push_back(std::min(size, extent - begin));
    }
  }
  return give_parts(call, value, axis, sizes);
}

Status unbind(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis_of(call.integer_or(1, 0), value->shape().rank()));
  RK_ASSIGN(const int64_t extent, extent_along(value, axis));
  if (extent < 1 || extent > 4096) return unsupported(str("into ", extent, " parts is not taken"));
  std::vector<int64_t> dims = dims_of(value);
  dims.erase(dims.begin() + axis);
  std::vector<Value*> parts = {value};
  if (extent > 1) {
    RK_ASSIGN(parts, call.emit_many("Split", {value}, static_cast<size_t>(extent),
                                    {{"axis", axis}, {"num_outputs", extent}}));
  }
  std::vector<Item> items;
  for (Value* part : parts) {
    RK_ASSIGN(Value* const row, call.reshaped(part, dims, "/row"));
    items.push_back(Item::of_tensor(row));
    items.back().quant = call.arg(0).quant;
  }
  return call.give(Item::of_items(Item::Kind::kList, std::move(items)));
}

// Of a tensor (x, axis, begin, end, step), or of a list (x, begin, end, step).
Status slice(Call& call) {
  if (call.arg(0).is_list()) {
    const std::vector<Item>& all = *call.arg(0).items;
    const auto size = static_cast<int64_t>(all.size());
    const auto place = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    };
    const int64_t end = place(call.integer_or(2, size)), step = call.integer_or(3, 1);
    if (step < 1) return invalid_model(str("has a step of ", step));
    std::vector<Item> items;
    for (int64_t i = place(call.integer_or(1, 0)); i < end; i += std::min(step, size + 1)) {
      items.push_back(all[static_cast<size_t>(i)]);
    }
    const bool is_tuple = call.arg(0).kind == Item::Kind::kTuple;
    return call.give(
        Item::of_items(is_tuple ? Item::Kind::kTuple : Item::Kind::kList, std::move(items)));
  }
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis_of(call.integer_or(1, 0), value->shape().rank()));
  RK_ASSIGN(const int64_t extent, extent_along(value, axis));
  int64_t begin = 0, end = std::numeric_limits<int64_t>::max(), step = 1;
  if (call.has(2)) {
    RK_ASSIGN(begin, call.integer(2, "the begin"));
  }
  if (call.has(3)) {
    RK_ASSIGN(end, call.integer(3, "the end"));
  }
  if (call.has(4)) {
    RK_ASSIGN(step, call.integer(4, "the step"));
  }
  if (step < 1) return invalid_model(str("has a step of ", step));
  const auto place = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  if (place(begin) == 0 && place(end) == extent && step == 1) return call.give_moved(value);
  RK_ASSIGN(Value* const out, sliced(call, value, axis, begin, end, step));
  return call.give_moved(out);
}

Status part(Call& call, Value* value, int64_t axis, int64_t begin, int64_t size, bool drops) {
  RK_ASSIGN(const int64_t extent, extent_along(value, axis));
  if (begin < 0) begin += extent;
  if (begin < 0 || size < 0 || begin > extent - size) {
    return invalid_model(
        str("takes ", size, " from ", begin, " of axis ", axis, " of ", to_string(value->shape())));
  }
  Value* out = value;
  if (size != extent) {
    RK_ASSIGN(out, sliced(call, value, axis, begin, begin + size));
  }
  if (drops) {
    std::vector<int64_t> dims = dims_of(out);
    dims.erase(dims.begin() + axis);
    RK_ASSIGN(out, call.reshaped(out, dims));
  }
  return call.give_moved(out);
}

Status select(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis(1, value->shape().rank()));
  RK_ASSIGN(const int64_t place, call.integer(2, "the place"));
  return part(call, value, axis, place, 1, true);
}

Status narrow(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis(1, value->shape().rank()));
  RK_ASSIGN(const int64_t begin, call.integer(2, "the begin"));
  RK_ASSIGN(const int64_t size, call.integer(3, "the size"));
  return part(call, value, axis, begin, size, false);
}

Status index_select(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t axis, call.axis(1, value->shape().rank()));
  RK_ASSIGN(Value* const indices, call.tensor(2));
  RK_ASSIGN(Value* const out, call.emit("Gather", "/y", {value, indices}, {{"axis", axis}}));
  return call.give_moved(out);
}

// Extents of the indices may be smaller than those of the data; ONNX wants them alike on the other axes.
Status gather(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  const int rank = value->shape().rank();
  RK_ASSIGN(const int64_t axis, call.axis(1, rank));
  RK_ASSIGN(Value* const indices, call.tensor(2));
  if (indices->shape().rank() != rank || rank == 0)
    return invalid_model("has indices of another rank");
  for (int i = 0; i < rank; ++i) {
    if (i == axis || indices->shape()[i] == value->shape()[i]) continue;
    RK_ASSIGN(value, sliced(call, value, i, 0, indices->shape()[i]));
  }
  RK_ASSIGN(Value* const out,
            call.emit("GatherElements", "/y", {value, indices}, {{"axis", axis}}));
  return call.give_moved(out);
}

// x[i, :, j]: one tensor of indices on any axis, or several on neighboring axes.
Status index(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  const Item& list = call.arg(1);
  if (!list.is_list()) return invalid_model("has no list of indices");
  const int rank = value->shape().rank();
  std::vector<int64_t> axes;
  std::vector<Value*> indices;
  for (size_t i = 0; i < list.items->size(); ++i) {
    const Item& item = (*list.items)[i];
    if (item.is_none()) continue;
    RK_ASSIGN(Value * found, call.tensor_of(item));
    if (found->dtype() == DType::kBool || found->dtype() == DType::kU8) {
      return unsupported(
          "with a mask gives as many elements as it holds at run time; use "
          "torch.where");
    }
    RK_ASSIGN(found, call.cast(found, DType::kI64));
    axes.push_back(static_cast<int64_t>(i));
    indices.push_back(found);
  }
  if (axes.empty()) return call.give_moved(value);
  if (axes.back() >= rank) return invalid_model("has more indices than the tensor has axes");
  if (axes.size() == 1) {
    RK_ASSIGN(Value* const out,
              call.emit("Gather", "/y", {value, indices[0]}, {{"axis", axes[0]}}));
    return call.give_moved(out);
  }
  if (axes.back() - axes.front() + 1 != static_cast<int64_t>(axes.size())) {
    return unsupported("with indices on axes that are not neighbors is not taken");
  }
  // The indexed axes come first, GatherND takes tuples of indices, and the result's axes go back.
  std::vector<int64_t> perm = axes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis < axes.front() || axis > axes.back()) perm.push_back(axis);
  }
  RK_ASSIGN(Value* const moved, call.transposed(value, perm, "/moved"));
  Value* widest = indices[0];
  for (Value* one : indices) {
    RK_ASSIGN(widest, call.emit("Add", "/wide", {widest, one}));
  }
  const std::vector<int64_t> wide = dims_of(widest);
  std::vector<int64_t> column = wide;
  column.push_back(1);
  for (Value*& one : indices) {
    RK_ASSIGN(one, call.emit("Expand", "/expand", {one, call.ints_value("/wide_dims", wide)}));
    RK_ASSIGN(one, call.reshaped(one, column, "/column"));
  }
  RK_ASSIGN(Value* const tuples, call.emit("Concat", "/tuples", indices, {{"axis", int64_t{-1}}}));
  RK_ASSIGN(Value * out, call.emit("GatherND", "/y", {moved, tuples}));
  std::vector<int64_t> back;
  const auto width = static_cast<int64_t>(wide.size());
  for (int64_t i = 0; i < axes.front(); ++i) back.push_back(width + i);
  for (int64_t i = 0; i < width; ++i) back.push_back(i);
  for (int64_t i = axes.front(); i < rank - static_cast<int64_t>(axes.size()); ++i)
    back.push_back(width + i);
  RK_ASSIGN(out, call.transposed(out, back));
  return call.give_moved(out);
}

Status flip(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(const auto axes, call.ints(1, "the axes"));
  for (const int64_t given : axes) {
    RK_ASSIGN(const int64_t axis, call.axis_of(given, value->shape().rank()));
    RK_ASSIGN(value,
              sliced(call, value, axis, -1, std::numeric_limits<int64_t>::min(), -1, "/flip"));
  }
  return call.give_moved(value);
}

Status roll(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(const auto shifts, call.ints(1, "the shifts"));
  RK_ASSIGN(const auto axes, call.ints(2, "the axes"));
  if (axes.size() != shifts.size()) return unsupported("without axes is not taken");
  for (size_t i = 0; i < axes.size(); ++i) {
    RK_ASSIGN(const int64_t axis, call.axis_of(axes[i], value->shape().rank()));
    RK_ASSIGN(const int64_t extent, extent_along(value, axis));
    if (extent == 0) continue;
    const int64_t shift = ((shifts[i] % extent) + extent) % extent;
    if (shift == 0) continue;
    RK_ASSIGN(Value* const tail, sliced(call, value, axis, extent - shift, extent, 1, "/tail"));
    RK_ASSIGN(Value* const head, sliced(call, value, axis, 0, extent - shift, 1, "/head"));
    RK_ASSIGN(value, call.emit("Concat", "/y", {tail, head}, {{"axis", axis}}));
  }
  return call.give_moved(value);
}

Status pixel_shuffle(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t factor, call.integer(1, "the factor"));
  if (value->shape().rank() != 4) return unsupported("of other than rank 4 is not taken");
  RK_ASSIGN(Value* const out, call.emit("DepthToSpace", "/y", {value},
                                        {{"blocksize", factor}, {"mode", std::string("CRD")}}));
  return call.give_moved(out);
}

Status pixel_unshuffle(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(const int64_t f, call.integer(1, "the factor"));
  const Shape shape = value->shape();
  if (shape.rank() != 4) return unsupported("of other than rank 4 is not taken");
  if (f < 1 || f > 1024 || shape[2] % f != 0 || shape[3] % f != 0) {
    return invalid_model(str("a factor of ", f, " does not divide ", to_string(shape)));
  }
  RK_ASSIGN(value, call.reshaped(value, {shape[0], shape[1], shape[2] / f, f, shape[3] / f, f},
                                 "/blocks"));
  RK_ASSIGN(value, call.transposed(value, {0, 1, 3, 5, 2, 4}));
  RK_ASSIGN(value, call.reshaped(value, {shape[0], shape[1] * f * f, shape[2] / f, shape[3] / f}));
  return call.give_moved(value);
}

Status channel_shuffle(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(const int64_t groups, call.integer(1, "the groups"));
  const std::vector<int64_t> dims = dims_of(value);
  if (dims.size() < 3 || groups < 1 || dims[1] % groups != 0) {
    return invalid_model(str(groups, " groups do not divide ", to_string(value->shape())));
  }
  std::vector<int64_t> split_dims = {dims[0], groups, dims[1] / groups};
  split_dims.insert(split_dims.end(), dims.begin() + 2, dims.end());
  std::vector<int64_t> perm = counted(static_cast<int>(split_dims.size()));
  std::swap(perm[1], perm[2]);
  RK_ASSIGN(value, call.reshaped(value, split_dims, "/groups"));
  RK_ASSIGN(value, call.transposed(value, perm));
  RK_ASSIGN(value, call.reshaped(value, dims));
  return call.give_moved(value);
}

Status type_as(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const Value* const other, call.tensor(1));
  RK_ASSIGN(Value* const out, call.cast(value, other->dtype()));
  return call.give_moved(out);
}

// aten::to in its many forms: the first number that is a dtype, or the type of another tensor.
Status convert(Call& call) {
  if (!call.arg(0).is_tensor()) return same(call);
  RK_ASSIGN(Value* const value, call.tensor(0));
  for (size_t i = 1; i < call.count() && i < 3; ++i) {
    if (call.arg(i).is_tensor()) return type_as(call);
    if (call.arg(i).kind != Item::Kind::kInt) continue;
    const auto dtype = dtype_of_torch(call.arg(i).integer);
    if (!dtype) return unsupported(str("dtype number ", call.arg(i).integer, " is not taken"));
    if (*dtype == value->dtype()) return call.give_moved(value);
    RK_ASSIGN(Value* const out, call.cast(value, *dtype));
    return call.give(out);
  }
  return call.give_moved(value);
}

// copy_(x, source): the source in the shape and type of x.
Status copy(Call& call) {
  if (call.arg(0).kind == Item::Kind::kList && call.count() == 1) {  // list.copy()
    return call.give(Item::of_items(Item::Kind::kList, *call.arg(0).items));
  }
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(Value * source, call.tensor(1));
  RK_ASSIGN(source, call.cast(source, value->dtype()));
  if (source->shape() != value->shape()) {
    RK_ASSIGN(source,
              call.emit("Expand", "/expand", {source, call.ints_value("/dims", dims_of(value))}));
  }
  return call.give(source);
}

}  // namespace

std::span<const OperatorRow> move_operators() {
  // clang-format off
  static constexpr OperatorRow kRows[] = {
      {"aten::view", view},
      {"aten::reshape", view},
      {"aten::_unsafe_view", view},
      {"aten::view_as", view_as},
      {"aten::reshape_as", view_as},
      {"aten::flatten", flatten},
      {"aten::unflatten", unflatten},
      {"aten::permute", permute},
      {"aten::transpose", transpose},
      {"aten::swapaxes", transpose},
      {"aten::swapdims", transpose},
      {"aten::t", transpose_2d},
      {"aten::numpy_T", transpose_2d},
      {"aten::movedim", movedim},
      {"aten::moveaxis", movedim},
      {"aten::squeeze", squeeze},
      {"aten::unsqueeze", unsqueeze},
      {"aten::expand", expand},
      {"aten::broadcast_to", expand},
      {"aten::expand_as", expand_as},
      {"aten::repeat", repeat},
      {"aten::tile", repeat},
      {"aten::cat", cat},
      {"aten::concat", cat},
      {"aten::stack", stack},
      {"aten::chunk", chunk},
      {"aten::unsafe_chunk", chunk},
      {"aten::tensor_split", tensor_split},
      {"aten::split", split},
      {"aten::unsafe_split", split},
      {"aten::split_with_sizes", split},
      {"aten::unbind", unbind},
      {"aten::slice", slice},
      {"aten::select", select},
      {"aten::narrow", narrow},
      {"aten::index_select", index_select},
      {"aten::gather", gather},
      {"aten::index", index},
      {"aten::flip", flip},
      {"aten::roll", roll},
      {"aten::pixel_shuffle", pixel_shuffle},
      {"aten::pixel_unshuffle", pixel_unshuffle},
      {"aten::channel_shuffle", channel_shuffle},
      {"aten::native_channel_shuffle", channel_shuffle},
      {"aten::to", convert},
      {"aten::type_as", type_as},
      {"aten::copy", copy},
      {"aten::_cast_Float", [](Call& c) { return c.give_cast(DType::kF32); }},
      {"aten::_cast_Long", [](Call& c) { return c.give_cast(DType::kI64); }},
  };
  // clang-format on
  return kRows;
}

}  // namespace rk::frontends::torchscript

// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements, or make tensors from shapes.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "frontends/channels_last/layers.h"

namespace rk::frontends::layers {
namespace {

std::vector<int64_t> dims_of(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

// Input `i` in the order it was computed in; `rank` of the file.
struct Moved {
  Value* value = nullptr;
  Order order = Order::kFile;
  int64_t rank = 0;
  int64_t axis(int64_t file_axis) const {
    return order == Order::kFirst ? first_axis(file_axis, rank) : file_axis;
  }
  std::vector<int64_t> per_axis(const std::vector<int64_t>& values) const {
    return order == Order::kFirst ? first_order(values) : values;
  }
};

Result<Moved> moved_input(LayerImport& op, size_t i = 0) {
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({i}, values));
  return Moved{values[0], order, values[0]->shape().rank()};
}

Status bind_reshaped(LayerImport& op, const std::vector<int64_t>& dims) {
  RK_ASSIGN(Held* const held, op.held(0));
  const Shape shape = held->shape();
  // [N,H,W,C] -> [N,H*W*C]: kept from channels first, for a matrix that can be reordered.
  const bool flattens = held->is_first && dims.size() == 2 && dims[0] == shape[0] &&
                        shape.rank() == 4 && shape[3] > 1 && shape[1] * shape[2] > 1;
  if (flattens && op.rounded_alike(0, 0)) {
    Held out;
    out.picture = shape;
    RK_ASSIGN(out.flat, reshaped(op.builder(), held->first, dims, "/flat"));
    return op.bind_held(0, out);
  }
  RK_ASSIGN(Value * value, op.last(0));
  RK_ASSIGN(value, op.emit("Reshape", "/reshape", {value, op.ints_value("/shape", dims)}));
  return op.bind_moved(0, value, Order::kFile);
}

}  // namespace

Status reshape(LayerImport& op, std::vector<int64_t> dims) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(const Held* const held, op.held(0));
  const int64_t elements = held->shape().elements();
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& extent : dims) {
    if (extent == -1 && open == nullptr) {
      open = &extent;
    } else if (extent < 0 || (extent != 0 && known > elements / extent)) {
      return invalid_model(
          str("extent ", extent, " of the new shape does not fit ", to_string(held->shape())));
    } else {
      known *= extent;
    }
  }
  if (open != nullptr && known != 0) *open = elements / known;
  if ((open == nullptr ? known : known * *open) != elements) {
    return invalid_model(
        str(to_string(held->shape()), " has ", elements, " elements, the new shape has ", known));
  }
  return bind_reshaped(op, dims);
}

Status squeeze(LayerImport& op, std::vector<int64_t> axes) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(const Held* const held, op.held(0));
  const Shape shape = held->shape();
  std::vector<bool> goes(static_cast<size_t>(shape.rank()), false);
  for (int64_t& axis : axes) {
    RK_ASSIGN(axis, op.axis(axis, shape.rank()));
    if (shape[static_cast<int>(axis)] != 1) {
      return invalid_model(str("axis ", axis, " of ", to_string(shape), " is not 1"));
    }
    goes[static_cast<size_t>(axis)] = true;
  }
  std::vector<int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool drops = axes.empty() ? shape[axis] == 1 : goes[static_cast<size_t>(axis)];
    if (!drops) dims.push_back(shape[axis]);
  }
  return bind_reshaped(op, dims);
}

Status expand_dims(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(int64_t axis, op.integer(1, "axis"));
  RK_ASSIGN(const Held* const held, op.held(0));
  std::vector<int64_t> dims = dims_of(held->shape());
  RK_ASSIGN(axis, op.axis(axis, static_cast<int64_t>(dims.size()) + 1));
  dims.insert(dims.begin() + axis, 1);
  return bind_reshaped(op, dims);
}

// Read from the order the tensor was computed in, so that a move back to NCHW is none at all.
Status transpose(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const std::vector<int64_t> perm, op.ints(1, "perm"));
  RK_ASSIGN(const Moved input, moved_input(op));
  std::vector<int64_t> from;
  std::vector<bool> seen(perm.size(), false);
  for (const int64_t axis : perm) {
    const bool fits = static_cast<int64_t>(perm.size()) == input.rank && axis >= 0 &&
                      axis < input.rank && !seen[static_cast<size_t>(axis)];
    if (!fits) return invalid_model(str("perm is not an order of ", input.rank, " axes"));
    seen[static_cast<size_t>(axis)] = true;
    from.push_back(input.axis(axis));
  }
  RK_ASSIGN(Value* const value, transposed(op.builder(), input.value, from, "/transpose"));
  return op.bind_moved(0, value, Order::kFile);
}

namespace {

Status pad_with(LayerImport& op, AttrMap attrs, Value* filler) {
  RK_ASSIGN(const std::vector<int64_t> pairs, op.ints(1, "paddings"));
  RK_ASSIGN(const Moved input, moved_input(op));
  if (static_cast<int64_t>(pairs.size()) != 2 * input.rank) {
    return invalid_model(
        str("paddings has ", pairs.size(), " elements, expected ", 2 * input.rank));
  }
  std::vector<int64_t> before, after;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    before.push_back(pairs[i]);
    after.push_back(pairs[i + 1]);
  }
  std::vector<int64_t> pads = input.per_axis(before);
  const std::vector<int64_t> ends = input.per_axis(after);
  pads.insert(pads.end(), ends.begin(), ends.end());
  std::vector<Value*> inputs = {input.value, op.ints_value("/pads", pads)};
  if (filler != nullptr) inputs.push_back(filler);
  RK_ASSIGN(Value* const value, op.emit("Pad", "/pad", std::move(inputs), std::move(attrs)));
  return op.bind_moved(0, value, input.order);
}

}  // namespace

Status pad(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  Value* filler = nullptr;
  if (op.has(2)) {
    RK_ASSIGN(filler, op.last(2));
    RK_ASSIGN(filler, reshaped(op.builder(), filler, {}, "/filler"));
  }
  return pad_with(op, {}, filler);
}

Status mirror_pad(LayerImport& op, bool symmetric) {
  RK_TRY(op.need_inputs(2));
  if (symmetric) {
    return unsupported("mode SYMMETRIC is not taken; REFLECT is");
  }
  return pad_with(op, {{"mode", std::string("reflect")}}, nullptr);
}

Status concatenation(LayerImport& op, const std::vector<size_t>& which, int64_t axis,
                     Fused activation) {
  if (which.empty()) return invalid_model("has no inputs; it needs 1");
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together(which, values));
  const int64_t rank = values[0]->shape().rank();
  for (const Value* value : values) {
    if (value->shape().rank() != rank) return invalid_model("inputs have different ranks");
  }
  RK_ASSIGN(axis, op.axis(axis, rank));
  RK_ASSIGN(Value * value,
            op.emit("Concat", "/concat", values,
                    {{"axis", order == Order::kFirst ? first_axis(axis, rank) : axis}}));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, order);
}

Status split_along(LayerImport& op, size_t from, int64_t axis, std::vector<int64_t> sizes) {
  RK_ASSIGN(const Moved input, moved_input(op, from));
  RK_ASSIGN(axis, op.axis(axis, input.rank));
  const int64_t extent = input.value->shape()[static_cast<int>(input.axis(axis))];
  const auto parts = static_cast<int64_t>(op.output_count());
  if (sizes.empty()) {
    if (parts == 0 || extent % parts != 0) {
      return invalid_model(str("an extent of ", extent, " cannot be split in ", parts));
    }
    sizes.assign(static_cast<size_t>(parts), extent / parts);
  }
  if (static_cast<int64_t>(sizes.size()) != parts) {
    return invalid_model(str(sizes.size(), " sizes for ", parts, " outputs"));
  }
  int64_t known = 0, open = 0;
  for (const int64_t size : sizes) {
    if (size < -1 || size > extent) return invalid_model(str("a part of size ", size));
    if (size < 0) ++open;
    if (size > 0) known += size;
  }
  for (int64_t& size : sizes) {
    if (size < 0 && open == 1) size = extent - known;
  }
  RK_ASSIGN(const auto results, op.emit_many("Split", {input.value, op.ints_value("/sizes", sizes)},
                                             sizes.size(), {{"axis", input.axis(axis)}}));
  for (size_t i = 0; i < results.size(); ++i) {
    RK_TRY(op.bind_moved(i, results[i], input.order, from));
  }
  return ok_status();
}

// Inputs: axis, tensor.
Status split(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const int64_t axis, op.integer(0, "axis"));
  return split_along(op, 1, axis, {});
}

// Inputs: tensor, sizes, axis.
Status split_v(LayerImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(std::vector<int64_t> sizes, op.ints(1, "size_splits"));
  RK_ASSIGN(const int64_t axis, op.integer(2, "axis"));
  return split_along(op, 0, axis, std::move(sizes));
}

Status pack(LayerImport& op, int64_t axis) {
  RK_TRY(op.need_inputs(1));
  std::vector<Value*> values;
  for (size_t i = 0; i < op.input_count(); ++i) {
    RK_ASSIGN(Value * value, op.last(i));
    std::vector<int64_t> dims = dims_of(value->shape());
    if (i == 0) {
      RK_ASSIGN(axis, op.axis(axis, static_cast<int64_t>(dims.size()) + 1));
    }
    if (axis > static_cast<int64_t>(dims.size()))
      return invalid_model("inputs have different ranks");
    dims.insert(dims.begin() + axis, 1);
    RK_ASSIGN(value, reshaped(op.builder(), value, dims, str("/row", i)));
    values.push_back(value);
  }
  RK_ASSIGN(Value* const value, op.emit("Concat", "/pack", values, {{"axis", axis}}));
  return op.bind_moved(0, value, Order::kFile);
}

Status unpack(LayerImport& op, int64_t axis) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(Value* const input, op.last(0));
  RK_ASSIGN(axis, op.axis(axis, input->shape().rank()));
  const int64_t extent = input->shape()[static_cast<int>(axis)];
  if (extent != static_cast<int64_t>(op.output_count())) {
    return invalid_model(str(op.output_count(), " outputs of an extent of ", extent));
  }
  std::vector<int64_t> dims = dims_of(input->shape());
  dims.erase(dims.begin() + axis);
  RK_ASSIGN(
      const auto rows,
      op.emit_many("Split",
                   {input, op.ints_value("/sizes", std::vector<int64_t>(op.output_count(), 1))},
                   op.output_count(), {{"axis", axis}}));
  for (size_t i = 0; i < rows.size(); ++i) {
    RK_ASSIGN(Value* const value, reshaped(op.builder(), rows[i], dims, "/row"));
    RK_TRY(op.bind_moved(i, value, Order::kFile));
  }
  return ok_status();
}

// Inputs: tensor, begin, size (-1: to the end).
Status slice(LayerImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(const Moved input, moved_input(op));
  RK_ASSIGN(const std::vector<int64_t> begin, op.ints(1, "begin"));
  RK_ASSIGN(const std::vector<int64_t> size, op.ints(2, "size"));
  if (static_cast<int64_t>(begin.size()) != input.rank || size.size() != begin.size()) {
    return invalid_model(str("begin and size have ", begin.size(), " and ", size.size(),
                             " elements, expected ", input.rank));
  }
  std::vector<int64_t> starts, ends, axes;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t axis = input.axis(static_cast<int64_t>(i));
    const int64_t extent = input.value->shape()[static_cast<int>(axis)];
    if (begin[i] < 0 || begin[i] > extent || size[i] < -1 || size[i] > extent - begin[i]) {
      return invalid_model(
          str("a slice of ", size[i], " from ", begin[i], " of an extent of ", extent));
    }
    if (begin[i] == 0 && (size[i] == -1 || size[i] == extent)) continue;
    starts.push_back(begin[i]);
    ends.push_back(size[i] == -1 ? extent : begin[i] + size[i]);
    axes.push_back(axis);
  }
  if (axes.empty()) return op.bind_moved(0, input.value, input.order);
  RK_ASSIGN(Value* const value,
            op.emit("Slice", "/slice",
                    {input.value, op.ints_value("/starts", starts), op.ints_value("/ends", ends),
                     op.ints_value("/axes", axes)}));
  return op.bind_moved(0, value, input.order);
}

// Python's x[begin:end:stride] with masks: bit i of begin_mask and end_mask: open end;
// shrink_axis_mask: one element, the axis goes; new_axis_mask: a new axis; ellipsis_mask: all axes
// that nothing else speaks of.
Status strided_slice(LayerImport& op, SliceMasks masks) {
  RK_TRY(op.need_inputs(4));
  RK_ASSIGN(const std::vector<int64_t> begin, op.ints(1, "begin"));
  RK_ASSIGN(const std::vector<int64_t> end, op.ints(2, "end"));
  RK_ASSIGN(const std::vector<int64_t> strides, op.ints(3, "strides"));
  if (begin.size() != end.size() || begin.size() != strides.size() || begin.size() > 2 * kMaxRank) {
    return invalid_model(str("begin, end and strides have ", begin.size(), ", ", end.size(),
                             " and ", strides.size(), " elements"));
  }
  const auto bit = [](int64_t mask, size_t i) { return (mask >> i & 1) != 0; };
  RK_ASSIGN(const Held* const held, op.held(0));
  const Shape shape = held->shape();
  size_t taken = 0;  // axes of the input that entries speak of
  for (size_t i = 0; i < begin.size(); ++i)
    taken += !bit(masks.ellipsis, i) && !bit(masks.new_axis, i);
  if (taken > static_cast<size_t>(shape.rank())) {
    return invalid_model(str(taken, " axes are sliced, but the tensor is ", to_string(shape)));
  }
  std::vector<int64_t> starts, ends, steps, axes, dims;
  bool changes_rank = false;
  int axis = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (bit(masks.ellipsis, i)) {
      for (size_t skipped = taken; skipped < static_cast<size_t>(shape.rank()); ++skipped) {
        dims.push_back(shape[axis++]);
      }
      masks.ellipsis = 0;  // a second ellipsis stands for nothing
      taken = static_cast<size_t>(shape.rank());
      continue;
    }
    if (bit(masks.new_axis, i)) {
      dims.push_back(1);
      changes_rank = true;
      continue;
    }
    const int64_t extent = shape[axis];
    // A step beyond the extent takes one element, like one of extent + 1.
    const int64_t step = std::clamp(strides[i], -extent - 1, extent + 1);
    if (step == 0) return invalid_model("a stride of 0");
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    int64_t from = bit(masks.begin, i) ? (step > 0 ? low : high)
                   : begin[i] < 0      ? begin[i] + extent
                                       : begin[i];
    int64_t to = bit(masks.end, i) ? (step > 0 ? high : low)
                 : end[i] < 0      ? end[i] + extent
                                   : end[i];
    if (bit(masks.shrink_axis, i)) {
      if (from < 0 || from >= extent) {
        return invalid_model(str("element ", begin[i], " of an extent of ", extent));
      }
      starts.push_back(from);
      ends.push_back(from + 1);
      steps.push_back(1);
      axes.push_back(axis++);
      changes_rank = true;
      continue;
    }
    from = std::clamp(from, low, high);
    to = std::clamp(to, low, high);
    const int64_t count = step > 0 ? (to - from + step - 1) / step : (from - to - step - 1) / -step;
    dims.push_back(std::max<int64_t>(count, 0));
    if (from != 0 || to != extent || step != 1) {
      starts.push_back(from);
      // Note: an end of -1 would count from the back; the far side of all elements is meant.
      ends.push_back(to < 0 ? -extent - 1 : to);
      steps.push_back(step);
      axes.push_back(axis);
    }
    ++axis;
  }
  for (; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
  RK_ASSIGN(Moved input, moved_input(op));
  if (changes_rank && input.order == Order::kFirst) {
    RK_ASSIGN(input.value, op.last(0));
    input.order = Order::kFile;
  }
  Value* value = input.value;
  if (!axes.empty()) {
    for (int64_t& one : axes) one = input.axis(one);
    RK_ASSIGN(value, op.emit("Slice", "/slice",
                             {value, op.ints_value("/starts", starts), op.ints_value("/ends", ends),
                              op.ints_value("/axes", axes), op.ints_value("/steps", steps)}));
  }
  if (changes_rank) {
    RK_ASSIGN(value, reshaped(op.builder(), value, dims, "/shape"));
  }
  return op.bind_moved(0, value, input.order);
}

Status gather(LayerImport& op, int64_t axis, int64_t batch) {
  RK_TRY(op.need_inputs(2));
  if (batch != 0) return unsupported(str("batch_dims ", batch, " is not taken; 0 is"));
  RK_ASSIGN(Value* const indices, op.last(1));
  RK_ASSIGN(Moved input, moved_input(op));
  RK_ASSIGN(axis, op.axis(axis, input.rank));
  if (indices->shape().rank() != 1 && input.order == Order::kFirst) {
    RK_ASSIGN(input.value, op.last(0));
    input.order = Order::kFile;
  }
  RK_ASSIGN(Value* const value,
            op.emit("Gather", "/gather", {input.value, indices}, {{"axis", input.axis(axis)}}));
  return op.bind_moved(0, value, input.order);
}

Status gather_nd(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const data, op.last(0));
  RK_ASSIGN(Value * indices, op.last(1));
  RK_ASSIGN(indices,
            op.emit("Cast", "/indices", {indices}, {{"to", static_cast<int64_t>(DType::kI64)}}));
  RK_ASSIGN(Value* const value, op.emit("GatherND", "/gather", {data, indices}));
  return op.bind_moved(0, value, Order::kFile);
}

// Inputs: indices, updates, shape. Elements that meet are added.
Status scatter_nd(LayerImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(Value * indices, op.last(0));
  RK_ASSIGN(Value* const updates, op.last(1));
  RK_ASSIGN(const std::vector<int64_t> dims, op.ints(2, "shape"));
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  RK_ASSIGN(Tensor zeros, op.builder().described({updates->dtype(), shape}));
  RK_ASSIGN(indices,
            op.emit("Cast", "/indices", {indices}, {{"to", static_cast<int64_t>(DType::kI64)}}));
  Value* const base = op.constant("/zeros", std::move(zeros));
  RK_ASSIGN(Value* const value, op.emit("ScatterND", "/scatter", {base, indices, updates},
                                        {{"reduction", std::string("add")}}));
  return op.bind_moved(0, value, Order::kFile, 1);
}

Status tile(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const Moved input, moved_input(op));
  RK_ASSIGN(const std::vector<int64_t> times, op.ints(1, "multiples"));
  if (static_cast<int64_t>(times.size()) != input.rank) {
    return invalid_model(str("multiples has ", times.size(), " elements, expected ", input.rank));
  }
  RK_ASSIGN(
      Value* const value,
      op.emit("Tile", "/tile", {input.value, op.ints_value("/times", input.per_axis(times))}));
  return op.bind_moved(0, value, input.order);
}

Status broadcast_to(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const input, op.last(0));
  RK_ASSIGN(const std::vector<int64_t> dims, op.ints(1, "shape"));
  RK_ASSIGN(Value* const value,
            op.emit("Expand", "/expand", {input, op.ints_value("/shape", dims)}));
  return op.bind_moved(0, value, Order::kFile);
}

// Inputs: indices, depth, on_value, off_value.
Status one_hot(LayerImport& op, int64_t axis) {
  RK_TRY(op.need_inputs(4));
  RK_ASSIGN(Value* const indices, op.last(0));
  RK_ASSIGN(const int64_t depth, op.integer(1, "depth"));
  RK_ASSIGN(Value * on, op.last(2));
  RK_ASSIGN(Value * off, op.last(3));
  RK_ASSIGN(on, reshaped(op.builder(), on, {1}, "/on"));
  RK_ASSIGN(off, reshaped(op.builder(), off, {1}, "/off"));
  RK_ASSIGN(Value* const values, op.emit("Concat", "/values", {off, on}, {{"axis", int64_t{0}}}));
  Value* const count = op.constant("/depth", Tensor::i64({}, {depth}));
  RK_ASSIGN(Value* const value,
            op.emit("OneHot", "/one_hot", {indices, count, values}, {{"axis", axis}}));
  return op.bind(0, value, Order::kFile);
}

Status top_k(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const input, op.last(0));
  RK_ASSIGN(const int64_t count, op.integer(1, "k"));
  RK_ASSIGN(const auto results, op.emit_many("TopK", {input, op.ints_value("/k", {count})}, 2,
                                             {{"axis", int64_t{input->shape().rank() - 1}},
                                              {"largest", int64_t{1}},
                                              {"sorted", int64_t{1}}}));
  RK_TRY(op.bind_moved(0, results[0], Order::kFile));
  if (op.output_count() < 2) return ok_status();
  RK_ASSIGN(Value* const indices,
            op.emit("Cast", "/indices", {results[1]}, {{"to", static_cast<int64_t>(DType::kI32)}}));
  return op.bind(1, indices, Order::kFile);
}

Status reverse(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const Moved input, moved_input(op));
  RK_ASSIGN(std::vector<int64_t> axes, op.ints(1, "axes"));
  for (int64_t& axis : axes) {
    RK_ASSIGN(axis, op.axis(axis, input.rank));
    axis = input.axis(axis);
  }
  if (axes.empty()) return op.bind_moved(0, input.value, input.order);
  const std::vector<int64_t> back(axes.size(), -1);
  const std::vector<int64_t> beyond(axes.size(), std::numeric_limits<int64_t>::min());
  RK_ASSIGN(Value* const value,
            op.emit("Slice", "/reverse",
                    {input.value, op.ints_value("/starts", back), op.ints_value("/ends", beyond),
                     op.ints_value("/axes", axes), op.ints_value("/steps", back)}));
  return op.bind_moved(0, value, input.order);
}

Status reverse_sequence(LayerImport& op, int64_t time, int64_t batch) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const input, op.last(0));
  RK_ASSIGN(Value * lengths, op.last(1));
  RK_ASSIGN(lengths,
            op.emit("Cast", "/lengths", {lengths}, {{"to", static_cast<int64_t>(DType::kI64)}}));
  RK_ASSIGN(Value* const value, op.emit("ReverseSequence", "/reverse", {input, lengths},
                                        {{"time_axis", time}, {"batch_axis", batch}}));
  return op.bind_moved(0, value, Order::kFile);
}

namespace {

Status bind_ints(LayerImport& op, const Shape& shape, const std::vector<int64_t>& values,
                 DType dtype) {
  Value* const value =
      op.builder().constant(op.output_name(0), Tensor::i64(shape, values).cast(dtype));
  return op.bind_held(0, Held::in_file_order(value));
}

Status fill_with(LayerImport& op, const Shape& shape, const Tensor& one) {
  RK_ASSIGN(Tensor filled, op.builder().described({one.dtype(), shape}));
  const size_t size = byte_size(one.dtype());
  for (size_t i = 0; i < static_cast<size_t>(shape.elements()); ++i) {
    std::memcpy(filled.mutable_data<uint8_t>() + i * size, one.data<uint8_t>(), size);
  }
  Value* const value = op.builder().constant(op.output_name(0), std::move(filled));
  return op.bind_held(0, Held::in_file_order(value));
}

}  // namespace

Status shape_of(LayerImport& op, DType dtype) {
  RK_ASSIGN(const Held* const held, op.held(0));
  const std::vector<int64_t> dims = dims_of(held->shape());
  return bind_ints(op, {static_cast<int64_t>(dims.size())}, dims, dtype);
}

Status rank_of(LayerImport& op) {
  RK_ASSIGN(const Held* const held, op.held(0));
  return bind_ints(op, {}, {held->shape().rank()}, DType::kI32);
}

Status fill(LayerImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const std::vector<int64_t> dims, op.ints(0, "dims"));
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  RK_ASSIGN(Value* const one, op.last(1));
  if (!one->is_constant() || one->constant().elements() != 1) {
    return unsupported("the value to fill with is computed at run time; it must be a constant");
  }
  return fill_with(op, shape, one->constant());
}

Status filled_like(LayerImport& op, double value) {
  RK_ASSIGN(const Held* const held, op.held(0));
  const Tensor one = Tensor::scalar(static_cast<float>(value));
  return fill_with(op, held->shape(), one.cast(held->dtype()));
}

Status range(LayerImport& op) {
  RK_TRY(op.need_inputs(3));
  std::vector<Value*> values;
  for (size_t i = 0; i < 3; ++i) {
    RK_ASSIGN(Value* const value, op.last(i));
    values.push_back(value);
  }
  RK_ASSIGN(Value* const value, op.emit("Range", "/range", values));
  return op.bind(0, value, Order::kFile);
}

}  // namespace rk::frontends::layers

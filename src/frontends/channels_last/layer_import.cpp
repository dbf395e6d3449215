// SPDX-License-Identifier: Apache-2.0
#include "frontends/channels_last/layer_import.h"

#include <algorithm>

namespace rk::frontends {

NodeDraft LayerImport::draft() const {
  NodeDraft out;
  out.name = output_name(0);
  return out;
}

Status LayerImport::need_inputs(size_t least) const {
  size_t present = 0;
  while (has(present)) ++present;
  if (present >= least) return ok_status();
  return invalid_model(str("has ", present, " inputs; it needs ", least));
}

Result<Value*> LayerImport::last(size_t i) {
  RK_ASSIGN(Held* const held, this->held(i));
  return as_last(builder(), *held);
}

Result<Value*> LayerImport::first(size_t i) {
  RK_ASSIGN(Held* const held, this->held(i));
  if (!can_be_first(held->shape().rank())) {
    return invalid_model(str("input ", i, " '", input_name(i), "' is ", to_string(held->shape()),
                             "; a tensor of rank 4 is expected"));
  }
  return as_first(builder(), *held);
}

Result<Order> LayerImport::together(const std::vector<size_t>& which, std::vector<Value*>& values) {
  int rank = 0;
  for (const size_t i : which) {
    RK_ASSIGN(const Held* const held, this->held(i));
    rank = std::max(rank, held->shape().rank());
  }
  bool first = false;
  for (const size_t i : which) {
    RK_ASSIGN(const Held* const held, this->held(i));
    first = first || (held->is_first && held->shape().rank() == rank);
  }
  values.clear();
  for (const size_t i : which) {
    RK_ASSIGN(Held* const held, this->held(i));
    const Shape shape = held->shape();
    if (first && shape.rank() == rank) {
      RK_ASSIGN(Value* const value, as_first(builder(), *held));
      values.push_back(value);
      continue;
    }
    RK_ASSIGN(Value * value, as_last(builder(), *held));
    if (first && shape.elements() > 1) {
      std::vector<int64_t> dims(static_cast<size_t>(rank - shape.rank()), 1);
      dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
      RK_ASSIGN(value, reshaped(builder(), value, dims, "/broadcast"));
      RK_ASSIGN(value, transposed(builder(), value, to_first(rank), "/nchw"));
    }
    values.push_back(value);
  }
  return first ? Order::kFirst : Order::kFile;
}

Result<std::vector<int64_t>> LayerImport::ints(size_t i, std::string_view what) {
  RK_ASSIGN(Value* const value, last(i));
  if (!value->is_constant()) {
    return unsupported(
        str(what, " '", input_name(i), "' is computed at run time; it must be a constant"));
  }
  if (!is_integer(value->dtype())) {
    return invalid_model(str(what, " '", input_name(i), "' is ", to_string(value->type()),
                             "; integers are expected"));
  }
  return value->constant().to_i64();
}

Result<int64_t> LayerImport::integer(size_t i, std::string_view what) {
  RK_ASSIGN(const std::vector<int64_t> values, ints(i, what));
  if (values.size() != 1) {
    return invalid_model(
        str(what, " '", input_name(i), "' has ", values.size(), " elements; one is expected"));
  }
  return values[0];
}

Result<int64_t> LayerImport::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) {
    return invalid_model(str("axis ", axis, " of a tensor of rank ", rank));
  }
  return axis < 0 ? axis + rank : axis;
}

Result<Value*> LayerImport::emit(std::string_view op, std::string_view suffix,
                                 std::vector<Value*> inputs, AttrMap attrs) {
  return builder().emit(draft(), op, suffix, std::move(inputs), std::move(attrs));
}

Result<std::vector<Value*>> LayerImport::emit_many(std::string_view op, std::vector<Value*> inputs,
                                                   size_t outputs, AttrMap attrs) {
  NodeDraft node = draft();
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(str(node.name, "/", i));
  return builder().emit(std::move(node));
}

Value* LayerImport::ints_value(std::string_view suffix, const std::vector<int64_t>& values) {
  return builder().ints(draft(), suffix, values);
}

Value* LayerImport::scalar(std::string_view suffix, float value) {
  return builder().scalar(draft(), suffix, value);
}

Value* LayerImport::constant(std::string_view suffix, Tensor tensor) {
  return builder().constant(output_name(0) + std::string(suffix), std::move(tensor));
}

Result<Value*> LayerImport::activated(Value* value, Fused activation) {
  switch (activation) {
    case Fused::kNone:
      break;
    case Fused::kRelu:
      return emit("Relu", "/relu", {value});
    case Fused::kReluN1To1:
      return emit("Clip", "/clip", {value, scalar("/min", -1), scalar("/max", 1)});
    case Fused::kRelu6:
      return emit("Clip", "/clip", {value, scalar("/min", 0), scalar("/max", 6)});
    case Fused::kTanh:
      return emit("Tanh", "/tanh", {value});
  }
  return value;
}

Status LayerImport::bind_moved(size_t i, Value* value, Order order, size_t from) {
  if (i < output_count() && rounded_alike(from, i)) {
    return bind_held(
        i, order == Order::kFirst ? Held::channels_first(value) : Held::in_file_order(value));
  }
  return bind(i, value, order);
}

}  // namespace rk::frontends

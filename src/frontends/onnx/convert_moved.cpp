// SPDX-License-Identifier: Apache-2.0
// Attributes that became inputs in a later opset.
#include "frontends/onnx/opset_conversions.h"

namespace rk::frontends {
namespace {

using Ints = std::vector<int64_t>;

std::string label(const NodeDraft& draft) {
  return str("node '", draft.name, "' (", draft.op, ", opset ", draft.opset, ")");
}

// Attribute `attr`, if given, becomes input `index`.
Status move_ints(NodeDraft& draft, GraphBuilder& builder, std::string_view attr, size_t index) {
  RK_ASSIGN(std::optional<Ints> values, draft.take<Ints>(attr));
  if (values) draft.set_input(index, builder.ints(draft, str("/", attr), std::move(*values)));
  return ok_status();
}

// A number of the type of input 0.
Value* number_like_data(const NodeDraft& draft, GraphBuilder& builder, std::string_view suffix,
                        float value) {
  const DType dtype = draft.has_input(0) ? draft.inputs[0]->dtype() : DType::kF32;
  return builder.constant(draft.name + std::string(suffix), Tensor::scalar(value).cast(dtype));
}

}  // namespace

Status move_clip_bounds(NodeDraft& draft, GraphBuilder& builder) {
  for (const auto& [attr, index] : {std::pair("min", size_t{1}), std::pair("max", size_t{2})}) {
    RK_ASSIGN(const std::optional<float> bound, draft.take<float>(attr));
    if (bound) draft.set_input(index, number_like_data(draft, builder, str("/", attr), *bound));
  }
  return ok_status();
}

Status move_axes(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(std::optional<Ints> axes, draft.take<Ints>("axes"));
  // No axes at all meant every axis, which is what an absent input means.
  if (axes && !axes->empty()) draft.set_input(1, builder.ints(draft, "/axes", std::move(*axes)));
  return ok_status();
}

Status move_slice_ranges(NodeDraft& draft, GraphBuilder& builder) {
  if (!draft.attrs.contains("starts") || !draft.attrs.contains("ends")) {
    return invalid_model(str(label(draft), ": attributes 'starts' and 'ends' expected"));
  }
  RK_TRY(move_ints(draft, builder, "starts", 1));
  RK_TRY(move_ints(draft, builder, "ends", 2));
  return move_ints(draft, builder, "axes", 3);
}

Status move_split_sizes(NodeDraft& draft, GraphBuilder& builder) {
  if (draft.opset < 13) RK_TRY(move_ints(draft, builder, "split", 1));
  if (!draft.has_input(1)) draft.attrs["num_outputs"] = static_cast<int64_t>(draft.outputs.size());
  return ok_status();
}

Status move_pads(NodeDraft& draft, GraphBuilder& builder) {
  const std::string_view attr = draft.opset < 2 ? "paddings" : "pads";
  if (!draft.attrs.contains(attr)) {
    return invalid_model(str(label(draft), ": attribute '", attr, "' is missing"));
  }
  RK_TRY(move_ints(draft, builder, attr, 1));
  RK_ASSIGN(const std::optional<float> value, draft.take<float>("value"));
  if (value) draft.set_input(2, number_like_data(draft, builder, "/value", *value));
  return ok_status();
}

Status move_reshape_shape(NodeDraft& draft, GraphBuilder& builder) {
  return move_ints(draft, builder, "shape", 1);
}

Status move_topk_k(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(const std::optional<int64_t> k, draft.take<int64_t>("k"));
  if (!k) return invalid_model(str(label(draft), ": attribute 'k' is missing"));
  draft.set_input(1, builder.ints(draft, "/k", {*k}));
  return ok_status();
}

// The default moved too: axis 1 before, the last but the complex parts since.
Status move_dft_axis(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(const std::optional<int64_t> axis, draft.take<int64_t>("axis"));
  draft.set_input(2, builder.ints(draft, "/axis", {axis.value_or(1)}));
  return ok_status();
}

// Opset 1: tile once, along one axis.
Status join_tile_repeats(NodeDraft& draft, GraphBuilder& builder) {
  for (size_t i = 0; i < 3; ++i) {
    if (!draft.has_input(i)) return invalid_model(str(label(draft), ": three inputs expected"));
    if (i == 0) continue;
    const Value& value = *draft.inputs[i];
    if (!value.is_constant() || value.constant().elements() != 1) {
      return unsupported(str(label(draft), ": input ", i, " must be a constant number"));
    }
  }
  const int rank = draft.inputs[0]->shape().rank();
  const int64_t axis = draft.inputs[2]->constant().at_i64(0);
  if (axis < 0 || axis >= rank) {
    return invalid_model(str(label(draft), ": axis ", axis, " of a tensor of rank ", rank));
  }
  Ints repeats(static_cast<size_t>(rank), 1);
  repeats[static_cast<size_t>(axis)] = draft.inputs[1]->constant().at_i64(0);
  draft.inputs.resize(2);
  draft.inputs[1] = builder.ints(draft, "/repeats", std::move(repeats));
  return ok_status();
}

}  // namespace rk::frontends

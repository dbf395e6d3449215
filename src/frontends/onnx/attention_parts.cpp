// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/attention_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "frontends/onnx/opset_conversions.h"

namespace rk::frontends {
namespace {

// As [B, heads, S, D]; a tensor of rank 3 has its heads inside the last axis.
Result<Value*> unpacked(const NodeDraft& draft, GraphBuilder& builder, std::string_view suffix,
                        Value* value, int64_t heads) {
  const Shape& shape = value->shape();
  if (shape.rank() == 4) return value;
  Value* const dims =
      builder.ints(draft, str(suffix, "/dims"), {shape[0], shape[1], heads, shape[2] / heads});
  RK_ASSIGN(value, builder.emit(draft, "Reshape", str(suffix, "/heads"), {value, dims}));
  return builder.emit(draft, "Transpose", suffix, {value},
                      {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

template <typename T>
T attr_or(const NodeDraft& draft, std::string_view attr, T fallback) {
  const auto it = draft.attrs.find(attr);
  const T* value = it == draft.attrs.end() ? nullptr : std::get_if<T>(&it->second);
  return value == nullptr ? fallback : *value;
}

// Nothing but queries, keys and values, of shapes that fit; the operator itself says what does not.
bool is_plain(const NodeDraft& draft, const std::array<int64_t, 3>& heads) {
  for (size_t i = 0; i < draft.inputs.size(); ++i) {
    if (draft.has_input(i) != (i < 3)) return false;
  }
  for (size_t i = 1; i < draft.outputs.size(); ++i) {
    if (!draft.outputs[i].empty()) return false;
  }
  if (draft.inputs.size() < 3 || attr_or<int64_t>(draft, "is_causal", 0) != 0 ||
      attr_or<float>(draft, "softcap", 0) != 0) {
    return false;
  }
  const int rank = draft.inputs[0]->shape().rank();
  for (size_t i = 0; i < 3; ++i) {
    const Shape& shape = draft.inputs[i]->shape();
    if (shape.rank() != rank || (rank != 3 && rank != 4) || heads[i] < 1 ||
        heads[0] % heads[i] != 0 || (rank == 3 && shape[2] % heads[i] != 0)) {
      return false;
    }
  }
  return heads[1] == heads[2];
}

}  // namespace

Result<Value*> repeat_heads(const NodeDraft& around, GraphBuilder& builder, std::string_view suffix,
                            Value* value, int64_t heads) {
  const Shape& shape = value->shape();
  if (shape[1] == heads) return value;
  const auto name = [&](std::string_view part) { return str(suffix, part); };
  Value* const axis = builder.ints(around, name("/axis"), {2});
  Value* const wide = builder.ints(around, name("/wide"),
                                   {shape[0], shape[1], heads / shape[1], shape[2], shape[3]});
  Value* const flat = builder.ints(around, name("/flat"), {shape[0], heads, shape[2], shape[3]});
  RK_ASSIGN(value, builder.emit(around, "Unsqueeze", name("/split"), {value, axis}));
  RK_ASSIGN(value, builder.emit(around, "Expand", name("/repeat"), {value, wide}));
  return builder.emit(around, "Reshape", name("/join"), {value, flat});
}

Result<Value*> attention_scores(const NodeDraft& around, GraphBuilder& builder, Value* query,
                                Value* keys, std::optional<float> scale) {
  const float factor = scale.value_or(1.0f / std::sqrt(static_cast<float>(query->shape()[3])));
  RK_ASSIGN(Value* const columns, builder.emit(around, "Transpose", "/columns", {keys},
                                               {{"perm", std::vector<int64_t>{0, 1, 3, 2}}}));
  RK_ASSIGN(Value* const products, builder.emit(around, "MatMul", "/products", {query, columns}));
  return builder.emit(around, "Mul", "/scores",
                      {products, builder.scalar(around, "/factor", factor)});
}

Status split_plain_attention(NodeDraft& draft, GraphBuilder& builder) {
  std::array<int64_t, 3> heads{};
  for (size_t i = 0; i < 3 && draft.has_input(i); ++i) {
    const Shape& shape = draft.inputs[i]->shape();
    heads[i] = shape.rank() == 4
                   ? shape[1]
                   : attr_or<int64_t>(draft, i == 0 ? "q_num_heads" : "kv_num_heads", 0);
  }
  if (!is_plain(draft, heads)) return ok_status();
  RK_ASSIGN(const std::optional<float> scale, draft.take<float>("scale"));
  const bool packed = draft.inputs[0]->shape().rank() == 3;
  constexpr std::array<std::string_view, 3> kParts = {"/queries", "/keys", "/values"};
  std::array<Value*, 3> in{};
  for (size_t i = 0; i < 3; ++i) {
    RK_ASSIGN(in[i], unpacked(draft, builder, kParts[i], draft.inputs[i], heads[i]));
    RK_ASSIGN(in[i], repeat_heads(draft, builder, kParts[i], in[i], heads[0]));
  }
  RK_ASSIGN(Value * value, attention_scores(draft, builder, in[0], in[1], scale));
  RK_ASSIGN(value,
            builder.emit(draft, "Softmax", "/probabilities", {value}, {{"axis", int64_t{-1}}}));
  draft.outputs.resize(1);
  draft.attrs.clear();
  if (!packed) {
    draft.op = "MatMul";
    draft.inputs = {value, in[2]};
    return ok_status();
  }
  RK_ASSIGN(value, builder.emit(draft, "MatMul", "/mixed", {value, in[2]}));
  const Shape mixed = value->shape();
  RK_ASSIGN(value, builder.emit(draft, "Transpose", "/places", {value},
                                {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}));
  draft.op = "Reshape";
  draft.inputs = {value, builder.ints(draft, "/packed", {mixed[0], mixed[2], mixed[1] * mixed[3]})};
  return ok_status();
}

}  // namespace rk::frontends

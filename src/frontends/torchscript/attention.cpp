// SPDX-License-Identifier: Apache-2.0
// Attention: the plain operator, and the two that torch puts in place of whole layers in networks for inference.
#include <cmath>
#include <limits>

#include "frontends/torchscript/operators.h"

namespace rk::frontends::torchscript {
namespace {

constexpr std::string_view kNoFastPath =
    "with a mask is not taken; trace the model after "
    "torch.backends.mha.set_fastpath_enabled(False)";
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Positions that a causal attention may not see are minus infinity.
Value* causal_mask(Call& call, int64_t rows, int64_t columns) {
  std::vector<float> mask(static_cast<size_t>(rows * columns), 0.0f);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = row + 1; column < columns; ++column) {
      mask[static_cast<size_t>(row * columns + column)] = kMinusInfinity;
    }
  }
  return call.builder().constant(call.name() + "/causal", Tensor::f32({rows, columns}, mask));
}

Result<Value*> masked(Call& call, Value* scores, Value* mask) {
  if (mask->dtype() != DType::kBool) return call.emit("Add", "/masked", {scores, mask});
  return call.emit("Where", "/masked", {mask, scores, call.scalar("/hidden", kMinusInfinity)});
}

// q k' * scale, of [..., length, depth].
Result<Value*> scores_of(Call& call, Value* query, Value* key, double scale) {
  std::vector<int64_t> perm;
  for (int64_t axis = 0; axis < key->shape().rank(); ++axis) perm.push_back(axis);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  RK_ASSIGN(key, call.transposed(key, perm, "/turned"));
  RK_ASSIGN(Value* const scores, call.emit("MatMul", "/scores", {query, key}));
  return call.emit("Mul", "/scaled", {scores, call.scalar("/scale", scale)});
}

// (query, key, value, mask, dropout, is_causal, scale, enable_gqa): softmax(q k' * scale + mask) v
Status attention(Call& call) {
  RK_ASSIGN(Value* const query, call.tensor(0));
  RK_ASSIGN(Value* const key, call.tensor(1));
  RK_ASSIGN(Value* const value, call.tensor(2));
  const int rank = query->shape().rank();
  if (rank < 2 || key->shape().rank() != rank) return invalid_model("has operands of other ranks");
  if (call.flag_or(7, false))
    return unsupported("with enable_gqa is not taken; repeat the keys and values");
  const double depth = static_cast<double>(query->shape()[rank - 1]);
  RK_ASSIGN(Value * scores, scores_of(call, query, key, call.real_or(6, 1 / std::sqrt(depth))));
  if (call.flag_or(5, false)) {
    Value* const mask = causal_mask(call, query->shape()[rank - 2], key->shape()[rank - 2]);
    RK_ASSIGN(scores, call.emit("Add", "/causal_scores", {scores, mask}));
  }
  if (call.has(3)) {
    RK_ASSIGN(Value* const mask, call.tensor(3));
    RK_ASSIGN(scores, masked(call, scores, mask));
  }
  RK_ASSIGN(scores, call.emit("Softmax", "/softmax", {scores}, {{"axis", int64_t{-1}}}));
  RK_ASSIGN(Value* const out, call.emit("MatMul", "/y", {scores, value}));
  return call.give(out);
}

// x W' + b; `first` is the argument that is W, b follows.
Result<Value*> projected(Call& call, Value* x, size_t first, std::string_view suffix) {
  RK_ASSIGN(Value * weight, call.tensor(first));
  RK_ASSIGN(Value* const bias, call.tensor(first + 1));
  if (weight->shape().rank() != 2) return invalid_model("has weights that are no matrix");
  RK_ASSIGN(weight, call.transposed(weight, {1, 0}, str(suffix, "/turned")));
  RK_ASSIGN(Value* const product, call.emit("MatMul", str(suffix, "/matmul"), {x, weight}));
  return call.emit("Add", str(suffix, "/add"), {product, bias});
}

struct SelfAttention {
  Value* result = nullptr;
  Value* weights = nullptr;  // of each head
};

// x is [batch, length, depth]; the arguments from `first` on are the weights and bias of all three operands in one, and
// those of the result.
Result<SelfAttention> self_attention(Call& call, Value* x, int64_t heads, size_t first) {
  if (x->shape().rank() != 3)
    return unsupported(str("of ", to_string(x->shape()), " is not taken"));
  const int64_t batch = x->shape()[0], length = x->shape()[1], depth = x->shape()[2];
  if (heads < 1 || depth % heads != 0)
    return invalid_model(str(depth, " channels in ", heads, " heads"));
  RK_ASSIGN(Value * all, projected(call, x, first, "/operands"));
  RK_ASSIGN(all, call.reshaped(all, {batch, length, 3, heads, depth / heads}, "/heads"));
  RK_ASSIGN(all, call.transposed(all, {2, 0, 3, 1, 4}, "/by_operand"));
  Value* operands[3] = {};
  for (int i = 0; i < 3; ++i) {
    RK_ASSIGN(operands[i],
              call.emit("Gather", str("/operand", i), {all, call.scalar("/place", i, DType::kI64)},
                        {{"axis", int64_t{0}}}));
  }
  const double scale = 1 / std::sqrt(static_cast<double>(depth / heads));
  RK_ASSIGN(Value* const scores, scores_of(call, operands[0], operands[1], scale));
  SelfAttention out;
  RK_ASSIGN(out.weights, call.emit("Softmax", "/softmax", {scores}, {{"axis", int64_t{-1}}}));
  RK_ASSIGN(Value * mixed, call.emit("MatMul", "/mixed", {out.weights, operands[2]}));
  RK_ASSIGN(mixed, call.transposed(mixed, {0, 2, 1, 3}, "/by_position"));
  RK_ASSIGN(mixed, call.reshaped(mixed, {batch, length, depth}, "/joined"));
  RK_ASSIGN(out.result, projected(call, mixed, first + 2, "/result"));
  return out;
}

// (query, key, value, depth, heads, weights and bias of operands, those of the result, mask, need_weights,
// average_attn_weights, mask_type)
Status multi_head_attention(Call& call) {
  RK_ASSIGN(Value* const query, call.tensor(0));
  if (!call.arg(1).is_tensor() || call.arg(1).value != query || call.arg(2).value != query) {
    return unsupported(
        "of different operands is not taken; trace the model after "
        "torch.backends.mha.set_fastpath_enabled(False)");
  }
  if (call.has(9)) return unsupported(std::string(kNoFastPath));
  RK_ASSIGN(const int64_t heads, call.integer(4, "the number of heads"));
  RK_ASSIGN(SelfAttention out, self_attention(call, query, heads, 5));
  RK_TRY(call.give(out.result));
  if (call.node().outputs.size() < 2) return ok_status();
  if (!call.flag_or(10, true)) return call.give(Item::none(), 1);
  if (call.flag_or(11, true)) {
    RK_ASSIGN(out.weights,
              call.emit("ReduceMean", "/weights", {out.weights, call.ints_value("/axes", {1})},
                        {{"keepdims", int64_t{0}}}));
  }
  return call.give(Item::of_tensor(out.weights), 1);
}

// (x, depth, heads, weights and bias of operands, those of the result, use_gelu, norm_first, epsilon, scale and bias of
// both norms, weights and bias of both layers, mask, mask_type)
Status encoder_layer(Call& call) {
  RK_ASSIGN(Value* const x, call.tensor(0));
  if (call.has(18)) return unsupported(std::string(kNoFastPath));
  RK_ASSIGN(const int64_t heads, call.integer(2, "the number of heads"));
  const bool norm_first = call.flag_or(8, false);
  const auto normal = [&](Value* value, size_t first, std::string_view suffix) -> Result<Value*> {
    RK_ASSIGN(Value* const scale, call.tensor(first));
    RK_ASSIGN(Value* const bias, call.tensor(first + 1));
    return call.emit(
        "LayerNormalization", suffix, {value, scale, bias},
        {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(call.real_or(9, 1e-5))}});
  };
  const auto layers = [&](Value* value) -> Result<Value*> {
    RK_ASSIGN(value, projected(call, value, 14, "/wide"));
    if (call.flag_or(7, false)) {
      RK_ASSIGN(value, call.emit("Gelu", "/gelu", {value}, {{"approximate", std::string("none")}}));
    } else {
      RK_ASSIGN(value, call.emit("Relu", "/relu", {value}));
    }
    return projected(call, value, 16, "/narrow");
  };
  Value* in = x;
  if (norm_first) {
    RK_ASSIGN(in, normal(x, 10, "/norm1"));
  }
  RK_ASSIGN(const SelfAttention mixed, self_attention(call, in, heads, 3));
  RK_ASSIGN(Value * middle, call.emit("Add", "/with_attention", {x, mixed.result}));
  if (norm_first) {
    RK_ASSIGN(in, normal(middle, 12, "/norm2"));
  } else {
    RK_ASSIGN(middle, normal(middle, 10, "/norm1"));
    in = middle;
  }
  RK_ASSIGN(Value* const layered, layers(in));
  RK_ASSIGN(Value * out, call.emit("Add", "/with_layers", {middle, layered}));
  if (!norm_first) {
    RK_ASSIGN(out, normal(out, 12, "/norm2"));
  }
  return call.give(out);
}

}  // namespace

std::span<const OperatorRow> attention_operators() {
  // clang-format off
  static constexpr OperatorRow kRows[] = {
      {"aten::scaled_dot_product_attention", attention},
      {"aten::_native_multi_head_attention", multi_head_attention},
      {"aten::_transformer_encoder_layer_fwd", encoder_layer},
  };
  // clang-format on
  return kRows;
}

}  // namespace rk::frontends::torchscript

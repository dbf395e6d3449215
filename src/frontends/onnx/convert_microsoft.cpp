// SPDX-License-Identifier: Apache-2.0
// Operators of the domain com.microsoft, which ONNX Runtime's tools write into models they have
// optimized: each is a standard operator with something fused to it, and is taken apart again. Our
// own passes fuse for the chip.
#include <algorithm>

#include "frontends/onnx/opset_conversions.h"

namespace rk::frontends {
namespace {

std::string label(const NodeDraft& draft) {
  return str("node '", draft.name, "' (", draft.op, ", com.microsoft)");
}

Status require_inputs(const NodeDraft& draft, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!draft.has_input(i)) return invalid_model(str(label(draft), ": input ", i, " is missing"));
  }
  return ok_status();
}

// The draft becomes the activation of `x`; an empty name leaves Identity.
Status set_activation(NodeDraft& draft, GraphBuilder& builder, Value* x, const std::string& name,
                      const std::vector<float>& params) {
  draft.op = name.empty() ? "Identity" : name;
  draft.inputs = {x};
  draft.attrs.clear();
  const auto param = [&](size_t i, float otherwise) {
    return i < params.size() ? params[i] : otherwise;
  };
  if (name.empty() || name == "Relu" || name == "Tanh" || name == "Sigmoid") return ok_status();
  if (name == "LeakyRelu") {
    draft.attrs["alpha"] = param(0, 0.01f);
  } else if (name == "HardSigmoid") {
    draft.attrs["alpha"] = param(0, 0.2f);
    draft.attrs["beta"] = param(1, 0.5f);
  } else if (name == "Clip" && params.size() == 2) {
    draft.set_input(1, builder.scalar(draft, "/min", params[0]));
    draft.set_input(2, builder.scalar(draft, "/max", params[1]));
  } else {
    return unsupported(str("activation '", name,
                           "' is not supported; Relu, Tanh, Sigmoid, "
                           "LeakyRelu, HardSigmoid and Clip are"));
  }
  return ok_status();
}

// x and skip and bias, added.
Result<Value*> add_skip(const NodeDraft& draft, GraphBuilder& builder, size_t bias) {
  RK_ASSIGN(Value * sum, builder.emit(draft, "Add", "/skip", {draft.inputs[0], draft.inputs[1]}));
  if (!draft.has_input(bias)) return sum;
  return builder.emit(draft, "Add", "/biased", {sum, draft.inputs[bias]});
}

// The sum is the fourth result, where it is wanted.
void give_sum(NodeDraft& draft, Value* sum) {
  constexpr size_t kSumOutput = 3;
  if (draft.outputs.size() <= kSumOutput) return;
  draft.outputs.resize(kSumOutput);
  while (!draft.outputs.empty() && draft.outputs.back().empty()) draft.outputs.pop_back();
  draft.extra_results.assign(kSumOutput - draft.outputs.size(), nullptr);
  draft.extra_results.push_back(sum);
}

Result<Value*> swap_last_axes(const NodeDraft& draft, GraphBuilder& builder, size_t input,
                              std::string_view suffix) {
  Value* const value = draft.inputs[input];
  const int rank = value->shape().rank();
  if (rank < 2) return value;
  std::vector<int64_t> order(static_cast<size_t>(rank));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return builder.emit(draft, "Transpose", suffix, {value}, {{"perm", std::move(order)}});
}

}  // namespace

Status keep_standard_form(NodeDraft&, GraphBuilder&) { return ok_status(); }

Status split_bias_gelu(NodeDraft& draft, GraphBuilder& builder) {
  RK_TRY(require_inputs(draft, 1));
  const bool fast = draft.op == "FastGelu";
  if (draft.has_input(1)) {
    RK_ASSIGN(draft.inputs[0],
              builder.emit(draft, "Add", "/biased", {draft.inputs[0], draft.inputs[1]}));
  }
  draft.op = "Gelu";
  draft.inputs.resize(1);
  draft.attrs.clear();
  draft.attrs["approximate"] = std::string(fast ? "tanh" : "none");
  return ok_status();
}

Status rename_quick_gelu(NodeDraft& draft, GraphBuilder&) {
  RK_ASSIGN(const std::optional<float> alpha, draft.take<float>("alpha"));
  draft.op = "exSwish";
  draft.attrs["beta"] = alpha.value_or(1.702f);
  return ok_status();
}

Status split_fused_conv(NodeDraft& draft, GraphBuilder& builder) {
  RK_TRY(require_inputs(draft, 2));
  RK_ASSIGN(const std::optional<std::string> activation, draft.take<std::string>("activation"));
  RK_ASSIGN(const auto params, draft.take<std::vector<float>>("activation_params"));
  std::vector<Value*> inputs(draft.inputs.begin(),
                             draft.inputs.begin() + std::min<long>(3, std::ssize(draft.inputs)));
  RK_ASSIGN(Value * result, builder.emit(draft, "Conv", "/conv", std::move(inputs), draft.attrs));
  if (draft.has_input(3)) {
    RK_ASSIGN(result, builder.emit(draft, "Add", "/sum", {result, draft.inputs[3]}));
  }
  return set_activation(draft, builder, result, activation.value_or(""),
                        params.value_or(std::vector<float>()));
}

Status split_fused_gemm(NodeDraft& draft, GraphBuilder& builder) {
  RK_TRY(require_inputs(draft, 2));
  RK_ASSIGN(const std::optional<std::string> activation, draft.take<std::string>("activation"));
  std::vector<float> params;
  for (const std::string_view name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    RK_ASSIGN(const std::optional<float> value, draft.take<float>(name));
    if (value) params.push_back(*value);
  }
  RK_ASSIGN(Value* const result, builder.emit(draft, "Gemm", "/gemm", draft.inputs, draft.attrs));
  return set_activation(draft, builder, result, activation.value_or(""), params);
}

Status split_fused_matmul(NodeDraft& draft, GraphBuilder& builder) {
  RK_TRY(require_inputs(draft, 2));
  for (const std::string_view name : {"transBatchA", "transBatchB"}) {
    RK_ASSIGN(const std::optional<int64_t> value, draft.take<int64_t>(name));
    if (value.value_or(0) != 0) return unsupported(str(label(draft), ": ", name, "=1"));
  }
  RK_ASSIGN(const std::optional<int64_t> trans_a, draft.take<int64_t>("transA"));
  RK_ASSIGN(const std::optional<int64_t> trans_b, draft.take<int64_t>("transB"));
  RK_ASSIGN(const std::optional<float> alpha, draft.take<float>("alpha"));
  if (trans_a.value_or(0) != 0) {
    RK_ASSIGN(draft.inputs[0], swap_last_axes(draft, builder, 0, "/a"));
  }
  if (trans_b.value_or(0) != 0) {
    RK_ASSIGN(draft.inputs[1], swap_last_axes(draft, builder, 1, "/b"));
  }
  draft.op = "MatMul";
  if (alpha.value_or(1.0f) == 1.0f) return ok_status();
  RK_ASSIGN(Value* const product, builder.emit(draft, "MatMul", "/product", draft.inputs));
  draft.op = "Mul";
  draft.inputs = {product, builder.scalar(draft, "/alpha", *alpha)};
  return ok_status();
}

Status split_skip_layer_norm(NodeDraft& draft, GraphBuilder& builder) {
  RK_TRY(require_inputs(draft, 3));
  const bool simplified = draft.op == "SkipSimplifiedLayerNormalization";
  RK_ASSIGN(Value* const sum, add_skip(draft, builder, simplified ? 3 : 4));
  give_sum(draft, sum);
  draft.op = simplified ? "RMSNormalization" : "LayerNormalization";
  std::vector<Value*> inputs = {sum, draft.inputs[2]};
  if (!simplified && draft.has_input(3)) inputs.push_back(draft.inputs[3]);
  draft.inputs = std::move(inputs);
  draft.attrs.emplace("epsilon", 1e-12f);  // the fused form's default, unlike the standard's 1e-5
  draft.attrs["axis"] = int64_t{-1};
  return ok_status();
}

Status rename_simplified_layer_norm(NodeDraft& draft, GraphBuilder&) {
  draft.op = "RMSNormalization";
  draft.outputs.resize(std::min<size_t>(draft.outputs.size(), 1));
  return ok_status();
}

}  // namespace rk::frontends

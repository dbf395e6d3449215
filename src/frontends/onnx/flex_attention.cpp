// SPDX-License-Identifier: Apache-2.0
// FlexAttention (domain ai.onnx.preview) is attention whose scores and probabilities pass through
// sub-graphs of the model. It becomes MatMul, the first sub-graph, Softmax, the second, MatMul: the
// sub-graphs are part of the flat graph.
#include <array>

#include "frontends/onnx/attention_parts.h"
#include "frontends/onnx/importer.h"

namespace rk::frontends {

// `value` through the sub-graph of attribute `attr`, if there is one.
Result<OnnxImporter::Binding> OnnxImporter::modified(Scope& scope, const onnx::NodeProto& proto,
                                                     const std::string& attr, Value* value) {
  const onnx::AttributeProto* body = find_attribute(proto, attr, scope.attrs);
  if (body == nullptr) return Binding{.value = value};
  const std::string label = str(node_label(proto), ": attribute '", attr, "'");
  if (!body->has_g() || body->g().output_size() != 1) {
    return invalid_model(str(label, " must be a graph with one output"));
  }
  Scope inner;
  inner.prefix = str(node_name(scope, proto), "/", attr, "/");
  RK_ASSIGN(auto results,
            import_body(scope, body->g(), {Binding{.value = value}}, std::move(inner), label));
  if (!results[0].available()) return results[0];
  if (results[0].value == nullptr || results[0].value->shape() != value->shape()) {
    return invalid_model(
        str(label, " must give a tensor of its input's shape ", to_string(value->shape())));
  }
  return results[0];
}

Status OnnxImporter::import_flex_attention(Scope& scope, const onnx::NodeProto& proto) {
  const std::string label = node_label(proto);
  if (proto.input_size() != 3 || proto.output_size() != 1) {
    return invalid_model(str(label, ": three inputs and one output expected"));
  }
  std::array<Value*, 3> in{};  // query, key, value
  for (int i = 0; i < 3; ++i) {
    RK_ASSIGN(const Binding binding, look_up(scope, proto.input(i), label));
    in[static_cast<size_t>(i)] = binding.value;
    if (binding.value == nullptr || binding.value->shape().rank() != 4) {
      return invalid_model(str(label, ": input ", i, " must be a tensor of rank 4"));
    }
  }
  const int64_t heads = in[0]->shape()[1];
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const int64_t own = in[i]->shape()[1];
    if (own < 1 || heads % own != 0) {
      return invalid_model(
          str(label, ": ", heads, " query heads are no multiple of the ", own, " of input ", i));
    }
  }
  NodeDraft around;
  around.name = node_name(scope, proto);
  RK_ASSIGN(Value* const keys, repeat_heads(around, builder_, "/keys", in[1], heads));
  RK_ASSIGN(Value* const values, repeat_heads(around, builder_, "/values", in[2], heads));
  const onnx::AttributeProto* given = find_attribute(proto, "scale", scope.attrs);
  const std::optional<float> scale = given == nullptr ? std::nullopt : std::optional(given->f());
  RK_ASSIGN(Value * value, attention_scores(around, builder_, in[0], keys, scale));
  RK_ASSIGN(const Binding scores, modified(scope, proto, "score_mod", value));
  if (!scores.available()) {
    bind_unavailable(scope, proto, *scores.why);
    return ok_status();
  }
  RK_ASSIGN(value, builder_.emit(around, "Softmax", "/probabilities", {scores.value},
                                 {{"axis", int64_t{-1}}}));
  RK_ASSIGN(const Binding probabilities, modified(scope, proto, "prob_mod", value));
  if (!probabilities.available()) {
    bind_unavailable(scope, proto, *probabilities.why);
    return ok_status();
  }
  NodeDraft result;
  result.op = "MatMul";
  result.name = around.name;
  result.inputs = {probabilities.value, values};
  result.outputs = {result_name(scope, proto.output(0))};
  RK_ASSIGN(const std::vector<Value*> results, builder_.emit(std::move(result)));
  return bind_results(scope, proto, results);
}

}  // namespace rk::frontends

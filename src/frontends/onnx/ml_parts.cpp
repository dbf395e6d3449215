// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/ml_parts.h"

#include "base/log.h"

namespace rk::frontends::ml {

std::string label(const NodeDraft& draft) {
  return str("node '", draft.name, "' (", draft.op, ")");
}

Result<std::vector<float>> take_numbers(NodeDraft& draft, const std::string& attr) {
  for (const std::string& name : {attr, attr + "_as_tensor"}) {
    const auto it = draft.attrs.find(name);
    if (it == draft.attrs.end()) continue;
    const Attr found = std::move(it->second);
    draft.attrs.erase(it);
    if (const auto* list = std::get_if<std::vector<float>>(&found)) return *list;
    if (const auto* tensor = std::get_if<Tensor>(&found)) return tensor->to_f32();
    if (const auto* ints = std::get_if<std::vector<int64_t>>(&found))
      return std::vector<float>(ints->begin(), ints->end());
    return invalid_model(str(label(draft), ": attribute '", name, "' is of kind ", attr_kind(found),
                             ", expected floats"));
  }
  return std::vector<float>();
}

Result<Value*> real_input(NodeDraft& draft, GraphBuilder& builder) {
  if (!draft.has_input(0)) return invalid_model(str(label(draft), " has no input"));
  if (is_float(draft.inputs[0]->dtype())) return draft.inputs[0];
  return emit(draft, builder, "Cast", "/real", {draft.inputs[0]}, {{"to", int64_t{1}}});
}

Result<Value*> matrix_input(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const value, real_input(draft, builder));
  if (value->shape().rank() == 2) return value;
  if (value->shape().rank() != 1) {
    return invalid_model(str(label(draft), ": its input is ", to_string(value->shape()),
                             ", expected rows of features"));
  }
  return emit(draft, builder, "Unsqueeze", "/row", {value, builder.ints(draft, "/axes", {0})});
}

Result<Value*> emit(NodeDraft& draft, GraphBuilder& builder, std::string_view op,
                    std::string_view suffix, std::vector<Value*> inputs, AttrMap attrs) {
  return builder.emit(draft, op, suffix, std::move(inputs), std::move(attrs));
}

Value* vector(NodeDraft& draft, GraphBuilder& builder, std::string_view suffix,
              const std::vector<float>& values) {
  return builder.constant(draft.name + std::string(suffix),
                          Tensor::f32({std::ssize(values)}, values));
}

Result<Labels> take_labels(NodeDraft& draft) {
  Labels out;
  for (const char* attr : {"classlabels_ints", "classlabels_int64s"}) {
    RK_ASSIGN(auto numbers, take_or(draft, attr, std::vector<int64_t>()));
    if (!numbers.empty()) out.numbers = std::move(numbers);
  }
  RK_ASSIGN(const auto texts, take_or(draft, "classlabels_strings", std::vector<std::string>()));
  if (!texts.empty()) {
    std::string list;
    for (size_t i = 0; i < texts.size(); ++i) {
      out.numbers.push_back(static_cast<int64_t>(i));
      if (i < 20) list += str(i == 0 ? "" : ", ", i, " '", texts[i], "'");
    }
    log(LogLevel::kWarning, str(label(draft), ": labels that are texts are given as numbers: ",
                                list, texts.size() > 20 ? ", ..." : ""));
  }
  out.count = std::ssize(out.numbers);
  return out;
}

namespace {

Result<Value*> transformed(NodeDraft& draft, GraphBuilder& builder, Value* scores) {
  std::string transform = "NONE";
  if (const auto it = draft.attrs.find("post_transform"); it != draft.attrs.end()) {
    // ai.onnx.ml 5 counts them.
    constexpr const char* kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    if (const auto* number = std::get_if<int64_t>(&it->second);
        number != nullptr && *number >= 0 && *number < 5) {
      transform = kNames[*number];
    } else if (const auto* text = std::get_if<std::string>(&it->second)) {
      transform = *text;
    } else {
      transform = "?";
    }
    draft.attrs.erase(it);
  }
  if (transform == "NONE") return scores;
  if (transform == "LOGISTIC") return emit(draft, builder, "Sigmoid", "/logistic", {scores});
  if (transform == "SOFTMAX")
    return emit(draft, builder, "Softmax", "/softmax", {scores}, {{"axis", int64_t{-1}}});
  return unsupported(
      str("post_transform '", transform, "' is not taken; NONE, LOGISTIC and SOFTMAX are"));
}

}  // namespace

Status give_transformed(NodeDraft& draft, GraphBuilder& builder, Value* scores) {
  RK_ASSIGN(Value* const out, transformed(draft, builder, scores));
  draft.op = "Identity";
  draft.inputs = {out};
  return ok_status();
}

Status give_classes(NodeDraft& draft, GraphBuilder& builder, Value* votes, Value* scores,
                    const Labels& labels) {
  if (votes->shape()[1] != labels.count) {
    return invalid_model(str(label(draft), ": scores of ", votes->shape()[1], " classes, ",
                             labels.count, " labels"));
  }
  RK_ASSIGN(Value* const best, emit(draft, builder, "ArgMax", "/best", {votes},
                                    {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}));
  RK_ASSIGN(Value* const out, transformed(draft, builder, scores));
  draft.op = "Gather";
  draft.inputs = {
      builder.constant(draft.name + "/labels", Tensor::i64({labels.count}, labels.numbers)), best};
  draft.attrs["axis"] = int64_t{0};
  if (draft.outputs.size() > 1) {
    draft.outputs.resize(1);
    draft.extra_results = {out};
  }
  return ok_status();
}

Status give_two_classes(NodeDraft& draft, GraphBuilder& builder, Value* score, const Labels& labels,
                        bool shares) {
  if (labels.count != 2)
    return invalid_model(str(label(draft), ": one score for ", labels.count, " classes"));
  // Both scores before their transformation: s speaks for the second class, 1 - s or -s for the first.
  Value* const whole = builder.scalar(draft, "/whole", shares ? 1 : 0);
  RK_ASSIGN(Value* const other, emit(draft, builder, "Sub", "/other", {whole, score}));
  RK_ASSIGN(Value* const both,
            emit(draft, builder, "Concat", "/both", {other, score}, {{"axis", int64_t{1}}}));
  return give_classes(draft, builder, both, both, labels);
}

}  // namespace rk::frontends::ml

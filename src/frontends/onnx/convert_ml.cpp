// SPDX-License-Identifier: Apache-2.0
// Operators of the domain ai.onnx.ml that are ordinary ones under another name. Classifiers, trees
// and encoders of that domain are not: they stay unsupported.
#include "frontends/onnx/opset_conversions.h"

namespace rk::frontends {

Status binarizer_to_greater(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(const std::optional<float> threshold, draft.take<float>("threshold"));
  if (!draft.has_input(0))
    return invalid_model(str("node '", draft.name, "' (Binarizer) has no input"));
  const DType dtype = draft.inputs[0]->dtype();
  Value* const bound = builder.constant(draft.name + "/threshold",
                                        Tensor::scalar(threshold.value_or(0.0f)).cast(dtype));
  RK_ASSIGN(Value* const above, builder.emit(draft, "Greater", "/above", {draft.inputs[0], bound}));
  draft.op = "Cast";
  draft.inputs = {above};
  draft.attrs["to"] = static_cast<int64_t>(dtype);
  return ok_status();
}

Status feature_extractor_to_gather(NodeDraft& draft, GraphBuilder& builder) {
  if (!draft.has_input(0) || !draft.has_input(1)) {
    return invalid_model(str("node '", draft.name, "' (ArrayFeatureExtractor) lacks an input"));
  }
  // Indices may come as [1, n], and one row of features as [n]; the result has two axes at least.
  RK_ASSIGN(Value* const indices,
            builder.emit(draft, "Reshape", "/indices",
                         {draft.inputs[1], builder.ints(draft, "/flat", {-1})}));
  if (draft.inputs[0]->shape().rank() == 1) {
    RK_ASSIGN(draft.inputs[0], builder.emit(draft, "Unsqueeze", "/row",
                                            {draft.inputs[0], builder.ints(draft, "/axes", {0})}));
  }
  draft.op = "Gather";
  draft.inputs[1] = indices;
  draft.attrs["axis"] = int64_t{-1};
  return ok_status();
}

}  // namespace rk::frontends

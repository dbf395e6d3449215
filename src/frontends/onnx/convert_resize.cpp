// SPDX-License-Identifier: Apache-2.0
// Upsample (opsets 1, 7, 9) and Resize 10 -> Resize as of opset 11, where the coordinate rule must be said. The old
// operators took the pixel at floor(x / scale): "asymmetric" with "floor".
#include "frontends/onnx/opset_conversions.h"

namespace rk::frontends {
namespace {

std::string label(const NodeDraft& draft) {
  return str("node '", draft.name, "' (", draft.op, ", opset ", draft.opset, ")");
}

Result<Value*> upsample_scales(NodeDraft& draft, GraphBuilder& builder) {
  if (draft.opset >= 9) {
    if (!draft.has_input(1)) return invalid_model(str(label(draft), ": input 1 is missing"));
    return draft.inputs[1];
  }
  RK_ASSIGN(std::optional<std::vector<float>> scales, draft.take<std::vector<float>>("scales"));
  if (draft.opset < 7 && !scales) {
    RK_ASSIGN(const std::optional<float> height, draft.take<float>("height_scale"));
    RK_ASSIGN(const std::optional<float> width, draft.take<float>("width_scale"));
    if (height && width) scales = {1.0f, 1.0f, *height, *width};
  }
  if (!scales) return invalid_model(str(label(draft), ": attribute 'scales' is missing"));
  const auto count = static_cast<int64_t>(scales->size());
  return builder.constant(draft.name + "/scales", Tensor::f32({count}, *scales));
}

}  // namespace

Status say_resize_coordinates(NodeDraft& draft, GraphBuilder&) {
  if (draft.inputs.size() != 2) {
    return invalid_model(
        str(label(draft), ": two inputs expected, ", draft.inputs.size(), " found"));
  }
  draft.inputs.insert(draft.inputs.begin() + 1, nullptr);  // roi came between
  draft.attrs["coordinate_transformation_mode"] = std::string("asymmetric");
  draft.attrs["nearest_mode"] = std::string("floor");
  return ok_status();
}

Status upsample_to_resize(NodeDraft& draft, GraphBuilder& builder) {
  if (!draft.has_input(0)) return invalid_model(str(label(draft), ": input 0 is missing"));
  RK_ASSIGN(Value* const scales, upsample_scales(draft, builder));
  const auto mode = draft.attrs.find("mode");
  // Opset 1 said "bilinear" for what is "linear" since.
  if (mode != draft.attrs.end() && attr_equal(mode->second, Attr(std::string("bilinear")))) {
    mode->second = std::string("linear");
  }
  draft.op = "Resize";
  draft.inputs = {draft.inputs[0], scales};
  return say_resize_coordinates(draft, builder);
}

Status drop_empty_resize_inputs(NodeDraft& draft, GraphBuilder&) {
  // Exporters write empty constants where an input is not meant, as opset 11 still asked for.
  for (size_t i = 1; i < draft.inputs.size(); ++i) {
    const Value* input = draft.inputs[i];
    if (input != nullptr && input->shape().elements() == 0) draft.inputs[i] = nullptr;
  }
  const auto mode = draft.attrs.find("coordinate_transformation_mode");
  const bool crops = mode != draft.attrs.end() &&
                     attr_equal(mode->second, Attr(std::string("tf_crop_and_resize")));
  if (!crops && draft.has_input(1)) draft.inputs[1] = nullptr;
  return ok_status();
}

}  // namespace rk::frontends

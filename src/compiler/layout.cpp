// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout.h"

#include "program/native_layout.h"

namespace rk::compiler {

using program::FeatureUse;
using program::ProgramTensor;
using program::TensorKind;

Status assign_layouts(const target::Target& target, program::Variant& variant) {
  std::vector<const program::Step*> writer(variant.tensors.size());
  for (const program::Step& step : variant.steps) {
    for (const int32_t i : step.outputs) writer[static_cast<size_t>(i)] = &step;
  }
  for (size_t i = 1; i < variant.tensors.size(); ++i) {
    ProgramTensor& tensor = variant.tensors[i];
    if (tensor.is_constant()) continue;
    const program::Step* step = writer[i];
    FeatureUse use = FeatureUse::kOther;
    if (tensor.kind == TensorKind::kInput) use = FeatureUse::kInput;
    if (step != nullptr && std::holds_alternative<program::ConvParams>(step->params)) {
      use = FeatureUse::kConvOutput;
    }
    auto feature = program::native_feature(target, tensor.dtype, tensor.shape, use,
                                           tensor.kind == TensorKind::kOutput);
    if (!feature.ok()) return feature.status().with_context(str("tensor '", tensor.name, "'"));
    tensor.layout = feature->layout;
    tensor.native_shape = std::move(feature->native_shape);
    tensor.size_bytes = feature->size_bytes;
    tensor.plane_align = feature->plane_align;
    tensor.width_align = feature->width_align;
  }
  return ok_status();
}

}  // namespace rk::compiler

// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/precision.h"

#include <cstring>

namespace rk::ops {
namespace {

Status converted(const EvalCall& call, Reference body, bool (*narrow)(DType)) {
  bool any = false;
  for (const Tensor* input : call.inputs) any |= input != nullptr && narrow(input->dtype());
  for (const Tensor& output : call.outputs) any |= narrow(output.dtype());
  if (!any) return body(call);

  std::vector<Tensor> held(call.inputs.size());
  std::vector<const Tensor*> inputs(call.inputs.begin(), call.inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || !narrow(inputs[i]->dtype())) continue;
    held[i] = inputs[i]->cast(DType::kF32);
    inputs[i] = &held[i];
  }
  std::vector<Tensor> outputs(call.outputs.begin(), call.outputs.end());
  for (Tensor& output : outputs) {
    if (narrow(output.dtype())) output = Tensor::make({DType::kF32, output.shape()});
  }
  RK_TRY(body({call.node, inputs, outputs, call.pool}));
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor& target = call.outputs[i];
    if (!narrow(target.dtype())) continue;
    const Tensor rounded = outputs[i].cast(target.dtype());
    std::memcpy(target.mutable_data<uint8_t>(), rounded.data<uint8_t>(), target.size_bytes());
  }
  return ok_status();
}

}  // namespace

Status in_f32(const EvalCall& call, Reference body) {
  return converted(call, body, [](DType d) { return is_float(d) && d != DType::kF32; });
}

Status halves_as_f32(const EvalCall& call, Reference body) {
  return converted(call, body, [](DType d) { return d == DType::kF16 || d == DType::kBF16; });
}

std::vector<float> f32_or_empty(const EvalCall& call, size_t i) {
  return call.has_input(i) ? call.input(i).to_f32() : std::vector<float>();
}

}  // namespace rk::ops

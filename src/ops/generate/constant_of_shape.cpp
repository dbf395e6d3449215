// SPDX-License-Identifier: Apache-2.0
// ConstantOfShape: a tensor filled with one value; its shape is an input that must be constant.
#include <cstring>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status constant_of_shape_infer(InferCall& call) {
  RK_ASSIGN(const std::vector<int64_t> dims, constant_ints(call, 0));
  DType dtype = DType::kF32;
  if (call.node.has_attr("value")) {
    const Tensor& value = call.node.tensor("value");
    if (value.empty() || value.elements() != 1)
      return refuse("attribute 'value' must hold one element");
    dtype = value.dtype();
  }
  return set_output(call, 0, dtype, dims);
}

Status constant_of_shape_reference(const EvalCall& call) {
  Tensor& out = call.output(0);
  const size_t element = byte_size(out.dtype());
  uint8_t* to = out.mutable_data<uint8_t>();
  if (!call.node.has_attr("value")) {
    if (out.size_bytes() != 0) std::memset(to, 0, out.size_bytes());
    return ok_status();
  }
  const uint8_t* value = call.node.tensor("value").data<uint8_t>();
  for (size_t i = 0; i < out.size_bytes(); i += element) std::memcpy(to + i, value, element);
  return ok_status();
}

}  // namespace

OpDef constant_of_shape() {
  return {
      .name = "ConstantOfShape",
      .doc = "y = value everywhere, in the given shape",
      .inputs = {{"shape", integers()}},
      .outputs = {{"y"}},
      .attrs = {{"value", Tensor(), "one element; f32 zero where not given", AttrDef::kOptional}},
      .infer = constant_of_shape_infer,
      .reference = constant_of_shape_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops

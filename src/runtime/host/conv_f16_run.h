// SPDX-License-Identifier: Apache-2.0
// A packed fp16 convolution as a step: for convolutions and for what runs as one.
#pragma once

#include "kernels/conv/conv_f16.h"
#include "runtime/host/select.h"

namespace rk::runtime::host {

// Tensors of the plan.
struct F16Operands {
  int32_t input = program::kNone;
  int32_t output = program::kNone;
  int32_t residual = program::kNone;
  bool interleaved = false;  // the input, see ConvF16Args
};
Result<StepFunction> run_conv_f16(const StepContext& context,
                                  const std::shared_ptr<const kernels::PackedConvF16>& packed,
                                  const kernels::ConvExtents& extents, const F16Operands& operands);

}  // namespace rk::runtime::host

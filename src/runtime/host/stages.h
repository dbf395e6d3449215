// SPDX-License-Identifier: Apache-2.0
// The Program's parameter types as the kernels spell them. A Program holds offset = -zero_point, as the chip does.
#pragma once

#include "kernels/extent.h"
#include "kernels/layout/blocked.h"
#include "kernels/requantize.h"
#include "program/program.h"

namespace rk::runtime::host {

inline kernels::Extent2 extent(const program::Extent2& e) { return {e.h, e.w}; }

inline kernels::InputStage input_stage(const program::InputStage& stage) {
  return {-stage.offset, stage.scale};
}

inline kernels::OutputStage output_stage(const program::OutputStage& stage) {
  return {stage.scale, stage.zero_point};
}

// Of a rank-4 tensor.
inline kernels::ActivationShape activation_shape(const Shape& shape) {
  return {static_cast<int32_t>(shape[0]),
          static_cast<int32_t>(shape[1]),
          {static_cast<int32_t>(shape[2]), static_cast<int32_t>(shape[3])}};
}

}  // namespace rk::runtime::host

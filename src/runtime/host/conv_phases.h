// SPDX-License-Identifier: Apache-2.0
// A transposed convolution with long steps as a plain one. Output pixel o of an axis sees input i through tap k where
// o + pad = i * stride + k, so outputs with the same remainder r of (o + pad) / stride, a phase, read the taps r, r + stride,
// ... of the kernel, each from the pixel before the last one's. All phases together are one plain convolution of stride 1
// with a short kernel and stride.h * stride.w times the channels, whose results are then put in their places.
//
// The kernels run a transposed convolution as a plain one over a picture with stride - 1 zeros between its pixels; that is
// stride.h * stride.w times the products, which long strides do not bear.
#pragma once

#include <optional>
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/conv/conv_f16.h"
#include "runtime/host/plan.h"

namespace rk::runtime::host {

struct ConvPhases {
  kernels::ConvFilter filter;    // of the plain convolution
  kernels::ConvExtents extents;  // likewise
  kernels::ConvFilter given;
  kernels::ConvExtents target;      // of the transposed one
  kernels::Extent2 first = {0, 0};  // (o + pad) / stride of the plain convolution's first output
  int32_t phase_channels = 0;       // channels of one phase, whole blocks where there are many
};

// Nothing where the transposed form is as fast, or where the weights would grow several times.
std::optional<ConvPhases> find_phases(const kernels::ConvFilter& filter,
                                      const kernels::ConvExtents& extents, bool has_residual);

// The constants of the plain convolution, by the constants of the transposed one. The vectors hold what the parameters
// then point to.
struct PhaseConstantsF16 {
  std::vector<uint16_t> half;
  std::vector<float> whole, bias;
};
void to_phases(const ConvPhases& phases, kernels::ConvF16Params& params, PhaseConstantsF16& held);

struct PhaseConstantsI8 {
  std::vector<int8_t> weights;
  std::vector<int16_t> offset, multiplier;
  std::vector<int32_t> bias;
};
// False where a constant of the plain form leaves its type.
bool to_phases(const ConvPhases& phases, kernels::ConvI8Params& params, PhaseConstantsI8& held);

// The step: convolves into scratch, then places.
StepFunction run_phases(const ConvPhases& phases,
                        std::shared_ptr<const kernels::PackedConvF16> packed, int32_t input,
                        int32_t output);
StepFunction run_phases(const ConvPhases& phases,
                        std::shared_ptr<const kernels::PackedConvI8> packed, int32_t input,
                        int32_t output);

}  // namespace rk::runtime::host

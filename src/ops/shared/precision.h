// SPDX-License-Identifier: Apache-2.0
// Lets a reference be written for few dtypes: tensors of the other float dtypes are converted on
// the way in and out. Rounding to the narrow dtype therefore happens once, at the output.
#pragma once

#include "ir/op_def.h"

namespace rk::ops {

using Reference = Status (*)(const EvalCall& call);

// Runs `body` with every f16, bf16 and f64 tensor replaced by an f32 one.
Status in_f32(const EvalCall& call, Reference body);
// Runs `body` with every f16 and bf16 tensor replaced by an f32 one; f64 and integers stay.
Status halves_as_f32(const EvalCall& call, Reference body);

// For optional inputs: the values as f32, or nothing.
std::vector<float> f32_or_empty(const EvalCall& call, size_t i);

}  // namespace rk::ops

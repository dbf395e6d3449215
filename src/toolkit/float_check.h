// SPDX-License-Identifier: Apache-2.0
// What a model computes in float16, which ends at 65504 and at 6e-8. Private to src/toolkit.
#pragma once

#include "toolkit/stages.h"

namespace rk::toolkit {

// Of a quantized model. Warns of tensors that calibration saw beyond what float16 holds, and runs
// the model on the first calibration sample where infinities are possible: NaN that the float model
// does not have is warned of, and refused where it reaches an output (int8 would store it as 0 and
// nobody would know). `dataset` may be gone by now: then there is no such run.
Status check_numbers(const Calibrated& from, const program::Program& program,
                     const Setting& setting);

// Of a float16 build that was given a dataset: the same on its first sample, and nothing but
// warnings.
Status check_float_numbers(const Graph& graph, const std::string& dataset,
                           const program::Program& program, const Setting& setting);

}  // namespace rk::toolkit

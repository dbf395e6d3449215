// SPDX-License-Identifier: Apache-2.0
// What an int8 build leaves in float16, which ends at 65504 and at 6e-8. Private to src/toolkit.
#pragma once

#include "toolkit/stages.h"

namespace rk::toolkit {

// Warns of tensors that calibration saw beyond what float16 holds; true: there are some.
bool warn_of_overflow(const program::Program& program, const quant::Ranges& ranges);

// Runs the model on the first calibration sample where infinities are possible: NaN that the float model does not have
// is warned of, and refused where it reaches an output (int8 would store it as 0 and nobody would know).
Status check_numbers(const Calibrated& from, const program::Program& program,
                     const Setting& setting, bool overflows);

}  // namespace rk::toolkit

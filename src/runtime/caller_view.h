// SPDX-License-Identifier: Apache-2.0
// From what a caller says about its memory (dtype, format, strides) to where each element lies, for one model input
// or output. All refusals of caller formats are in here.
#pragma once

#include "program/program.h"
#include "runtime/session.h"

namespace rk::runtime {

// A view without data, and the bytes it touches.
struct CallerView {
  ElementView view;
  uint64_t needed_bytes = 0;
  bool normalise = false;  // apply mean and std
};

struct InputQuestion {
  CallerFormat format;
  // Bound memory has rows of the chip's stride when it is large enough for them; copied inputs have dense rows.
  bool bound = false;
  uint64_t available_bytes = 0;
  bool strict = false;
};

Result<CallerView> input_view(const program::ProgramTensor& tensor, const InputQuestion& question);
Result<CallerView> output_view(const program::ProgramTensor& tensor, const CallerFormat& format);

// Mean and std of an input, empty when they change nothing or do not apply.
ChannelAffine input_affine(const program::ProgramTensor& tensor, const program::InputInfo& info);

}  // namespace rk::runtime

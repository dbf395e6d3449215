// SPDX-License-Identifier: Apache-2.0
// From what a caller says about its memory (dtype, format, strides) to where each element lies, for one model input
// or output. All refusals of caller formats are in here.
#pragma once

#include "program/program.h"
#include "runtime/session/session.h"

namespace rk::runtime {

// A view without data, and the bytes it touches.
struct CallerView {
  ElementView view;
  uint64_t needed_bytes = 0;
  uint64_t sample_bytes = 0;  // from one sample of a batch to the next
  bool normalize = false;     // apply mean and std
  bool blocked = false;       // NC1HWC2
};

struct InputQuestion {
  CallerFormat format;
  // Bound memory has rows of the chip's stride when it is large enough for them; copied inputs have dense rows.
  bool bound = false;
  uint64_t available_bytes = 0;
  bool strict = false;
  int64_t batch = 1;  // samples of the tensor, one after the other
};

Result<CallerView> input_view(const program::ProgramTensor& tensor, const InputQuestion& question);
Result<CallerView> output_view(const program::ProgramTensor& tensor, const CallerFormat& format,
                               int64_t batch = 1);

// What a strict board takes in rknn_set_io_mem: the safe reading of the guide's tables 5-3 and 5-4 (docs/runtime.md).
bool board_binds_input(DType model, DType caller);
bool board_binds_output(DType model, DType caller);

// Mean and std of an input, empty when they change nothing or do not apply.
ChannelAffine input_affine(const program::ProgramTensor& tensor, const program::InputInfo& info);

}  // namespace rk::runtime

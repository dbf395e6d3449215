// SPDX-License-Identifier: Apache-2.0
// Softmax as the lists of RK3588 compute it: halves, the exponential from a table.
#pragma once

#include "format/vendor/product_lists.h"
#include "program/program.h"

namespace rk::registers {

// The numbers of a Softmax between int8 tensors.
format::SoftmaxStage softmax_stage(const program::ProgramTensor& in,
                                   const program::ProgramTensor& out);

// The Program in the steps and with the numbers of its lists: an int8 Softmax that has lists takes
// its exponentials from their table, and one from float16 to int8 is a Softmax in float16 and a
// conversion. Other steps are the same in both.
program::Program with_numbers_of_lists(const program::Program& program);

}  // namespace rk::registers

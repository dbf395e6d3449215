// SPDX-License-Identifier: Apache-2.0
// The simulated NPU's integer arithmetic a second time, in plain loops over 64-bit integers, from
// the Program's constants alone. Shares no code with kernels/, runtime/ or program/: weights and
// bias blocks are unpacked here, and the rounding is written out here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/tensor.h"
#include "program/program.h"

namespace rk::e2e {

// Stored elements of every tensor in plain order, by tensor index; empty where nothing was seen.
using StoredTensors = std::vector<std::optional<Tensor>>;

// value / 2^shift to the nearest integer, ties to the even one.
int64_t divide_rne(int64_t value, int shift);
int64_t scaled(int64_t value, const ScaleShift& scale);
int8_t finish(int64_t value, const program::OutputStage& stage);

// The bytes that a step with int8 outputs must have written, or nothing when there is no integer
// formula for it (it then ran in float). One output only.
Result<std::optional<std::vector<int8_t>>> recompute(const program::Program& program,
                                                     const program::Step& step,
                                                     const StoredTensors& stored);

// Plain OIHW from the chip's blocks; fails when padding lanes do not cancel or bytes are left over.
Result<std::vector<int8_t>> unpack_blocks(const program::ProgramTensor& weight,
                                          std::span<const uint8_t> bytes,
                                          std::span<const int64_t> channel_offset, bool depthwise);

Result<std::vector<int8_t>> recompute_conv(const program::Program& program,
                                           const program::Step& step,
                                           const program::ConvParams& params,
                                           const StoredTensors& stored);

}  // namespace rk::e2e

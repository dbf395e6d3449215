// SPDX-License-Identifier: Apache-2.0
// A whole float16 file of RK3588 executed from its registers: every node's tasks work on what the
// tasks before them left in memory. No result of a lifted step takes part, so agreement with a run
// of the lifted steps shows that the file itself says so.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/npy.h"
#include "base/status.h"

namespace rk::vendor {

struct RegisterRun {
  std::vector<std::vector<double>> outputs;  // row-major, in the model's order
  size_t tasks = 0;                          // executed
};

// Pictures (uint8, NHWC) are normalized as the file says and rounded to float16, the type of its
// input tensor; other inputs are float numbers in the model's order. Refused where a node has no
// tasks or one that the emulator does not model.
Result<RegisterRun> run_registers(ByteSpan file, const std::vector<NpyArray>& inputs);

}  // namespace rk::vendor

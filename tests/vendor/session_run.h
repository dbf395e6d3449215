// SPDX-License-Identifier: Apache-2.0
// Runs a vendor file as the library does and keeps every tensor on the way, for comparison with the emulator.
#pragma once

#include <map>
#include <vector>

#include "base/status.h"
#include "format/vendor_model.h"
#include "ir/tensor.h"

namespace rk::vendor {

struct RunResult {
  std::map<int32_t, Tensor> tensors;  // stored elements, plain order, by index in the file
};

// Inputs are given as the model stores them, in plain NCHW order.
Result<RunResult> run_with_tensors(ByteSpan file, const std::vector<std::vector<uint8_t>>& inputs);
// The same; what was computed before a failure is kept too.
Status run_with_tensors(ByteSpan file, const std::vector<std::vector<uint8_t>>& inputs,
                        RunResult& result);

// The picture of pp_human_seg as the model's input wants it: 192x192, NHWC bytes.
Result<std::vector<uint8_t>> portrait_pixels();
// The same after (x - 127.5) / 127.5 and quantization, NCHW.
std::vector<uint8_t> quantized_portrait(const std::vector<uint8_t>& pixels, float scale,
                                        int32_t zero_point);

}  // namespace rk::vendor

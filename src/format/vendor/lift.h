// SPDX-License-Identifier: Apache-2.0
// Vendor file -> Program: the same steps our compiler makes, from the file's graph, its chip-native weights and bias
// blocks, and the requantization constants in its register lists. Weights stay views into the file.
//
// Note: the scales of weights are stored nowhere. Without register lists (container versions 1 and 2,
// files of ours) an int8 convolution cannot be lifted, however complete its weights are.
#pragma once

#include <memory>

#include "format/vendor_model.h"
#include "program/program.h"

namespace rk::format {

struct LiftOptions {
  // For queries only: nodes that cannot be decoded become steps no runtime has, instead of an error.
  bool describe_only = false;
};

// The verified Program. `owner` keeps the bytes behind model's buffers alive (null: the caller does). kUnsupported
// lists every node that cannot be decoded, with its reason. Operators named by the file as custom become steps of
// their own name: the model loads, and running it needs their implementation.
Result<program::Program> lift_model(const FileModel& model,
                                    const std::shared_ptr<const void>& owner,
                                    const LiftOptions& options = {});

}  // namespace rk::format

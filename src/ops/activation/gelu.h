// SPDX-License-Identifier: Apache-2.0
// Gelu and exGelu are one function under two names: ONNX's, and the vendor's for a fused one.
#pragma once

#include "ir/op_def.h"

namespace rk::ops {

// The whole schema, under a name.
OpDef gelu_def(std::string_view name);

}  // namespace rk::ops

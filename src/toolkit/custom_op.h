// SPDX-License-Identifier: Apache-2.0
// Operators behind the callbacks of rknn_toolkit_c.h, in practice methods of a Python class.
#pragma once

#include "ops/shared/custom.h"
#include "toolkit/rknn_toolkit_c.h"

namespace rk::toolkit {

// The functions are called as long as a graph or a simulator uses them. kInvalidArgument when the type is missing.
Result<ops::CustomOp> custom_op(const rknn_toolkit_custom_op& described);

// The text that the running callback of this thread gave with rknn_toolkit_answer.
void set_answer(const char* text);

}  // namespace rk::toolkit

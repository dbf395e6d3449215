// SPDX-License-Identifier: Apache-2.0
// The operators this build knows. The folder is the registry: CMake lists ops/*.cpp, so a new
// operator is a new file.
#pragma once

#include "ir/op_def.h"

namespace rk::ops {

// Made on first use, lives as long as the process.
const OpRegistry& registry();

}  // namespace rk::ops

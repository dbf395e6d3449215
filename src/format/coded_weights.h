// SPDX-License-Identifier: Apache-2.0
// Constants that a file for a board stores in coded form, for the board and for our section alike
// (compress_weight).
#pragma once

#include "base/status.h"
#include "program/program.h"

namespace rk::format {

// Puts decoded constants in the place of those that `program` says are coded.
Status decode_constants(program::Program& program);

}  // namespace rk::format

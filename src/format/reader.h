// SPDX-License-Identifier: Apache-2.0
// .rknn file -> Program. Weights stay views into the file's bytes, which the Program keeps alive
// through `owner`.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/status.h"
#include "program/program.h"

namespace rk::format {

// The verified Program of a file. `owner` keeps `file` alive (null: the caller does). Errors:
// kInvalidModel for damage, kUnsupported for files without our section.
Result<program::Program> read_rknn(ByteSpan file, std::shared_ptr<const void> owner);
// The same, taking the bytes.
Result<program::Program> read_rknn(std::vector<uint8_t> file);

}  // namespace rk::format

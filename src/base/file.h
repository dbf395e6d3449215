// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. The size a file system reports is a hint only (pipes and /proc say 0):
// reading goes on to the end, and stops at the caller's limit before memory does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "base/status.h"

namespace rk {

// kIo with the path and the system's reason; kOutOfMemory when the file is longer than the limit.
Result<std::vector<uint8_t>> read_file(const std::string& path,
                                       uint64_t limit_bytes = kMaxObjectBytes);

// Replaces the file. A failure may leave a part of it behind.
Status write_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace rk

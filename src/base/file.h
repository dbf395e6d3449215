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

// kIo with the path and the system's reason, also where a pipe has nothing to say for ten seconds; kOutOfMemory when the
// file is longer than the limit.
Result<std::vector<uint8_t>> read_file(const std::string& path,
                                       uint64_t limit_bytes = kMaxObjectBytes);

enum class Durability {
  kProcess,  // survives the end of the process at any moment
  kPower,    // and of the machine: costs a wait for the disk
};

// Replaces the file, or leaves it as it was: bytes go to a file of another name (.openrknn-*.tmp) in the same folder,
// which then takes the name. A symbolic link is replaced, not followed. What is no regular file (a pipe, /dev/stdout) is
// written in place.
Status write_file(const std::string& path, std::span<const uint8_t> bytes,
                  Durability durability = Durability::kProcess);

// Both paths lead to one existing file, under whatever names.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace rk

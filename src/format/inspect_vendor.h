// SPDX-License-Identifier: Apache-2.0
// The parts of a file report that are about the chip: schedules and tasks, register lists decoded by name, what the
// file's bytes are spent on, and the difference between two files. Nothing is executed; every function takes any .rknn.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/json.h"
#include "base/status.h"

namespace rk::format {

// Nodes with their parameters and tasks, schedules per core count, tasks per core.
Result<Json> tasks_json(ByteSpan file);
Result<std::string> tasks_text(ByteSpan file);

// Every register list, word by word: unit, register, value, fields that are not zero, the tensor an address belongs to.
// Names are RK3588's; on other chips a register may have moved.
Result<Json> registers_json(ByteSpan file);
Result<std::string> registers_text(ByteSpan file);

// Bytes of the file: weights, helper constants, register commands, tasks, graph tables, trailer, our section.
Result<Json> sizes_json(ByteSpan file);
Result<std::string> sizes_text(ByteSpan file);

// What differs between two files: every value of inspect_json() by its path, and constants of the same name by content.
Result<Json> diff_json(ByteSpan a, ByteSpan b);
Result<std::string> diff_text(ByteSpan a, ByteSpan b);

}  // namespace rk::format

// SPDX-License-Identifier: Apache-2.0
// Writes container version 0x1004, which RV1103 and RV1106 read (container.h, small_tables.h).
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "format/vendor_model.h"
#include "program/program.h"

namespace rk::format {

// The body: tasks, register words linked to the places of their operands, constants, flatbuffer.
// `model` has the form of version 6 with one graph.
Result<std::vector<uint8_t>> write_small_model(const FileModel& model);

// The payload of our section: in these files a Program brings its weights itself, because the
// flatbuffer has no buffers that tensors could name by index.
std::vector<uint8_t> encode_with_weights(const program::Program& program);
Result<program::Program> decode_with_weights(uint32_t version, ByteSpan payload,
                                             const std::shared_ptr<const void>& owner);

}  // namespace rk::format

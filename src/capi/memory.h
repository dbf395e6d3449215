// SPDX-License-Identifier: Apache-2.0
// The table of memory objects, as far as other calls need it.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "capi/api.h"
#include "runtime/device/memory.h"

namespace rk::capi {

// A memory and the part of it that a tensor may use.
struct Place {
  std::shared_ptr<runtime::DeviceMemory> memory;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
};
// kInvalidArgument for what no rknn_create_mem call made, or what is destroyed.
Result<Place> find_memory(const rknn_tensor_mem* mem);

// The memory object that holds all these bytes; null when there is none.
std::shared_ptr<runtime::DeviceMemory> memory_around(ByteSpan bytes);

// How many memory objects made with this context exist.
size_t memories_of(rknn_context context);

}  // namespace rk::capi

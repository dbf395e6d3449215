// SPDX-License-Identifier: Apache-2.0
// The table of memory objects, as far as other calls need it.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "capi/api.h"
#include "runtime/device/memory.h"

namespace rk::capi {

// The memory object that holds all these bytes; null when there is none.
std::shared_ptr<runtime::DeviceMemory> memory_around(ByteSpan bytes);

// How many memory objects made with this context exist.
size_t memories_of(rknn_context context);

}  // namespace rk::capi

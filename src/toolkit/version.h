// SPDX-License-Identifier: Apache-2.0
// The version written into files. The number is that of the SDK generation whose API and file format we follow; the
// suffix says that we made it.
#pragma once

#include "base/version.h"

namespace rk::toolkit {

inline constexpr const char* kVersionText = RK_API_VERSION "-openrknn";

}  // namespace rk::toolkit

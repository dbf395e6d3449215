// SPDX-License-Identifier: Apache-2.0
// The version written into files. The number is that of the SDK generation whose API and file format we follow; the
// suffix says that we made it.
#pragma once

namespace rk::toolkit {

inline constexpr const char* kVersionText = "2.3.2-openrknn";

}  // namespace rk::toolkit

// SPDX-License-Identifier: Apache-2.0
// What this library says it is. Programs scrape "librknnrt version: X.Y.Z (hash@date)" from the binary (with the
// library's name in front: library_name.h), from RKNN_QUERY_SDK_VERSION and from the log, so all three come from here.
#pragma once

#include "base/version.h"

namespace rk::runtime {

// The interface version we are compatible with, then our own release in the place of the vendor's commit.
#define RK_RUNTIME_VERSION RK_API_VERSION " (openrknn@" RK_RELEASE_DATE ")"
inline constexpr char kRuntimeVersion[] = RK_RUNTIME_VERSION;
// There is no kernel driver; this is the first one that has every call of 2.3.2.
inline constexpr char kDriverVersion[] = "0.9.8";

}  // namespace rk::runtime

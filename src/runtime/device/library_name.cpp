// SPDX-License-Identifier: Apache-2.0
// librknnrt. The other library has src/capi/micro/library_name_micro.cc in this place.
#include "runtime/device/library_name.h"

#include "runtime/version.h"

namespace rk::runtime {

const Library& this_library() {
  static constexpr Library kLibrary = {"librknnrt version: " RK_RUNTIME_VERSION, false};
  return kLibrary;
}

}  // namespace rk::runtime

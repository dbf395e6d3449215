// SPDX-License-Identifier: Apache-2.0
// librknnmrt, the library of the small chips. Takes the place of src/runtime/device/library_name.cpp; its suffix keeps it out
// of the module's own sources.
#include "runtime/device/library_name.h"
#include "runtime/version.h"

namespace rk::runtime {

const Library& this_library() {
  static constexpr Library kLibrary = {"librknnmrt version: " RK_RUNTIME_VERSION, true};
  return kLibrary;
}

}  // namespace rk::runtime

// SPDX-License-Identifier: Apache-2.0
// Which of the two libraries this code is linked into: librknnrt, or librknnmrt for the small chips. They differ in
// one object file, which defines this_library().
#pragma once

namespace rk::runtime {

struct Library {
  const char* version_text;  // "librknnrt version: X.Y.Z (hash@date)", for strings(1)
  bool micro;                // the rules of the small chips hold whatever the model's chip
};

const Library& this_library();

}  // namespace rk::runtime

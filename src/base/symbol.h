// SPDX-License-Identifier: Apache-2.0
// Functions of a shared library that was opened with dlopen.
#pragma once

#include <dlfcn.h>

namespace rk {

// False: the library has no such name.
template <typename Function>
bool find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace rk

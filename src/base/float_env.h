// SPDX-License-Identifier: Apache-2.0
// Floating-point arithmetic as the language defines it, whatever the host program has set: rounding to nearest, no
// flushing of subnormals, no traps. A program that called fesetround gets the same bytes.
#pragma once

#include <cfenv>

namespace rk {

// For the lifetime of the object, on its thread; then the program's own settings return, its exception flags included.
class DefaultFloatEnv {
 public:
  DefaultFloatEnv() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnv() { std::fesetenv(&saved_); }
  DefaultFloatEnv(const DefaultFloatEnv&) = delete;
  DefaultFloatEnv& operator=(const DefaultFloatEnv&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace rk

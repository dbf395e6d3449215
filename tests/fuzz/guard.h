// SPDX-License-Identifier: Apache-2.0
// What turns a hang, a crash or a huge allocation into a test failure that names the damaged file.
#pragma once

#include <cstddef>
#include <string>

namespace rk::fuzz {

// Cases per reader: 500, or 20,000 with LONG=1.
size_t case_count();

// True in sanitized builds, where running a model is twenty times slower.
bool sanitized();

// While one lives, every case has kCpuSecondsPerCase of processor time (a loop) and
// kSecondsPerCase on the clock (a deadlock; generous, since the machine may be busy), and in builds
// without sanitizers the process has 1 GiB beyond what it had. Signals and sanitizer reports end
// with the current case's text.
class Guard {
 public:
#ifdef __OPTIMIZE__
  static constexpr int kCpuSecondsPerCase = 20;
#else
  static constexpr int kCpuSecondsPerCase = 200;  // the coverage build
#endif
  static constexpr unsigned kSecondsPerCase = 300;
  Guard();
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // `text` says how to make the file again: seed, number, base, mutations.
  void begin_case(const std::string& text);

 private:
  size_t old_limit_ = 0;
};

}  // namespace rk::fuzz

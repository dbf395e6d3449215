// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/guard.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Provided by the sanitizers' runtime, where there is one.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace rk::fuzz {
namespace {

constexpr size_t kAllowedBytes = size_t{1} << 30;

// Written before a case and read in a signal handler.
std::array<char, 512> current_case;

void print_case() {
  constexpr char kBefore[] = "\nfuzz: the file was ";
  (void)!write(STDERR_FILENO, kBefore, sizeof kBefore - 1);
  (void)!write(STDERR_FILENO, current_case.data(), std::strlen(current_case.data()));
  (void)!write(STDERR_FILENO, "\n", 1);
}

void on_signal(int signal) {
  print_case();
  constexpr char kHang[] = "fuzz: it took longer than a case may\n";
  if (signal == SIGALRM || signal == SIGPROF) (void)!write(STDERR_FILENO, kHang, sizeof kHang - 1);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

size_t address_space_bytes() {
  size_t pages = 0;
  if (FILE* const file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void limit_address_space(size_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  setrlimit(RLIMIT_AS, &limit);
}

// From now on; 0 ends the limit.
void limit_cpu_seconds(int seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

size_t case_count() { return std::getenv("LONG") != nullptr ? 20000 : 500; }

bool sanitized() { return std::getenv("RK_FUZZ_SANITIZED") != nullptr; }

Guard::Guard() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  old_limit_ = limit.rlim_cur;
  if (!sanitized()) limit_address_space(address_space_bytes() + kAllowedBytes);
  signal(SIGALRM, on_signal);
  signal(SIGPROF, on_signal);
  signal(SIGABRT, on_signal);
  if (!sanitized()) {  // a sanitizer reports these better
    signal(SIGSEGV, on_signal);
    signal(SIGFPE, on_signal);
    signal(SIGILL, on_signal);
  }
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(print_case);
}

Guard::~Guard() {
  alarm(0);
  limit_cpu_seconds(0);
  limit_address_space(old_limit_);
  for (const int number : {SIGALRM, SIGPROF, SIGABRT}) signal(number, SIG_DFL);
  if (sanitized()) return;
  for (const int number : {SIGSEGV, SIGFPE, SIGILL}) signal(number, SIG_DFL);
}

void Guard::begin_case(const std::string& text) {
  const size_t size = std::min(text.size(), current_case.size() - 1);
  std::memcpy(current_case.data(), text.data(), size);
  current_case[size] = '\0';
  alarm(kSecondsPerCase);
  limit_cpu_seconds(kCpuSecondsPerCase);
}

}  // namespace rk::fuzz

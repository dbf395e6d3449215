// SPDX-License-Identifier: Apache-2.0
// What this process does with the simulated chip, for `rknn device` in another process: busy time per core, SRAM in
// use, contexts. It lies in a memfd that others find under /proc/<pid>/fd, so nothing is left behind when we end.
//
// Note: readers see a page of any age and any version, possibly of a hostile process. They copy it,
// check it, and believe no length in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "target/target.h"

namespace rk::runtime {

inline constexpr char kStatusPageName[] = "openrknn-status";
inline constexpr char kStatusMagic[8] = {'R', 'K', 'N', 'N', 'S', 'T', '0', '1'};
inline constexpr size_t kStatusCores = 8;

struct StatusPage {
  char magic[8];
  char chip[24];  // of the first context, zero-terminated
  std::atomic<uint64_t> busy_us[kStatusCores];
  std::atomic<uint64_t> sram_bytes;
  std::atomic<uint64_t> contexts;  // made so far
  std::atomic<uint64_t> frames;
};

// This process's page; private memory where the system gives no memfd. Never goes away.
StatusPage& status_page();

void note_context(const target::Target& chip);
void note_frame(int first_core, int cores, int64_t duration_us);

}  // namespace rk::runtime

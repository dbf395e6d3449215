// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/status_page.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace rk::runtime {
namespace {

void* shared_memory(size_t size_bytes) {
  const int fd = memfd_create(kStatusPageName, MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  if (ftruncate(fd, static_cast<off_t>(size_bytes)) != 0) {
    close(fd);
    return nullptr;
  }
  void* const data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  // The descriptor stays open: it is how others find the page.
  return data == MAP_FAILED ? nullptr : data;
}

StatusPage* make_page() {
  void* data = shared_memory(sizeof(StatusPage));
  if (data == nullptr) data = ::operator new(sizeof(StatusPage));
  auto* const page = new (data) StatusPage{};
  std::memcpy(page->magic, kStatusMagic, sizeof kStatusMagic);
  return page;
}

}  // namespace

StatusPage& status_page() {
  static auto* const page = make_page();
  return *page;
}

void note_context(const target::Target& chip) {
  StatusPage& page = status_page();
  if (page.contexts.fetch_add(1, std::memory_order_relaxed) != 0) return;
  const size_t length = std::min(chip.name.size(), sizeof page.chip - 1);
  std::memcpy(page.chip, chip.name.data(), length);
}

void note_frame(int first_core, int cores, int64_t duration_us) {
  StatusPage& page = status_page();
  page.frames.fetch_add(1, std::memory_order_relaxed);
  for (int core = first_core; core < first_core + cores; ++core) {
    const auto at = static_cast<size_t>(std::clamp<int>(core, 0, int{kStatusCores} - 1));
    page.busy_us[at].fetch_add(static_cast<uint64_t>(duration_us) / static_cast<uint64_t>(cores),
                               std::memory_order_relaxed);
  }
}

}  // namespace rk::runtime

// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/sram.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "base/checked_math.h"
#include "base/log.h"
#include "runtime/device/status_page.h"

namespace rk::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096;

struct Account {
  std::mutex mutex;
  std::map<const target::Target*, uint64_t> taken;
};

// Leaked on purpose, like the table of contexts.
Account& account() {
  static auto* const account = new Account;
  return *account;
}

// "524288", "512K", "4M"; anything else is named once and ignored.
std::optional<uint64_t> size_setting(const char* name) {
  const char* const text = secure_getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 10);
  const int shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : 0;
  const bool ended = end != text && end[shift == 0 ? 0 : 1] == '\0';
  constexpr uint64_t kMost = uint64_t{1} << 40;
  if (!ended || errno != 0 || *text == '-' || value > (kMost >> shift)) {
    log(LogLevel::kWarning,
        str(name, "='", text,
            "' is not a size; give bytes, or a number with K or M. It is ignored"));
    return std::nullopt;
  }
  return static_cast<uint64_t>(value) << shift;
}

}  // namespace

uint64_t sram_capacity(const target::Target& chip) {
  // Read once: shares that are held must not outgrow it.
  static const std::optional<uint64_t> setting = size_setting("RKNN_SRAM_SIZE");
  if (setting) return *setting;
  return static_cast<uint64_t>(std::max<int64_t>(0, chip.sram_bytes));
}

std::optional<uint64_t> memory_limit() { return size_setting("RKNN_MEM_LIMIT"); }

SramShare SramShare::take(const target::Target& chip, uint64_t wanted_bytes) {
  const std::lock_guard lock(account().mutex);
  uint64_t& taken = account().taken[&chip];
  const uint64_t left = sram_capacity(chip) - taken;
  SramShare share;
  share.chip_ = &chip;
  share.bytes_ = std::min(align_up(std::min(wanted_bytes, left), kPageBytes), left);
  taken += share.bytes_;
  status_page().sram_bytes.store(taken, std::memory_order_relaxed);
  return share;
}

SramShare::~SramShare() {
  if (bytes_ == 0) return;
  const std::lock_guard lock(account().mutex);
  uint64_t& taken = account().taken[chip_];
  taken -= bytes_;
  status_page().sram_bytes.store(taken, std::memory_order_relaxed);
}

SramShare::SramShare(SramShare&& other) noexcept
    : chip_(other.chip_), bytes_(std::exchange(other.bytes_, 0)) {}

SramShare& SramShare::operator=(SramShare&& other) noexcept {
  std::swap(chip_, other.chip_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

uint64_t free_sram_bytes(const target::Target& chip) {
  const std::lock_guard lock(account().mutex);
  return sram_capacity(chip) - account().taken[&chip];
}

}  // namespace rk::runtime

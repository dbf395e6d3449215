// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/sram.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/checked_math.h"
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

uint64_t capacity(const target::Target& chip) {
  return static_cast<uint64_t>(std::max<int64_t>(0, chip.sram_bytes));
}

}  // namespace

SramShare SramShare::take(const target::Target& chip, uint64_t wanted_bytes) {
  const std::lock_guard lock(account().mutex);
  uint64_t& taken = account().taken[&chip];
  const uint64_t left = capacity(chip) - taken;
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
  return capacity(chip) - account().taken[&chip];
}

}  // namespace rk::runtime

// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/iommu.h"

#include <array>
#include <mutex>
#include <utility>

#include "base/checked_math.h"

namespace rk::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096;

struct Account {
  std::mutex mutex;
  std::array<uint64_t, 16> taken = {};
};

// Leaked on purpose, like the table of contexts.
Account& account() {
  static auto* const account = new Account;
  return *account;
}

}  // namespace

Result<IommuShare> IommuShare::take(int domain, uint64_t size_bytes) {
  const std::lock_guard lock(account().mutex);
  uint64_t& taken = account().taken.at(static_cast<size_t>(domain));
  const uint64_t left = kIommuDomainBytes - taken;
  if (size_bytes > left) {
    return out_of_memory(str("IOMMU domain ", domain, " has ", left, " of ", kIommuDomainBytes,
                             " bytes left, ", size_bytes,
                             " are wanted: make further contexts with another iommu_domain_id"));
  }
  IommuShare share;
  share.domain_ = domain;
  share.bytes_ = align_up(size_bytes, kPageBytes);
  if (share.bytes_ > left) share.bytes_ = left;
  taken += share.bytes_;
  return share;
}

IommuShare::~IommuShare() {
  if (bytes_ == 0) return;
  const std::lock_guard lock(account().mutex);
  account().taken[static_cast<size_t>(domain_)] -= bytes_;
}

IommuShare::IommuShare(IommuShare&& other) noexcept
    : domain_(other.domain_), bytes_(std::exchange(other.bytes_, 0)) {}

IommuShare& IommuShare::operator=(IommuShare&& other) noexcept {
  std::swap(domain_, other.domain_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace rk::runtime

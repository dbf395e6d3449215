// SPDX-License-Identifier: Apache-2.0
// Accounting of the address spaces that matmul contexts live in: 4 GiB each on the board, so a program that asks for more
// learns it here too.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace rk::runtime {

inline constexpr uint64_t kIommuDomainBytes = uint64_t{4} << 30;

// Held as long as the memory exists. Movable; an empty share holds nothing.
class IommuShare {
 public:
  IommuShare() = default;
  // kOutOfMemory, with what is taken, when the domain has not that much left. `domain` is in 0..15.
  static Result<IommuShare> take(int domain, uint64_t size_bytes);

  ~IommuShare();
  IommuShare(IommuShare&& other) noexcept;
  IommuShare& operator=(IommuShare&& other) noexcept;

 private:
  int domain_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace rk::runtime

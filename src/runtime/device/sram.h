// SPDX-License-Identifier: Apache-2.0
// Accounting of a chip's SRAM: which part of it a context with RKNN_FLAG_ENABLE_SRAM would hold. Nothing is placed
// there; the figures let a program see how contexts would share it on the board.
#pragma once

#include <cstdint>
#include <optional>

#include "target/target.h"

namespace rk::runtime {

// Held for the life of a context. Movable; an empty share holds nothing.
class SramShare {
 public:
  SramShare() = default;
  // As much of `wanted_bytes` as is free, in pages of 4 KiB.
  static SramShare take(const target::Target& chip, uint64_t wanted_bytes);

  ~SramShare();
  SramShare(SramShare&& other) noexcept;
  SramShare& operator=(SramShare&& other) noexcept;

  uint64_t bytes() const { return bytes_; }

 private:
  const target::Target* chip_ = nullptr;
  uint64_t bytes_ = 0;
};

// The chip's own, or what RKNN_SRAM_SIZE says: bytes, or with K or M behind the number.
uint64_t sram_capacity(const target::Target& chip);

// Memory for models that RKNN_MEM_LIMIT leaves the simulated board, in the same form; empty: no limit.
std::optional<uint64_t> memory_limit();

// What no context of this process holds.
uint64_t free_sram_bytes(const target::Target& chip);

}  // namespace rk::runtime

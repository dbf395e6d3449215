// SPDX-License-Identifier: Apache-2.0
// A fixed-size block of zeroed bytes, aligned to 64, owned and movable. Copies are explicit.
// Allocation of a size that came from a file goes through try_make, which refuses instead of
// throwing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"

namespace rk {

class Buffer {
 public:
  Buffer() = default;

  // kOutOfMemory when the size exceeds `limit_bytes` or the system has no such block.
  static Result<Buffer> try_make(uint64_t size_bytes, uint64_t limit_bytes);
  // For sizes already validated; aborts when memory is exhausted.
  static Buffer make(size_t size_bytes);

  uint8_t* data() { return bytes_.get(); }
  const uint8_t* data() const { return bytes_.get(); }
  size_t size() const { return size_bytes_; }
  std::span<uint8_t> span() { return {data(), size_bytes_}; }
  std::span<const uint8_t> span() const { return {data(), size_bytes_}; }
  Buffer clone() const;

 private:
  struct Free {
    void operator()(uint8_t* p) const;
  };
  std::unique_ptr<uint8_t[], Free> bytes_;
  size_t size_bytes_ = 0;
};

}  // namespace rk

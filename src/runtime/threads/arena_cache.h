// SPDX-License-Identifier: Apache-2.0
// Arenas of ended sessions, kept for the next one on the same model: programs duplicate a context for every inference,
// and fresh memory costs more than copying a handle may.
//
// Note: an arena from here holds what its last session left. Whoever promises zeros writes them.
#pragma once

#include <mutex>
#include <vector>

#include "base/buffer.h"
#include "base/checked_math.h"

namespace rk::runtime {

// Safe to call from any thread.
class ArenaCache {
 public:
  ArenaCache() { idle_.reserve(kMaxIdle); }
  // At least that large.
  Result<Buffer> take(uint64_t size_bytes) {
    {
      const std::lock_guard lock(mutex_);
      for (size_t i = idle_.size(); i-- > 0;) {
        if (idle_[i].size() < size_bytes) continue;
        Buffer arena = std::move(idle_[i]);
        idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
        return arena;
      }
    }
    return Buffer::try_make(size_bytes, kMaxObjectBytes);
  }
  // Called by destructors: what finds no room goes.
  void give(Buffer arena) noexcept {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < idle_.capacity()) idle_.push_back(std::move(arena));
  }

 private:
  static constexpr size_t kMaxIdle = 4;
  std::mutex mutex_;
  std::vector<Buffer> idle_;
};

}  // namespace rk::runtime

// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/pool_cache.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace rk::runtime {
namespace {

constexpr size_t kMaxIdlePools = 16;

struct Cache {
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadPool>> idle;
  int lent_threads = 0;
};

// Leaked on purpose: joining threads while the process or the library goes away can deadlock.
Cache& cache() {
  static auto* const cache = new Cache;
  return *cache;
}

}  // namespace

BorrowedPool::BorrowedPool(int threads) {
  int wanted = threads > 0 ? threads : default_thread_count();
  {
    const std::lock_guard lock(cache().mutex);
    if (threads <= 0) wanted = std::max(1, wanted - cache().lent_threads);
    cache().lent_threads += wanted;
    auto& idle = cache().idle;
    for (size_t i = idle.size(); i-- > 0;) {
      if (idle[i]->threads() != wanted) continue;
      pool_ = std::move(idle[i]);
      idle.erase(idle.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
  pool_ = std::make_unique<ThreadPool>(wanted);
}

BorrowedPool::~BorrowedPool() {
  const std::lock_guard lock(cache().mutex);
  cache().lent_threads -= pool_->threads();
  if (cache().idle.size() < kMaxIdlePools) cache().idle.push_back(std::move(pool_));
}

}  // namespace rk::runtime

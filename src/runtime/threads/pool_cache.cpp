// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/pool_cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace rk::runtime {
namespace {

constexpr size_t kMaxIdlePools = 16;

struct Cache {
  Cache() { idle.reserve(kMaxIdlePools); }
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadPool>> idle;
  int lent_threads = 0;
  pid_t process = getpid();
};

// Leaked on purpose: joining threads while the process or the library goes away can deadlock. A forked child has none of
// its parent's threads, and perhaps its lock: it starts anew.
Cache& cache() {
  static std::atomic<Cache*> current = new Cache;
  Cache* found = current.load();
  while (found->process != getpid()) {
    auto own = std::make_unique<Cache>();
    if (current.compare_exchange_strong(found, own.get())) return *own.release();
  }
  return *found;
}

}  // namespace

BorrowedPool::BorrowedPool(int threads) {
  Cache& from = cache();
  int wanted = threads > 0 ? threads : default_thread_count();
  {
    const std::lock_guard lock(from.mutex);
    if (threads <= 0) wanted = std::max(1, wanted - from.lent_threads);
    for (size_t i = from.idle.size(); i-- > 0 && pool_ == nullptr;) {
      if (from.idle[i]->threads() != wanted) continue;
      pool_ = std::move(from.idle[i]);
      from.idle.erase(from.idle.begin() + static_cast<std::ptrdiff_t>(i));
    }
    lent_ = wanted;
    from.lent_threads += lent_;
  }
  if (pool_ != nullptr) return;
  try {
    pool_ = std::make_unique<ThreadPool>(wanted);
  } catch (const std::exception&) {
    const std::lock_guard lock(from.mutex);
    from.lent_threads -= lent_;
    throw;
  }
}

BorrowedPool::~BorrowedPool() {
  Cache& to = cache();
  const std::lock_guard lock(to.mutex);
  to.lent_threads -= lent_;
  if (to.idle.size() < to.idle.capacity()) to.idle.push_back(std::move(pool_));
}

}  // namespace rk::runtime

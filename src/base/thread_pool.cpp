// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

namespace rk {

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { worker(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

void ThreadPool::take_chunks(const std::function<void(IndexRange)>& work) {
  for (;;) {
    IndexRange range;
    {
      const std::lock_guard lock(mutex_);
      if (next_ >= count_) return;
      range.begin = next_;
      range.end = next_ = std::min(count_, next_ + chunk_);
    }
    work(range);
  }
}

void ThreadPool::worker() {
  uint64_t seen = 0;
  for (;;) {
    const std::function<void(IndexRange)>* work = nullptr;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
      if (work_ == nullptr) continue;  // woke after the work was already done
      work = work_;
      ++busy_;
    }
    take_chunks(*work);
    {
      const std::lock_guard lock(mutex_);
      --busy_;
    }
    done_.notify_one();
  }
}

void ThreadPool::parallel_for(int64_t count, int64_t grain,
                              const std::function<void(IndexRange)>& work) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (workers_.empty() || count <= grain) {
    work({0, count});
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    next_ = 0;
    count_ = count;
    // Four chunks a thread even out unequal rows without many hand-overs.
    chunk_ = std::max(grain, count / (4 * threads()));
    ++generation_;
  }
  wake_.notify_all();
  take_chunks(work);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
  work_ = nullptr;
}

int default_thread_count() {
  if (const char* text = std::getenv("RKNN_NUM_THREADS"); text != nullptr && *text != '\0') {
    return std::clamp(std::atoi(text), 1, 256);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::clamp(CPU_COUNT(&set), 1, 16);
}

}  // namespace rk

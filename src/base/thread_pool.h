// SPDX-License-Identifier: Apache-2.0
// A small pool for splitting one step's work. Results must not depend on the number of threads:
// callers split over independent outputs only. One pool serves one caller at a time; it is made by
// a session and runs under its lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rk {

struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;
};

class ThreadPool {
 public:
  // `threads` counts the calling thread; 1 starts none.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls work on disjoint ranges that cover 0..count, and returns when all are done. `grain` is
  // the smallest range worth a hand-over. The work must not throw.
  void parallel_for(int64_t count, int64_t grain, const std::function<void(IndexRange)>& work);

 private:
  void worker();
  void take_chunks(const std::function<void(IndexRange)>& work);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> workers_;
  const std::function<void(IndexRange)>* work_ = nullptr;  // guarded by mutex_, like all below
  int64_t next_ = 0;
  int64_t count_ = 0;
  int64_t chunk_ = 1;
  uint64_t generation_ = 0;
  int busy_ = 0;
  bool stop_ = false;
};

// RKNN_NUM_THREADS, else the number of CPUs this process may use (at most 16).
int default_thread_count();

}  // namespace rk

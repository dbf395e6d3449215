// SPDX-License-Identifier: Apache-2.0
// A small pool for splitting one step's work. Results must not depend on the number of threads:
// callers split over independent outputs only. One pool serves one caller at a time; it is made by
// a session and runs under its lock. A worker that finds no work looks for some tens of microseconds
// before it sleeps: the steps of a network follow each other faster than the system wakes threads.
// Workers compute in the default floating-point environment.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
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
  // `threads` counts the calling thread; 1 starts none. Where the system gives fewer, the pool has fewer.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls work on disjoint ranges that cover 0..count, and returns when all are done. `grain` is
  // the smallest range worth a hand-over. The first exception that the work throws ends it early and is thrown
  // here, after all threads have left.
  void parallel_for(int64_t count, int64_t grain, const std::function<void(IndexRange)>& work);

 private:
  void worker();
  void take_chunks(const std::function<void(IndexRange)>& work) noexcept;
  bool enter(uint64_t& seen);

  // One word, so that a worker joins a piece of work and learns that it is open in one step: the number of the work
  // times kGeneration, kOpen while chunks may be taken, and the workers inside.
  static constexpr uint64_t kOpen = uint64_t{1} << 16;
  static constexpr uint64_t kGeneration = uint64_t{1} << 17;
  std::atomic<uint64_t> state_ = 0;
  std::atomic<int64_t> next_ = 0;
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> stop_ = false;
  // Written while the work is closed, read inside it.
  const std::function<void(IndexRange)>* work_ = nullptr;
  int64_t count_ = 0;
  int64_t grain_ = 1;

  std::mutex mutex_;  // for sleeping and for failure_
  std::exception_ptr failure_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
};

// RKNN_NUM_THREADS, else the number of CPUs this process may use (at most 16).
int default_thread_count();

}  // namespace rk

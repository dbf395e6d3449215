// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/float_env.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rk {
namespace {

// Some tens of microseconds.
constexpr int kSpins = 2000;
constexpr int64_t kHalf = 0xffffffff;
constexpr int64_t kMostChunks = 1 << 30;

thread_local bool is_worker = false;

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  workers_.reserve(static_cast<size_t>(std::max(threads - 1, 0)));
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { worker(); });
  } catch (const std::exception&) {
    // A limit on threads or memory. Results do not depend on how many there are.
  }
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  { const std::lock_guard lock(mutex_); }
  wake_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

// next_ holds two numbers of chunks: how many are taken from the front and, above bit 32, how many are left of the back.
// The caller takes from the front and workers from the back, so that the same part of every step tends to go to the same
// thread: what it wrote in one step is in its cache for the next.
void ThreadPool::take_chunks(const std::function<void(IndexRange)>& work) noexcept {
  int64_t taken = next_.load(std::memory_order_relaxed);
  for (;;) {
    const int64_t front = taken & kHalf, back = taken >> 32;
    if (front >= back) return;
    // Large pieces first, small ones to even out the end.
    const int64_t size = std::max<int64_t>(1, (back - front) / (2 * threads()));
    const int64_t rest = is_worker ? (back - size) << 32 | front : back << 32 | (front + size);
    if (!next_.compare_exchange_weak(taken, rest, std::memory_order_relaxed)) continue;
    const int64_t begin = (is_worker ? back - size : front) * grain_;
    try {
      work({begin, std::min(count_, begin + size * grain_)});
    } catch (...) {
      next_ = 0;  // nothing is left to take
      const std::lock_guard lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
      return;
    }
    taken = next_.load(std::memory_order_relaxed);
  }
}

// Joins work that is open and was not seen yet.
bool ThreadPool::enter(uint64_t& seen) {
  uint64_t state = state_.load();
  while ((state & kOpen) != 0 && state / kGeneration != seen) {
    if (!state_.compare_exchange_weak(state, state + 1)) continue;
    seen = state / kGeneration;
    return true;
  }
  return false;
}

void ThreadPool::worker() {
  const DefaultFloatEnv env;
  is_worker = true;
  uint64_t seen = 0;
  while (!stop_) {
    bool entered = false;
    for (int i = 0; i < kSpins && !entered && !stop_; ++i) {
      entered = enter(seen);
      if (!entered) pause_briefly();
    }
    if (!entered) {
      std::unique_lock lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, [&] { return stop_ || (entered = enter(seen)); });
      --sleepers_;
    }
    if (!entered) continue;
    take_chunks(*work_);
    --state_;
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
  work_ = &work;
  count_ = count;
  grain_ = std::max(grain, (count + kMostChunks - 1) / kMostChunks);
  next_ = (count + grain_ - 1) / grain_ << 32;
  state_ += kGeneration | kOpen;
  if (sleepers_ > 0) {
    // A worker that is about to sleep has either seen the work or counts itself before it waits.
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take_chunks(work);
  state_ -= kOpen;
  for (int i = 0; (state_ & (kOpen - 1)) != 0; ++i) {
    if (i < kSpins) {
      pause_briefly();
    } else {
      std::this_thread::yield();
    }
  }
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

int default_thread_count() {
  if (const char* text = secure_getenv("RKNN_NUM_THREADS"); text != nullptr && *text != '\0') {
    return std::clamp(std::atoi(text), 1, 256);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::clamp(CPU_COUNT(&set), 1, 16);
}

}  // namespace rk

// SPDX-License-Identifier: Apache-2.0
// Memory for kernels that need more than a stack may hold: callers' threads can have stacks of a megabyte or less. Each
// thread keeps its piece for the next call, because fresh pages cost more than many a layer.
//
// Note: what it holds from an earlier call is garbage, and nested use on one thread is not possible.
#pragma once

#include <cstddef>
#include <mutex>

namespace rk::kernels {

class ThreadScratch {
 public:
  // Never fails: where memory is out, threads wait for one shared piece.
  static constexpr size_t kBytes = 1280 << 10;
  ThreadScratch();
  ~ThreadScratch() = default;
  ThreadScratch(const ThreadScratch&) = delete;
  ThreadScratch& operator=(const ThreadScratch&) = delete;

  void* data() const { return data_; }  // kBytes at a multiple of 64

 private:
  std::unique_lock<std::mutex> shared_;
  void* data_;
};

}  // namespace rk::kernels

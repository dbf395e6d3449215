// SPDX-License-Identifier: Apache-2.0
// Thread pools are lent for the length of one run and kept afterwards: programs make a context per inference, and
// starting threads would cost more than many models run.
#pragma once

#include <memory>

#include "base/float_env.h"
#include "base/thread_pool.h"

namespace rk::runtime {

class BorrowedPool {
 public:
  // 0: default_thread_count(), less the threads that other runs have taken, so that contexts in parallel do not crowd the
  // CPUs. The pool is this object's alone until it ends, and its thread computes in the default floating-point
  // environment.
  explicit BorrowedPool(int threads);
  ~BorrowedPool();
  BorrowedPool(const BorrowedPool&) = delete;
  BorrowedPool& operator=(const BorrowedPool&) = delete;

  ThreadPool* get() const { return pool_.get(); }

 private:
  DefaultFloatEnv env_;
  int lent_ = 0;  // threads that others are to do without meanwhile
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace rk::runtime

// SPDX-License-Identifier: Apache-2.0
#include "kernels/thread_scratch.h"

#include <cstdlib>
#include <memory>

namespace rk::kernels {
namespace {

constexpr size_t kAlignment = 64;

struct Free {
  void operator()(void* data) const { std::free(data); }
};
thread_local std::unique_ptr<void, Free> own;

alignas(kAlignment) unsigned char shared_piece[ThreadScratch::kBytes];
std::mutex shared_mutex;

}  // namespace

ThreadScratch::ThreadScratch() {
  if (own == nullptr) own.reset(std::aligned_alloc(kAlignment, kBytes));
  data_ = own.get();
  if (data_ == nullptr) {
    shared_ = std::unique_lock(shared_mutex);
    data_ = shared_piece;
  }
}

}  // namespace rk::kernels

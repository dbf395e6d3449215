// SPDX-License-Identifier: Apache-2.0
#include "kernels/thread_scratch.h"

#include <limits.h>
#include <pthread.h>

#include <cstdlib>

namespace rk::kernels {
namespace {

constexpr size_t kAlignment = 64;

// A thread_local object with a destructor would end the process where registering it finds no memory; a key says so.
pthread_key_t make_key() {
  pthread_key_t key{};
  return pthread_key_create(&key, std::free) == 0 ? key : pthread_key_t{PTHREAD_KEYS_MAX};
}
thread_local void* own = nullptr;

void* own_piece() {
  static const pthread_key_t owner = make_key();
  if (own != nullptr || owner == PTHREAD_KEYS_MAX) return own;
  void* const fresh = std::aligned_alloc(kAlignment, ThreadScratch::kBytes);
  if (fresh == nullptr) return nullptr;
  if (pthread_setspecific(owner, fresh) != 0) {
    std::free(fresh);
    return nullptr;
  }
  own = fresh;
  return own;
}

alignas(kAlignment) unsigned char shared_piece[ThreadScratch::kBytes];
std::mutex shared_mutex;

}  // namespace

ThreadScratch::ThreadScratch() {
  data_ = own_piece();
  if (data_ == nullptr) {
    shared_ = std::unique_lock(shared_mutex);
    data_ = shared_piece;
  }
}

}  // namespace rk::kernels

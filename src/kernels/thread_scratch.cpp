// SPDX-License-Identifier: Apache-2.0
#include "kernels/thread_scratch.h"

#include <limits.h>
#include <pthread.h>

#include <cstdlib>
#include <memory>

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
  // Zeros, which cost nothing until they are used: lanes that a kernel leaves out of its results are numbers at least.
  void* const fresh = std::calloc(1, ThreadScratch::kBytes + kAlignment);
  if (fresh == nullptr) return nullptr;
  if (pthread_setspecific(owner, fresh) != 0) {
    std::free(fresh);
    return nullptr;
  }
  void* place = fresh;
  size_t space = ThreadScratch::kBytes + kAlignment;
  own = std::align(kAlignment, ThreadScratch::kBytes, place, space);
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

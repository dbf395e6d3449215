// SPDX-License-Identifier: Apache-2.0
#include "tests/sound/failing_malloc.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace rk::sound {
namespace {

std::atomic<bool> armed = false;
std::atomic<bool> keep_failing = false;
std::atomic<long> failing = 0;
std::atomic<long> counted = 0;
std::atomic<long> living = 0;

bool fails() {
  if (!armed) return false;
  const long number = ++counted;
  return keep_failing ? number >= failing : number == failing;
}

}  // namespace

void arm(long fail_at, bool onwards) {
  counted = 0;
  failing = fail_at;
  keep_failing = onwards;
  armed = true;
}

long disarm() {
  armed = false;
  return counted;
}

long alive() { return living; }

void* counted_block(void* block) {
  if (block != nullptr) ++living;
  return block;
}

}  // namespace rk::sound

using rk::sound::counted_block;

extern "C" {

void* malloc(size_t size) {
  if (rk::sound::fails()) return errno = ENOMEM, nullptr;
  return counted_block(__libc_malloc(size));
}
void* calloc(size_t count, size_t size) {
  if (rk::sound::fails()) return errno = ENOMEM, nullptr;
  return counted_block(__libc_calloc(count, size));
}
void* realloc(void* block, size_t size) {
  if (rk::sound::fails()) return errno = ENOMEM, nullptr;
  void* const out = __libc_realloc(block, size);
  if (block == nullptr && out != nullptr) ++rk::sound::living;
  if (block != nullptr && size == 0) --rk::sound::living;
  return out;
}
void* memalign(size_t alignment, size_t size) {
  if (rk::sound::fails()) return errno = ENOMEM, nullptr;
  return counted_block(__libc_memalign(alignment, size));
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  if (rk::sound::fails()) return ENOMEM;
  *out = counted_block(__libc_memalign(alignment, size));
  return *out == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  if (block != nullptr) --rk::sound::living;
  __libc_free(block);
}

}  // extern "C"

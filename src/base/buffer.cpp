// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/checked_math.h"

namespace rk {

namespace {

constexpr size_t kLargePage = size_t{2} << 20;

}  // namespace

void Buffer::Free::operator()(uint8_t* p) const { std::free(p); }

Result<Buffer> Buffer::try_make(uint64_t size_bytes, uint64_t limit_bytes) {
  if (size_bytes > limit_bytes || size_bytes > uint64_t{PTRDIFF_MAX}) {
    return out_of_memory(
        str("a block of ", size_bytes, " bytes is wanted, the limit is ", limit_bytes));
  }
  Buffer out;
  if (size_bytes == 0) return out;
  // Large blocks lie on large pages where the system has them: weights are then read at the speed of memory.
  const size_t alignment = size_bytes < 2 * kLargePage ? 64 : kLargePage;
  const size_t padded = align_up(static_cast<size_t>(size_bytes), size_t{64});
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, padded) != 0)
    return out_of_memory(str("no memory for ", size_bytes, " bytes"));
  auto* const bytes = static_cast<uint8_t*>(memory);
  // Advice only: a kernel without large pages refuses it, and nothing is lost.
  if (alignment == kLargePage) (void)madvise(memory, padded, MADV_HUGEPAGE);
  std::memset(bytes, 0, padded);
  out.bytes_.reset(bytes);
  out.size_bytes_ = static_cast<size_t>(size_bytes);
  return out;
}

Buffer Buffer::make(size_t size_bytes) {
  auto out = try_make(size_bytes, UINT64_MAX);
  // As an exception, which the interfaces turn into an answer; where nobody does, the process ends.
  if (!out.ok()) throw std::bad_alloc();
  return std::move(out).value();
}

Buffer Buffer::clone() const {
  Buffer out = make(size_bytes_);
  if (size_bytes_ != 0) std::memcpy(out.data(), data(), size_bytes_);
  return out;
}

}  // namespace rk

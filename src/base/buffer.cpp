// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

#include <cstdlib>
#include <cstring>

#include "base/checked_math.h"

namespace rk {

void Buffer::Free::operator()(uint8_t* p) const { std::free(p); }

Result<Buffer> Buffer::try_make(uint64_t size_bytes, uint64_t limit_bytes) {
  if (size_bytes > limit_bytes || size_bytes > uint64_t{PTRDIFF_MAX}) {
    return out_of_memory(
        str("a block of ", size_bytes, " bytes is wanted, the limit is ", limit_bytes));
  }
  Buffer out;
  if (size_bytes == 0) return out;
  const size_t padded = align_up(static_cast<size_t>(size_bytes), size_t{64});
  auto* bytes = static_cast<uint8_t*>(std::aligned_alloc(64, padded));
  if (bytes == nullptr) return out_of_memory(str("no memory for ", size_bytes, " bytes"));
  std::memset(bytes, 0, padded);
  out.bytes_.reset(bytes);
  out.size_bytes_ = static_cast<size_t>(size_bytes);
  return out;
}

Buffer Buffer::make(size_t size_bytes) {
  auto out = try_make(size_bytes, UINT64_MAX);
  RK_ASSERT(out.ok(), "memory for an internal buffer");
  return std::move(out).value();
}

Buffer Buffer::clone() const {
  Buffer out = make(size_bytes_);
  if (size_bytes_ != 0) std::memcpy(out.data(), data(), size_bytes_);
  return out;
}

}  // namespace rk

// SPDX-License-Identifier: Apache-2.0
// Writes a flatbuffer back to front. Stock writers cannot put a vector's payload on a 64-byte
// boundary, which vendor files have for every weight buffer; here any power of two up to 64 works
// because the finished region is itself a multiple of 64 bytes. Children are written before the
// table that refers to them, as always with flatbuffers.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace rk::format {

// Where an object starts, counted in bytes from the end of the region. 0 is "no object".
enum class FlatRef : uint32_t { kNone = 0 };

// The present slots of one table, in any order.
class FlatFields {
 public:
  // A scalar or struct of at most 8 bytes, kept in the table itself.
  template <typename T>
  void add(int slot, T value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, FlatRef> && sizeof(T) <= 8);
    Field field{.slot = slot, .size_bytes = sizeof(T), .alignment = alignof(T)};
    std::memcpy(field.value, &value, sizeof(T));
    fields_.push_back(field);
  }
  // Leaves the slot out when the value equals its default, as flatbuffer writers do.
  template <typename T>
  void add(int slot, T value, T fallback) {
    if (value != fallback) add(slot, value);
  }
  // kNone leaves the slot out.
  void add(int slot, FlatRef ref) {
    if (ref != FlatRef::kNone)
      fields_.push_back({.slot = slot, .ref = ref, .size_bytes = 4, .alignment = 4});
  }

 private:
  friend class FlatWriter;
  struct Field {
    int slot = 0;
    FlatRef ref = FlatRef::kNone;
    uint8_t value[8] = {};
    size_t size_bytes = 0;
    size_t alignment = 1;
    FlatRef position = FlatRef::kNone;  // set while the table is written
  };
  std::vector<Field> fields_;
};

class FlatWriter {
 public:
  static constexpr size_t kRegionAlignment = 64;
  // Offsets inside a flatbuffer are 31 bits wide.
  static constexpr uint64_t kMaxRegionBytes = (uint64_t{1} << 31) - 1;

  explicit FlatWriter(uint64_t limit_bytes = kMaxRegionBytes) : limit_bytes_(limit_bytes) {}

  FlatRef string(std::string_view text);
  template <typename T>
  FlatRef vector(std::span<const T> elements) {
    static_assert(std::is_trivially_copyable_v<T>);
    return raw_vector(elements.data(), elements.size(), sizeof(T), alignof(T));
  }
  template <typename T>
  FlatRef vector(const std::vector<T>& elements) {
    return vector(std::span<const T>(elements));
  }
  // A byte vector whose first byte lies on a 64-byte boundary of the region; the length word comes
  // right before it.
  FlatRef aligned_bytes(ByteSpan payload);
  FlatRef refs(const std::vector<FlatRef>& elements);

  FlatRef table(FlatFields fields);

  // Root offset, identifier and padding in front; the region's size is a multiple of 64.
  // kOutOfMemory when it would exceed the limit.
  Result<std::vector<uint8_t>> finish(FlatRef root, std::string_view identifier) &&;

 private:
  FlatRef here() const { return static_cast<FlatRef>(static_cast<uint32_t>(size_)); }
  // Pads so that after `size_bytes` more the front is aligned.
  void align(size_t size_bytes, size_t alignment);
  uint8_t* prepend(size_t size_bytes);
  void prepend_u32(uint32_t value);
  FlatRef raw_vector(const void* elements, size_t count, size_t element_bytes, size_t alignment);
  FlatRef vtable(const std::vector<uint16_t>& entries);

  uint64_t limit_bytes_;
  // The bytes written so far are the last size_ bytes of storage_.
  std::vector<uint8_t> storage_;
  uint64_t size_ = 0;
  bool overflow_ = false;
  std::vector<FlatRef> vtables_;
};

}  // namespace rk::format

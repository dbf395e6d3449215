// SPDX-License-Identifier: Apache-2.0
// Bounds-checked little-endian reading and writing. A reader never looks past its span: running off
// the end is kInvalidModel with the offset, the wanted and the available bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/status.h"

namespace rk {

static_assert(std::endian::native == std::endian::little,
              "loads and stores here copy little-endian bytes");

using ByteSpan = std::span<const uint8_t>;

// Unaligned load from memory already known to be long enough.
template <typename T>
T load(const uint8_t* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : bytes_(bytes) {}

  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }
  bool at_end() const { return remaining() == 0; }

  Status seek(uint64_t offset) {
    if (offset > bytes_.size()) return past_end(offset, 0);
    offset_ = static_cast<size_t>(offset);
    return ok_status();
  }

  Result<ByteSpan> take(uint64_t size_bytes) {
    if (size_bytes > remaining()) return past_end(offset_, size_bytes);
    const ByteSpan out = bytes_.subspan(offset_, static_cast<size_t>(size_bytes));
    offset_ += static_cast<size_t>(size_bytes);
    return out;
  }

  template <typename T>
  Result<T> read() {
    RK_ASSIGN(const ByteSpan bytes, take(sizeof(T)));
    return load<T>(bytes.data());
  }

  // u32 length, then that many bytes.
  Result<std::string> read_string() {
    RK_ASSIGN(const uint32_t size, read<uint32_t>());
    RK_ASSIGN(const ByteSpan bytes, take(size));
    return std::string(bytes.begin(), bytes.end());
  }

  // u32 count, then that many elements; the count is checked against the bytes that are left before
  // allocating.
  template <typename T>
  Result<std::vector<T>> read_vector() {
    RK_ASSIGN(const uint32_t count, read<uint32_t>());
    RK_ASSIGN(const ByteSpan bytes, take(uint64_t{count} * sizeof(T)));
    std::vector<T> out(count);
    if (count != 0) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }

 private:
  Status past_end(uint64_t offset, uint64_t wanted) const {
    return invalid_model(str("truncated data: ", wanted, " bytes wanted at offset ", offset, ", ",
                             bytes_.size(), " bytes in all"));
  }
  ByteSpan bytes_;
  size_t offset_ = 0;
};

class ByteWriter {
 public:
  template <typename T>
  void write(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* from = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(T));
  }
  void write_bytes(ByteSpan bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void write_string(std::string_view text) {
    write(static_cast<uint32_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  template <typename T>
  void write_vector(const std::vector<T>& values) {
    write(static_cast<uint32_t>(values.size()));
    for (const T& value : values) write(value);
  }
  size_t size() const { return bytes_.size(); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  std::vector<uint8_t> release() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace rk

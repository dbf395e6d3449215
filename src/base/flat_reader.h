// SPDX-License-Identifier: Apache-2.0
// Reads flatbuffer tables by slot number from bytes nobody vouches for. Every offset, vtable and
// length is checked where it is followed, and a budget shared by all tables of one region bounds
// what a small file can make us decode: a hostile file may point a thousand vector elements at the
// same large table, which stays inside the bounds each time. A slot that is absent gives the
// default; a slot that is present but broken is kInvalidModel naming table, slot, offset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace rk {

// One flatbuffer region. Tables point into it: the bytes and the region must outlive them.
class FlatRegion {
 public:
  explicit FlatRegion(ByteSpan bytes);

  ByteSpan bytes() const { return bytes_; }
  // kInvalidModel once the decoded total exceeds what a file of this size can honestly hold.
  Status charge(uint64_t decoded_bytes) const;

 private:
  ByteSpan bytes_;
  mutable uint64_t budget_bytes_;
};

class FlatTable {
 public:
  // The root table of a region; `kind` names it in messages and must be a string literal.
  static Result<FlatTable> root(const FlatRegion& region, const char* kind);

  // One past the highest slot the vtable describes.
  int slot_count() const { return static_cast<int>((vtable_size_ - 4) / 2); }
  bool has(int slot) const { return slot_offset(slot) != 0; }
  size_t offset() const { return position_; }

  template <typename T>
  Result<T> scalar(int slot, T fallback) const {
    RK_ASSIGN(const uint8_t* const at, inline_field(slot, sizeof(T)));
    return at == nullptr ? fallback : load<T>(at);
  }

  // A struct stored in the table itself.
  template <typename T>
  Result<std::optional<T>> inline_struct(int slot) const {
    RK_ASSIGN(const uint8_t* const at, inline_field(slot, sizeof(T)));
    return at == nullptr ? std::optional<T>() : std::optional<T>(load<T>(at));
  }

  Result<std::optional<std::string>> string(int slot) const;
  // The bytes of a vector of u8 without copying; empty when absent.
  Result<ByteSpan> bytes(int slot) const;

  // A vector of scalars or structs; empty when absent.
  template <typename T>
  Result<std::vector<T>> vector(int slot) const {
    RK_ASSIGN(const ByteSpan elements, vector_elements(slot, sizeof(T)));
    RK_TRY(region_->charge(elements.size()));
    std::vector<T> out(elements.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), elements.data(), elements.size());
    return out;
  }

  Result<std::optional<FlatTable>> table(int slot, const char* kind) const;
  // The same fields under another table's vtable: vendor files exist whose tables name the vtable of
  // a neighbor. Nothing when this table cannot have that form.
  std::optional<FlatTable> with_vtable_of(const FlatTable& other) const;
  // A vector of strings; empty when absent.
  Result<std::vector<std::string>> strings(int slot) const;
  // A vector of tables; empty when absent.
  Result<std::vector<FlatTable>> tables(int slot, const char* kind) const;

  // "Tensor slot 3 at offset 0x1f0: ..."; for checks made by the caller.
  Status slot_error(int slot, const std::string& what) const;

 private:
  FlatTable() = default;
  static Result<FlatTable> at(const FlatRegion& region, uint64_t position, const char* kind);

  uint16_t slot_offset(int slot) const;
  Result<const uint8_t*> inline_field(int slot, size_t size_bytes) const;
  // Follows the 32-bit offset of a slot; nothing when the slot is absent.
  Result<std::optional<uint64_t>> target(int slot) const;
  Result<ByteSpan> vector_elements(int slot, size_t element_bytes) const;

  const FlatRegion* region_ = nullptr;
  const char* kind_ = "";
  size_t position_ = 0;
  size_t vtable_ = 0;
  uint16_t vtable_size_ = 4;
  uint16_t table_size_ = 4;
};

}  // namespace rk

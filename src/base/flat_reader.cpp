// SPDX-License-Identifier: Apache-2.0
// The slot reader. All arithmetic on positions is 64-bit over 32-bit inputs, so it cannot wrap.
#include "base/flat_reader.h"

#include <algorithm>
#include <ios>

namespace rk {
namespace {

// Decoding a table costs its C++ object besides its fields; shared tables pay each time they are
// reached.
constexpr uint64_t kTableCostBytes = 256;

std::string hex(uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

}  // namespace

FlatRegion::FlatRegion(ByteSpan bytes)
    : bytes_(bytes), budget_bytes_(uint64_t{8} * bytes.size() + (uint64_t{1} << 20)) {}

Status FlatRegion::charge(uint64_t decoded_bytes) const {
  if (decoded_bytes > budget_bytes_) {
    return invalid_model(str("the flatbuffer's tables decode to far more data than its ",
                             bytes_.size(), " bytes can hold; the file is damaged"));
  }
  budget_bytes_ -= decoded_bytes;
  return ok_status();
}

Result<FlatTable> FlatTable::root(const FlatRegion& region, const char* kind) {
  if (region.bytes().size() < 8) {
    return invalid_model(
        str("flatbuffer region of ", region.bytes().size(), " bytes is too small for a ", kind));
  }
  return at(region, load<uint32_t>(region.bytes().data()), kind);
}

Result<FlatTable> FlatTable::at(const FlatRegion& region, uint64_t position, const char* kind) {
  const ByteSpan bytes = region.bytes();
  const auto broken = [&](const char* what) {
    return invalid_model(str(kind, " table at offset ", hex(position), ": ", what,
                             " (the flatbuffer has ", bytes.size(), " bytes)"));
  };
  if (position + 4 > bytes.size()) return broken("lies past the end");
  const int64_t vtable =
      static_cast<int64_t>(position) - int64_t{load<int32_t>(bytes.data() + position)};
  if (vtable < 0 || static_cast<uint64_t>(vtable) + 4 > bytes.size())
    return broken("vtable lies outside");
  FlatTable table;
  table.region_ = &region;
  table.kind_ = kind;
  table.position_ = static_cast<size_t>(position);
  table.vtable_ = static_cast<size_t>(vtable);
  table.vtable_size_ = load<uint16_t>(bytes.data() + vtable);
  table.table_size_ = load<uint16_t>(bytes.data() + vtable + 2);
  if (table.vtable_size_ < 4 || table.vtable_size_ % 2 != 0 ||
      table.vtable_ + table.vtable_size_ > bytes.size()) {
    return broken("vtable has an impossible size");
  }
  if (table.table_size_ < 4 || position + table.table_size_ > bytes.size())
    return broken("runs past the end");
  RK_TRY(region.charge(kTableCostBytes));
  return table;
}

Status FlatTable::slot_error(int slot, const std::string& what) const {
  return invalid_model(
      str(kind_, " slot ", slot, " (table at offset ", hex(position_), "): ", what));
}

uint16_t FlatTable::slot_offset(int slot) const {
  const size_t entry = 4 + 2 * static_cast<size_t>(slot);
  if (entry + 2 > vtable_size_) return 0;
  return load<uint16_t>(region_->bytes().data() + vtable_ + entry);
}

Result<const uint8_t*> FlatTable::inline_field(int slot, size_t size_bytes) const {
  const uint16_t field = slot_offset(slot);
  if (field == 0) return static_cast<const uint8_t*>(nullptr);
  if (field < 4 || field + size_bytes > table_size_) {
    return slot_error(slot, str("field of ", size_bytes, " bytes at ", field,
                                " leaves its table of ", table_size_, " bytes"));
  }
  return region_->bytes().data() + position_ + field;
}

Result<std::optional<uint64_t>> FlatTable::target(int slot) const {
  RK_ASSIGN(const uint8_t* const field, inline_field(slot, sizeof(uint32_t)));
  if (field == nullptr) return std::optional<uint64_t>();
  const uint64_t from = static_cast<uint64_t>(field - region_->bytes().data());
  const uint64_t to = from + load<uint32_t>(field);
  // An offset of zero would point at itself: vendor files use it for "absent".
  if (to == from) return std::optional<uint64_t>();
  if (to + 4 > region_->bytes().size()) {
    return slot_error(slot, str("points to ", hex(to), ", outside the flatbuffer of ",
                                region_->bytes().size(), " bytes"));
  }
  return std::optional<uint64_t>(to);
}

Result<ByteSpan> FlatTable::vector_elements(int slot, size_t element_bytes) const {
  RK_ASSIGN(const std::optional<uint64_t> start, target(slot));
  if (!start) return ByteSpan();
  const ByteSpan bytes = region_->bytes();
  const uint64_t count = load<uint32_t>(bytes.data() + *start);
  const uint64_t available = bytes.size() - *start - 4;
  if (count * element_bytes > available) {
    return slot_error(slot, str("vector of ", count, " elements of ", element_bytes,
                                " bytes, only ", available, " bytes are left"));
  }
  return bytes.subspan(static_cast<size_t>(*start + 4), static_cast<size_t>(count * element_bytes));
}

Result<std::optional<std::string>> FlatTable::string(int slot) const {
  if (!has(slot)) return std::optional<std::string>();
  RK_ASSIGN(const ByteSpan text, vector_elements(slot, 1));
  RK_TRY(region_->charge(text.size()));
  return std::optional<std::string>(std::in_place, text.begin(), text.end());
}

Result<std::vector<std::string>> FlatTable::strings(int slot) const {
  RK_ASSIGN(const ByteSpan elements, vector_elements(slot, sizeof(uint32_t)));
  const ByteSpan bytes = region_->bytes();
  std::vector<std::string> out;
  for (size_t i = 0; i < elements.size(); i += 4) {
    const uint64_t from = static_cast<uint64_t>(elements.data() - bytes.data()) + i;
    const uint64_t at = from + load<uint32_t>(elements.data() + i);
    const uint64_t size = at + 4 <= bytes.size() ? load<uint32_t>(bytes.data() + at) : 0;
    if (at + 4 + size > bytes.size()) {
      return slot_error(slot, str("string ", i / 4, " lies outside the flatbuffer"));
    }
    RK_TRY(region_->charge(size + sizeof(std::string)));
    out.emplace_back(reinterpret_cast<const char*>(bytes.data() + at + 4), size);
  }
  return out;
}

Result<ByteSpan> FlatTable::bytes(int slot) const { return vector_elements(slot, 1); }

Result<std::optional<FlatTable>> FlatTable::table(int slot, const char* kind) const {
  RK_ASSIGN(const std::optional<uint64_t> position, target(slot));
  if (!position) return std::optional<FlatTable>();
  RK_ASSIGN(FlatTable table, at(*region_, *position, kind));
  return std::optional<FlatTable>(table);
}

std::optional<FlatTable> FlatTable::with_vtable_of(const FlatTable& other) const {
  if (other.region_ != region_ || position_ + other.table_size_ > region_->bytes().size()) {
    return std::nullopt;
  }
  FlatTable table = *this;
  table.vtable_ = other.vtable_;
  table.vtable_size_ = other.vtable_size_;
  table.table_size_ = other.table_size_;
  return table;
}

Result<std::vector<FlatTable>> FlatTable::tables(int slot, const char* kind) const {
  RK_ASSIGN(const ByteSpan elements, vector_elements(slot, sizeof(uint32_t)));
  RK_TRY(region_->charge(uint64_t{elements.size()} / 4 * sizeof(FlatTable)));
  std::vector<FlatTable> out;
  out.reserve(elements.size() / 4);
  for (size_t i = 0; i < elements.size(); i += 4) {
    const uint64_t from = static_cast<uint64_t>(elements.data() - region_->bytes().data()) + i;
    RK_ASSIGN(FlatTable table, at(*region_, from + load<uint32_t>(elements.data() + i), kind));
    out.push_back(table);
  }
  return out;
}

}  // namespace rk

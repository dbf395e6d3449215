// SPDX-License-Identifier: Apache-2.0
// The back-to-front writer. Positions are distances from the end, which stay valid while the front
// grows.
#include "format/flat_writer.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"

namespace rk::format {
namespace {
constexpr uint32_t value_of(FlatRef ref) { return static_cast<uint32_t>(ref); }
}  // namespace

uint8_t* FlatWriter::prepend(size_t size_bytes) {
  if (size_ + size_bytes > limit_bytes_) {
    // finish() will refuse; until then dropping what was written keeps memory bounded.
    overflow_ = true;
    size_ = 0;
  }
  if (size_ + size_bytes > storage_.size()) {
    std::vector<uint8_t> larger(std::max<uint64_t>(4096, (size_ + size_bytes) * 3 / 2));
    std::copy_n(storage_.end() - static_cast<ptrdiff_t>(size_), size_,
                larger.end() - static_cast<ptrdiff_t>(size_));
    storage_ = std::move(larger);
  }
  size_ += size_bytes;
  return storage_.data() + storage_.size() - size_;
}

void FlatWriter::prepend_u32(uint32_t value) {
  std::memcpy(prepend(sizeof(value)), &value, sizeof(value));
}

void FlatWriter::align(size_t size_bytes, size_t alignment) {
  const uint64_t end = size_ + size_bytes;
  const size_t padding = static_cast<size_t>(align_up<uint64_t>(end, alignment) - end);
  if (padding != 0) std::memset(prepend(padding), 0, padding);
}

FlatRef FlatWriter::raw_vector(const void* elements, size_t count, size_t element_bytes,
                               size_t alignment) {
  const size_t size_bytes = count * element_bytes;
  if (size_bytes > limit_bytes_) {
    overflow_ = true;
    return FlatRef::kNone;
  }
  align(size_bytes, std::max<size_t>(alignment, sizeof(uint32_t)));
  uint8_t* const to = prepend(size_bytes);
  if (size_bytes != 0) std::memcpy(to, elements, size_bytes);
  prepend_u32(static_cast<uint32_t>(count));
  return here();
}

FlatRef FlatWriter::string(std::string_view text) {
  if (text.size() >= limit_bytes_) {
    overflow_ = true;
    return FlatRef::kNone;
  }
  align(text.size() + 1, sizeof(uint32_t));
  uint8_t* const to = prepend(text.size() + 1);
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  to[text.size()] = 0;
  prepend_u32(static_cast<uint32_t>(text.size()));
  return here();
}

FlatRef FlatWriter::aligned_bytes(ByteSpan payload) {
  return raw_vector(payload.data(), payload.size(), 1, kRegionAlignment);
}

FlatRef FlatWriter::refs(const std::vector<FlatRef>& elements) {
  align(elements.size() * sizeof(uint32_t), sizeof(uint32_t));
  for (size_t i = elements.size(); i-- > 0;) {
    // The element's own position is where it will be after this write.
    prepend_u32(static_cast<uint32_t>(size_ + sizeof(uint32_t) - value_of(elements[i])));
  }
  prepend_u32(static_cast<uint32_t>(elements.size()));
  return here();
}

FlatRef FlatWriter::vtable(const std::vector<uint16_t>& entries) {
  const size_t size_bytes = entries.size() * sizeof(uint16_t);
  const uint8_t* const end = storage_.data() + storage_.size();
  for (const FlatRef known : vtables_) {
    const uint8_t* const at = end - value_of(known);
    if (load<uint16_t>(at) == size_bytes && std::memcmp(at, entries.data(), size_bytes) == 0)
      return known;
  }
  align(size_bytes, sizeof(uint16_t));
  std::memcpy(prepend(size_bytes), entries.data(), size_bytes);
  vtables_.push_back(here());
  return here();
}

FlatRef FlatWriter::table(FlatFields table_fields) {
  auto& fields = table_fields.fields_;
  // Wide fields first, so that they need no padding between them.
  std::stable_sort(fields.begin(), fields.end(),
                   [](const auto& a, const auto& b) { return a.alignment > b.alignment; });
  const uint64_t end = size_;
  size_t slots = 0;
  for (auto& field : fields) {
    align(field.size_bytes, field.alignment);
    if (field.ref != FlatRef::kNone) {
      prepend_u32(static_cast<uint32_t>(size_ + sizeof(uint32_t) - value_of(field.ref)));
    } else {
      std::memcpy(prepend(field.size_bytes), field.value, field.size_bytes);
    }
    field.position = here();
    slots = std::max(slots, static_cast<size_t>(field.slot) + 1);
  }
  align(sizeof(int32_t), sizeof(int32_t));
  prepend_u32(0);
  const FlatRef table = here();
  if (overflow_) return table;

  std::vector<uint16_t> entries(slots + 2);
  entries[0] = static_cast<uint16_t>(entries.size() * sizeof(uint16_t));
  entries[1] = static_cast<uint16_t>(size_ - end);
  for (const auto& field : fields) {
    entries[static_cast<size_t>(field.slot) + 2] =
        static_cast<uint16_t>(value_of(table) - value_of(field.position));
  }
  const FlatRef vtable_ref = vtable(entries);
  if (overflow_) return table;
  const int32_t to_vtable =
      static_cast<int32_t>(value_of(vtable_ref)) - static_cast<int32_t>(value_of(table));
  std::memcpy(storage_.data() + storage_.size() - value_of(table), &to_vtable, sizeof(to_vtable));
  return table;
}

Result<std::vector<uint8_t>> FlatWriter::finish(FlatRef root, std::string_view identifier) && {
  RK_ASSERT(identifier.size() == 4, "a flatbuffer file identifier has four characters");
  align(8, kRegionAlignment);
  std::memcpy(prepend(4), identifier.data(), 4);
  prepend_u32(static_cast<uint32_t>(size_ + 4 - value_of(root)));
  if (overflow_) {
    return out_of_memory(
        "the model does not fit a .rknn file: weights and graph exceed 2 GiB, the most a "
        "flatbuffer can address. Split the model");
  }
  storage_.erase(storage_.begin(), storage_.end() - static_cast<ptrdiff_t>(size_));
  return std::move(storage_);
}

}  // namespace rk::format

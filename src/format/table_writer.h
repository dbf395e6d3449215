// SPDX-License-Identifier: Apache-2.0
// The Io that writes tables (vendor_tables.h, small_tables.h). Private to format/: vendor_model.cpp
// writes container version 6 with it, small_writer.cpp version 0x1004.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "format/flat_writer.h"
#include "format/vendor_model.h"
#include "format/vendor_tables.h"

namespace rk::format {

class TableWriter {
 public:
  explicit TableWriter(FlatWriter& out) : out_(out) {}

  FlatRef finish() { return out_.table(std::move(fields_)); }

  template <typename T>
  void scalar(int slot, const T& value, T fallback = T()) {
    fields_.add(slot, value, fallback);
  }
  void string(int slot, const std::string& value) { fields_.add(slot, out_.string(value)); }
  void required_string(int slot, const std::string& value) { string(slot, value); }
  template <typename T>
  void vector(int slot, const std::vector<T>& values) {
    fields_.add(slot, out_.vector(values));
  }
  template <typename T>
  void optional_vector(int slot, const std::vector<T>& values) {
    if (!values.empty()) vector(slot, values);
  }
  void empty_vector(int slot) { vector(slot, std::vector<uint32_t>()); }
  template <typename T>
  void stray_vector(int slot, const std::vector<T>& values) {
    // As vendor files have them: the first of the two always, the second when there is something.
    if (slot == 11 || !values.empty()) vector(slot, values);
  }
  template <typename T>
  void lenient_vector(int slot, const std::vector<T>& values) {
    vector(slot, values);
  }
  void attribute(const ParamsSlot& slot, const std::vector<Attribute>& attributes) {
    for (const Attribute& a : attributes) {
      if (a.name != slot.name) continue;
      if (const auto* const number = std::get_if<int64_t>(&a.value)) {
        scalar(slot.slot, static_cast<int32_t>(*number), slot.fallback);
      } else if (const auto* const real = std::get_if<double>(&a.value)) {
        scalar(slot.slot, static_cast<float>(*real));
      } else if (const auto* const text = std::get_if<std::string>(&a.value)) {
        string(slot.slot, *text);
      } else if (const auto* const list = std::get_if<std::vector<int64_t>>(&a.value)) {
        vector(slot.slot, std::vector<int32_t>(list->begin(), list->end()));
      }
    }
  }
  // Files of ours list no shapes here; the section after the trailer does.
  void input_shapes(int slot, const std::vector<std::vector<std::vector<int32_t>>>&) {
    empty_vector(slot);
  }
  void strings(int slot, const std::vector<std::string>&) { empty_vector(slot); }
  void nodes(int slot, size_t, const std::vector<FileNode>& values) {
    tables(slot, "Node", values);
  }
  template <typename T>
  void optional_struct(int slot, const std::optional<T>& value) {
    if (value) fields_.add(slot, *value);
  }
  template <typename T>
  void table(int slot, const char*, const T& value) {
    fields_.add(slot, write(value));
  }
  template <typename T>
  void tables(int slot, const char*, const std::vector<T>& values) {
    std::vector<FlatRef> refs;
    refs.reserve(values.size());
    for (const T& value : values) refs.push_back(write(value));
    fields_.add(slot, out_.refs(refs));
  }
  void refs(int slot, const std::vector<FlatRef>& tables) { fields_.add(slot, out_.refs(tables)); }
  void buffers(int slot, int, const std::vector<FileBuffer>& values) {
    tables(slot, "Buffer", values);
  }
  void payload(int slot, ByteSpan data) {
    if (!data.empty()) fields_.add(slot, out_.aligned_bytes(data));
  }
  void params(int tag_slot, int table_slot, const FileParams& value) {
    std::visit(
        [&](const auto& inner) {
          using T = std::decay_t<decltype(inner)>;
          if constexpr (!std::is_same_v<T, std::monostate>) {
            fields_.add(tag_slot, tag_of(inner));
            table(table_slot, "", inner);
          }
        },
        value);
  }

 private:
  static ParamsTag tag_of(const FileConvParams&) { return ParamsTag::kConv; }
  static ParamsTag tag_of(const FileConcatParams&) { return ParamsTag::kConcat; }
  static ParamsTag tag_of(const FileResizeParams&) { return ParamsTag::kResize; }
  static ParamsTag tag_of(const FileArgMaxParams&) { return ParamsTag::kArgMax; }
  static ParamsTag tag_of(const FileOperatorParams& p) { return static_cast<ParamsTag>(p.tag); }
  static ParamsTag tag_of(const FileUnknownParams& p) { return static_cast<ParamsTag>(p.tag); }

  template <typename T>
  FlatRef write(const T& value) {
    TableWriter inner(out_);
    // describe() takes the struct by mutable reference for the reader's sake; this Io only looks.
    describe(inner, const_cast<T&>(value));
    return inner.finish();
  }

  FlatWriter& out_;
  FlatFields fields_;
};

}  // namespace rk::format

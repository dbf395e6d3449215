// SPDX-License-Identifier: Apache-2.0
// The Io that reads tables (vendor_tables.h). Private to format/: vendor_model.cpp reads container version 6 with it,
// small_model.cpp version 0x1004.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/flat_reader.h"
#include "format/vendor_model.h"
#include "format/vendor_tables.h"

namespace rk::format {

inline constexpr size_t kMaxObjects = size_t{1} << 20;  // tensors, nodes or buffers of one file

class TableReader {
 public:
  explicit TableReader(const FlatTable& table) : table_(table) {}

  const Status& status() const { return status_; }

  template <typename T>
  void scalar(int slot, T& out, T fallback = T()) {
    if constexpr (std::is_enum_v<T>) {
      using Raw = std::underlying_type_t<T>;
      Raw raw{};
      keep(table_.scalar<Raw>(slot, static_cast<Raw>(fallback)), raw);
      out = static_cast<T>(raw);
    } else {
      keep(table_.scalar<T>(slot, fallback), out);
    }
  }
  void string(int slot, std::string& out) {
    std::optional<std::string> text;
    keep(table_.string(slot), text);
    out = text ? std::move(*text) : std::string();
  }
  void required_string(int slot, std::string& out) {
    if (status_.ok() && !table_.has(slot))
      status_ = table_.slot_error(slot, "is missing; it names the operator type");
    string(slot, out);
  }
  template <typename T>
  void vector(int slot, std::vector<T>& out) {
    keep(table_.vector<T>(slot), out);
  }
  template <typename T>
  void optional_vector(int slot, std::vector<T>& out) {
    vector(slot, out);
  }
  void empty_vector(int) {}
  template <typename T>
  void stray_vector(int slot, std::vector<T>& out) {
    if (auto found = table_.vector<T>(slot); found.ok()) out = std::move(*found);
  }
  // Of no other form in any known file, and nothing that a model depends on.
  template <typename T>
  void lenient_vector(int slot, std::vector<T>& out) {
    stray_vector(slot, out);
  }
  void attribute(const ParamsSlot& slot, std::vector<Attribute>& out) {
    Attribute attribute{slot.name, int64_t{0}};
    if (slot.type == ParamsSlot::kInteger) {
      int32_t value = 0;
      scalar(slot.slot, value, slot.fallback);
      attribute.value = int64_t{value};
    } else if (slot.type == ParamsSlot::kFloat) {
      float value = 0;
      scalar(slot.slot, value);
      attribute.value = double{value};
    } else if (!table_.has(slot.slot)) {
      return;
    } else if (slot.type == ParamsSlot::kText) {
      std::string value;
      string(slot.slot, value);
      attribute.value = std::move(value);
    } else {
      std::vector<int32_t> value;
      vector(slot.slot, value);
      attribute.value = std::vector<int64_t>(value.begin(), value.end());
    }
    out.push_back(std::move(attribute));
  }
  // Model slot 17: per input a table whose slot 0 lists tables with one shape each.
  void input_shapes(int slot, std::vector<std::vector<std::vector<int32_t>>>& out) {
    std::vector<FlatTable> inputs;
    if (auto found = table_.tables(slot, "input shapes"); found.ok()) inputs = std::move(*found);
    for (const FlatTable& input : inputs) {
      std::vector<FlatTable> shapes;
      keep(input.tables(0, "input shape"), shapes);
      out.emplace_back(shapes.size());
      for (size_t i = 0; i < shapes.size(); ++i) keep(shapes[i].vector<int32_t>(0), out.back()[i]);
    }
  }
  void strings(int slot, std::vector<std::string>& out) { keep(table_.strings(slot), out); }
  // A table may name the vtable of a neighbor: its type then reads as a name. The form of another node that makes sense
  // of it is the right one.
  void nodes(int slot, size_t tensor_count, std::vector<FileNode>& out) {
    std::vector<FlatTable> inner;
    keep(table_.tables(slot, "Node"), inner);
    if (inner.size() > kMaxObjects) {
      status_ = table_.slot_error(slot, str(inner.size(), " nodes"));
      return;
    }
    for (size_t i = 0; i < inner.size() && status_.ok(); ++i) {
      FileNode node;
      const Status status = read_one(inner[i], node);
      if (!status.ok() || node.type.find(':') != std::string::npos) {
        const auto other = read_with_other_vtable(inner, i, tensor_count);
        if (!other && status_.ok()) status_ = status;
        if (other) node = *other;
      }
      out.push_back(std::move(node));
    }
  }
  template <typename T>
  void optional_struct(int slot, std::optional<T>& out) {
    keep(table_.inline_struct<T>(slot), out);
  }
  template <typename T>
  void table(int slot, const char* kind, T& out) {
    std::optional<FlatTable> inner;
    keep(table_.table(slot, kind), inner);
    if (inner) read(*inner, out);
  }
  template <typename T>
  void tables(int slot, const char* kind, std::vector<T>& out) {
    std::vector<FlatTable> inner;
    keep(table_.tables(slot, kind), inner);
    if (inner.size() > kMaxObjects) {
      status_ = table_.slot_error(
          slot, str(inner.size(), " ", kind, " tables, at most ", kMaxObjects, " are read"));
      return;
    }
    out.resize(inner.size());
    for (size_t i = 0; i < inner.size() && status_.ok(); ++i) read(inner[i], out[i]);
  }
  // Version 6 keeps buffers in `slot`, versions 1 and 2 in `old_slot`.
  void buffers(int slot, int old_slot, std::vector<FileBuffer>& out) {
    tables(table_.has(slot) ? slot : old_slot, "Buffer", out);
  }
  void payload(int slot, ByteSpan& out) { keep(table_.bytes(slot), out); }
  void params(int tag_slot, int table_slot, FileParams& out) {
    ParamsTag tag{};
    scalar(tag_slot, tag);
    switch (tag) {
      case ParamsTag::kNone:
        out = std::monostate();
        break;
      case ParamsTag::kConv:
        table(table_slot, "Conv parameters", out.emplace<FileConvParams>());
        break;
      case ParamsTag::kConcat:
        table(table_slot, "Concat parameters", out.emplace<FileConcatParams>());
        break;
      case ParamsTag::kResize:
        table(table_slot, "Resize parameters", out.emplace<FileResizeParams>());
        break;
      case ParamsTag::kArgMax:
        table(table_slot, "ArgMax parameters", out.emplace<FileArgMaxParams>());
        break;
      default:
        other_params(static_cast<uint8_t>(tag), table_slot, out);
        break;
    }
  }

 private:
  void other_params(uint8_t tag, int table_slot, FileParams& out) {
    const auto is_tag = [&](const ParamsSlot& slot) { return slot.tag == tag; };
    if (std::none_of(std::begin(kParamsSlots), std::end(kParamsSlots), is_tag)) {
      out = FileUnknownParams{tag};
      return;
    }
    FileOperatorParams params;
    params.tag = tag;
    table(table_slot, "operator parameters", params);
    out = std::move(params);
  }
  template <typename T>
  static Status read_one(const FlatTable& inner, T& out) {
    TableReader reader(inner);
    describe(reader, out);
    return reader.status();
  }
  static std::optional<FileNode> read_with_other_vtable(const std::vector<FlatTable>& nodes,
                                                        size_t broken, size_t tensor_count) {
    const auto legal = [&](const std::vector<int32_t>& indices) {
      return std::all_of(indices.begin(), indices.end(), [&](int32_t i) {
        return i >= -1 && i < static_cast<int64_t>(tensor_count);
      });
    };
    constexpr size_t kTries = 32;
    for (size_t i = 0; i < std::min(nodes.size(), kTries); ++i) {
      const auto table = nodes[broken].with_vtable_of(nodes[i]);
      FileNode node;
      if (!table || !read_one(*table, node).ok()) continue;
      if (!node.type.empty() && node.type == node.name.substr(0, node.name.find(':')) &&
          legal(node.inputs) && legal(node.outputs)) {
        return node;
      }
    }
    return std::nullopt;
  }
  // Takes the value, or keeps the first failure.
  template <typename T, typename Out>
  void keep(Result<T> result, Out& out) {
    if (result.ok()) {
      out = std::move(*result);
    } else if (status_.ok()) {
      status_ = result.status();
    }
  }
  template <typename T>
  void read(const FlatTable& inner, T& out) {
    const Status status = read_one(inner, out);
    if (status_.ok()) status_ = status;
  }

  FlatTable table_;
  Status status_;
};

// The tables of container version 0x1004, brought to the form of version 6; indices are not checked yet.
Result<FileModel> read_small_model(const Container& container);

}  // namespace rk::format

// SPDX-License-Identifier: Apache-2.0
// Reads and writes the tables described in vendor_tables.h, and checks indices and counts after
// reading.
#include "format/vendor_model.h"

#include <algorithm>
#include <type_traits>

#include "base/flat_reader.h"
#include "format/flat_writer.h"
#include "format/vendor_tables.h"

namespace rk::format {
namespace {

constexpr size_t kMaxObjects = size_t{1} << 20;  // tensors, nodes or buffers of one file
constexpr size_t kMaxShapeEntries =
    4096;  // native weight shapes list one group of six per remainder

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
        out = FileUnknownParams{static_cast<uint8_t>(tag)};
        break;
    }
  }

 private:
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
    TableReader reader(inner);
    describe(reader, out);
    if (status_.ok()) status_ = reader.status();
  }

  FlatTable table_;
  Status status_;
};

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

Status check_indices(const std::vector<int32_t>& indices, size_t count, const std::string& whose) {
  for (const int32_t index : indices) {
    if (index < 0 || static_cast<size_t>(index) >= count) {
      return invalid_model(
          str(whose, " refers to tensor ", index, "; the graph has ", count, " tensors"));
    }
  }
  return ok_status();
}

Status check_shape(const std::vector<int32_t>& shape, const FileTensor& tensor, const char* which) {
  if (shape.size() > kMaxShapeEntries) {
    return invalid_model(
        str("tensor '", tensor.name, "' has a ", which, " of ", shape.size(), " entries"));
  }
  for (const int32_t extent : shape) {
    if (extent < 0) {
      return invalid_model(
          str("tensor '", tensor.name, "' has the extent ", extent, " in its ", which));
    }
  }
  return ok_status();
}

Status check_graph(const FileGraph& graph, size_t buffer_count) {
  for (const FileTensor& tensor : graph.tensors) {
    if (tensor.buffer != 0 && tensor.buffer >= buffer_count) {
      return invalid_model(str("tensor '", tensor.name, "' refers to buffer ", tensor.buffer,
                               "; the file has ", buffer_count, " buffers"));
    }
    RK_TRY(check_shape(tensor.shape, tensor, "shape"));
    RK_TRY(check_shape(tensor.native_shape, tensor, "native shape"));
  }
  const size_t count = graph.tensors.size();
  for (const FileNode& node : graph.nodes) {
    const std::string whose = str("node '", node.name, "' (", node.type, ")");
    RK_TRY(check_indices(node.inputs, count, whose));
    RK_TRY(check_indices(node.outputs, count, whose));
  }
  RK_TRY(check_indices(graph.inputs, count, "the graph's input list"));
  return check_indices(graph.outputs, count, "the graph's output list");
}

}  // namespace

bool FileBuffer::operator==(const FileBuffer& other) const {
  return std::equal(data.begin(), data.end(), other.data.begin(), other.data.end());
}

Result<FileModel> read_model(const Container& container) {
  const FlatRegion region(container.flatbuffer);
  RK_ASSIGN(const FlatTable root, FlatTable::root(region, "Model"));
  TableReader reader(root);
  FileModel model;
  describe(reader, model);
  RK_TRY(reader.status());
  for (const FileGraph& graph : model.graphs) RK_TRY(check_graph(graph, model.buffers.size()));
  return model;
}

Result<FileModel> read_model(ByteSpan file) {
  RK_ASSIGN(const Container container, split_container(file));
  return read_model(container);
}

Result<std::vector<uint8_t>> write_model(const FileModel& model) {
  FlatWriter out;
  TableWriter root(out);
  describe(root, const_cast<FileModel&>(model));
  const FlatRef ref = root.finish();
  return std::move(out).finish(ref, kFlatIdentifier);
}

}  // namespace rk::format

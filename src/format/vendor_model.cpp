// SPDX-License-Identifier: Apache-2.0
// Reads and writes the tables described in vendor_tables.h, and checks indices and counts after
// reading.
#include "format/vendor_model.h"

#include <algorithm>
#include <type_traits>

#include "format/flat_writer.h"
#include "format/table_reader.h"
#include "format/vendor_tables.h"

namespace rk::format {
namespace {

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

constexpr size_t kMaxShapeEntries =
    4096;  // native weight shapes list one group of six per remainder

// `least` is -1 where an absent operand may stand.
Status check_indices(const std::vector<int32_t>& indices, size_t count, const std::string& whose,
                     int32_t least = 0) {
  for (const int32_t index : indices) {
    if (index == least && least < 0) continue;
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
    RK_TRY(check_indices(node.inputs, count, whose, program::kNone));
    RK_TRY(check_indices(node.outputs, count, whose, program::kNone));
  }
  RK_TRY(check_indices(graph.inputs, count, "the graph's input list"));
  return check_indices(graph.outputs, count, "the graph's output list");
}

}  // namespace

bool FileBuffer::operator==(const FileBuffer& other) const {
  return std::equal(data.begin(), data.end(), other.data.begin(), other.data.end());
}

const std::string& tensor_name(const FileGraph& graph, int32_t index) {
  static const std::string none;
  return index < 0 ? none : graph.tensors[static_cast<size_t>(index)].name;
}

Result<FileModel> read_model(const Container& container) {
  if (container.small) {
    RK_ASSIGN(FileModel model, read_small_model(container));
    for (const FileGraph& graph : model.graphs) RK_TRY(check_graph(graph, model.buffers.size()));
    return model;
  }
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

// SPDX-License-Identifier: Apache-2.0
// Reads and writes the tables described in vendor_tables.h, and checks indices and counts after
// reading.
#include "format/vendor_model.h"

#include <algorithm>

#include "format/table_reader.h"
#include "format/table_writer.h"
#include "format/vendor_tables.h"

namespace rk::format {
namespace {

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

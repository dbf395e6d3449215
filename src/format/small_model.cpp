// SPDX-License-Identifier: Apache-2.0
// Container version 0x1004: RV1103, RV1106, RV1103B, RV1106B and RK2118. Its schema is version 6's without the slots
// that a single-core runtime with linked addresses does not need, so the same members sit in other slots; tasks, register
// words and constants lie in the body around the flatbuffer. What comes out has the form of a version 6 file: one buffer
// per constant, one each for tasks and register words.
#include "format/small_tables.h"
#include "format/table_reader.h"

namespace rk::format {
namespace {

using program::TensorKind;

template <typename T>
void read_small(TableReader& io, T& out) {
  describe_small(io, out);
}

void read_tensor(TableReader& io, FileTensor& t) {
  read_small(io, t);
  if (!t.scale.empty()) {
    t.quant_method = "layer";
    t.quant_type = "int8";
  }
}

template <typename T, typename ReadOne>
Status read_list(const FlatTable& table, int slot, const char* kind, std::vector<T>& out,
                 const ReadOne& read_one) {
  RK_ASSIGN(const std::vector<FlatTable> inner, table.tables(slot, kind));
  if (inner.size() > kMaxObjects) {
    return table.slot_error(slot, str(inner.size(), " ", kind, " tables"));
  }
  out.resize(inner.size());
  for (size_t i = 0; i < inner.size(); ++i) {
    TableReader reader(inner[i]);
    read_one(reader, out[i]);
    RK_TRY(reader.status());
  }
  return ok_status();
}

// The bytes of one constant become a buffer of the model.
Status place_constant(ByteSpan region, const char* which, FileTensor& tensor, FileModel& model) {
  const uint64_t end = uint64_t{tensor.offset_in_internal} + tensor.size_bytes;
  if (end > region.size()) {
    return invalid_model(str("tensor '", tensor.name, "' lies at ", tensor.offset_in_internal,
                             " + ", tensor.size_bytes, " of the ", which, ", which have ",
                             region.size(), " bytes"));
  }
  if (tensor.size_bytes == 0) return ok_status();
  tensor.buffer = static_cast<uint32_t>(model.buffers.size());
  model.buffers.push_back({region.subspan(tensor.offset_in_internal, tensor.size_bytes)});
  tensor.offset_in_internal = 0;
  return ok_status();
}

Status place_constants(const SmallBody& body, FileGraph& graph, FileModel& model) {
  for (FileTensor& tensor : graph.tensors) {
    if (tensor.kind == TensorKind::kNpuConstant || tensor.kind == TensorKind::kCpuConstant) {
      RK_TRY(place_constant(body.weights, "weights", tensor, model));
    } else if (tensor.kind == TensorKind::kHelperConstant) {
      // A file whose nodes all run on the CPU has no region of helpers: they follow the weights.
      RK_TRY(place_constant(body.helpers.empty() ? body.weights : body.helpers, "helpers", tensor,
                            model));
    } else if (tensor.kind == kRegisterCommandsKind || tensor.kind == kTasksKind) {
      tensor.buffer = static_cast<uint32_t>(model.buffers.size());
      model.buffers.push_back({tensor.kind == kTasksKind ? body.tasks : body.register_words});
    }
  }
  return ok_status();
}

Status read_graph(const FlatTable& table, const SmallBody& body, FileModel& model) {
  FileGraph graph;
  RK_TRY(read_list(table, 0, "Tensor", graph.tensors, read_tensor));
  RK_TRY(read_list(table, 1, "Node", graph.nodes, read_small<FileNode>));
  TableReader io(table);
  io.vector(2, graph.inputs);
  io.vector(3, graph.outputs);
  io.tables(4, "Normalize", graph.normalize);
  RK_TRY(io.status());
  RK_TRY(read_list(table, 5, "TensorReloc", graph.relocs, read_small<TensorReloc>));
  RK_TRY(place_constants(body, graph, model));
  model.graphs.push_back(std::move(graph));
  return ok_status();
}

}  // namespace

Result<FileModel> read_small_model(const Container& container) {
  const SmallBody& body = *container.small;
  const FlatRegion region(container.flatbuffer);
  RK_ASSIGN(const FlatTable root, FlatTable::root(region, "Model"));
  FileModel model;
  model.small = true;
  TableReader io(root);
  io.scalar(0, model.version);
  io.string(1, model.npu_generation);
  io.string(3, model.info);
  io.scalar(4, model.compiler_version);
  io.string(5, model.compiler);
  io.string(6, model.platform);
  io.string(7, model.source);
  RK_TRY(io.status());
  model.memory = {body.weights.size(), body.internal_bytes, body.helpers.size()};
  model.buffers.emplace_back();
  RK_ASSIGN(const std::vector<FlatTable> graphs, root.tables(2, "Graph"));
  for (const FlatTable& graph : graphs) RK_TRY(read_graph(graph, body, model));
  return model;
}

}  // namespace rk::format

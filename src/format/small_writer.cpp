// SPDX-License-Identifier: Apache-2.0
#include "format/small_writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "base/checked_math.h"
#include "format/bson.h"
#include "format/container.h"
#include "format/program_codec.h"
#include "format/small_tables.h"
#include "format/table_writer.h"

namespace rk::format {
namespace {

using program::TensorKind;

constexpr size_t kAlign = 64;
constexpr uint8_t kMaxPoolParams = 3, kAveragePoolParams = 5;  // tags of tables
constexpr TensorKind kOnChipTable{6};                          // has no bytes in memory

enum class Region : uint8_t { kNone, kHelpers, kWeights, kInternal };

Region region_of(TensorKind kind) {
  switch (kind) {
    case TensorKind::kHelperConstant:
      return Region::kHelpers;
    case TensorKind::kNpuConstant:
    case TensorKind::kCpuConstant:
      return Region::kWeights;
    case TensorKind::kInput:
    case TensorKind::kOutput:
    case TensorKind::kInternal:
      return Region::kInternal;
    default:
      return Region::kNone;
  }
}

// What a node does, as these files say it: parameters of convolutions are in registers.
Status write_parameters(FileNode& node) {
  const bool convolves = std::holds_alternative<FileConvParams>(node.params);
  if (convolves) node.params = {};
  if (node.type == "OutputOperator" || node.attributes.empty()) return ok_status();
  RK_ASSIGN(std::vector<Attribute> attributes, read_attributes(node.attributes));
  node.attributes.clear();
  const bool largest = node.type == "MaxPool";
  if (largest || node.type == "AveragePool") {
    attributes.insert(attributes.begin(), {"auto_pad", std::string("NOTSET")});
    node.params =
        FileOperatorParams{largest ? kMaxPoolParams : kAveragePoolParams, std::move(attributes)};
  } else if (!convolves && std::holds_alternative<std::monostate>(node.params)) {
    node.attributes = write_json_attributes(attributes);
  }
  return ok_status();
}

class BodyWriter {
 public:
  explicit BodyWriter(const FileModel& model) : model_(model), graph_(model.graphs.front()) {}

  Result<std::vector<uint8_t>> write() {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) RK_TRY(place(graph_.tensors[i]));
    for (FileNode& node : graph_.nodes) RK_TRY(write_parameters(node));
    RK_TRY(link());
    const size_t task_bytes = tasks_.size();
    tasks_.resize(align_up(tasks_.size(), kAlign));
    RK_ASSIGN(const std::vector<uint8_t> tables, flatbuffer());
    constexpr size_t kTaskBytes = 40, kHeaderWords = 16;
    std::array<uint32_t, kHeaderWords> header{};
    const uint64_t sizes[] = {tables.size(),
                              tasks_.size(),
                              task_bytes / kTaskBytes,
                              words_.size(),
                              model_.memory.internal_bytes,
                              weights_.size(),
                              helpers_.size()};
    for (size_t i = 0; i < std::size(sizes); ++i) {
      if (sizes[i] > std::numeric_limits<uint32_t>::max())
        return unsupported("the model takes more than the 4 GiB that a .rknn file can describe");
      header[i] = static_cast<uint32_t>(sizes[i]);
    }
    ByteWriter out;
    for (const uint32_t word : header) out.write(word);
    for (const ByteSpan part : {ByteSpan(tasks_), ByteSpan(words_), ByteSpan(helpers_),
                                ByteSpan(weights_), ByteSpan(tables)})
      out.write_bytes(part);
    return out.release();
  }

 private:
  // Constants get a place in their region, equal ones share it.
  Status place(FileTensor& tensor) {
    if (tensor.buffer == 0) return ok_status();
    if (tensor.buffer >= model_.buffers.size())
      return invalid_model(str("tensor '", tensor.name, "' names buffer ", tensor.buffer, " of ",
                               model_.buffers.size()));
    const ByteSpan data = model_.buffers[tensor.buffer].data;
    if (tensor.kind == kRegisterCommandsKind || tensor.kind == kTasksKind) {
      (tensor.kind == kTasksKind ? tasks_ : words_).assign(data.begin(), data.end());
      tensor.size_bytes = 0;
      return ok_status();
    }
    if (tensor.kind == kOnChipTable) {
      tensor.size_bytes = 0;
      return ok_status();
    }
    const Region region = region_of(tensor.kind);
    if (region != Region::kHelpers && region != Region::kWeights)
      return invalid_model(str("tensor '", tensor.name, "' is no constant and has bytes"));
    std::vector<uint8_t>& to = region == Region::kHelpers ? helpers_ : weights_;
    const auto [known, is_new] = places_.try_emplace({region, tensor.buffer}, to.size());
    if (is_new) {
      to.insert(to.end(), data.begin(), data.end());
      to.resize(align_up(to.size(), kAlign));
    }
    if (known->second > std::numeric_limits<uint32_t>::max())
      return unsupported("the constants take more than 4 GiB");
    tensor.offset_in_internal = static_cast<uint32_t>(known->second);
    const bool aligned = tensor.kind != TensorKind::kCpuConstant;
    tensor.size_bytes =
        static_cast<uint32_t>(aligned ? align_up(data.size(), kAlign) : data.size());
    return ok_status();
  }

  // One image: register words, helpers, weights, internal memory. Words hold the places of their
  // operands in it; a loader adds where it lies.
  Status link() {
    std::map<std::string_view, const FileTensor*> by_name;
    for (const FileTensor& tensor : graph_.tensors) by_name.emplace(tensor.name, &tensor);
    words_.resize(align_up(words_.size(), kAlign));
    const uint64_t helpers = words_.size(), weights = helpers + helpers_.size();
    const uint64_t internal = weights + weights_.size();
    for (const TensorReloc& reloc : graph_.relocs) {
      const auto found = by_name.find(reloc.tensor);
      if (found == by_name.end())
        return invalid_model(str("no tensor '", reloc.tensor, "' for an address"));
      const FileTensor& tensor = *found->second;
      if (tensor.kind == kOnChipTable) continue;
      const Region region = region_of(tensor.kind);
      if (region == Region::kNone)
        return invalid_model(str("tensor '", tensor.name, "' has no address"));
      const uint64_t base = region == Region::kHelpers   ? helpers
                            : region == Region::kWeights ? weights
                                                         : internal;
      for (const Reloc& entry : reloc.entries) {
        const uint64_t address = base + tensor.offset_in_internal + entry.addend;
        if (address > std::numeric_limits<uint32_t>::max())
          return unsupported("a board of this kind addresses 4 GiB, which the model exceeds");
        RK_TRY(set_value(entry.word, static_cast<uint32_t>(address)));
      }
    }
    return ok_status();
  }

  Status set_value(uint32_t word, uint32_t value) {
    const size_t at = size_t{word} * sizeof(uint64_t);
    if (at + sizeof(uint64_t) > words_.size())
      return invalid_model(str("an address in word ", word, " of ", words_.size() / 8));
    constexpr int kValueShift = 16;
    constexpr uint64_t kValueBits = uint64_t{0xffffffff} << kValueShift;
    uint64_t command = load<uint64_t>(words_.data() + at);
    command = (command & ~kValueBits) | uint64_t{value} << kValueShift;
    std::memcpy(words_.data() + at, &command, sizeof command);
    return ok_status();
  }

  template <typename T>
  FlatRef table_of(const T& value) {
    TableWriter io(out_);
    // describe_small() takes the struct by mutable reference for the reader's sake.
    describe_small(io, const_cast<T&>(value));
    if constexpr (std::is_same_v<T, FileNode>) {
      io.vector(10, std::vector<uint32_t>(1));
      io.empty_vector(11);
    }
    return io.finish();
  }

  FlatRef tensor_table(const FileTensor& tensor, int32_t index) {
    TableWriter io(out_);
    describe_small(io, const_cast<FileTensor&>(tensor));
    io.scalar(10, index - 1);
    return io.finish();
  }

  FlatRef graph_table() {
    std::vector<FlatRef> tensors, nodes, relocs;
    for (size_t i = 0; i < graph_.tensors.size(); ++i)
      tensors.push_back(tensor_table(graph_.tensors[i], static_cast<int32_t>(i)));
    for (const FileNode& node : graph_.nodes) nodes.push_back(table_of(node));
    for (const TensorReloc& reloc : graph_.relocs) relocs.push_back(table_of(reloc));
    TableWriter io(out_);
    io.refs(0, tensors);
    io.refs(1, nodes);
    io.vector(2, graph_.inputs);
    io.vector(3, graph_.outputs);
    io.tables(4, "Normalize", graph_.normalize);
    io.refs(5, relocs);
    io.tables(6, "InputGeom", graph_.input_geometry);
    io.tables(7, "InputCvt", graph_.input_conversion);
    return io.finish();
  }

  Result<std::vector<uint8_t>> flatbuffer() {
    const std::vector<FlatRef> graphs = {graph_table()};
    TableWriter io(out_);
    io.scalar(0, model_.version);
    io.string(1, model_.npu_generation);
    io.refs(2, graphs);
    io.string(3, model_.info);
    io.scalar(4, model_.compiler_version);
    io.string(5, model_.compiler);
    io.string(6, model_.platform);
    io.string(7, model_.source);
    io.string(8, std::string());
    const FlatRef root = io.finish();
    return std::move(out_).finish(root, kFlatIdentifier);
  }

  const FileModel& model_;
  FileGraph graph_;
  std::vector<uint8_t> tasks_, words_, helpers_, weights_;
  std::map<std::pair<Region, uint32_t>, size_t> places_;
  FlatWriter out_;
};

}  // namespace

Result<std::vector<uint8_t>> write_small_model(const FileModel& model) {
  if (model.graphs.size() != 1)
    return unsupported("container 0x1004 holds a model of one input shape");
  return BodyWriter(model).write();
}

std::vector<uint8_t> encode_with_weights(const program::Program& program) {
  const std::vector<uint8_t> encoded = encode_program(program);
  ByteWriter out;
  out.write(uint64_t{encoded.size()});
  out.write_bytes(encoded);
  for (const program::Blob& blob : program.weights) {
    out.write(uint64_t{blob.bytes.size()});
    out.write_bytes(blob.bytes);
  }
  return out.release();
}

Result<program::Program> decode_with_weights(uint32_t version, ByteSpan payload,
                                             const std::shared_ptr<const void>& owner) {
  ByteReader in(payload);
  const auto next = [&]() -> Result<ByteSpan> {
    RK_ASSIGN(const uint64_t size_bytes, in.read<uint64_t>());
    return in.take(size_bytes);
  };
  const Result<ByteSpan> encoded = next();
  if (!encoded.ok()) return encoded.status().with_context("the compiled model of a small chip");
  std::vector<program::Blob> weights;
  while (in.offset() < payload.size()) {
    const Result<ByteSpan> bytes = next();
    if (!bytes.ok()) return bytes.status().with_context(str("weight ", weights.size()));
    weights.push_back({owner, *bytes});
  }
  return decode_program(version, *encoded, std::move(weights));
}

}  // namespace rk::format

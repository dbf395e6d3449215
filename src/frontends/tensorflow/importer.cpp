// SPDX-License-Identifier: Apache-2.0
// What happens once per model: inputs, outputs, the order of nodes, constants.
#include "frontends/tensorflow/importer.h"

#include <algorithm>
#include <charconv>

namespace rk::frontends::tensorflow {
namespace {

std::string label(const NodeDef& node) { return str(node.op(), " '", node.name(), "'"); }

bool is_input_node(const NodeDef& node) {
  return node.op() == "Placeholder" || node.op() == "PlaceholderV2";
}

// A condition that training feeds: false in inference.
bool is_training_switch(const NodeDef& node) {
  const auto dtype = node.attr().find("dtype");
  const auto shape = node.attr().find("shape");
  const bool is_scalar = shape == node.attr().end() || shape->second.shape().dim().empty();
  return is_input_node(node) && is_scalar && dtype != node.attr().end() &&
         dtype_of(dtype->second.type()) == DType::kBool;
}

// Operators that take pictures of two spatial axes as input 0.
bool takes_pictures(const NodeDef& node) {
  static const std::set<std::string> ops = {
      "Conv2D",           "DepthwiseConv2dNative", "MaxPool",
      "AvgPool",          "FusedBatchNorm",        "FusedBatchNormV2",
      "FusedBatchNormV3", "ResizeBilinear",        "ResizeNearestNeighbor",
      "SpaceToBatchND"};
  return ops.contains(node.op());
}

}  // namespace

TensorId parse_id(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon + 1 == text.size()) return {text, 0};
  int index = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, index);
  if (parsed.ec != std::errc() || parsed.ptr != end || index < 0) return {text, 0};
  return {text.substr(0, colon), index};
}

std::string to_string(const TensorId& id) {
  return id.index == 0 ? id.node : str(id.node, ":", id.index);
}

Status Importer::index_nodes() {
  for (const NodeDef& node : file_.node()) {
    if (node.name().empty() || node.op().empty()) {
      return invalid_model("a node has no name or no operator; this is not a GraphDef");
    }
    if (!nodes_.emplace(node.name(), &node).second) {
      return invalid_model(str("two nodes are called '", node.name(), "'"));
    }
  }
  if (nodes_.empty()) {
    return invalid_model(
        "the graph has no nodes; this is not a GraphDef. A SavedModel must be frozen into one "
        "first "
        "(convert_variables_to_constants)");
  }
  for (const NodeDef& node : file_.node()) {
    for (const std::string& input : node.input()) {
      if (!input.starts_with("^")) readers_[parse_id(input).node].push_back(&node);
    }
  }
  return ok_status();
}

Status Importer::choose_inputs() {
  for (const std::string& name : import_.options().inputs) inputs_.push_back(parse_id(name));
  if (!inputs_.empty()) return ok_status();
  for (const NodeDef& node : file_.node()) {
    if (is_input_node(node) && !is_training_switch(node)) inputs_.push_back({node.name(), 0});
  }
  return ok_status();
}

// Without a list: what nothing reads.
Status Importer::choose_outputs() {
  for (const std::string& name : import_.options().outputs) outputs_.push_back(parse_id(name));
  if (!outputs_.empty()) return ok_status();
  static const std::set<std::string> no_results = {
      "NoOp", "Assert", "Const", "Placeholder", "PlaceholderV2", "Print", "SaveV2", "RestoreV2"};
  for (const NodeDef& node : file_.node()) {
    if (!readers_.contains(node.name()) && !no_results.contains(node.op())) {
      outputs_.push_back({node.name(), 0});
    }
  }
  if (outputs_.empty()) return invalid_model("no node is an output: every one is read by another");
  return ok_status();
}

std::vector<int64_t> Importer::declared_dims(const NodeDef& node) const {
  std::vector<int64_t> dims;
  const auto shape = node.attr().find("shape");
  if (!is_input_node(node) || shape == node.attr().end() || shape->second.shape().unknown_rank()) {
    return dims;
  }
  for (const auto& dim : shape->second.shape().dim()) dims.push_back(dim.size());
  if (!dims.empty() && dims[0] < 0) dims[0] = 1;  // an open batch
  return dims;
}

bool Importer::feeds_pictures(const TensorId& id, bool& channels_first) const {
  const auto readers = readers_.find(id.node);
  if (readers == readers_.end()) return false;
  bool pictures = false;
  for (const NodeDef* const reader : readers->second) {
    if (!takes_pictures(*reader)) continue;
    pictures = true;
    const auto format = reader->attr().find("data_format");
    channels_first =
        channels_first || (format != reader->attr().end() && format->second.s().starts_with("NC"));
  }
  return pictures;
}

Status Importer::add_input(const TensorId& id, size_t place) {
  const NodeDef& node = *nodes_.at(id.node);
  const ImportOptions& options = import_.options();
  std::vector<int64_t> declared = declared_dims(node);
  std::vector<int64_t> given;
  if (place < options.input_shapes.size()) given = options.input_shapes[place];
  bool channels_first = false;
  const bool pictures = feeds_pictures(id, channels_first);
  // The file's own readers prove the rank: [300,300,3] is a picture whose batch is left out.
  const bool lacks_batch =
      given.size() == 3 && (declared.size() == 4 || (declared.empty() && pictures));
  if (lacks_batch) given.insert(given.begin(), 1);
  if (given.empty() && declared.empty()) {
    return invalid_argument(str("the shape of input '", to_string(id),
                                "' is not in the file; pass it in input_size_list"));
  }
  std::vector<int64_t> dims = given;
  if (!lacks_batch) {
    RK_ASSIGN(dims, import_.input_dims(to_string(id), place, declared.empty() ? given : declared));
  }
  for (const int64_t extent : dims) {
    if (extent < 1) return invalid_argument(str("input '", to_string(id), "' has extent ", extent));
  }
  DType dtype = DType::kF32;
  for (const char* const name : {"dtype", "T"}) {
    const auto type = node.attr().find(name);
    if (type == node.attr().end() || type->second.value_case() != AttrValue::kType) continue;
    dtype = dtype_of(type->second.type());
    if (dtype != DType::kUndefined) break;
    return unsupported(str("input '", to_string(id), "' is of type ",
                           dtype_name(type->second.type()), ", which is not taken"));
  }
  auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status().with_context(str("input '", to_string(id), "'"));
  if (channels_first && !options.input_is_nchw) {
    import_.note(
        str("input '", to_string(id),
            "' is read by layers whose pictures are NCHW; pass input_is_nchw=True (--nchw)"));
  }
  const bool moves = can_be_first(shape->rank()) && !options.input_is_nchw;
  RK_ASSIGN(Value* const value,
            import_.add_input(to_string(id), place, {dtype, moves ? first_shape(*shape) : *shape}));
  held_[id] = moves ? Held::channels_first(value) : Held::in_file_order(value);
  return ok_status();
}

// Each after what it reads, by a walk from the outputs. A cycle is a loop of the program.
Result<std::vector<const NodeDef*>> Importer::needed_nodes() const {
  enum class State { kEntered, kDone };
  struct Frame {
    const NodeDef* node;
    int next = 0;
  };
  std::set<std::string> given;
  for (const TensorId& id : inputs_) given.insert(id.node);
  std::map<const NodeDef*, State> states;
  std::vector<const NodeDef*> out;
  std::vector<Frame> stack;
  const auto enter = [&](const std::string& name) -> Status {
    const auto it = nodes_.find(name);
    if (it == nodes_.end())
      return invalid_model(str("reads '", name, "', which is not in the graph"));
    const auto [state, is_new] = states.emplace(it->second, State::kEntered);
    if (is_new) {
      stack.push_back({it->second});
      return ok_status();
    }
    if (state->second == State::kDone) return ok_status();
    return unsupported(str(label(*it->second),
                           " is part of a loop, which is not taken; unroll it "
                           "before freezing, or cut the graph before it with outputs"));
  };
  for (const TensorId& output : outputs_) {
    RK_TRY(enter(output.node));
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const bool is_cut = given.contains(frame.node->name());
      if (is_cut || frame.next == frame.node->input_size()) {
        states[frame.node] = State::kDone;
        if (!is_cut) out.push_back(frame.node);
        stack.pop_back();
        continue;
      }
      const std::string& input = frame.node->input(frame.next++);
      const std::string reader = label(*frame.node);
      if (input.starts_with("^")) continue;
      if (Status status = enter(parse_id(input).node); !status.ok()) {
        return status.code() == Code::kUnsupported ? status : status.with_context(reader);
      }
    }
  }
  return out;
}

void Importer::bind_unavailable(const NodeDef& node, const std::string& why) {
  unavailable_.emplace(node.name(), why);
}

Status Importer::run_function(const NodeDef& node) {
  NodeImport context(*this, node);
  if (const NodeFunction function = find_operator(node.op())) return function(context);
  std::string advice;
  for (const std::string& input : node.input()) {
    const auto from = nodes_.find(parse_id(input).node);
    if (from == nodes_.end() || from->second->op() == "Const") continue;
    advice += str(advice.empty() ? "'" : ", '", to_string(parse_id(input)), "'");
  }
  return unsupported(str(label(node), " is not taken; cut the graph before it",
                         advice.empty() ? "" : ": outputs=[", advice, advice.empty() ? "" : "]"));
}

Status Importer::import_node(const NodeDef& node) {
  const NodeImport context(*this, node);
  if (node.op() != "Merge" && node.op() != "RefMerge") {
    for (size_t i = 0; i < context.input_count(); ++i) {
      if (context.is_dead(i)) {
        dead_nodes_.insert(node.name());
        return ok_status();
      }
    }
    for (const std::string& input : node.input()) {
      if (input.starts_with("^")) continue;
      if (const auto it = unavailable_.find(parse_id(input).node); it != unavailable_.end()) {
        bind_unavailable(node, it->second);
        return ok_status();
      }
    }
  }
  const Status status = run_function(node);
  if (status.ok()) return status;
  if (status.code() != Code::kUnsupported) return status.with_context(label(node));
  const std::string why = status.message().starts_with(label(node))
                              ? status.message()
                              : str(label(node), ": ", status.message());
  import_.add_unsupported(why);
  bind_unavailable(node, why);
  return ok_status();
}

Result<Held*> Importer::held(const TensorId& id) {
  if (const auto it = held_.find(id); it != held_.end()) return &it->second;
  if (const auto it = unavailable_.find(id.node); it != unavailable_.end()) {
    return unsupported(it->second);
  }
  if (dead_.contains(id) || dead_nodes_.contains(id.node)) {
    return invalid_argument(
        str("'", to_string(id), "' lies in a branch that inference does not take"));
  }
  return invalid_model(str("'", to_string(id), "' is not computed by its node"));
}

Status Importer::add_outputs() {
  std::vector<std::pair<std::string, Value*>> found;
  for (const TensorId& id : outputs_) {
    auto output = held(id);
    if (!output.ok())
      return import_.has_unsupported() ? import_.unsupported_error() : output.status();
    RK_ASSIGN(Value* const value, as_last(import_.builder(), **output));
    found.emplace_back(to_string(id), value);
  }
  for (const auto& [name, value] : found) RK_TRY(import_.add_output(name, value));
  return ok_status();
}

Result<Imported> Importer::run() {
  RK_TRY(index_nodes());
  const ImportOptions& options = import_.options();
  std::vector<std::string> all;
  for (const auto& [name, node] : nodes_) all.push_back(name);
  for (const bool is_input : {true, false}) {
    std::vector<std::string> names;
    for (const std::string& name : is_input ? options.inputs : options.outputs) {
      names.push_back(parse_id(name).node);
    }
    // Several outputs of one node are different tensors.
    if (!is_input) {
      std::ranges::sort(names);
      names.erase(std::unique(names.begin(), names.end()), names.end());
    }
    RK_TRY(import_.check_names(names, is_input ? "inputs" : "outputs", all));
  }
  RK_TRY(choose_inputs());
  RK_TRY(choose_outputs());
  RK_ASSIGN(const auto nodes, needed_nodes());
  std::vector<std::string> names;
  for (const TensorId& input : inputs_) names.push_back(to_string(input));
  RK_TRY(import_.check_input_count(names));
  for (size_t i = 0; i < inputs_.size(); ++i) RK_TRY(add_input(inputs_[i], i));
  for (const NodeDef* const node : nodes) RK_TRY(import_node(*node));
  RK_TRY(add_outputs());
  return import_.finish();
}

}  // namespace rk::frontends::tensorflow

namespace rk::frontends {

ImportFunction import_tensorflow_files;

Result<Imported> import_tensorflow_files(std::span<const ModelFile> files,
                                         const ImportOptions& options, const OpRegistry& registry) {
  const ByteSpan bytes = files[0].bytes;
  rk::tensorflow::GraphDef graph;
  if (!graph.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid_model(
        "the bytes are not a binary GraphDef: the file is damaged, cut short, or another format. A "
        "SavedModel or a checkpoint must be frozen first (convert_variables_to_constants); a "
        ".pbtxt "
        "must be written in binary");
  }
  return tensorflow::Importer(graph, options, registry).run();
}

}  // namespace rk::frontends

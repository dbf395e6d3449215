// SPDX-License-Identifier: Apache-2.0
// Frozen TensorFlow graph (GraphDef) -> Graph: the nodes that the wanted outputs need, each after
// its inputs. Each operator has one row in operators.cpp; what it shares with TFLite is in
// channels_last/layers.h.
//
// Training leftovers go: control inputs, Identity and its kin, Switch and Merge whose condition is
// known. A condition that a caller would feed (is_training, keras_learning_phase) is false.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontends/channels_last/layers.h"
#include "frontends/graph_import.h"
#include "frontends/tensorflow/rk_tensorflow.pb.h"

namespace rk::frontends::tensorflow {

using rk::tensorflow::AttrValue;
using rk::tensorflow::GraphDef;
using rk::tensorflow::NodeDef;

// Output `index` of a node: "name", or "name:1".
struct TensorId {
  std::string node;
  int index = 0;
  auto operator<=>(const TensorId&) const = default;
};
TensorId parse_id(const std::string& text);
std::string to_string(const TensorId& id);

// kUndefined where graphs have no such type. Quantized types are the integers they are stored in.
DType dtype_of(int32_t number);
std::string dtype_name(int32_t number);
// `builder` counts what is made of values that stand for many.
Result<Tensor> tensor_of(const rk::tensorflow::TensorProto& proto, GraphBuilder& builder);

// A convolution between SpaceToBatchND and BatchToSpaceND, as the dilated one it stands for.
struct Dilated {
  int64_t h = 1, w = 1;
  std::vector<layers::Border> border;
};

class Importer {
 public:
  // `graph` outlives the importer.
  Importer(const GraphDef& graph, const ImportOptions& options, const OpRegistry& registry)
      : file_(graph), import_(options, registry) {}

  Result<Imported> run();

 private:
  friend class NodeImport;

  Status index_nodes();
  Status choose_inputs();
  Status choose_outputs();
  Status add_input(const TensorId& id, size_t index);
  // The shape of an input as the file tells; empty where it does not.
  std::vector<int64_t> declared_dims(const NodeDef& node) const;
  bool feeds_pictures(const TensorId& id, bool& channels_first) const;
  Result<std::vector<const NodeDef*>> needed_nodes() const;
  Status import_node(const NodeDef& node);
  Status run_function(const NodeDef& node);
  Status add_outputs();
  void bind_unavailable(const NodeDef& node, const std::string& why);
  Result<Held*> held(const TensorId& id);

  const GraphDef& file_;
  GraphImport import_;
  std::map<std::string, const NodeDef*> nodes_;
  std::map<std::string, std::vector<const NodeDef*>> readers_;  // of any output, not by control
  std::vector<TensorId> inputs_, outputs_;
  std::map<TensorId, Held> held_;
  std::map<std::string, std::string> unavailable_;  // node -> why
  std::set<TensorId> dead_;                         // the branch of a Switch that is not taken
  std::set<std::string> dead_nodes_;                // what hangs on it
  std::map<std::string, Dilated> dilated_;          // convolution -> how
  std::set<std::string> passed_;  // SpaceToBatchND and BatchToSpaceND that dilations replace
};

// One node on its way into the graph. Inputs are those that carry data.
class NodeImport : public LayerImport {
 public:
  NodeImport(Importer& importer, const NodeDef& node);

  GraphBuilder& builder() override { return importer_.import_.builder(); }
  size_t input_count() const override { return inputs_.size(); }
  size_t output_count() const override;
  bool has(size_t i) const override { return i < inputs_.size(); }
  std::string input_name(size_t i) const override { return to_string(inputs_[i]); }
  std::string output_name(size_t i) const override;
  Result<Held*> held(size_t i) override;
  bool rounded_alike(size_t, size_t) const override { return true; }
  Status bind_rounded(size_t i, Value* value, Order order, Rounding rounding) override;
  Status bind_held(size_t i, Held held) override;

  const std::string& op() const { return node_.op(); }
  const AttrValue* attr(const std::string& name) const;
  // Of another kind than asked for: the fallback.
  int64_t attr_int(const std::string& name, int64_t fallback) const;
  float attr_float(const std::string& name, float fallback) const;
  bool attr_bool(const std::string& name) const;
  std::string attr_string(const std::string& name, std::string fallback) const;
  std::vector<int64_t> attr_ints(const std::string& name) const;
  // kUnsupported where graphs have no such type.
  Result<DType> attr_dtype(const std::string& name, DType fallback) const;
  // data_format says that the channels come second.
  bool channels_first() const { return attr_string("data_format", "NHWC").starts_with("NC"); }

  // Input `i` as a picture of `spatial` axes, channels first, and how its result is to be bound.
  struct Picture {
    Value* value = nullptr;
    Order order = Order::kFirst;
  };
  Result<Picture> picture(size_t i, int spatial);
  // A constant or computed filter with its axes moved; integers stay integers before the Transpose.
  Result<Value*> filter(size_t i, const std::vector<int64_t>& perm);
  // All elements of a constant.
  Result<std::vector<float>> floats(size_t i, std::string_view what);

  bool is_dead(size_t i) const {
    return importer_.dead_.contains(inputs_[i]) || importer_.dead_nodes_.contains(inputs_[i].node);
  }
  void mark_dead(size_t output) {
    importer_.dead_.insert({node_.name(), static_cast<int>(output)});
  }
  const Dilated* dilation() const;
  // Whether a dilation stands for this node and those around it; the others are told.
  bool replaced_by_dilation();
  bool is_passed() const { return importer_.passed_.contains(node_.name()); }
  void note(std::string text) { importer_.import_.note(std::move(text)); }

 private:
  const NodeDef* only_reader(const NodeDef& node) const;
  Result<std::vector<int64_t>> constant_ints(const std::string& input) const;

  Importer& importer_;
  const NodeDef& node_;
  std::vector<TensorId> inputs_;
};

using NodeFunction = Status (*)(NodeImport& op);
// Null for operators that are not imported.
NodeFunction find_operator(const std::string& op);

// Those that GraphDef stores in a way of its own (picture.cpp, numbers.cpp); operators.cpp has the
// rows.
Status conv_2d(NodeImport& op);
Status depthwise_conv_2d(NodeImport& op);
Status conv_3d(NodeImport& op);
Status conv_2d_backprop(NodeImport& op);
Status fused_conv_2d(NodeImport& op);
Status fused_resize_conv(NodeImport& op);
Status pool(NodeImport& op, std::string_view name, int spatial);
Status max_pool_grad(NodeImport& op);
Status space_to_batch(NodeImport& op);
Status batch_to_space(NodeImport& op);
Status bias_add(NodeImport& op);
Status fused_batch_norm(NodeImport& op);
Status global_batch_norm(NodeImport& op);
Status moved_blocks(NodeImport& op, bool to_depth);

Status matmul(NodeImport& op);
Status switched(NodeImport& op);
Status merged(NodeImport& op);
Status dequantize(NodeImport& op);
Status fake_quant(NodeImport& op, bool is_constant_range);
Status quantize_and_dequantize(NodeImport& op);

}  // namespace rk::frontends::tensorflow

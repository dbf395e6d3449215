// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/edit.h"

#include <limits>
#include <set>

#include "base/suggest.h"
#include "frontends/onnx/rk_onnx.pb.h"

namespace rk::frontends {
namespace {

constexpr int32_t kInt64 = 7;
constexpr int32_t kAttributeInts = 7;
constexpr int32_t kExternal = 1;  // TensorProto::data_location

Result<std::vector<int64_t>> extents(const onnx::ValueInfoProto& value) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape())
    return invalid_model(str("tensor '", value.name(), "' has no declared shape"));
  std::vector<int64_t> out;
  for (const auto& dim : value.type().tensor_type().shape().dim()) {
    out.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  }
  return out;
}

void declare(onnx::ValueInfoProto& value, const std::vector<int64_t>& dims) {
  auto* const shape = value.mutable_type()->mutable_tensor_type()->mutable_shape();
  std::string open = "open";
  for (const auto& dim : shape->dim()) {
    if (!dim.dim_param().empty()) open = dim.dim_param();
  }
  shape->clear_dim();
  for (const int64_t extent : dims) {
    auto* const dim = shape->add_dim();
    if (extent >= 0) {
      dim->set_dim_value(extent);
    } else {
      dim->set_dim_param(open);
    }
  }
}

// Also inside the bodies of If and Loop, which see the names of the graph around them.
void rename(onnx::GraphProto& graph, const std::string& from, const std::string& to) {
  for (auto& node : *graph.mutable_node()) {
    for (auto& name : *node.mutable_input()) {
      if (name == from) name = to;
    }
    for (auto& name : *node.mutable_output()) {
      if (name == from) name = to;
    }
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rename(*attribute.mutable_g(), from, to);
    }
  }
  for (auto& value : *graph.mutable_value_info()) {
    if (value.name() == from) value.set_name(to);
  }
  for (auto& output : *graph.mutable_output()) {
    if (output.name() == from) output.set_name(to);
  }
}

std::string unused_name(const std::set<std::string>& used, const std::string& wanted) {
  std::string name = wanted;
  for (int i = 2; used.count(name) != 0; ++i) name = str(wanted, "_", i);
  return name;
}

class Editor {
 public:
  explicit Editor(onnx::GraphProto& graph) : graph_(graph) {
    for (const auto& node : graph.node()) used_.insert(node.output().begin(), node.output().end());
    for (const auto& value : graph.input()) used_.insert(value.name());
    for (const auto& value : graph.initializer()) used_.insert(value.name());
  }

  // Reshape, Transpose, Reshape from tensor `from` to tensor `to`.
  std::vector<onnx::NodeProto> chain(const std::string& from, const std::string& to,
                                     const std::vector<int64_t>& split,
                                     const std::vector<int64_t>& permutation,
                                     const std::vector<int64_t>& dims) {
    std::vector<onnx::NodeProto> nodes;
    const std::string a = fresh(to + "_split");
    const std::string b = fresh(to + "_turned");
    nodes.push_back(node("Reshape", {from, shape_constant(to, split)}, a));
    nodes.push_back(node("Transpose", {a}, b));
    auto* const attribute = nodes.back().add_attribute();
    attribute->set_name("perm");
    attribute->set_type(kAttributeInts);
    for (const int64_t axis : permutation) attribute->add_ints(axis);
    nodes.push_back(node("Reshape", {b, shape_constant(to, dims)}, to));
    return nodes;
  }

  std::string fresh(const std::string& wanted) {
    std::string name = unused_name(used_, wanted);
    used_.insert(name);
    return name;
  }

 private:
  onnx::NodeProto node(const char* type, const std::vector<std::string>& inputs,
                       const std::string& output) {
    onnx::NodeProto out;
    out.set_op_type(type);
    out.set_name(str(type, "_", output));
    for (const std::string& input : inputs) out.add_input(input);
    out.add_output(output);
    return out;
  }

  std::string shape_constant(const std::string& tensor, const std::vector<int64_t>& dims) {
    auto* const constant = graph_.add_initializer();
    constant->set_name(fresh(tensor + "_shape"));
    constant->set_data_type(kInt64);
    constant->add_dims(static_cast<int64_t>(dims.size()));
    for (const int64_t dim : dims) constant->add_int64_data(dim);
    return constant->name();
  }

  onnx::GraphProto& graph_;
  std::set<std::string> used_;
};

std::vector<int64_t> inverse(const std::vector<int64_t>& permutation) {
  std::vector<int64_t> out(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    out[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return out;
}

template <typename Values>
Result<onnx::ValueInfoProto*> find(Values& values, const std::string& name, std::string_view what) {
  std::vector<std::string> names;
  for (auto& value : values) {
    if (value.name() == name) return &value;
    names.push_back(value.name());
  }
  const std::string close = close_names(name, names);
  return invalid_argument(str("the model has no ", what, " '", name, "'",
                              close.empty() ? "" : "; did you mean ", close,
                              close.empty() ? "" : "?"));
}

void put_nodes(onnx::GraphProto& graph, const std::vector<onnx::NodeProto>& front,
               const std::vector<onnx::NodeProto>& back) {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> all;
  for (const auto& node : front) *all.Add() = node;
  for (auto& node : *graph.mutable_node()) all.Add()->Swap(&node);
  for (const auto& node : back) *all.Add() = node;
  graph.mutable_node()->Swap(&all);
}

}  // namespace

Result<EditedModel> edit_onnx_model(ByteSpan bytes, const EditOptions& options) {
  onnx::ModelProto model;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) ||
      !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !model.has_graph()) {
    return invalid_model("this is not an ONNX model");
  }
  onnx::GraphProto& graph = *model.mutable_graph();
  Editor editor(graph);
  EditedModel out;
  std::set<std::string> constants;
  for (const auto& constant : graph.initializer()) {
    constants.insert(constant.name());
    out.has_external_data |= constant.data_location() == kExternal;
  }
  for (const auto& input : graph.input()) {
    if (constants.count(input.name()) == 0) out.input_names.push_back(input.name());
  }
  std::vector<onnx::NodeProto> front;
  std::vector<onnx::NodeProto> back;
  for (const auto& [name, formula] : options.inputs) {
    RK_ASSIGN(onnx::ValueInfoProto* const value, find(*graph.mutable_input(), name, "input"));
    RK_ASSIGN(const std::vector<int64_t> dims, extents(*value));
    RK_ASSIGN(const Transform t, parse_transform(formula, dims));
    const std::string inner = editor.fresh(name + "_original");
    rename(graph, name, inner);
    for (auto& node : editor.chain(name, inner, t.right_split, inverse(t.permutation), t.left_dims))
      front.push_back(std::move(node));
    declare(*value, t.right_dims);
    out.input_transforms[name] = t;
  }
  for (const auto& [name, formula] : options.outputs) {
    RK_ASSIGN(onnx::ValueInfoProto* const value, find(*graph.mutable_output(), name, "output"));
    RK_ASSIGN(const std::vector<int64_t> dims, extents(*value));
    RK_ASSIGN(const Transform t, parse_transform(formula, dims));
    const std::string inner = editor.fresh(name + "_original");
    rename(graph, name, inner);
    value->set_name(name);
    for (auto& node : editor.chain(inner, name, t.left_split, t.permutation, t.right_dims))
      back.push_back(std::move(node));
    declare(*value, t.right_dims);
  }
  put_nodes(graph, front, back);
  const std::string text = model.SerializeAsString();
  out.bytes.assign(text.begin(), text.end());
  return out;
}

}  // namespace rk::frontends

// SPDX-License-Identifier: Apache-2.0
// Writes small ONNX models for tests with the importer's own message classes, so no test needs Python or a file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontends/frontend.h"
#include "frontends/onnx/rk_onnx.pb.h"
#include "ops/registry.h"
#include "ops/shared/evaluate.h"

namespace rk::frontends::testing {

inline constexpr int kFloat = 1;
inline constexpr int kInt64 = 7;
inline constexpr int64_t kUnknown = -1;  // an extent without a number

inline onnx::AttributeProto& add_attr(onnx::NodeProto& node, const std::string& name, int type) {
  onnx::AttributeProto& attr = *node.add_attribute();
  attr.set_name(name);
  attr.set_type(type);
  return attr;
}
inline void set_float(onnx::NodeProto& node, const std::string& name, float value) {
  add_attr(node, name, 1).set_f(value);
}
inline void set_int(onnx::NodeProto& node, const std::string& name, int64_t value) {
  add_attr(node, name, 2).set_i(value);
}
inline void set_text(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  add_attr(node, name, 3).set_s(value);
}
inline void set_floats(onnx::NodeProto& node, const std::string& name,
                       const std::vector<float>& values) {
  onnx::AttributeProto& attr = add_attr(node, name, 6);
  for (const float value : values) attr.add_floats(value);
}
inline void set_ints(onnx::NodeProto& node, const std::string& name,
                     const std::vector<int64_t>& values) {
  onnx::AttributeProto& attr = add_attr(node, name, 7);
  for (const int64_t value : values) attr.add_ints(value);
}
inline onnx::GraphProto& set_graph(onnx::NodeProto& node, const std::string& name) {
  return *add_attr(node, name, 5).mutable_g();
}

inline void describe(onnx::ValueInfoProto& info, const std::string& name,
                     const std::vector<int64_t>& dims, int type) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const int64_t extent : dims) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    if (extent == kUnknown) {
      dim.set_dim_param("n");
    } else {
      dim.set_dim_value(extent);
    }
  }
}

// One graph: the model's, a branch or the body of a loop.
class GraphWriter {
 public:
  explicit GraphWriter(onnx::GraphProto& graph) : graph_(graph) {}

  GraphWriter& input(const std::string& name, const std::vector<int64_t>& dims, int type = kFloat) {
    describe(*graph_.add_input(), name, dims, type);
    return *this;
  }
  GraphWriter& output(const std::string& name) {
    graph_.add_output()->set_name(name);
    return *this;
  }
  GraphWriter& value_info(const std::string& name, const std::vector<int64_t>& dims) {
    describe(*graph_.add_value_info(), name, dims, kFloat);
    return *this;
  }
  onnx::TensorProto& floats(const std::string& name, const std::vector<int64_t>& dims,
                            const std::vector<float>& values) {
    onnx::TensorProto& tensor = new_tensor(name, dims, kFloat);
    for (const float value : values) tensor.add_float_data(value);
    return tensor;
  }
  onnx::TensorProto& ints(const std::string& name, const std::vector<int64_t>& dims,
                          const std::vector<int64_t>& values) {
    onnx::TensorProto& tensor = new_tensor(name, dims, kInt64);
    for (const int64_t value : values) tensor.add_int64_data(value);
    return tensor;
  }
  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& name = "") {
    onnx::NodeProto& node = *graph_.add_node();
    node.set_op_type(op);
    node.set_name(name);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }

 private:
  onnx::TensorProto& new_tensor(const std::string& name, const std::vector<int64_t>& dims,
                                int type) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const int64_t extent : dims) tensor.add_dims(extent);
    return tensor;
  }
  onnx::GraphProto& graph_;
};

class ModelWriter : public GraphWriter {
 public:
  explicit ModelWriter(int64_t opset = 17) : ModelWriter(std::make_unique<onnx::ModelProto>()) {
    model->set_ir_version(8);
    model->add_opset_import()->set_version(opset);
  }

  Result<Graph> import(const ImportOptions& options = {}, const std::string& base_dir = "",
                       const OpRegistry& registry = ops::registry()) const {
    const std::string bytes = model->SerializeAsString();
    return import_onnx_bytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                             base_dir, options, registry);
  }
  // The message of the failure that must come.
  std::string failure(const ImportOptions& options = {}, const std::string& base_dir = "") const {
    const auto graph = import(options, base_dir);
    return graph.ok() ? "no failure" : graph.status().message();
  }

  std::unique_ptr<onnx::ModelProto> model;

 private:
  explicit ModelWriter(std::unique_ptr<onnx::ModelProto> fresh)
      : GraphWriter(*fresh->mutable_graph()), model(std::move(fresh)) {}
};

// The first output's numbers, by the operators' references.
inline std::vector<float> run_graph(const Graph& graph, const std::vector<Tensor>& inputs,
                                    size_t output = 0) {
  std::map<const Value*, Tensor> values;
  for (const Value* value : graph.values()) {
    if (value->is_constant()) values[value] = value->constant();
  }
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = inputs[i];
  for (const Node* node : graph.nodes()) {
    std::vector<const Tensor*> given;
    for (const Value* input : node->inputs()) {
      given.push_back(input == nullptr ? nullptr : &values.at(input));
    }
    auto results = ops::evaluate_reference(*node, given);
    if (!results.ok()) return {};
    for (size_t i = 0; i < results->size(); ++i) values[&node->output(i)] = (*results)[i];
  }
  return values.at(graph.outputs()[output]).to_f32();
}

// "Reshape Softmax Reshape": the operators in order.
inline std::string op_names(const Graph& graph) {
  std::string out;
  for (const Node* node : graph.nodes()) out += str(out.empty() ? "" : " ", node->op());
  return out;
}

inline std::vector<int64_t> constant_ints(const Node& node, size_t input) {
  return node.has_input(input) && node.input(input).is_constant()
             ? node.input(input).constant().to_i64()
             : std::vector<int64_t>{-999};
}

}  // namespace rk::frontends::testing

// SPDX-License-Identifier: Apache-2.0
// OnnxImporter: one walk over the needed nodes, in order, with names looked up in nested scopes. If, Loop and
// model-local functions are expanded on the way (control_flow.cpp), so the result is one flat graph.
//
// An operator that cannot be imported makes its results "unavailable" instead of ending the walk; everything behind
// them is unavailable too. Only when a wanted output is, the import fails, and then names all such operators.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontends/graph_builder.h"
#include "frontends/model_source.h"
#include "frontends/onnx/attributes.h"
#include "frontends/onnx/node_order.h"
#include "frontends/onnx/rk_onnx.pb.h"

namespace rk::frontends {

struct ScanPlan;

class OnnxImporter {
 public:
  // `model` must outlive the importer.
  OnnxImporter(const onnx::ModelProto& model, std::string base_dir, const ImportOptions& options,
               const OpRegistry& registry);

  Result<Graph> run();

 private:
  using Opsets = std::map<std::string, int64_t>;

  // What a name stands for: a value, a sequence of such, an absent optional (all null), or nothing because of `why`.
  struct Binding {
    Value* value = nullptr;
    std::shared_ptr<const std::string> why;
    std::shared_ptr<const std::vector<Binding>> elements;
    bool available() const { return why == nullptr; }
    bool is_sequence() const { return elements != nullptr; }
    bool is_absent() const { return value == nullptr && elements == nullptr; }
  };

  struct Scope {
    Scope* parent =
        nullptr;  // where a sub-graph finds outer names; null for the main graph and functions
    std::map<std::string, Binding> values;
    std::map<std::string, const onnx::TensorProto*> constants;  // of the file, made when first used
    std::map<std::string, const onnx::SparseTensorProto*> sparse_constants;  // likewise
    std::string prefix;                                                      // of names from inside
    std::map<std::string, std::string> result_names;  // inside name -> name it gets outside
    AttrBindings attrs;
    const Opsets* opsets = nullptr;
    int depth = 0;
  };

  // The main graph.
  Status prepare_names();
  Status add_inputs();
  Result<TensorType> input_type(const std::string& name, size_t index);
  Result<TensorType> inferred_type(const std::string& name);
  Status add_input(const std::string& name, size_t index);
  Status add_container_input(const std::string& name, const onnx::TypeProto& type);
  Status check_option_sizes(size_t input_count) const;
  Status check_names(const std::vector<std::string>& names, std::string_view option) const;
  Status add_outputs();
  Status add_output(const std::string& name, Value* value);
  const onnx::TypeProto* declared_type(const std::string& name) const;
  void compare_with_declared(const std::string& name, const Value& value);

  // Nodes.
  Status import_nodes(Scope& scope, const NodeList& nodes, const std::vector<std::string>& wanted);
  Status import_node(Scope& scope, const onnx::NodeProto& proto);
  Status dispatch(Scope& scope, const onnx::NodeProto& proto);
  Status import_operator(Scope& scope, const onnx::NodeProto& proto);
  Status import_constant(Scope& scope, const onnx::NodeProto& proto);
  Result<NodeDraft> draft_of(Scope& scope, const onnx::NodeProto& proto);
  Result<Binding> look_up(Scope& scope, const std::string& name, const std::string& reader);
  Status bind_results(Scope& scope, const onnx::NodeProto& proto,
                      const std::vector<Value*>& results);
  void bind_unavailable(Scope& scope, const onnx::NodeProto& proto, const std::string& why);
  void note_unsupported(Scope& scope, const onnx::NodeProto& proto, const std::string& message);
  std::string cut_advice(Scope& scope, const onnx::NodeProto& proto);
  std::string result_name(const Scope& scope, const std::string& name) const;
  std::string node_name(const Scope& scope, const onnx::NodeProto& proto) const;
  Result<int64_t> opset_of(const Scope& scope, const std::string& domain,
                           const std::string& what) const;
  Result<Opsets> read_opsets(
      const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) const;
  bool is_known(const onnx::NodeProto& proto) const;

  // Sequences and optionals: containers of values that exist at import only.
  using ContainerOp = Status (OnnxImporter::*)(Scope& scope, const onnx::NodeProto& proto);
  static ContainerOp find_container_op(const std::string& op);
  Status import_sequence_construct(Scope& scope, const onnx::NodeProto& proto);
  Status import_sequence_at(Scope& scope, const onnx::NodeProto& proto);
  Status import_sequence_insert(Scope& scope, const onnx::NodeProto& proto);
  Status import_sequence_erase(Scope& scope, const onnx::NodeProto& proto);
  Status import_sequence_length(Scope& scope, const onnx::NodeProto& proto);
  Status import_concat_from_sequence(Scope& scope, const onnx::NodeProto& proto);
  Status import_split_to_sequence(Scope& scope, const onnx::NodeProto& proto);
  Status import_sequence_map(Scope& scope, const onnx::NodeProto& proto);
  Status import_optional(Scope& scope, const onnx::NodeProto& proto);
  Status import_optional_has_element(Scope& scope, const onnx::NodeProto& proto);
  Result<std::vector<Binding>> bindings_of(Scope& scope, const onnx::NodeProto& proto);
  Result<std::vector<Binding>> sequence_of(Scope& scope, const onnx::NodeProto& proto, int input);
  // Where in a sequence of `count` input `input` points; `absent` when it is not given.
  Result<size_t> position_of(Scope& scope, const onnx::NodeProto& proto, int input, size_t count,
                             size_t absent);
  bool touches_containers(Scope& scope, const onnx::NodeProto& proto);

  // Control flow.
  Status import_if(Scope& scope, const onnx::NodeProto& proto);
  Status import_loop(Scope& scope, const onnx::NodeProto& proto);
  Status import_scan(Scope& scope, const onnx::NodeProto& proto);
  Result<std::vector<Value*>> scan_once(Scope& scope, const onnx::NodeProto& proto,
                                        const ScanPlan& plan, std::vector<Value*> states,
                                        const std::vector<Value*>& sources,
                                        const std::string& prefix);
  Status import_flex_attention(Scope& scope, const onnx::NodeProto& proto);
  Result<Binding> modified(Scope& scope, const onnx::NodeProto& proto, const std::string& attr,
                           Value* value);
  Status import_call(Scope& scope, const onnx::NodeProto& proto,
                     const onnx::FunctionProto& function);
  Result<std::vector<Binding>> import_body(Scope& outer, const onnx::GraphProto& body,
                                           std::vector<Binding> inputs, Scope inner,
                                           const std::string& what);
  Status gather_constants(Scope& scope, const onnx::GraphProto& graph);
  const onnx::FunctionProto* find_function(const onnx::NodeProto& proto) const;
  // Joins equal values along a new axis.
  Result<Value*> stack_rows(const onnx::NodeProto& proto, const std::string& name,
                            const std::vector<Value*>& rows, int64_t axis = 0);

  const onnx::ModelProto& model_;
  const onnx::GraphProto& proto_;
  const std::string base_dir_;
  const ImportOptions& options_;
  Graph graph_;
  GraphBuilder builder_;
  Scope main_;
  Opsets opsets_;
  std::map<std::string, Opsets> function_opsets_;
  std::map<std::string, const onnx::FunctionProto*> functions_;
  std::map<std::string, const onnx::TypeProto*> declared_;  // inputs, outputs, value_info
  std::set<std::string> model_inputs_;    // the file's inputs that are not constants
  std::vector<std::string> input_names_;  // those this import has
  std::vector<std::string> output_names_;
  std::vector<std::string> unsupported_;  // one message each
  std::set<const onnx::NodeProto*> noted_;
  std::vector<Value*> counts_;      // how much of a padded result is real; outputs of the graph
  bool shapes_overridden_ = false;  // then the file's value_info is about other shapes
  size_t expanded_nodes_ = 0;
};

}  // namespace rk::frontends

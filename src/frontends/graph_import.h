// SPDX-License-Identifier: Apache-2.0
// What importers have in common beyond adding nodes: a caller's options applied to inputs and outputs, operators that
// cannot be imported gathered into one message, names of results, the last checks. ONNX has its own, because its names
// live in nested scopes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontends/graph_builder.h"
#include "frontends/model_source.h"

namespace rk::frontends {

// The constant that the caller gives in place of input `name`, converted to the input's type. A single number fits every
// input of one element, whatever its rank.
Result<Tensor> initial_value(const Tensor& given, const std::string& name, const TensorType& type);

class GraphImport {
 public:
  // `options` and `registry` outlive the object.
  GraphImport(const ImportOptions& options, const OpRegistry& registry)
      : options_(options), graph_(registry), builder_(graph_) {}

  const ImportOptions& options() const { return options_; }
  Graph& graph() { return graph_; }
  GraphBuilder& builder() { return builder_; }

  // A note for the user, once however often it is made.
  void note(std::string text);

  // The names in options().inputs or .outputs must be in `all`; `option` is the argument's name. kInvalidArgument names
  // close ones.
  Status check_names(const std::vector<std::string>& names, std::string_view option,
                     const std::vector<std::string>& all) const;
  // Option lists with one entry per input have as many entries as there are inputs.
  Status check_input_count(const std::vector<std::string>& inputs) const;
  // The shape of input `index`, in the file's layout: as the caller says, else as declared. An extent of -1 that the
  // caller leaves open is kInvalidArgument.
  Result<std::vector<int64_t>> input_dims(const std::string& name, size_t index,
                                          const std::vector<int64_t>& declared) const;
  // Adds it, or the constant that the caller gives in its place. `shape` is the graph's (NCHW).
  Result<Value*> add_input(const std::string& name, size_t index, const TensorType& type);

  // An operator that cannot be imported, in one sentence. finish() fails with all of them, once an output needs one.
  void add_unsupported(std::string message);
  bool has_unsupported() const { return !unsupported_.empty(); }
  Status unsupported_error() const;

  // The value becomes an output under this name.
  Status add_output(const std::string& name, Value* value);
  // Removes what no output needs and verifies.
  Result<Imported> finish();

 private:
  const ImportOptions& options_;
  Graph graph_;
  GraphBuilder builder_;
  std::vector<std::string> notes_;
  std::vector<std::string> unsupported_;
  std::set<std::string> outputs_;
};

}  // namespace rk::frontends

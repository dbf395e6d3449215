// SPDX-License-Identifier: Apache-2.0
#include "frontends/graph_import.h"

#include <algorithm>

#include "base/suggest.h"

namespace rk::frontends {
namespace {

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    out += str(i == 0 ? "" : ",", dims[i] < 0 ? std::string("?") : str(dims[i]));
  }
  return out + "]";
}

}  // namespace

void GraphImport::note(std::string text) {
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

Status GraphImport::check_names(const std::vector<std::string>& names, std::string_view option,
                                const std::vector<std::string>& all) const {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      return invalid_argument(str("'", name, "' stands twice in '", option, "'"));
    }
    if (!name.empty() && std::ranges::find(all, name) != all.end()) continue;
    const std::string close = close_names(name, all);
    return invalid_argument(str("'", option, "' names '", name,
                                "', but the model has no such tensor",
                                close.empty() ? "" : "; close names: ", close));
  }
  return ok_status();
}

Status GraphImport::check_input_count(const std::vector<std::string>& inputs) const {
  const auto check = [&](size_t found, std::string_view option) -> Status {
    if (found == 0 || found == inputs.size()) return ok_status();
    std::string names;
    for (const std::string& name : inputs) names += str(names.empty() ? "'" : ", '", name, "'");
    return invalid_argument(
        str(option, " has ", found, " entries, but there are ", inputs.size(), " inputs: ", names));
  };
  RK_TRY(check(options_.input_shapes.size(), "input_size_list"));
  return check(options_.input_initial_values.size(), "input_initial_val");
}

Result<std::vector<int64_t>> GraphImport::input_dims(const std::string& name, size_t index,
                                                     const std::vector<int64_t>& declared) const {
  const bool given = index < options_.input_shapes.size() && !options_.input_shapes[index].empty();
  const std::vector<int64_t>& dims = given ? options_.input_shapes[index] : declared;
  if (given && !declared.empty() && dims.size() != declared.size()) {
    return invalid_argument(str("input_size_list gives ", dims_text(dims), " for input '", name,
                                "', which has ", declared.size(),
                                " dimensions in the model: ", dims_text(declared)));
  }
  for (const int64_t extent : dims) {
    if (extent > 0) continue;
    return invalid_argument(str("input '", name, "': ", dims_text(dims),
                                given ? " in input_size_list has an extent that is not positive"
                                      : " is not a fixed shape; pass it in input_size_list"));
  }
  return dims;
}

Result<Tensor> initial_value(const Tensor& given, const std::string& name, const TensorType& type) {
  const bool is_one = given.elements() == 1 && type.shape.elements() == 1;
  if (given.shape() != type.shape && !is_one) {
    return invalid_argument(str("input_initial_val of input '", name, "' is ",
                                to_string(given.type()), ", the input is ", to_string(type)));
  }
  return given.reshaped(type.shape).cast(type.dtype);
}

Result<Value*> GraphImport::add_input(const std::string& name, size_t index,
                                      const TensorType& type) {
  if (index < options_.input_initial_values.size() && options_.input_initial_values[index]) {
    RK_ASSIGN(Tensor initial, initial_value(*options_.input_initial_values[index], name, type));
    return builder_.constant(name, std::move(initial));
  }
  return graph_.add_input(name, {computing_dtype(type.dtype), type.shape});
}

void GraphImport::add_unsupported(std::string message) {
  if (std::ranges::find(unsupported_, message) == unsupported_.end()) {
    unsupported_.push_back(std::move(message));
  }
}

Status GraphImport::unsupported_error() const {
  constexpr size_t kMostLines = 30;
  if (unsupported_.size() == 1) return unsupported(unsupported_[0]);
  std::string message = str(unsupported_.size(), " nodes cannot be imported:");
  for (size_t i = 0; i < std::min(unsupported_.size(), kMostLines); ++i) {
    message += str("\n  ", unsupported_[i]);
  }
  if (unsupported_.size() > kMostLines) {
    message += str("\n  and ", unsupported_.size() - kMostLines, " more");
  }
  return unsupported(std::move(message));
}

Status GraphImport::add_output(const std::string& name, Value* value) {
  if (value->name() != name || graph_.is_output(*value)) {
    const bool is_free =
        !graph_.is_output(*value) && !graph_.is_input(*value) && !outputs_.contains(value->name());
    if (Value* other = graph_.find(name); other != nullptr && other != value) {
      if (graph_.is_input(*other)) {
        return invalid_model(str("'", name, "' is an input and an output of the model"));
      }
      graph_.rename(other, graph_.unique_name(name + "/inner"));
    }
    if (is_free && !value->is_constant()) {
      graph_.rename(value, name);
    } else {
      RK_ASSIGN(const Node* copy, graph_.add_node({"Identity", name, {value}, {name}, {}}));
      value = &copy->output();
    }
  }
  outputs_.insert(name);
  return graph_.add_output(value);
}

Result<Imported> GraphImport::finish() {
  if (graph_.outputs().empty()) return invalid_model("the model has no outputs");
  graph_.remove_unused();
  RK_TRY(verify(graph_));
  return Imported{std::move(graph_), std::move(notes_)};
}

}  // namespace rk::frontends

// SPDX-License-Identifier: Apache-2.0
// Scan becomes part of the flat graph: its body once per index of the scanned axis. Before opset 9
// it had a batch axis in front of everything; that form is the newer one, once per batch index.
#include <algorithm>

#include "frontends/onnx/importer.h"

namespace rk::frontends {
namespace {

constexpr int64_t kMostIterations = 1024;

}  // namespace

// The attributes, complete and normalized. Directions: true is backward.
struct ScanPlan {
  const onnx::GraphProto* body = nullptr;
  size_t states = 0;
  size_t sources = 0;
  size_t collected = 0;
  std::vector<int64_t> source_axes, collected_axes;
  std::vector<bool> source_backward, collected_backward;
  int64_t length = 0;
};

namespace {

Result<std::vector<int64_t>> list_attribute(const onnx::NodeProto& proto,
                                            const AttrBindings& bindings, std::string_view name,
                                            size_t count) {
  std::vector<int64_t> out(count, 0);
  const onnx::AttributeProto* attribute = find_attribute(proto, name, bindings);
  if (attribute == nullptr) return out;
  if (static_cast<size_t>(attribute->ints_size()) != count) {
    return invalid_model(str(node_label(proto), ": attribute '", name, "' has ",
                             attribute->ints_size(), " entries, expected ", count));
  }
  std::copy(attribute->ints().begin(), attribute->ints().end(), out.begin());
  return out;
}

std::vector<bool> as_flags(const std::vector<int64_t>& list) { return {list.begin(), list.end()}; }

// `inputs` counts states and sources, without the sequence lengths of the old form.
Result<ScanPlan> make_plan(const onnx::NodeProto& proto, const AttrBindings& bindings,
                           size_t inputs, bool old_form) {
  const std::string label = node_label(proto);
  ScanPlan plan;
  const onnx::AttributeProto* body = find_attribute(proto, "body", bindings);
  if (body == nullptr || !body->has_g()) return invalid_model(str(label, ": has no body"));
  plan.body = &body->g();
  const onnx::AttributeProto* count = find_attribute(proto, "num_scan_inputs", bindings);
  const auto body_outputs = static_cast<size_t>(plan.body->output_size());
  if (count == nullptr || count->i() < 1 || static_cast<size_t>(count->i()) > inputs) {
    return invalid_model(
        str(label, ": attribute 'num_scan_inputs' does not fit ", inputs, " inputs"));
  }
  plan.sources = static_cast<size_t>(count->i());
  plan.states = inputs - plan.sources;
  if (body_outputs < plan.states || static_cast<size_t>(proto.output_size()) > body_outputs) {
    return invalid_model(str(label, ": its body gives ", body_outputs, " values, expected ",
                             plan.states, " states and those of ", proto.output_size(),
                             " outputs"));
  }
  plan.collected = body_outputs - plan.states;
  const auto list = [&](std::string_view name, size_t n) {
    return list_attribute(proto, bindings, name, n);
  };
  RK_ASSIGN(plan.source_axes, list(old_form ? "" : "scan_input_axes", plan.sources));
  RK_ASSIGN(plan.collected_axes, list(old_form ? "" : "scan_output_axes", plan.collected));
  RK_ASSIGN(const auto in, list(old_form ? "directions" : "scan_input_directions", plan.sources));
  RK_ASSIGN(const auto out, list(old_form ? "" : "scan_output_directions", plan.collected));
  plan.source_backward = as_flags(in);
  plan.collected_backward = as_flags(out);
  return plan;
}

Status settle_length(const onnx::NodeProto& proto, const std::vector<Value*>& sources,
                     ScanPlan& plan) {
  const std::string label = node_label(proto);
  for (size_t i = 0; i < sources.size(); ++i) {
    const Shape& shape = sources[i]->shape();
    int64_t& axis = plan.source_axes[i];
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank()) {
      return invalid_model(str(label, ": scans an axis that ", to_string(shape), " does not have"));
    }
    const int64_t extent = shape[static_cast<int>(axis)];
    if (i != 0 && extent != plan.length) {
      return invalid_model(str(label, ": scans ", plan.length, " and ", extent, " indices"));
    }
    plan.length = extent;
  }
  if (plan.length < 1 || plan.length > kMostIterations) {
    return unsupported(
        str(label, ": scans ", plan.length, " indices; 1 to ", kMostIterations, " are supported"));
  }
  return ok_status();
}

NodeDraft draft_at(const std::string& name) {
  NodeDraft draft;
  draft.name = name;
  return draft;
}

}  // namespace

// One pass over the scanned axes: final states, then what was collected.
Result<std::vector<Value*>> OnnxImporter::scan_once(Scope& scope, const onnx::NodeProto& proto,
                                                    const ScanPlan& plan,
                                                    std::vector<Value*> states,
                                                    const std::vector<Value*>& sources,
                                                    const std::string& prefix) {
  std::vector<std::vector<Value*>> rows(plan.collected);
  for (int64_t step = 0; step < plan.length; ++step) {
    const NodeDraft around = draft_at(str(prefix, "/", step, "/in"));
    std::vector<Binding> inputs;
    for (Value* state : states) inputs.push_back({state, nullptr, nullptr});
    for (size_t i = 0; i < sources.size(); ++i) {
      const int64_t at = plan.source_backward[i] ? plan.length - 1 - step : step;
      Value* const index = builder_.constant(around.name + "/index", Tensor::i64({}, {at}));
      RK_ASSIGN(Value* const row, builder_.emit(around, "Gather", "", {sources[i], index},
                                                {{"axis", plan.source_axes[i]}}));
      inputs.push_back({row, nullptr, nullptr});
    }
    Scope inner;
    inner.prefix = str(prefix, "/", step, "/");
    RK_ASSIGN(const auto results, import_body(scope, *plan.body, std::move(inputs),
                                              std::move(inner), node_label(proto)));
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].available()) return unsupported(*results[i].why);
      if (results[i].value == nullptr) {
        return invalid_model(str(node_label(proto), ": its body gives no value"));
      }
      if (i < plan.states) {
        states[i] = results[i].value;
      } else {
        rows[i - plan.states].push_back(results[i].value);
      }
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (plan.collected_backward[i]) std::ranges::reverse(rows[i]);
    int64_t axis = plan.collected_axes[i];
    if (axis < 0) axis += rows[i][0]->shape().rank() + 1;
    RK_ASSIGN(Value* const stacked, stack_rows(proto, str(prefix, "/stacked", i), rows[i], axis));
    states.push_back(stacked);
  }
  return states;
}

Status OnnxImporter::import_scan(Scope& scope, const onnx::NodeProto& proto) {
  const std::string label = node_label(proto);
  RK_ASSIGN(const int64_t opset, opset_of(scope, "", label));
  const bool old_form = opset < 9;
  std::vector<Value*> inputs;
  RK_ASSIGN(const std::vector<Binding> bindings, bindings_of(scope, proto));
  for (const Binding& binding : bindings) inputs.push_back(binding.value);
  if (old_form && !inputs.empty()) {
    if (inputs[0] != nullptr) {
      return unsupported(str(label, ": lengths per sequence (sequence_lens) are not supported"));
    }
    inputs.erase(inputs.begin());
  }
  if (inputs.empty() || std::ranges::find(inputs, nullptr) != inputs.end()) {
    return invalid_model(str(label, ": an input is missing"));
  }
  RK_ASSIGN(ScanPlan plan, make_plan(proto, scope.attrs, inputs.size(), old_form));
  const auto split = static_cast<std::ptrdiff_t>(plan.states);
  std::vector<Value*> states(inputs.begin(), inputs.begin() + split);
  std::vector<Value*> sources(inputs.begin() + split, inputs.end());
  const std::string prefix = node_name(scope, proto);
  if (!old_form) {
    RK_TRY(settle_length(proto, sources, plan));
    RK_ASSIGN(const std::vector<Value*> results,
              scan_once(scope, proto, plan, std::move(states), sources, prefix));
    return bind_results(scope, proto, results);
  }
  const auto has_batch = [&](const Value* value) {
    return value->shape().rank() > 0 && value->shape()[0] == inputs[0]->shape()[0];
  };
  if (!std::ranges::all_of(inputs, has_batch) || inputs[0]->shape()[0] == 0) {
    return invalid_model(str(label, ": its inputs differ in their batch"));
  }
  std::vector<std::vector<Value*>> batches(plan.states + plan.collected);
  for (int64_t batch = 0; batch < inputs[0]->shape()[0]; ++batch) {
    const NodeDraft around = draft_at(str(prefix, "/batch", batch));
    Value* const index = builder_.constant(around.name + "/index", Tensor::i64({}, {batch}));
    const auto take = [&](std::vector<Value*> values) -> Result<std::vector<Value*>> {
      for (Value*& value : values) {
        RK_ASSIGN(value,
                  builder_.emit(around, "Gather", "", {value, index}, {{"axis", int64_t{0}}}));
      }
      return values;
    };
    RK_ASSIGN(std::vector<Value*> own_states, take(states));
    RK_ASSIGN(const std::vector<Value*> own_sources, take(sources));
    RK_TRY(settle_length(proto, own_sources, plan));
    RK_ASSIGN(const std::vector<Value*> results,
              scan_once(scope, proto, plan, std::move(own_states), own_sources, around.name));
    for (size_t i = 0; i < results.size(); ++i) batches[i].push_back(results[i]);
  }
  std::vector<Value*> results;
  for (size_t i = 0; i < batches.size(); ++i) {
    RK_ASSIGN(Value* const joined, stack_rows(proto, str(prefix, "/joined", i), batches[i]));
    results.push_back(joined);
  }
  return bind_results(scope, proto, results);
}

}  // namespace rk::frontends

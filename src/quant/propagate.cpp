// SPDX-License-Identifier: Apache-2.0
// Which values share a scale, and the parameters of each group.
//
// An operator that only moves values (QuantRule::kSameScaleAsInput) ties its output to its input. A Concat ties an
// input to its output only where nobody else reads that input: such an input would be requantized to the common scale
// anyway, while one with other readers keeps its own finer scale and is requantized on the way in.
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/log.h"
#include "quant/quantize.h"
#include "quant/regions.h"

namespace rk::quant {
namespace {

class Groups {
 public:
  const Value* root(const Value* value) {
    const auto it = parent_.find(value);
    if (it == parent_.end() || it->second == value) return value;
    return parent_[value] = root(it->second);
  }
  void join(const Value* a, const Value* b) { parent_[root(a)] = root(b); }

 private:
  std::unordered_map<const Value*, const Value*> parent_;
};

using ValueSet = std::unordered_set<const Value*>;

void tie_scales(const Graph& graph, const Node& node, const ValueSet& i8, Groups& groups) {
  if (node.def().quant != QuantRule::kSameScaleAsInput) return;
  const bool several =
      node.def().inputs.front().kind == ArgDef::kVariadic && node.input_count() > 1;
  for (const Value* output : node.outputs()) {
    if (!i8.contains(output)) continue;
    for (const Value* input : node.inputs()) {
      if (input == nullptr || !i8.contains(input)) continue;
      const bool only_reader = input->uses().size() == 1 && !graph.is_output(*input);
      if (!several || only_reader) groups.join(input, output);
      if (!several) break;  // further inputs are indices and sizes
    }
  }
}

Result<Range> own_range(const Value& value, const Ranges& ranges) {
  const Node* node = value.producer();
  const auto it = ranges.find(value.name());
  if (node != nullptr && node->def().quant == QuantRule::kFixed) {
    const Range fixed{node->def().fixed_range.first, node->def().fixed_range.second};
    // A softmax over hundreds of entries stays far below 1: on the fixed scale all of it would be a step or two. An
    // element-wise function (Sigmoid) keeps its range: what calibration saw says little about the next picture.
    const bool narrow = node->def().elements != Elements::kUnary && it != ranges.end() &&
                        it->second.max < fixed.max / 2 && it->second.min >= fixed.min / 2;
    return narrow ? it->second : fixed;
  }
  if (it == ranges.end())
    return invalid_argument(str("value '", value.name(), "' was not seen in calibration"));
  return it->second;
}

// What a saturating function tells apart; beyond it the result is within half a step of int8. The
// vendor's compiler calibrates the arguments of these so (docs/facts/lookup-tables.md).
std::optional<Range> useful_argument(const Node& node) {
  constexpr float kAll = std::numeric_limits<float>::infinity();
  if (node.op() == "Sigmoid") return Range{-7, 7};
  if (node.op() == "Tanh") return Range{-3.2f, 3.2f};
  if (node.op() == "HardSwish") return Range{-3, kAll};
  if (node.op() != "HardSigmoid") return std::nullopt;
  const float alpha = node.f32("alpha"), beta = node.f32("beta");
  if (!(alpha > 0)) return std::nullopt;
  return Range{-beta / alpha, (1 - beta) / alpha};
}

// Each element of its result is one of the first input's, or is there whatever that input holds.
bool only_moves(const Node& node) {
  return node.def().quant == QuantRule::kSameScaleAsInput && node.op() != "Resize";
}

// The part of a value's range that its readers tell apart, by what they need of their own results.
std::unordered_map<const Value*, Range> needed_ranges(const Graph& graph, const ValueSet& i8,
                                                      const Ranges& ranges) {
  std::unordered_map<const Value*, Range> out;
  const auto needed_by = [&](const Node& reader) -> std::optional<Range> {
    Range all{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
    for (const Value* result : reader.outputs()) {
      if (!i8.contains(result)) return std::nullopt;
      if (!only_moves(reader)) return useful_argument(reader);
      const auto found = out.find(result);
      const auto seen = ranges.find(result->name());
      if (found == out.end() && seen == ranges.end()) return std::nullopt;
      const Range& one = found != out.end() ? found->second : seen->second;
      all = {std::min(all.min, one.min), std::max(all.max, one.max)};
    }
    return all;
  };
  const std::vector<Node*> nodes = graph.nodes();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    for (const Value* value : (*node)->outputs()) {
      if (!i8.contains(value) || graph.is_output(*value) || value->uses().empty()) continue;
      std::optional<Range> all;
      for (const Use& use : value->uses()) {
        const std::optional<Range> one = needed_by(*use.node);
        if (!one) {
          all.reset();
          break;
        }
        all = all ? Range{std::min(all->min, one->min), std::max(all->max, one->max)} : *one;
      }
      if (all) out.emplace(value, *all);
    }
  }
  return out;
}

Range clamped(Range range, const Range& to) {
  return {std::clamp(range.min, to.min, to.max), std::clamp(range.max, to.min, to.max)};
}

}  // namespace

Status quantize_weights(const Node& node, const QuantizeOptions& options) {
  if (node.def().quant != QuantRule::kAccumulate || !node.has_input(1)) return ok_status();
  Value& weight = node.input(1);
  if (!weight.is_constant() || weight.dtype() != DType::kF32 || weight.quantized())
    return ok_status();
  const bool wide = options.dtype == DType::kI16 || is_named(node, options.i16_layers);
  if (!wide && !computes_in_i8(node, options.target, options.float_layers)) return ok_status();
  if (is_named(node, options.float_layers)) return ok_status();
  const bool per_channel =
      options.weights == WeightMethod::kChannel && node.def().weight_axis != nullptr;
  std::vector<int64_t> floored;
  weight.quant = weight_params(weight.constant(), per_channel ? node.def().weight_axis(node) : -1,
                               &floored, wide ? DType::kI16 : DType::kI8);
  if (!floored.empty()) {
    log(LogLevel::kInfo,
        str(node.label(), ": ", floored.size(), " of ", weight.quant.scale.size(),
            " weight channels are narrower than 1/512 of the widest and share its floor scale"));
  }
  return ok_status();
}

Status quantize(Graph& graph, const Ranges& ranges, const QuantizeOptions& options) {
  FloatLayers not_i8 = options.float_layers;
  not_i8.insert(options.i16_layers.begin(), options.i16_layers.end());
  const ValueSet i8 = i8_values(graph, options.target, not_i8);
  Groups groups;
  for (const Node* node : graph.nodes()) tie_scales(graph, *node, i8, groups);

  // A layer that is asked to leave int8 leaves it, whatever the model brought.
  for (Value* value : graph.values()) {
    const bool asked = value->producer() != nullptr ? is_named(*value->producer(), not_i8)
                                                    : not_i8.contains(value->name());
    if (asked && !i8.contains(value)) value->quant = {};
  }
  // A group takes the parameters of a member that has some, else the union of its members' ranges.
  std::unordered_map<const Value*, QuantParams> given;
  for (const Value* value : graph.values()) {
    if (i8.contains(value) && value->quantized()) given.emplace(groups.root(value), value->quant);
  }
  std::unordered_map<const Value*, Range> needed;
  if (options.dtype == DType::kI8) needed = needed_ranges(graph, i8, ranges);
  std::unordered_map<const Value*, Range> range_of_group;
  for (const Value* value : graph.values()) {
    if (!i8.contains(value) || given.contains(groups.root(value))) continue;
    RK_ASSIGN(Range range, own_range(*value, ranges));
    if (const auto part = needed.find(value); part != needed.end())
      range = clamped(range, part->second);
    const auto [it, is_new] = range_of_group.emplace(groups.root(value), range);
    if (is_new) continue;
    it->second.min = std::min(it->second.min, range.min);
    it->second.max = std::max(it->second.max, range.max);
  }
  for (Value* value : graph.values()) {
    if (value->quantized() || value->is_constant()) continue;
    if (i8.contains(value)) {
      const Value* const root = groups.root(value);
      const auto it = given.find(root);
      value->quant = it != given.end() ? it->second
                                       : activation_params(range_of_group.at(root), options.dtype);
    } else if (is_activation(*value) && value->producer() != nullptr &&
               is_named(*value->producer(), options.i16_layers)) {
      RK_ASSIGN(const Range range, own_range(*value, ranges));
      value->quant = activation_params(range, DType::kI16);
    }
  }
  for (const Node* node : graph.nodes()) RK_TRY(quantize_weights(*node, options));
  return verify(graph);
}

}  // namespace rk::quant

// SPDX-License-Identifier: Apache-2.0
// Decision trees, encoders and maps of ai.onnx.ml.
#include <algorithm>
#include <map>
#include <set>

#include "base/log.h"
#include "frontends/onnx/ml_parts.h"

namespace rk::frontends {

using ml::emit;
using ml::take_numbers;
using ml::take_or;

namespace {

using Ints = std::vector<int64_t>;

int64_t mode_number(const std::string& mode) {
  constexpr const char* kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                    "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  for (int64_t i = 0; i < 6; ++i) {
    if (mode == kModes[i]) return i;
  }
  return mode == "LEAF" ? -1 : -2;
}

// The lists of TreeEnsembleClassifier and -Regressor: nodes are named by tree and number within it.
struct OldTrees {
  Ints trees, ids, features, true_ids, false_ids, missing;
  std::vector<std::string> modes;
  std::vector<float> values;
  Ints weight_trees, weight_ids, targets;
  std::vector<float> weights;
};

Result<OldTrees> take_old(NodeDraft& draft, const std::string& prefix) {
  OldTrees out;
  RK_ASSIGN(out.trees, take_or(draft, "nodes_treeids", Ints()));
  RK_ASSIGN(out.ids, take_or(draft, "nodes_nodeids", Ints()));
  RK_ASSIGN(out.features, take_or(draft, "nodes_featureids", Ints()));
  RK_ASSIGN(out.true_ids, take_or(draft, "nodes_truenodeids", Ints()));
  RK_ASSIGN(out.false_ids, take_or(draft, "nodes_falsenodeids", Ints()));
  RK_ASSIGN(out.missing, take_or(draft, "nodes_missing_value_tracks_true", Ints()));
  RK_ASSIGN(out.modes, take_or(draft, "nodes_modes", std::vector<std::string>()));
  RK_ASSIGN(out.values, take_numbers(draft, "nodes_values"));
  RK_ASSIGN(out.weight_trees, take_or(draft, prefix + "_treeids", Ints()));
  RK_ASSIGN(out.weight_ids, take_or(draft, prefix + "_nodeids", Ints()));
  RK_ASSIGN(out.targets, take_or(draft, prefix + "_ids", Ints()));
  RK_ASSIGN(out.weights, take_numbers(draft, prefix + "_weights"));
  RK_ASSIGN(const auto hit_rates, take_numbers(draft, "nodes_hitrates"));
  (void)hit_rates;  // how often nodes were taken in training
  const size_t count = out.ids.size();
  if (out.missing.empty()) out.missing.resize(count, 0);
  for (const size_t other :
       {out.trees.size(), out.features.size(), out.true_ids.size(), out.false_ids.size(),
        out.missing.size(), out.modes.size(), out.values.size()}) {
    if (other != count) {
      return invalid_model(
          str(ml::label(draft), ": lists of ", other, " and ", count, " nodes, expected alike"));
    }
  }
  for (const size_t other : {out.weight_ids.size(), out.targets.size(), out.weights.size()}) {
    if (other != out.weight_trees.size()) {
      return invalid_model(str(ml::label(draft), ": lists of ", other, " and ",
                               out.weight_trees.size(), " weights, expected alike"));
    }
  }
  return out;
}

using NodeName = std::pair<int64_t, int64_t>;  // tree, number

// As the operator has it: inner nodes and leaves each counted from 0. The first node of a tree is its root.
Result<AttrMap> new_trees(const NodeDraft& draft, const OldTrees& old) {
  std::map<NodeName, size_t> place;
  for (size_t i = 0; i < old.ids.size(); ++i) {
    if (!place.emplace(NodeName(old.trees[i], old.ids[i]), i).second) {
      return invalid_model(
          str(ml::label(draft), ": node ", old.ids[i], " of tree ", old.trees[i], " stands twice"));
    }
  }
  std::map<NodeName, std::vector<size_t>> weights_of;
  for (size_t i = 0; i < old.targets.size(); ++i) {
    weights_of[{old.weight_trees[i], old.weight_ids[i]}].push_back(i);
  }
  Ints number(old.ids.size(), -1);  // of an inner node or of a leaf
  Ints features, modes, true_ids, false_ids, true_leafs, false_leafs, missing, roots, counts,
      targets;
  std::vector<float> splits, weights;
  int64_t inner = 0;
  for (size_t i = 0; i < old.ids.size(); ++i) {
    const int64_t mode = mode_number(old.modes[i]);
    if (mode == -2)
      return invalid_model(str(ml::label(draft), ": mode '", old.modes[i], "' of a node"));
    if (mode >= 0) {
      number[i] = inner++;
      continue;
    }
    number[i] = std::ssize(counts);
    const auto own = weights_of.find({old.trees[i], old.ids[i]});
    counts.push_back(own == weights_of.end() ? 0 : std::ssize(own->second));
    for (const size_t k : own == weights_of.end() ? std::vector<size_t>() : own->second) {
      targets.push_back(old.targets[k]);
      weights.push_back(old.weights[k]);
    }
  }
  std::set<int64_t> seen;
  for (size_t i = 0; i < old.ids.size(); ++i) {
    const bool is_root = seen.insert(old.trees[i]).second;
    const bool is_leaf = mode_number(old.modes[i]) < 0;
    if (is_leaf && !is_root) continue;
    size_t next[2] = {i, i};  // a tree of one leaf: both branches of a node before it
    if (!is_leaf) {
      for (const int branch : {0, 1}) {
        const int64_t id = branch == 1 ? old.true_ids[i] : old.false_ids[i];
        const auto found = place.find({old.trees[i], id});
        if (found == place.end()) {
          return invalid_model(str(ml::label(draft), ": node ", old.ids[i], " of tree ",
                                   old.trees[i], " leads to node ", id, ", which is not there"));
        }
        next[branch] = found->second;
      }
    }
    if (is_root) roots.push_back(is_leaf ? inner : number[i]);
    const auto at = static_cast<size_t>(is_leaf ? inner++ : number[i]);
    for (Ints* list :
         {&features, &modes, &true_ids, &false_ids, &true_leafs, &false_leafs, &missing}) {
      if (list->size() <= at) list->resize(at + 1, 0);
    }
    if (splits.size() <= at) splits.resize(at + 1, 0);
    features[at] = is_leaf ? 0 : old.features[i];
    modes[at] = is_leaf ? 0 : mode_number(old.modes[i]);
    splits[at] = is_leaf ? 0 : old.values[i];
    missing[at] = old.missing[i];
    true_ids[at] = number[next[1]];
    false_ids[at] = number[next[0]];
    true_leafs[at] = mode_number(old.modes[next[1]]) < 0 ? 1 : 0;
    false_leafs[at] = mode_number(old.modes[next[0]]) < 0 ? 1 : 0;
  }
  return AttrMap{{"nodes_featureids", features},
                 {"nodes_modes", modes},
                 {"nodes_splits", splits},
                 {"nodes_truenodeids", true_ids},
                 {"nodes_falsenodeids", false_ids},
                 {"nodes_trueleafs", true_leafs},
                 {"nodes_falseleafs", false_leafs},
                 {"nodes_missing_value_tracks_true", missing},
                 {"tree_roots", roots},
                 {"leaf_counts", counts},
                 {"leaf_targetids", targets},
                 {"leaf_weights", weights}};
}

Result<Value*> with_base(NodeDraft& draft, GraphBuilder& builder, Value* scores,
                         const std::vector<float>& base) {
  if (base.empty()) return scores;
  if (base.size() != 1 && std::ssize(base) != scores->shape()[1]) {
    return invalid_model(str(ml::label(draft), ": ", base.size(), " base values for ",
                             scores->shape()[1], " results"));
  }
  return emit(draft, builder, "Add", "/with_base",
              {scores, ml::vector(draft, builder, "/base", base)});
}

}  // namespace

Status tree_regressor_to_trees(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const x, ml::matrix_input(draft, builder));
  RK_ASSIGN(const OldTrees old, take_old(draft, "target"));
  RK_ASSIGN(const auto base, take_numbers(draft, "base_values"));
  RK_ASSIGN(const std::string aggregate, take_or(draft, "aggregate_function", std::string("SUM")));
  RK_ASSIGN(const int64_t targets, take_or(draft, "n_targets", int64_t{1}));
  RK_ASSIGN(AttrMap attrs, new_trees(draft, old));
  constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto found = std::ranges::find(kAggregates, aggregate);
  if (found == std::end(kAggregates))
    return invalid_model(str(ml::label(draft), ": aggregate_function '", aggregate, "'"));
  attrs["aggregate_function"] = static_cast<int64_t>(found - std::begin(kAggregates));
  attrs["n_targets"] = targets;
  RK_ASSIGN(Value * scores, emit(draft, builder, "TreeEnsemble", "/trees", {x}, std::move(attrs)));
  RK_ASSIGN(scores, with_base(draft, builder, scores, base));
  return ml::give_transformed(draft, builder, scores);
}

// Where every weight is of one class, two classes share one score; weights that are all positive are shares of 1.
Status tree_classifier_to_trees(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const x, ml::matrix_input(draft, builder));
  RK_ASSIGN(OldTrees old, take_old(draft, "class"));
  RK_ASSIGN(std::vector<float> base, take_numbers(draft, "base_values"));
  RK_ASSIGN(const ml::Labels labels, ml::take_labels(draft));
  const std::set<int64_t> classes(old.targets.begin(), old.targets.end());
  const bool one_score = labels.count == 2 && classes.size() == 1;
  const bool shares = std::ranges::all_of(old.weights, [](float weight) { return weight >= 0; });
  if (one_score) {
    old.targets.assign(old.targets.size(), 0);
    if (base.size() > 1) base = {base[1]};
  }
  RK_ASSIGN(AttrMap attrs, new_trees(draft, old));
  attrs["n_targets"] = one_score ? int64_t{1} : labels.count;
  RK_ASSIGN(Value * scores, emit(draft, builder, "TreeEnsemble", "/trees", {x}, std::move(attrs)));
  RK_ASSIGN(scores, with_base(draft, builder, scores, base));
  if (one_score) return ml::give_two_classes(draft, builder, scores, labels, shares);
  return ml::give_classes(draft, builder, scores, scores, labels);
}

// ai.onnx.ml 5: the operator itself, with tensors where it has lists.
Status tree_ensemble_to_trees(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const x, ml::matrix_input(draft, builder));
  RK_ASSIGN(const auto hit_rates, take_numbers(draft, "nodes_hitrates"));
  (void)hit_rates;
  AttrMap attrs;
  for (const char* name : {"leaf_weights", "nodes_splits", "membership_values"}) {
    RK_ASSIGN(auto numbers, take_numbers(draft, name));
    attrs[name] = std::move(numbers);
  }
  RK_ASSIGN(const auto modes, take_numbers(draft, "nodes_modes"));
  attrs["nodes_modes"] = Ints(modes.begin(), modes.end());
  for (const char* name :
       {"leaf_targetids", "nodes_falseleafs", "nodes_falsenodeids", "nodes_featureids",
        "nodes_missing_value_tracks_true", "nodes_trueleafs", "nodes_truenodeids", "tree_roots"}) {
    RK_ASSIGN(auto list, take_or(draft, name, Ints()));
    attrs[name] = std::move(list);
  }
  RK_ASSIGN(const int64_t aggregate, take_or(draft, "aggregate_function", int64_t{1}));
  RK_ASSIGN(const int64_t targets, take_or(draft, "n_targets", int64_t{1}));
  attrs["aggregate_function"] = aggregate;
  attrs["n_targets"] = targets;
  RK_ASSIGN(Value* const scores,
            emit(draft, builder, "TreeEnsemble", "/trees", {x}, std::move(attrs)));
  return ml::give_transformed(draft, builder, scores);
}

// The scores stay a tensor: maps are for Python.
Status drop_zip_map(NodeDraft& draft, GraphBuilder&) {
  if (!draft.has_input(0)) return invalid_model(str(ml::label(draft), " has no input"));
  log(LogLevel::kWarning,
      str(ml::label(draft),
          ": is left out; the scores are an output as they are, one column per class"));
  draft.op = "Identity";
  draft.attrs.clear();
  return ok_status();
}

// Integers or floats for integers or floats: where none of the keys fits, the default.
Status label_encoder_to_where(NodeDraft& draft, GraphBuilder& builder) {
  if (!draft.has_input(0)) return invalid_model(str(ml::label(draft), " has no input"));
  constexpr size_t kMostKeys = 4096;
  Tensor keys, values;
  std::optional<Tensor> standard;
  for (auto& [name, attr] : draft.attrs) {
    Tensor tensor;
    if (const auto* ints = std::get_if<Ints>(&attr))
      tensor = Tensor::i64({std::ssize(*ints)}, *ints);
    if (const auto* reals = std::get_if<std::vector<float>>(&attr))
      tensor = Tensor::f32({std::ssize(*reals)}, *reals);
    if (const auto* stored = std::get_if<Tensor>(&attr)) tensor = *stored;
    if (name.find("string") != name.npos && name != "default_string") {
      return unsupported("maps texts, which no tensor here can hold");
    }
    if (tensor.empty()) continue;
    if (name.starts_with("keys")) keys = tensor;
    if (name.starts_with("values")) values = tensor;
    if (name == "default_tensor") standard = tensor;
  }
  if (keys.empty() || values.empty() || keys.elements() != values.elements() ||
      keys.elements() < 1 || static_cast<size_t>(keys.elements()) > kMostKeys) {
    return unsupported(
        "without keys and values as numbers, as many of each (4096 at most), is not taken");
  }
  const bool real = is_float(values.dtype());
  RK_ASSIGN(const int64_t default_int, take_or(draft, "default_int64", int64_t{-1}));
  RK_ASSIGN(const float default_float, take_or(draft, "default_float", -0.0f));
  draft.attrs.clear();
  const int64_t count = keys.elements();
  const DType out = real ? DType::kF32 : DType::kI64;
  Tensor fallback = standard ? standard->cast(out)
                    : real   ? Tensor::f32({1}, {default_float})
                             : Tensor::i64({1}, {default_int});
  if (fallback.elements() != 1)
    return invalid_model(
        str(ml::label(draft), ": default_tensor has ", fallback.elements(), " elements"));
  // Values behind a last one that is the default; the place of the first key that fits, else `count`.
  RK_ASSIGN(Value* const table,
            emit(draft, builder, "Concat", "/table",
                 {builder.constant(draft.name + "/values", values.cast(out).reshaped({count})),
                  builder.constant(draft.name + "/default", fallback.reshaped({1}))},
                 {{"axis", int64_t{0}}}));
  RK_ASSIGN(
      Value* const x,
      emit(draft, builder, "Cast", "/keys_type", {draft.inputs[0]},
           {{"to", static_cast<int64_t>(is_float(keys.dtype()) ? DType::kF32 : DType::kI64)}}));
  RK_ASSIGN(Value* const column,
            emit(draft, builder, "Unsqueeze", "/column", {x, builder.ints(draft, "/last", {-1})}));
  Value* const all = builder.constant(
      draft.name + "/keys",
      keys.cast(is_float(keys.dtype()) ? DType::kF32 : DType::kI64).reshaped({count}));
  RK_ASSIGN(Value* const fits, emit(draft, builder, "Equal", "/fits", {column, all}));
  Ints places;
  for (int64_t i = 0; i < count; ++i) places.push_back(i);
  RK_ASSIGN(Value* const candidates, emit(draft, builder, "Where", "/candidates",
                                          {fits, builder.ints(draft, "/places", places),
                                           builder.ints(draft, "/none", {count})}));
  RK_ASSIGN(Value* const place,
            emit(draft, builder, "ReduceMin", "/place",
                 {candidates, builder.ints(draft, "/axes", {-1})}, {{"keepdims", int64_t{0}}}));
  draft.op = "Gather";
  draft.inputs = {table, place};
  draft.attrs["axis"] = int64_t{0};
  return ok_status();
}

// Values that are the replaced one become those of their column.
Status imputer_to_where(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const x, ml::real_input(draft, builder));
  RK_ASSIGN(auto values, take_or(draft, "imputed_value_floats", std::vector<float>()));
  RK_ASSIGN(const auto ints, take_or(draft, "imputed_value_int64s", Ints()));
  RK_ASSIGN(float replaced, take_or(draft, "replaced_value_float", 0.0f));
  RK_ASSIGN(const int64_t replaced_int, take_or(draft, "replaced_value_int64", int64_t{0}));
  if (values.empty()) {
    values.assign(ints.begin(), ints.end());
    replaced = static_cast<float>(replaced_int);
  }
  const int rank = x->shape().rank();
  if (values.empty() ||
      (values.size() != 1 && (rank == 0 || x->shape()[rank - 1] != std::ssize(values)))) {
    return invalid_model(
        str(ml::label(draft), ": ", values.size(), " values for ", to_string(x->shape())));
  }
  Value* hit = nullptr;
  if (replaced != replaced) {
    RK_ASSIGN(hit, emit(draft, builder, "IsNaN", "/hit", {x}));
  } else {
    RK_ASSIGN(hit, emit(draft, builder, "Equal", "/hit",
                        {x, builder.scalar(draft, "/replaced", replaced)}));
  }
  draft.op = "Where";
  draft.inputs = {hit, ml::vector(draft, builder, "/imputed", values), x};
  return ok_status();
}

Status one_hot_encoder_to_equal(NodeDraft& draft, GraphBuilder& builder) {
  if (!draft.has_input(0)) return invalid_model(str(ml::label(draft), " has no input"));
  RK_ASSIGN(const auto texts, take_or(draft, "cats_strings", std::vector<std::string>()));
  RK_ASSIGN(const auto numbers, take_or(draft, "cats_int64s", Ints()));
  RK_ASSIGN(const int64_t zeros, take_or(draft, "zeros", int64_t{1}));
  if (!texts.empty()) return unsupported("of texts is not taken: no tensor here can hold them");
  if (zeros == 0) return unsupported("that fails on an unknown category (zeros=0) is not taken");
  RK_ASSIGN(Value* const x, emit(draft, builder, "Cast", "/whole", {draft.inputs[0]},
                                 {{"to", static_cast<int64_t>(DType::kI64)}}));
  RK_ASSIGN(Value* const column,
            emit(draft, builder, "Unsqueeze", "/column", {x, builder.ints(draft, "/last", {-1})}));
  RK_ASSIGN(Value* const fits, emit(draft, builder, "Equal", "/fits",
                                    {column, builder.ints(draft, "/categories", numbers)}));
  draft.op = "Cast";
  draft.inputs = {fits};
  draft.attrs["to"] = static_cast<int64_t>(DType::kF32);
  return ok_status();
}

Status feature_vectorizer_to_concat(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(const auto sizes, take_or(draft, "inputdimensions", Ints()));
  (void)sizes;  // as the inputs have them
  std::vector<Value*> rows;
  for (size_t i = 0; i < draft.inputs.size(); ++i) {
    if (!draft.has_input(i))
      return invalid_model(str(ml::label(draft), ": input ", i, " is not there"));
    RK_ASSIGN(Value * row, emit(draft, builder, "Cast", "/real", {draft.inputs[i]},
                                {{"to", static_cast<int64_t>(DType::kF32)}}));
    if (row->shape().rank() == 1) {
      RK_ASSIGN(
          row, emit(draft, builder, "Unsqueeze", "/row", {row, builder.ints(draft, "/axes", {0})}));
    }
    rows.push_back(row);
  }
  draft.op = "Concat";
  draft.inputs = std::move(rows);
  draft.attrs["axis"] = int64_t{1};
  return ok_status();
}

}  // namespace rk::frontends

// SPDX-License-Identifier: Apache-2.0
// Operators that meant something else in an older opset, or were called otherwise, and those that inference needs
// only in part.
#include <algorithm>

#include "base/log.h"
#include "frontends/onnx/opset_conversions.h"

namespace rk::frontends {
namespace {

std::string label(const NodeDraft& draft) {
  return str("node '", draft.name, "' (", draft.op, ", opset ", draft.opset, ")");
}

Status require_inputs(const NodeDraft& draft, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!draft.has_input(i)) return invalid_model(str(label(draft), ": input ", i, " is missing"));
  }
  return ok_status();
}

}  // namespace

Status align_old_broadcast(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(const std::optional<int64_t> broadcast, draft.take<int64_t>("broadcast"));
  RK_ASSIGN(const std::optional<int64_t> axis, draft.take<int64_t>("axis"));
  if (!broadcast || *broadcast == 0 || !axis || draft.op == "Gemm") return ok_status();
  RK_TRY(require_inputs(draft, 2));
  const Shape& to = draft.inputs[0]->shape();
  const Shape& from = draft.inputs[1]->shape();
  const int64_t first = *axis < 0 ? *axis + to.rank() : *axis;
  if (first < 0 || first + from.rank() > to.rank()) {
    return invalid_model(str(label(draft), ": axis ", *axis, " aligns ", to_string(from), " with ",
                             to_string(to), " beyond its rank"));
  }
  // Today's rule aligns at the last axis: put ones behind.
  std::vector<int64_t> dims(from.dims().begin(), from.dims().end());
  dims.resize(static_cast<size_t>(to.rank() - first), 1);
  Value* const shape = builder.ints(draft, "/shape", std::move(dims));
  RK_ASSIGN(draft.inputs[1], builder.emit(draft, "Reshape", "/aligned", {draft.inputs[1], shape}));
  return ok_status();
}

Status align_old_slope(NodeDraft& draft, GraphBuilder& builder) {
  RK_TRY(require_inputs(draft, 2));
  const Shape& slope = draft.inputs[1]->shape();
  const int rank = draft.inputs[0]->shape().rank();
  if (slope.rank() != 1 || slope[0] == 1 || rank <= 2) return ok_status();
  std::vector<int64_t> dims(static_cast<size_t>(rank) - 1, 1);
  dims[0] = slope[0];
  Value* const shape = builder.ints(draft, "/shape", std::move(dims));
  RK_ASSIGN(draft.inputs[1], builder.emit(draft, "Reshape", "/slope", {draft.inputs[1], shape}));
  return ok_status();
}

// Before opset 13 everything from `axis` on counted as one axis, by default from 1.
Status flatten_old_softmax(NodeDraft& draft, GraphBuilder& builder) {
  RK_TRY(require_inputs(draft, 1));
  RK_ASSIGN(const std::optional<int64_t> given, draft.take<int64_t>("axis"));
  const Shape& shape = draft.inputs[0]->shape();
  const int rank = shape.rank();
  int64_t axis = given.value_or(1);
  if (axis < -rank || axis > rank) {
    return invalid_model(str(label(draft), ": axis ", axis, " of a tensor of rank ", rank));
  }
  if (axis < 0) axis += rank;
  int extents_above_one = 0;
  int64_t only_axis = std::max<int64_t>(0, std::min<int64_t>(axis, rank - 1));
  for (int i = static_cast<int>(axis); i < rank; ++i) {
    if (shape[i] == 1) continue;
    ++extents_above_one;
    only_axis = i;
  }
  if (extents_above_one <= 1 && axis < rank) {
    draft.attrs["axis"] = only_axis;
    return ok_status();
  }
  int64_t joined = 1;
  for (int i = static_cast<int>(axis); i < rank; ++i) joined *= shape[i];
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  Value* const back = builder.ints(draft, "/shape", dims);
  dims.resize(static_cast<size_t>(axis));
  dims.push_back(joined);
  Value* const flat = builder.ints(draft, "/flat_shape", std::move(dims));
  RK_ASSIGN(Value* const flattened,
            builder.emit(draft, "Reshape", "/flat", {draft.inputs[0], flat}));
  RK_ASSIGN(Value* const result,
            builder.emit(draft, draft.op, "/joined", {flattened}, {{"axis", int64_t{-1}}}));
  draft.op = "Reshape";
  draft.inputs = {result, back};
  return ok_status();
}

Status say_concat_axis(NodeDraft& draft, GraphBuilder&) {
  draft.attrs.emplace("axis", int64_t{1});
  return ok_status();
}

Status number_cast_type(NodeDraft& draft, GraphBuilder&) {
  RK_ASSIGN(const std::optional<std::string> to, draft.take<std::string>("to"));
  constexpr std::string_view kNames[] = {"UNDEFINED", "FLOAT",  "UINT8",  "INT8",   "UINT16",
                                         "INT16",     "INT32",  "INT64",  "STRING", "BOOL",
                                         "FLOAT16",   "DOUBLE", "UINT32", "UINT64"};
  const auto it = std::ranges::find(kNames, to.value_or(""));
  if (it == std::end(kNames)) {
    return invalid_model(str(label(draft), ": attribute 'to' is '", to.value_or(""),
                             "', expected the name of a type such as FLOAT"));
  }
  draft.attrs["to"] = static_cast<int64_t>(it - std::begin(kNames));
  return ok_status();
}

Status cast_like_to_cast(NodeDraft& draft, GraphBuilder&) {
  RK_TRY(require_inputs(draft, 2));
  draft.op = "Cast";
  draft.attrs["to"] = static_cast<int64_t>(draft.inputs[1]->dtype());
  draft.inputs.resize(1);
  return ok_status();
}

// The chip has this operator under its own name, with alpha as beta.
Status swish_to_ex_swish(NodeDraft& draft, GraphBuilder&) {
  RK_ASSIGN(const std::optional<float> alpha, draft.take<float>("alpha"));
  draft.op = "exSwish";
  draft.attrs["beta"] = alpha.value_or(1.0f);
  return ok_status();
}

// RandomNormal and the like are drawn once, at conversion; these depend on data of the run.
Status refuse_chance(NodeDraft& draft, GraphBuilder&) {
  return unsupported(
      str(label(draft),
          ": draws other numbers in every run, which a compiled model cannot do; cut "
          "the model here and draw them in the application"));
}

Status rename_scatter(NodeDraft& draft, GraphBuilder&) {
  draft.op = "ScatterElements";
  return ok_status();
}

// Before opset 21 scale and bias had one number per group, now one per channel.
Status spread_group_norm_scale(NodeDraft& draft, GraphBuilder& builder) {
  RK_TRY(require_inputs(draft, 3));
  if (draft.inputs[0]->shape().rank() < 2) {
    return invalid_model(str(label(draft), ": data of rank 2 or more expected, found ",
                             to_string(draft.inputs[0]->type())));
  }
  const int64_t channels = draft.inputs[0]->shape()[1];
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const Shape& shape = draft.inputs[i]->shape();
    if (shape.rank() != 1 || shape[0] == 0 || channels % shape[0] != 0) {
      return invalid_model(str(label(draft), ": input ", i, " is ", to_string(shape),
                               ", which does not divide ", channels, " channels"));
    }
    const int64_t groups = shape[0];
    Value* const column = builder.ints(draft, "/column", {groups, 1});
    Value* const full = builder.ints(draft, "/full", {groups, channels / groups});
    Value* const flat = builder.ints(draft, "/flat", {channels});
    RK_ASSIGN(Value * value,
              builder.emit(draft, "Reshape", "/per_group", {draft.inputs[i], column}));
    RK_ASSIGN(value, builder.emit(draft, "Expand", "/spread", {value, full}));
    RK_ASSIGN(draft.inputs[i], builder.emit(draft, "Reshape", "/per_channel", {value, flat}));
  }
  return ok_status();
}

Status drop_dropout(NodeDraft& draft, GraphBuilder& builder) {
  RK_TRY(require_inputs(draft, 1));
  if (draft.has_input(2) && draft.inputs[2]->is_constant() &&
      draft.inputs[2]->constant().elements() == 1 && draft.inputs[2]->constant().at_f64(0) != 0) {
    log(LogLevel::kWarning, str(label(draft),
                                ": the model was exported in training mode; the "
                                "node is imported as for inference"));
  }
  if (draft.outputs.size() > 1 && !draft.outputs[1].empty()) {
    // Nothing is dropped, so the mask is all true.
    const TensorType type{DType::kBool, draft.inputs[0]->shape()};
    auto made = builder.described(type);
    if (!made.ok()) return made.status().with_context(label(draft));
    Tensor mask = std::move(made).value();
    std::fill_n(mask.mutable_data<uint8_t>(), mask.elements(), uint8_t{1});
    draft.extra_results = {builder.constant(draft.outputs[1], std::move(mask))};
  }
  draft.op = "Identity";
  draft.inputs.resize(1);
  draft.outputs.resize(std::min<size_t>(draft.outputs.size(), 1));
  draft.attrs.clear();
  return ok_status();
}

Status settle_batch_norm(NodeDraft& draft, GraphBuilder&) {
  RK_ASSIGN(const std::optional<int64_t> training, draft.take<int64_t>("training_mode"));
  if (training.value_or(0) != 0) {
    // Networks that standardise their weights do it by a batch of one, a constant, in training mode.
    RK_TRY(require_inputs(draft, 3));
    const Value& x = *draft.inputs[0];
    if (!x.is_constant() || x.shape().rank() < 3 || x.shape()[0] != 1) {
      return unsupported(str(label(draft),
                             ": training_mode=1 is not supported; export the model in "
                             "evaluation mode (model.eval())"));
    }
    draft.op = "InstanceNormalization";
    draft.inputs.resize(3);
    draft.outputs.resize(1);
    RK_TRY(draft.take<float>("momentum").status());
    return ok_status();
  }
  RK_ASSIGN(const std::optional<int64_t> spatial, draft.take<int64_t>("spatial"));
  if (spatial.value_or(1) == 0) {
    return unsupported(str(label(draft), ": statistics per element (spatial=0) are not supported"));
  }
  // What remains are running statistics, which only training looks at.
  draft.outputs.resize(std::min<size_t>(draft.outputs.size(), 1));
  return ok_status();
}

}  // namespace rk::frontends

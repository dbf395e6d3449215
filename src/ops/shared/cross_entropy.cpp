// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/cross_entropy.h"

namespace rk::ops {

Status infer_class_loss(InferCall& call) {
  RK_TRY(require_float(call, 0));
  RK_TRY(require_index(call, 1));
  RK_TRY(require_rank(call, 0, 2));
  RK_TRY(require_one_of(call.node, "reduction", {"none", "mean", "sum"}));
  const Shape& scores = call.input(0).shape;
  std::vector<int64_t> places = {scores[0]};
  for (int axis = 2; axis < scores.rank(); ++axis) places.push_back(scores[axis]);
  RK_ASSIGN(const Shape labels, Shape::make(places));
  RK_TRY(require_shape(call, 1, labels));
  if (call.has_input(2)) {
    RK_TRY(require_same_dtype(call, 0, 2));
    RK_TRY(require_shape(call, 2, Shape{scores[1]}));
  }
  const bool reduced = call.node.text("reduction") != "none";
  return set_output(call, 0, call.input(0).dtype, reduced ? Shape{} : labels);
}

Status class_loss_f32(const EvalCall& call, std::span<const float> log_probabilities) {
  const Shape& shape = call.input(0).shape();
  const int64_t classes = shape[1];
  const int64_t inner = extent_product(shape, 2, shape.rank());
  const float* weights = call.has_input(2) ? call.input(2).data<float>() : nullptr;
  const bool ignores = call.node.has_attr("ignore_index");
  const int64_t ignored = ignores ? call.node.i64("ignore_index") : 0;
  const std::string& reduction = call.node.text("reduction");
  float* y = call.output(0).mutable_data<float>();
  double sum = 0;
  double weight_sum = 0;
  for (int64_t i = 0; i < call.input(1).elements(); ++i) {
    const int64_t label = call.input(1).at_i64(i);
    const bool skip = ignores && label == ignored;
    if (!skip && (label < 0 || label >= classes)) {
      return invalid_argument(
          str("input 1 ('labels') holds ", label, ", expected 0 to ", classes - 1));
    }
    double loss = 0;
    if (!skip) {
      const double weight = weights == nullptr ? 1.0 : weights[label];
      const int64_t at = (i / inner * classes + label) * inner + i % inner;
      loss = -weight * log_probabilities[static_cast<size_t>(at)];
      weight_sum += weight;
    }
    sum += loss;
    if (reduction == "none") y[i] = static_cast<float>(loss);
  }
  if (reduction == "sum") y[0] = static_cast<float>(sum);
  if (reduction == "mean") y[0] = static_cast<float>(sum / weight_sum);
  return ok_status();
}

std::vector<AttrDef> class_loss_attrs() {
  return {{"reduction", "mean",
           "none: one loss per place; sum; mean: weighted by the classes' weights"},
          {"ignore_index", int64_t{0}, "places with this label count nothing", AttrDef::kOptional}};
}

}  // namespace rk::ops

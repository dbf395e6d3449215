// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: per batch and class the boxes of highest score, less those that overlap a
// chosen one too much; as rows [batch, class, box]. Room for max_output_boxes_per_class (at most
// all boxes) of every class; see bounded.h.
#include <cmath>
#include <numeric>

#include "ops/shared/bounded.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

struct Box {
  float left, top, right, bottom;
  float area() const { return (right - left) * (bottom - top); }
};

Box read_box(const float* from, bool centered) {
  if (centered) {
    const float x = from[0], y = from[1], half_w = from[2] / 2, half_h = from[3] / 2;
    return {x - half_w, y - half_h, x + half_w, y + half_h};
  }
  // Two opposite corners, in any order, y first.
  const auto [top, bottom] = std::minmax(from[0], from[2]);
  const auto [left, right] = std::minmax(from[1], from[3]);
  return {left, top, right, bottom};
}

float overlap(const Box& a, const Box& b) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0) || !(height > 0)) return 0;
  const float both = width * height;
  const float all = a.area() + b.area() - both;
  return all > 0 ? both / all : 0;
}

float scalar_or(const EvalCall& call, size_t i, float otherwise) {
  return call.has_input(i) && call.input(i).elements() > 0
             ? static_cast<float>(call.input(i).at_f64(0))
             : otherwise;
}

Status non_max_suppression_infer(InferCall& call) {
  const Shape& boxes = call.input(0).shape;
  const Shape& scores = call.input(1).shape;
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2]) {
    return refuse("boxes are ", rk::to_string(boxes), " and scores ", rk::to_string(scores),
                  ", expected [batches,boxes,4] and [batches,classes,boxes]");
  }
  RK_TRY(require_range(call.node, "center_point_box", 0, 1));
  for (size_t i = 2; i < 5; ++i) {
    if (!call.has_input(i) || call.input(i).shape.elements() <= 1) continue;
    return refuse("input ", i, " ('", input_name(call, i), "') is ", rk::to_string(call.input(i)),
                  ", expected one number");
  }
  int64_t per_class = boxes[1];
  if (!call.has_input(2)) {
    per_class = 0;  // nothing is asked for
  } else if (call.constant(2) != nullptr && call.constant(2)->elements() == 1) {
    per_class = std::clamp<int64_t>(call.constant(2)->at_i64(0), 0, boxes[1]);
  }
  const std::vector<int64_t> groups = {boxes[0], scores[1], per_class};
  RK_ASSIGN(const Shape most, Shape::make(groups));
  const std::vector<int64_t> dims = {most.elements(), 3};
  RK_TRY(set_output(call, 0, DType::kI64, dims));
  return set_count_type(call);
}

Status non_max_suppression_compute(const EvalCall& call) {
  const Shape& scores_shape = call.input(1).shape();
  const int64_t batches = scores_shape[0], classes = scores_shape[1], boxes = scores_shape[2];
  const bool centered = call.node.i64("center_point_box") != 0;
  const auto most = static_cast<size_t>(std::clamp<int64_t>(
      call.has_input(2) && call.input(2).elements() > 0 ? call.input(2).at_i64(0) : 0, 0, boxes));
  const float threshold = scalar_or(call, 3, 0);
  const bool limits_score = call.has_input(4) && call.input(4).elements() > 0;
  const float least_score = scalar_or(call, 4, 0);
  fill_indices(call.output(0));
  int64_t* row = call.output(0).mutable_data<int64_t>();
  int64_t count = 0;
  for (int64_t batch = 0; batch < batches; ++batch) {
    const float* corners = call.input(0).data<float>() + batch * boxes * 4;
    for (int64_t c = 0; c < classes; ++c) {
      const float* scores = call.input(1).data<float>() + (batch * classes + c) * boxes;
      std::vector<int64_t> order;
      for (int64_t i = 0; i < boxes; ++i) {
        if (std::isnan(scores[i]) || (limits_score && !(scores[i] > least_score))) continue;
        order.push_back(i);
      }
      std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
      std::vector<Box> kept;
      for (const int64_t i : order) {
        if (kept.size() >= most) break;
        const Box box = read_box(corners + i * 4, centered);
        const auto hides = [&](const Box& other) { return overlap(box, other) > threshold; };
        if (std::ranges::any_of(kept, hides)) continue;
        kept.push_back(box);
        *row++ = batch;
        *row++ = c;
        *row++ = i;
        ++count;
      }
    }
  }
  store_count(call, count);
  return ok_status();
}

Status non_max_suppression_reference(const EvalCall& call) {
  return in_f32(call, non_max_suppression_compute);
}

Cost non_max_suppression_cost(const Node& node) {
  const auto scores = static_cast<uint64_t>(node.input(1).shape().elements());
  const auto rows = static_cast<uint64_t>(node.output().shape()[0]);
  return {.ops = scores + rows * static_cast<uint64_t>(node.input(1).shape()[2])};
}

}  // namespace

OpDef non_max_suppression() {
  return {
      .name = "NonMaxSuppression",
      .doc = "the best boxes of each class that overlap no better one; unused rows hold -1",
      .inputs = {{"boxes", floats()},
                 {"scores", floats().like(0)},
                 {"max_output_boxes_per_class", integers(), ArgDef::kOptional},
                 {"iou_threshold", floats(), ArgDef::kOptional},
                 {"score_threshold", floats(), ArgDef::kOptional}},
      .outputs = {{"selected_indices"}, count_output()},
      .attrs = {{"center_point_box", int64_t{0},
                 "0: boxes are [y1,x1,y2,x2]; 1: [x_centre,y_centre,width,height]"}},
      .infer = non_max_suppression_infer,
      .reference = non_max_suppression_reference,
      .cost = non_max_suppression_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops

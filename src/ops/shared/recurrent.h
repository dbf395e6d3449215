// SPDX-License-Identifier: Apache-2.0
// What LSTM, GRU and RNN share: shapes, directions, sequence lengths and the walk over time. Gates
// are stacked in the weights' second axis in ONNX's order, which is i,o,f,c for LSTM and z,r,h for
// GRU; PyTorch orders them differently.
#pragma once

#include <functional>

#include "ops/shared/precision.h"
#include "ops/shared/shape_util.h"

namespace rk::ops {

struct RecurrentPlan {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t input = 0;
  int64_t hidden = 0;
  int64_t directions = 1;
  bool batch_first = false;    // layout 1
  bool first_reverse = false;  // direction 'reverse'

  Shape y_shape() const;
  Shape state_shape() const;
};

// An activation of a cell with its parameters.
struct CellActivation {
  float (*function)(float x, float alpha, float beta) = nullptr;
  float alpha = 0;
  float beta = 0;
  float operator()(float x) const { return function(x, alpha, beta); }
};

// Checks inputs 0..5, which the three operators have in common, and the shared attributes. `gates`
// is how many gates the weights stack, `functions` how many activations a direction has.
Result<RecurrentPlan> recurrent_plan(const Node& node, int gates);
Status infer_recurrent(InferCall& call, int gates, std::span<const std::string_view> defaults);
// Activations of all directions, one after another.
Result<std::vector<CellActivation>> cell_activations(const Node& node, const RecurrentPlan& plan,
                                                     std::span<const std::string_view> defaults);

// One direction's weights and one batch entry's state at a time step.
struct CellStep {
  int64_t direction = 0;
  std::span<const float> from_input;       // W x + Wb, gates * hidden values
  std::span<const float> from_hidden;      // R h + Rb
  const float* recurrence = nullptr;       // this direction's R, [gates * hidden, hidden]
  const float* recurrence_bias = nullptr;  // this direction's Rb; null without a bias
  std::span<float> h;                      // in: previous, out: next
  std::span<float> c;                      // LSTM only, else empty
};

// Calls `cell` for every time step of every direction and batch entry, and stores Y, Y_h and (with
// cells) Y_c.
void run_recurrent(const EvalCall& call, const RecurrentPlan& plan, int gates, bool has_cells,
                   const std::function<void(CellStep&)>& cell);

std::vector<AttrDef> recurrent_attrs();
// Limits a gate's argument to [-clip, clip] where the attribute is given.
class GateClip {
 public:
  explicit GateClip(const Node& node) : limit_(node.has_attr("clip") ? node.f32("clip") : 0.0f) {}
  float operator()(float x) const {
    return limit_ <= 0 ? x : x < -limit_ ? -limit_ : x > limit_ ? limit_ : x;
  }

 private:
  float limit_;
};
Cost recurrent_cost(const Node& node);

}  // namespace rk::ops

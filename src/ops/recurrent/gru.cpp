// SPDX-License-Identifier: Apache-2.0
// GRU: gates in the order update, reset, hidden. linear_before_reset 1 (as PyTorch and cuDNN)
// applies the reset gate after the recurrence's product, 0 before it; the results differ.
#include <algorithm>
#include <array>

#include "ops/shared/recurrent.h"

namespace rk::ops {
namespace {

constexpr std::array<std::string_view, 2> kFunctions = {"Sigmoid", "Tanh"};
constexpr int kGates = 3;

Status gru_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "linear_before_reset", 0, 1));
  return infer_recurrent(call, kGates, kFunctions);
}

// Row `row` of R times (reset * h), plus its bias.
float gated_product(const CellStep& step, size_t row, std::span<const float> reset) {
  double sum = step.recurrence_bias != nullptr ? step.recurrence_bias[row] : 0.0;
  const float* weights = step.recurrence + row * reset.size();
  for (size_t k = 0; k < reset.size(); ++k) {
    sum += static_cast<double>(weights[k]) * (reset[k] * step.h[k]);
  }
  return static_cast<float>(sum);
}

Status gru_compute(const EvalCall& call) {
  RK_ASSIGN(const RecurrentPlan plan, recurrent_plan(call.node, kGates));
  RK_ASSIGN(const std::vector<CellActivation> functions,
            cell_activations(call.node, plan, kFunctions));
  const bool linear_before_reset = call.node.i64("linear_before_reset") != 0;
  const GateClip clip(call.node);
  const auto hidden = static_cast<size_t>(plan.hidden);
  run_recurrent(call, plan, kGates, false, [&](CellStep& step) {
    const CellActivation* f = functions.data() + 2 * step.direction;
    const auto gate = [&](size_t number, size_t i) {
      return f[0](
          clip(step.from_input[number * hidden + i] + step.from_hidden[number * hidden + i]));
    };
    std::vector<float> reset(hidden);
    std::vector<float> next(hidden);
    for (size_t i = 0; i < hidden; ++i) reset[i] = gate(1, i);
    for (size_t i = 0; i < hidden; ++i) {
      const float recurrent = linear_before_reset ? reset[i] * step.from_hidden[2 * hidden + i]
                                                  : gated_product(step, 2 * hidden + i, reset);
      const float candidate = f[1](clip(step.from_input[2 * hidden + i] + recurrent));
      const float update = gate(0, i);
      next[i] = (1.0f - update) * candidate + update * step.h[i];
    }
    std::copy(next.begin(), next.end(), step.h.begin());
  });
  return ok_status();
}

Status gru_reference(const EvalCall& call) { return in_f32(call, gru_compute); }

}  // namespace

OpDef gru() {
  std::vector<AttrDef> attrs = recurrent_attrs();
  attrs.push_back(
      {"linear_before_reset", int64_t{0}, "1: the reset gate multiplies the recurrence's product"});
  return {
      .name = "GRU",
      .doc = "gated recurrent unit over a sequence",
      .inputs = {{"x", floats()},
                 {"w", floats().like(0)},
                 {"r", floats().like(0)},
                 {"b", floats().like(0), ArgDef::kOptional},
                 {"sequence_lens", indices(), ArgDef::kOptional},
                 {"initial_h", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}, {"y_h", ArgDef::kOptional}},
      .attrs = std::move(attrs),
      .infer = gru_infer,
      .reference = gru_reference,
      .cost = recurrent_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops

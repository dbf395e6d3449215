// SPDX-License-Identifier: Apache-2.0
// RNN: h = f(W x + R h + Wb + Rb) over a sequence, f is Tanh unless told otherwise.
#include <array>

#include "ops/shared/recurrent.h"

namespace rk::ops {
namespace {

constexpr std::array<std::string_view, 1> kFunctions = {"Tanh"};

Status rnn_infer(InferCall& call) { return infer_recurrent(call, 1, kFunctions); }

Status rnn_compute(const EvalCall& call) {
  RK_ASSIGN(const RecurrentPlan plan, recurrent_plan(call.node, 1));
  RK_ASSIGN(const std::vector<CellActivation> functions,
            cell_activations(call.node, plan, kFunctions));
  const GateClip clip(call.node);
  run_recurrent(call, plan, 1, false, [&](CellStep& step) {
    const CellActivation& f = functions[static_cast<size_t>(step.direction)];
    for (size_t i = 0; i < step.h.size(); ++i)
      step.h[i] = f(clip(step.from_input[i] + step.from_hidden[i]));
  });
  return ok_status();
}

Status rnn_reference(const EvalCall& call) { return in_f32(call, rnn_compute); }

}  // namespace

OpDef rnn() {
  return {
      .name = "RNN",
      .doc = "simple recurrent unit over a sequence",
      .inputs = {{"x", floats()},
                 {"w", floats().like(0)},
                 {"r", floats().like(0)},
                 {"b", floats().like(0), ArgDef::kOptional},
                 {"sequence_lens", indices(), ArgDef::kOptional},
                 {"initial_h", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}, {"y_h", ArgDef::kOptional}},
      .attrs = recurrent_attrs(),
      .infer = rnn_infer,
      .reference = rnn_reference,
      .cost = recurrent_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops

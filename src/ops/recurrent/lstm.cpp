// SPDX-License-Identifier: Apache-2.0
// LSTM: gates in the order input, output, forget, cell; peepholes are optional. With input_forget
// the forget gate is 1 - input gate.
#include <array>

#include "ops/shared/recurrent.h"

namespace rk::ops {
namespace {

constexpr std::array<std::string_view, 3> kFunctions = {"Sigmoid", "Tanh", "Tanh"};
constexpr int kGates = 4;

Status lstm_infer(InferCall& call) {
  RK_TRY(infer_recurrent(call, kGates, kFunctions));
  RK_TRY(require_range(call.node, "input_forget", 0, 1));
  RK_ASSIGN(const RecurrentPlan plan, recurrent_plan(call.node, kGates));
  if (call.has_input(6)) {
    RK_TRY(require_same_dtype(call, 0, 6));
    RK_TRY(require_shape(call, 6, plan.state_shape()));
  }
  if (call.has_input(7)) {
    RK_TRY(require_same_dtype(call, 0, 7));
    RK_TRY(require_shape(call, 7, Shape{plan.directions, 3 * plan.hidden}));
  }
  return set_output(call, 2, call.input(0).dtype, plan.state_shape());
}

Status lstm_compute(const EvalCall& call) {
  RK_ASSIGN(const RecurrentPlan plan, recurrent_plan(call.node, kGates));
  RK_ASSIGN(const std::vector<CellActivation> functions,
            cell_activations(call.node, plan, kFunctions));
  const bool input_forget = call.node.i64("input_forget") != 0;
  const GateClip clip(call.node);
  const auto hidden = static_cast<size_t>(plan.hidden);
  run_recurrent(call, plan, kGates, true, [&](CellStep& step) {
    const CellActivation* f = functions.data() + 3 * step.direction;
    const float* peephole = call.has_input(7)
                                ? call.input(7).data<float>() + step.direction * 3 * plan.hidden
                                : nullptr;
    const auto gate = [&](size_t number, size_t i) {
      return step.from_input[number * hidden + i] + step.from_hidden[number * hidden + i];
    };
    const auto peep = [&](size_t number, size_t i, float c) {
      return peephole != nullptr ? peephole[number * hidden + i] * c : 0.0f;
    };
    for (size_t i = 0; i < hidden; ++i) {
      const float before = step.c[i];
      const float in = f[0](clip(gate(0, i) + peep(0, i, before)));
      const float forget = input_forget ? 1.0f - in : f[0](clip(gate(2, i) + peep(2, i, before)));
      const float candidate = f[1](clip(gate(3, i)));
      step.c[i] = forget * before + in * candidate;
      const float out = f[0](clip(gate(1, i) + peep(1, i, step.c[i])));
      step.h[i] = out * f[2](step.c[i]);
    }
  });
  return ok_status();
}

Status lstm_reference(const EvalCall& call) { return in_f32(call, lstm_compute); }

}  // namespace

OpDef lstm() {
  std::vector<AttrDef> attrs = recurrent_attrs();
  attrs.push_back({"input_forget", int64_t{0}, "1: the forget gate is 1 - input gate"});
  return {
      .name = "LSTM",
      .doc = "long short-term memory over a sequence",
      .inputs = {{"x", floats()},
                 {"w", floats().like(0)},
                 {"r", floats().like(0)},
                 {"b", floats().like(0), ArgDef::kOptional},
                 {"sequence_lens", indices(), ArgDef::kOptional},
                 {"initial_h", floats().like(0), ArgDef::kOptional},
                 {"initial_c", floats().like(0), ArgDef::kOptional},
                 {"p", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}, {"y_h", ArgDef::kOptional}, {"y_c", ArgDef::kOptional}},
      .attrs = std::move(attrs),
      .infer = lstm_infer,
      .reference = lstm_reference,
      .cost = recurrent_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops

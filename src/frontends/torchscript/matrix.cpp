// SPDX-License-Identifier: Apache-2.0
// Products of matrices, tables, recurrent layers.
#include <algorithm>
#include <cmath>

#include "frontends/torchscript/operators.h"

namespace rk::frontends::torchscript {
namespace {

// x * weight' + bias, over the last axis.
Status linear(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(Value* const weight, call.tensor(1));
  if (weight->shape().rank() != 2 || value->shape().rank() < 1) {
    return invalid_model(
        str("of ", to_string(value->shape()), " and ", to_string(weight->shape())));
  }
  std::vector<Value*> inputs = {value, weight};
  if (call.has(2)) {
    RK_ASSIGN(Value* const bias, call.tensor(2));
    inputs.push_back(bias);
  }
  if (value->shape().rank() == 2) {
    RK_ASSIGN(Value* const out,
              call.emit("Gemm", "/gemm", std::move(inputs), {{"transB", int64_t{1}}}));
    return call.give(out);
  }
  RK_ASSIGN(Value* const turned, call.transposed(weight, {1, 0}, "/turned"));
  RK_ASSIGN(Value * out, call.emit("MatMul", "/matmul", {value, turned}));
  if (inputs.size() > 2) {
    RK_ASSIGN(out, call.emit("Add", "/y", {out, inputs[2]}));
  }
  return call.give(out);
}

Status matmul(Call& call) {
  RK_ASSIGN(const auto pair, call.operands(0, 1));
  RK_ASSIGN(Value* const out, call.emit("MatMul", "/y", {pair.first, pair.second}));
  return call.give(out);
}

// beta * c + alpha * (a x b): (c, a, b, beta, alpha)
Status addmm(Call& call) {
  RK_ASSIGN(Value* const c, call.tensor(0));
  RK_ASSIGN(Value* const a, call.tensor(1));
  RK_ASSIGN(Value* const b, call.tensor(2));
  const double beta = call.real_or(3, 1), alpha = call.real_or(4, 1);
  if (a->shape().rank() == 2 && b->shape().rank() == 2) {
    RK_ASSIGN(Value* const out, call.emit("Gemm", "/gemm", {a, b, c},
                                          {{"alpha", static_cast<float>(alpha)},
                                           {"beta", static_cast<float>(beta)}}));
    return call.give(out);
  }
  RK_ASSIGN(Value * out, call.emit("MatMul", "/matmul", {a, b}));
  if (alpha != 1) {
    RK_ASSIGN(out, call.emit("Mul", "/alpha", {out, call.scalar("/alpha_value", alpha)}));
  }
  Value* scaled = c;
  if (beta != 1) {
    RK_ASSIGN(scaled, call.emit("Mul", "/beta", {c, call.scalar("/beta_value", beta)}));
  }
  RK_ASSIGN(out, call.emit("Add", "/y", {out, scaled}));
  return call.give(out);
}

Status einsum(Call& call) {
  if (call.arg(0).kind != Item::Kind::kText) return invalid_model("has no equation");
  std::string equation = call.arg(0).text;
  std::erase(equation, ' ');
  RK_ASSIGN(const auto values, call.tensors(1));
  RK_ASSIGN(Value* const out, call.emit("Einsum", "/y", values, {{"equation", equation}}));
  return call.give(out);
}

// (table, indices, ...)
Status embedding(Call& call) {
  RK_ASSIGN(Value* const table, call.tensor(0));
  RK_ASSIGN(Value* const indices, call.tensor(1));
  RK_ASSIGN(Value* const out, call.emit("Gather", "/y", {table, indices}, {{"axis", int64_t{0}}}));
  return call.give(out);
}

// Gates in torch's order -> in ONNX's: which part of torch's goes where.
struct Gates {
  std::string_view op;
  std::vector<size_t> order;
};
const Gates kLstm = {"LSTM", {0, 3, 1, 2}};  // i f g o -> i o f c
const Gates kGru = {"GRU", {1, 0, 2}};       // r z n -> z r h
const Gates kRnn = {"RNN", {0}};

Result<Value*> reordered(Call& call, Value* value, const Gates& gates) {
  if (gates.order.size() == 1) return value;
  const auto count = static_cast<int64_t>(gates.order.size());
  RK_ASSIGN(const auto parts, call.emit_many("Split", {value}, gates.order.size(),
                                             {{"axis", int64_t{0}}, {"num_outputs", count}}));
  std::vector<Value*> moved;
  for (const size_t from : gates.order) moved.push_back(parts[from]);
  return call.emit("Concat", "/gates", std::move(moved), {{"axis", int64_t{0}}});
}

// Parameters of the directions of one layer, each [gates * cells, ...], as ONNX has them: one tensor, a direction first.
Result<Value*> stacked(Call& call, const std::vector<Value*>& parts, const Gates& gates) {
  std::vector<Value*> rows;
  for (Value* part : parts) {
    RK_ASSIGN(Value * row, reordered(call, part, gates));
    std::vector<int64_t> dims = {1};
    dims.insert(dims.end(), row->shape().dims().begin(), row->shape().dims().end());
    RK_ASSIGN(row, call.reshaped(row, dims, "/direction"));
    rows.push_back(row);
  }
  return rows.size() == 1
             ? rows[0]
             : call.emit("Concat", "/directions", std::move(rows), {{"axis", int64_t{0}}});
}

struct Recurrence {
  const Gates* gates = nullptr;
  AttrMap attrs;
  std::vector<Value*> states;  // h (and c): [layers * directions, batch, cells]
  std::vector<Value*> params;
  bool has_biases = true, bidirectional = false, batch_first = false;
  int64_t layers = 1;
};

// (x, states, parameters, biases, layers, dropout, train, bidirectional, batch_first)
Result<Recurrence> recurrence_of(Call& call, const Gates& gates) {
  Recurrence out;
  out.gates = &gates;
  if (!call.arg(2).is_list()) {
    return unsupported("of packed sequences is not taken; pad them to one length");
  }
  if (call.arg(1).is_list()) {
    RK_ASSIGN(out.states, call.tensors(1));
  } else {
    RK_ASSIGN(Value* const state, call.tensor(1));
    out.states = {state};
  }
  RK_ASSIGN(out.params, call.tensors(2));
  RK_ASSIGN(out.has_biases, call.flag(3, "has_biases"));
  RK_ASSIGN(out.layers, call.integer(4, "the number of layers"));
  RK_ASSIGN(out.bidirectional, call.flag(7, "bidirectional"));
  RK_ASSIGN(out.batch_first, call.flag(8, "batch_first"));
  return out;
}

Status run_recurrence(Call& call, const Recurrence& form) {
  RK_ASSIGN(Value * value, call.tensor(0));
  const bool unbatched = value->shape().rank() == 2;
  const int64_t directions = form.bidirectional ? 2 : 1;
  const size_t per_direction = form.has_biases ? 4 : 2;
  if ((value->shape().rank() != 3 && !unbatched) || form.layers < 1 || form.layers > 64 ||
      form.params.size() != per_direction * static_cast<size_t>(form.layers * directions)) {
    return unsupported(str("with ", form.params.size(), " parameters for ", form.layers,
                           " layers of ", directions,
                           " directions is not taken (projections are not)"));
  }
  std::vector<Value*> states = form.states;
  if (unbatched) {
    RK_ASSIGN(value, call.reshaped(value, {value->shape()[0], 1, value->shape()[1]}, "/batch"));
    for (Value*& state : states) {
      if (state->shape().rank() != 2) return invalid_model("has a state of another rank");
      RK_ASSIGN(state, call.reshaped(state, {state->shape()[0], 1, state->shape()[1]}, "/state"));
    }
  } else if (form.batch_first) {
    RK_ASSIGN(value, call.transposed(value, {1, 0, 2}, "/time_first"));
  }
  for (const Value* state : states) {
    if (state->shape().rank() != 3 || state->shape()[0] != form.layers * directions) {
      return invalid_model(str("has a state of ", to_string(state->shape())));
    }
  }
  const int64_t cells = states[0]->shape()[2];
  std::vector<std::vector<Value*>> last(states.size());
  for (int64_t layer = 0; layer < form.layers; ++layer) {
    std::vector<Value*> kinds[4];  // w_ih, w_hh, b_ih, b_hh of each direction
    for (int64_t direction = 0; direction < directions; ++direction) {
      for (size_t kind = 0; kind < per_direction; ++kind) {
        kinds[kind].push_back(
            form.params[static_cast<size_t>(layer * directions + direction) * per_direction +
                        kind]);
      }
    }
    std::vector<Value*> inputs = {value};
    for (size_t kind = 0; kind < 2; ++kind) {
      RK_ASSIGN(Value* const weights, stacked(call, kinds[kind], *form.gates));
      inputs.push_back(weights);
    }
    Value* bias = nullptr;
    if (form.has_biases) {
      RK_ASSIGN(Value* const in, stacked(call, kinds[2], *form.gates));
      RK_ASSIGN(Value* const recurrent, stacked(call, kinds[3], *form.gates));
      RK_ASSIGN(bias, call.emit("Concat", "/bias", {in, recurrent}, {{"axis", int64_t{1}}}));
    }
    inputs.push_back(bias);
    inputs.push_back(nullptr);  // every sequence has the full length
    for (Value* state : states) {
      Value* own = state;
      if (form.layers > 1) {
        RK_ASSIGN(own, call.emit("Slice", "/state",
                                 {state, call.ints_value("/begin", {layer * directions}),
                                  call.ints_value("/end", {(layer + 1) * directions}),
                                  call.ints_value("/axis", {0})}));
      }
      inputs.push_back(own);
    }
    AttrMap attrs = form.attrs;
    attrs["hidden_size"] = cells;
    attrs["direction"] = std::string(form.bidirectional ? "bidirectional" : "forward");
    RK_ASSIGN(const auto results, call.emit_many(form.gates->op, std::move(inputs),
                                                 states.size() + 1, std::move(attrs)));
    // [time, direction, batch, cells] -> [time, batch, direction * cells]
    RK_ASSIGN(value, call.transposed(results[0], {0, 2, 1, 3}, "/directions_last"));
    RK_ASSIGN(value,
              call.reshaped(value, {value->shape()[0], value->shape()[1], directions * cells},
                            "/joined"));
    for (size_t i = 0; i < states.size(); ++i) last[i].push_back(results[i + 1]);
  }
  if (unbatched) {
    RK_ASSIGN(value, call.reshaped(value, {value->shape()[0], value->shape()[2]}, "/unbatched"));
  } else if (form.batch_first) {
    RK_ASSIGN(value, call.transposed(value, {1, 0, 2}, "/batch_first"));
  }
  RK_TRY(call.give(Item::of_tensor(value), 0));
  for (size_t i = 0; i < last.size() && i + 1 < call.node().outputs.size(); ++i) {
    Value* state = last[i][0];
    if (last[i].size() > 1) {
      RK_ASSIGN(state, call.emit("Concat", "/last", last[i], {{"axis", int64_t{0}}}));
    }
    if (unbatched) {
      RK_ASSIGN(state,
                call.reshaped(state, {state->shape()[0], state->shape()[2]}, "/last_unbatched"));
    }
    RK_TRY(call.give(Item::of_tensor(state), i + 1));
  }
  return ok_status();
}

// One step: (x, states, w_ih, w_hh, b_ih, b_hh), as a sequence of one.
Status run_cell(Call& call, const Gates& gates, AttrMap attrs) {
  RK_ASSIGN(Value * value, call.tensor(0));
  std::vector<Value*> states;
  if (call.arg(1).is_list()) {
    RK_ASSIGN(states, call.tensors(1));
  } else {
    RK_ASSIGN(Value* const state, call.tensor(1));
    states = {state};
  }
  if (value->shape().rank() != 2 || states.empty() || states[0]->shape().rank() != 2) {
    return unsupported("of other than a batch of vectors is not taken");
  }
  const int64_t batch = value->shape()[0], cells = states[0]->shape()[1];
  RK_ASSIGN(value, call.reshaped(value, {1, batch, value->shape()[1]}, "/step"));
  std::vector<Value*> inputs = {value};
  for (const size_t i : {2u, 3u}) {
    RK_ASSIGN(Value* const part, call.tensor(i));
    RK_ASSIGN(Value* const weights, stacked(call, {part}, gates));
    inputs.push_back(weights);
  }
  Value* bias = nullptr;
  if (call.has(4) && call.has(5)) {
    RK_ASSIGN(Value* const a, call.tensor(4));
    RK_ASSIGN(Value* const b, call.tensor(5));
    RK_ASSIGN(Value* const in, stacked(call, {a}, gates));
    RK_ASSIGN(Value* const recurrent, stacked(call, {b}, gates));
    RK_ASSIGN(bias, call.emit("Concat", "/bias", {in, recurrent}, {{"axis", int64_t{1}}}));
  }
  inputs.push_back(bias);
  inputs.push_back(nullptr);
  for (Value* state : states) {
    RK_ASSIGN(Value* const own, call.reshaped(state, {1, batch, cells}, "/state"));
    inputs.push_back(own);
  }
  attrs["hidden_size"] = cells;
  RK_ASSIGN(const auto results,
            call.emit_many(gates.op, std::move(inputs), states.size() + 1, std::move(attrs)));
  for (size_t i = 0; i < states.size() && i < call.node().outputs.size(); ++i) {
    RK_ASSIGN(Value* const state, call.reshaped(results[i + 1], {batch, cells}, "/last"));
    RK_TRY(call.give(Item::of_tensor(state), i));
  }
  return ok_status();
}

Status lstm(Call& call) {
  RK_ASSIGN(const Recurrence form, recurrence_of(call, kLstm));
  if (form.states.size() != 2) return invalid_model("needs two states");
  return run_recurrence(call, form);
}

Status gru(Call& call) {
  RK_ASSIGN(Recurrence form, recurrence_of(call, kGru));
  form.attrs["linear_before_reset"] = int64_t{1};
  if (form.states.size() != 1) return invalid_model("needs one state");
  return run_recurrence(call, form);
}

Status rnn(Call& call, std::string_view activation) {
  RK_ASSIGN(Recurrence form, recurrence_of(call, kRnn));
  form.attrs["activations"] =
      std::vector<std::string>(form.bidirectional ? 2 : 1, std::string(activation));
  if (form.states.size() != 1) return invalid_model("needs one state");
  return run_recurrence(call, form);
}

Status lstm_cell(Call& call) { return run_cell(call, kLstm, {}); }
Status gru_cell(Call& call) { return run_cell(call, kGru, {{"linear_before_reset", int64_t{1}}}); }

}  // namespace

std::span<const OperatorRow> matrix_operators() {
  // clang-format off
  static constexpr OperatorRow kRows[] = {
      {"aten::linear", linear},
      {"aten::matmul", matmul},
      {"aten::mm", matmul},
      {"aten::bmm", matmul},
      {"aten::mv", matmul},
      {"aten::dot", matmul},
      {"aten::addmm", addmm},
      {"aten::baddbmm", addmm},
      {"aten::einsum", einsum},
      {"aten::embedding", embedding},
      {"aten::lstm", lstm},
      {"aten::gru", gru},
      {"aten::rnn_tanh", [](Call& c) { return rnn(c, "Tanh"); }},
      {"aten::rnn_relu", [](Call& c) { return rnn(c, "Relu"); }},
      {"aten::lstm_cell", lstm_cell},
      {"aten::gru_cell", gru_cell},
  };
  // clang-format on
  return kRows;
}

}  // namespace rk::frontends::torchscript

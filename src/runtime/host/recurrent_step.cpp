// SPDX-License-Identifier: Apache-2.0
// LSTM and GRU of fp16 tensors with constant weights: the products of all time steps with the input's weights are one
// matrix product; each step then multiplies the state with the recurrence's weights, packed at load, and runs its cell.
//
// Note: peepholes, sequence lengths, clipped gates and other functions run by the operator's definition.
#include <algorithm>
#include <array>

#include "base/checked_math.h"
#include "ir/graph.h"
#include "kernels/gemm/gemm.h"
#include "kernels/layout/quantize.h"
#include "kernels/recurrent/recurrent.h"
#include "runtime/host/select.h"

namespace rk::runtime::host {
namespace {

using kernels::kRecurrentColumns;
using program::ProgramTensor;

// Operands in ONNX's order.
enum Input : size_t { kX, kByInput, kByHidden, kBias, kLengths, kInitialH, kInitialC, kPeepholes };

struct Recurrence {
  bool lstm = false;
  bool reset_after = false;  // GRU's linear_before_reset
  bool reverse = false;
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1, gates = 0;
  int64_t padded = 0;              // hidden, to whole panels
  Tensor by_input;                 // [directions][gates][padded / 64][input][64]
  Tensor by_hidden;                // [directions][gates][padded / 64][hidden][64]
  std::vector<float> bias;         // [directions][gates * padded], what the sums begin with
  std::vector<float> bias_hidden;  // the recurrence's own of the candidate, [directions][padded]

  int64_t stacked() const { return gates * padded; }
  int64_t panels() const { return padded / kRecurrentColumns; }
};

bool has_usual_functions(const StepContext& context, const program::OpParams& p, bool lstm,
                         size_t directions) {
  const auto given = attribute<std::vector<std::string>>(context, p, "activations");
  if (given.empty()) return true;
  constexpr std::array<std::string_view, 3> kUsual = {"Sigmoid", "Tanh", "Tanh"};
  const size_t count = lstm ? 3 : 2;
  if (given.size() != count * directions) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] != kUsual[i % count]) return false;
  }
  return true;
}

// The file is hostile: attributes and shapes are those that the operator accepts.
Status check_node(const StepContext& context, const program::OpParams& p) {
  Graph graph(context.operators);
  NodeSpec spec{
      .op = p.op, .name = context.step.name, .inputs = {}, .outputs = {}, .attrs = p.attrs};
  for (size_t i = 0; i < context.step.inputs.size(); ++i) {
    spec.inputs.push_back(nullptr);
    if (!context.has_input(i)) continue;
    const ProgramTensor& input = context.input(i);
    RK_ASSIGN(spec.inputs.back(),
              graph.add_input(str("x", i), {operator_dtype(input), input.shape}));
  }
  for (size_t i = 0; i < context.step.outputs.size(); ++i) spec.outputs.push_back(str("y", i));
  RK_ASSIGN(const Node* const node, graph.add_node(std::move(spec)));
  for (size_t i = 0; i < context.step.outputs.size(); ++i) {
    if (i >= node->output_count() || node->output(i).shape() != context.output(i).shape)
      return invalid_model(
          str("output '", context.output(i).name, "' has another shape than ", p.op, " makes"));
  }
  return ok_status();
}

// After check_node().
std::variant<Recurrence, Refusal> recurrence_of(const StepContext& context,
                                                const program::OpParams& p) {
  Recurrence out;
  out.lstm = p.op == "LSTM";
  if (context.has_input(kLengths) || context.has_input(kPeepholes))
    return Refusal{"it has sequence lengths or peepholes"};
  if (p.attrs.contains("clip") || attribute<int64_t>(context, p, "input_forget") != 0 ||
      attribute<int64_t>(context, p, "layout") != 0)
    return Refusal{"clip, input_forget or layout has another value than its default"};
  for (const size_t i : {kX, kInitialH, kInitialC}) {
    if (context.has_input(i) && !is_plain_half(context, context.step.inputs[i]))
      return Refusal{"input or state is not fp16 in plain order"};
  }
  for (const int32_t output : context.step.outputs) {
    if (!is_plain_half(context, output)) return Refusal{"an output is not fp16 in plain order"};
  }
  for (const size_t i : {kByInput, kByHidden, kBias}) {
    if (context.has_input(i) && !is_float_constant(context.input(i)))
      return Refusal{"weights or bias are not float constants"};
  }
  const Shape &x = context.input(kX).shape, &r = context.input(kByHidden).shape;
  const auto direction = attribute<std::string>(context, p, "direction");
  out.reverse = direction == "reverse";
  out.reset_after = attribute<int64_t>(context, p, "linear_before_reset") != 0;
  out.directions = direction == "bidirectional" ? 2 : 1;
  out.gates = out.lstm ? 4 : 3;
  if (!has_usual_functions(context, p, out.lstm, static_cast<size_t>(out.directions)))
    return Refusal{"its functions are not sigmoid and tanh"};
  out.steps = x[0];
  out.batch = x[1];
  out.input = x[2];
  out.hidden = r[2];
  out.padded = align_up(out.hidden, kRecurrentColumns);
  if (x.elements() == 0) return Refusal{"it has no elements"};
  if (4 * out.hidden < out.padded) return Refusal{"most of a panel would be empty"};
  return out;
}

// Calls place(direction, gate, unit) for each row of the weights, in their order.
template <typename Place>
void each_row(const Recurrence& r, const Place& place) {
  for (int64_t row = 0; row < r.directions * r.gates * r.hidden; ++row)
    place(row / (r.gates * r.hidden), row / r.hidden % r.gates, row % r.hidden);
}

// A weight in panels, kept beside other constants; no file has these bytes.
Result<Tensor> pack_panels(const StepContext& context, const Recurrence& r, size_t input,
                           int64_t depth) {
  const TensorType type{DType::kF32, {r.directions, r.gates, r.panels(), depth, kRecurrentColumns}};
  return context.constants.tensor(
      {context.input(input).weight, DType::kUndefined, type, 0, 0}, [&]() -> Result<Tensor> {
        RK_ASSIGN(const Tensor stored, stored_constant(context, input));
        const Tensor plain = stored.cast(DType::kF32);
        RK_ASSIGN(Tensor out, Tensor::try_make(type));
        std::fill_n(out.mutable_data<float>(), out.elements(), 0.0f);
        const float* from = plain.data<float>();
        each_row(r, [&](int64_t direction, int64_t gate, int64_t unit) {
          const int64_t panel =
              (direction * r.gates + gate) * r.panels() + unit / kRecurrentColumns;
          float* const column = out.mutable_data<float>() + panel * depth * kRecurrentColumns +
                                unit % kRecurrentColumns;
          for (int64_t k = 0; k < depth; ++k) column[k * kRecurrentColumns] = *from++;
        });
        return out;
      });
}

Status pack_weights(const StepContext& context, Recurrence& r) {
  RK_ASSIGN(r.by_input, pack_panels(context, r, kByInput, r.input));
  RK_ASSIGN(r.by_hidden, pack_panels(context, r, kByHidden, r.hidden));
  r.bias.assign(static_cast<size_t>(r.directions * r.stacked()), 0.0f);
  r.bias_hidden.assign(static_cast<size_t>(r.directions * r.padded), 0.0f);
  if (!context.has_input(kBias)) return ok_status();
  RK_ASSIGN(const Tensor stored, stored_constant(context, kBias));
  const Tensor bias = stored.cast(DType::kF32);
  each_row(r, [&](int64_t direction, int64_t gate, int64_t unit) {
    const float* const from =
        bias.data<float>() + direction * 2 * r.gates * r.hidden + gate * r.hidden + unit;
    const float by_hidden = from[r.gates * r.hidden];
    const bool apart = !r.lstm && r.reset_after && gate == 2;
    r.bias[static_cast<size_t>(direction * r.stacked() + gate * r.padded + unit)] =
        apart ? *from : *from + by_hidden;
    if (apart) r.bias_hidden[static_cast<size_t>(direction * r.padded + unit)] = by_hidden;
  });
  return ok_status();
}

// The tensors of a step; kNone: not there.
struct Places {
  int32_t x = program::kNone, initial_h = program::kNone, initial_c = program::kNone;
  std::array<int32_t, 3> outputs = {program::kNone, program::kNone, program::kNone};
};

class ScratchTensor {
 public:
  ScratchTensor(ScratchTensors& all, Tensor tensor) : all_(all), tensor_(std::move(tensor)) {}
  ~ScratchTensor() { all_.give(std::move(tensor_)); }
  ScratchTensor(const ScratchTensor&) = delete;
  ScratchTensor& operator=(const ScratchTensor&) = delete;
  float* data() { return tensor_.mutable_data<float>(); }

 private:
  ScratchTensors& all_;
  Tensor tensor_;
};

// The walk over time of one direction and one entry of the batch.
class Walk {
 public:
  Walk(const Recurrence& r, const Places& places, const StepCall& call)
      : r_(r),
        places_(places),
        call_(call),
        gates_(static_cast<size_t>(r.stacked())),
        hidden_(static_cast<size_t>(r.padded)),
        h_(static_cast<size_t>(r.padded)),
        c_(static_cast<size_t>(r.padded)) {}

  void run(int64_t direction, int64_t b, const float* from_input) {
    const int64_t state = (direction * r_.batch + b) * r_.hidden;
    start(places_.initial_h, state, h_);
    start(places_.initial_c, state, c_);
    const bool reverse = direction == 1 || r_.reverse;
    for (int64_t n = 0; n < r_.steps; ++n) {
      const int64_t t = reverse ? r_.steps - 1 - n : n;
      const float* const own =
          from_input + ((direction * r_.steps + t) * r_.batch + b) * r_.stacked();
      r_.lstm ? lstm(direction, own, n % 2 != 0) : gru(direction, own, n % 2 != 0);
      store(0, ((t * r_.directions + direction) * r_.batch + b) * r_.hidden, h_);
    }
    store(1, state, h_);
    store(2, state, c_);
  }

 private:
  const float* panels(int64_t direction, int64_t gate) const {
    return r_.by_hidden.data<float>() + (direction * r_.gates + gate) * r_.padded * r_.hidden;
  }

  void lstm(int64_t direction, const float* from_input, bool backwards) {
    kernels::row_product_f32({h_.data(), r_.hidden, panels(direction, 0), r_.gates * r_.panels(),
                              from_input, gates_.data(), backwards});
    kernels::lstm_cell_f32({gates_.data(), c_.data(), h_.data(), r_.padded});
  }

  void gru(int64_t direction, const float* from_input, bool backwards) {
    const float* candidate = from_input + 2 * r_.padded;
    kernels::row_product_f32({h_.data(), r_.hidden, panels(direction, 0), 2 * r_.panels(),
                              from_input, gates_.data(), backwards});
    const float* x = h_.data();
    const float* begin = r_.bias_hidden.data() + direction * r_.padded;
    if (!r_.reset_after) {
      float* const reset = gates_.data() + 2 * r_.padded;
      kernels::reset_state_f32({gates_.data() + r_.padded, h_.data(), reset, r_.padded});
      x = reset;
      begin = candidate;
    }
    kernels::row_product_f32(
        {x, r_.hidden, panels(direction, 2), r_.panels(), begin, hidden_.data(), backwards});
    if (r_.reset_after) {
      kernels::gru_cell_f32({gates_.data(), candidate, hidden_.data(), h_.data(), r_.padded});
    } else {
      kernels::gru_cell_f32({gates_.data(), hidden_.data(), nullptr, h_.data(), r_.padded});
    }
  }

  void start(int32_t tensor, int64_t at, std::vector<float>& state) const {
    std::ranges::fill(state, 0.0f);
    if (tensor != program::kNone)
      kernels::f16_to_f32(call_.data<uint16_t>(tensor) + at, state.data(), {0, r_.hidden});
  }
  void store(size_t output, int64_t at, const std::vector<float>& state) const {
    const int32_t tensor = places_.outputs[output];
    if (tensor != program::kNone)
      kernels::f32_to_f16(state.data(), call_.data<uint16_t>(tensor) + at, {0, r_.hidden});
  }

  const Recurrence& r_;
  const Places& places_;
  const StepCall& call_;
  std::vector<float> gates_, hidden_, h_, c_;
};

// One panel after another: a matrix of few columns is read straight.
void multiply_inputs(const Recurrence& r, const StepCall& call, const float* x, float* out) {
  const int64_t rows = r.steps * r.batch, panels = r.gates * r.panels();
  call.parallel(r.directions * panels, rows * kRecurrentColumns * r.input / 16,
                [&](IndexRange range) {
                  for (int64_t panel = range.begin; panel < range.end; ++panel) {
                    const int64_t first = panel % panels * kRecurrentColumns;
                    kernels::GemmF32Args args;
                    args.m = rows;
                    args.n = kRecurrentColumns;
                    args.k = r.input;
                    args.a = x;
                    args.a_row_stride = r.input;
                    args.b = r.by_input.data<float>() + panel * r.input * kRecurrentColumns;
                    args.b_row_stride = kRecurrentColumns;
                    args.c = out + panel / panels * rows * r.stacked() + first;
                    args.c_row_stride = r.stacked();
                    args.bias = r.bias.data() + panel * kRecurrentColumns;
                    gemm_f32(args, {0, kernels::gemm_f32_units(args)});
                  }
                });
}

Status run_recurrence(const Recurrence& r, const Places& places, const StepCall& call) {
  const int64_t rows = r.steps * r.batch;
  RK_ASSIGN(Tensor x_taken, call.scratch->take({DType::kF32, {rows, r.input}}));
  ScratchTensor x(*call.scratch, std::move(x_taken));
  RK_ASSIGN(Tensor taken, call.scratch->take({DType::kF32, {r.directions, rows, r.stacked()}}));
  ScratchTensor from_input(*call.scratch, std::move(taken));
  kernels::f16_to_f32(call.data<uint16_t>(places.x), x.data(), {0, rows * r.input});
  multiply_inputs(r, call, x.data(), from_input.data());
  const float* const sums = from_input.data();
  call.parallel(r.directions * r.batch, r.steps * r.stacked() * r.hidden / 8,
                [&](IndexRange lanes) {
                  Walk walk(r, places, call);
                  for (int64_t lane = lanes.begin; lane < lanes.end; ++lane)
                    walk.run(lane / r.batch, lane % r.batch, sums);
                });
  return ok_status();
}

}  // namespace

Result<Attempt> prepare_recurrence(const StepContext& context, const program::OpParams& p) {
  if (p.op != "LSTM" && p.op != "GRU") return Attempt(Refusal{"not LSTM or GRU"});
  RK_TRY(check_node(context, p));
  auto found = recurrence_of(context, p);
  if (const auto* const refusal = std::get_if<Refusal>(&found)) return Attempt(*refusal);
  Recurrence& made = *std::get_if<Recurrence>(&found);
  RK_TRY(pack_weights(context, made));
  Places places;
  places.x = context.step.inputs[kX];
  if (context.has_input(kInitialH)) places.initial_h = context.step.inputs[kInitialH];
  if (made.lstm && context.has_input(kInitialC)) places.initial_c = context.step.inputs[kInitialC];
  std::ranges::copy(context.step.outputs, places.outputs.begin());
  const auto recurrence = std::make_shared<const Recurrence>(std::move(made));
  return Attempt(StepFunction([recurrence, places](const StepCall& call) {
    return run_recurrence(*recurrence, places, call);
  }));
}

}  // namespace rk::runtime::host

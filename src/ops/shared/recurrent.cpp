// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/recurrent.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/shared/activation.h"

namespace rk::ops {
namespace {

struct FunctionRow {
  std::string_view name;
  bool has_alpha;
  bool has_beta;
  float alpha;
  float beta;
  float (*function)(float, float, float);
};

constexpr FunctionRow kFunctions[] = {
    {"Relu", false, false, 0, 0, [](float x, float, float) { return std::max(x, 0.0f); }},
    {"Tanh", false, false, 0, 0, [](float x, float, float) { return std::tanh(x); }},
    {"Sigmoid", false, false, 0, 0, [](float x, float, float) { return sigmoid_of(x); }},
    {"Affine", true, true, 1, 0, [](float x, float a, float b) { return a * x + b; }},
    {"LeakyRelu", true, false, 0.01f, 0,
     [](float x, float a, float) { return x >= 0 ? x : a * x; }},
    {"ThresholdedRelu", true, false, 1, 0,
     [](float x, float a, float) { return x >= a ? x : 0.0f; }},
    {"ScaledTanh", true, true, 1, 1,
     [](float x, float a, float b) { return a * std::tanh(b * x); }},
    {"HardSigmoid", true, true, 0.2f, 0.5f, hard_sigmoid_of},
    {"Elu", true, false, 1, 0, [](float x, float a, float) { return elu_of(x, a); }},
    {"Softsign", false, false, 0, 0, [](float x, float, float) { return x / (1 + std::fabs(x)); }},
    {"Softplus", false, false, 0, 0, [](float x, float, float) { return softplus_of(x); }},
};

Status check_shape(const Node& node, size_t i, const Shape& expected) {
  if (!node.has_input(i) || node.input(i).shape() == expected) return ok_status();
  return refuse("input ", i, " ('", node.def().inputs[i].name, "') is ",
                to_string(node.input(i).shape()), ", expected ", to_string(expected));
}

// A matrix whose products with many vectors are wanted: strips of kStrip rows, the elements of a column together.
class Strips {
 public:
  Strips(const float* matrix, int64_t rows, int64_t columns)
      : rows_(rows),
        columns_(columns),
        elements_(static_cast<size_t>(strips() * columns * kStrip)) {
    for (int64_t row = 0; row < rows; ++row) {
      float* const to = elements_.data() + row / kStrip * columns * kStrip + row % kStrip;
      for (int64_t k = 0; k < columns; ++k) to[k * kStrip] = matrix[row * columns + k];
    }
  }

  // out[row] = bias[row] + sum of matrix[row, k] * x[k], in the order of k and in float64.
  void multiply(const float* x, const float* bias, std::span<float> out) const {
    for (int64_t strip = 0; strip < strips(); ++strip) {
      const int64_t first = strip * kStrip, count = std::min(kStrip, rows_ - first);
      double sums[kStrip] = {};
      for (int64_t i = 0; i < count && bias != nullptr; ++i) sums[i] = bias[first + i];
      add(elements_.data() + first * columns_, x, sums);
      for (int64_t i = 0; i < count; ++i)
        out[static_cast<size_t>(first + i)] = static_cast<float>(sums[i]);
    }
  }

 private:
  static constexpr int64_t kStrip = 16;
  using Two = double __attribute__((vector_size(16)));
  using TwoFloats = float __attribute__((vector_size(8)));

  int64_t strips() const { return (rows_ + kStrip - 1) / kStrip; }

  void add(const float* column, const float* x, double (&sums)[kStrip]) const {
    constexpr int kVectors = kStrip / 2;
    Two sum[kVectors];
    std::memcpy(sum, sums, sizeof sum);
    for (int64_t k = 0; k < columns_; ++k, column += kStrip) {
      const Two factor = {x[k], x[k]};
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) {
        TwoFloats w;
        std::memcpy(&w, column + 2 * i, sizeof w);
        sum[i] += __builtin_convertvector(w, Two) * factor;
      }
    }
    std::memcpy(sums, sum, sizeof sum);
  }

  int64_t rows_, columns_;
  std::vector<float> elements_;
};

}  // namespace

Shape RecurrentPlan::y_shape() const {
  if (batch_first) return {batch, steps, directions, hidden};
  return {steps, directions, batch, hidden};
}

Shape RecurrentPlan::state_shape() const {
  if (batch_first) return {batch, directions, hidden};
  return {directions, batch, hidden};
}

Result<RecurrentPlan> recurrent_plan(const Node& node, int gates) {
  RK_TRY(require_one_of(node, "direction", {"forward", "reverse", "bidirectional"}));
  RK_TRY(require_range(node, "layout", 0, 1));
  const Shape& x = node.input(0).shape();
  const Shape& r = node.input(2).shape();
  if (x.rank() != 3 || r.rank() != 3) {
    return refuse("inputs 'x' and 'r' are ", to_string(x), " and ", to_string(r),
                  ", expected rank 3 for both");
  }
  RecurrentPlan plan;
  plan.batch_first = node.i64("layout") == 1;
  plan.steps = x[plan.batch_first ? 1 : 0];
  plan.batch = x[plan.batch_first ? 0 : 1];
  plan.input = x[2];
  plan.hidden = r[2];
  plan.directions = node.text("direction") == "bidirectional" ? 2 : 1;
  plan.first_reverse = node.text("direction") == "reverse";
  if (plan.hidden < 1 || plan.hidden > (1 << 24)) {
    return refuse("input 2 ('r') is ", to_string(r), ", expected a hidden extent from 1 to 2^24");
  }
  if (node.has_attr("hidden_size") && node.i64("hidden_size") != plan.hidden) {
    return refuse("attribute 'hidden_size' is ", node.i64("hidden_size"), ", the weights have ",
                  plan.hidden);
  }
  const int64_t stacked = gates * plan.hidden;
  RK_TRY(check_shape(node, 1, {plan.directions, stacked, plan.input}));
  RK_TRY(check_shape(node, 2, {plan.directions, stacked, plan.hidden}));
  RK_TRY(check_shape(node, 3, {plan.directions, 2 * stacked}));
  RK_TRY(check_shape(node, 4, {plan.batch}));
  RK_TRY(check_shape(node, 5, plan.state_shape()));
  return plan;
}

Status infer_recurrent(InferCall& call, int gates, std::span<const std::string_view> defaults) {
  RK_TRY(require_float(call, 0));
  for (const size_t i : {1, 2, 3, 5}) {
    if (call.has_input(i)) RK_TRY(require_same_dtype(call, 0, i));
  }
  if (call.has_input(4)) RK_TRY(require_index(call, 4));
  RK_ASSIGN(const RecurrentPlan plan, recurrent_plan(call.node, gates));
  RK_TRY(cell_activations(call.node, plan, defaults).status());
  RK_TRY(set_output(call, 0, call.input(0).dtype, plan.y_shape().dims()));
  return set_output(call, 1, call.input(0).dtype, plan.state_shape().dims());
}

Result<std::vector<CellActivation>> cell_activations(const Node& node, const RecurrentPlan& plan,
                                                     std::span<const std::string_view> defaults) {
  const std::vector<std::string>& given = node.strings("activations");
  const size_t count = defaults.size() * static_cast<size_t>(plan.directions);
  if (!given.empty() && given.size() != count) {
    return refuse("attribute 'activations' has ", given.size(), " names, expected ", count);
  }
  // Parameters are listed only for the functions that have them.
  const std::vector<float>& alphas = node.floats("activation_alpha");
  const std::vector<float>& betas = node.floats("activation_beta");
  size_t alpha = 0;
  size_t beta = 0;
  std::vector<CellActivation> out;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name =
        given.empty() ? defaults[i % defaults.size()] : std::string_view(given[i]);
    const auto row = std::ranges::find(kFunctions, name, &FunctionRow::name);
    if (row == std::end(kFunctions)) {
      return refuse("attribute 'activations' names '", name,
                    "', which is no activation of recurrent operators");
    }
    CellActivation own = {row->function, row->alpha, row->beta};
    if (row->has_alpha && alpha < alphas.size()) own.alpha = alphas[alpha++];
    if (row->has_beta && beta < betas.size()) own.beta = betas[beta++];
    out.push_back(own);
  }
  return out;
}

void run_recurrent(const EvalCall& call, const RecurrentPlan& plan, int gates, bool has_cells,
                   const std::function<void(CellStep&)>& cell) {
  const int64_t hidden = plan.hidden;
  const int64_t stacked = gates * hidden;
  const auto state_at = [&](int64_t direction, int64_t b) {
    return (plan.batch_first ? b * plan.directions + direction : direction * plan.batch + b) *
           hidden;
  };
  const auto initial = [&](size_t i, int64_t at, std::vector<float>& state) {
    if (call.has_input(i)) std::copy_n(call.input(i).data<float>() + at, hidden, state.begin());
  };
  Tensor& y = call.output(0);
  std::fill_n(y.mutable_data<float>(), y.elements(), 0.0f);
  call.parallel_for(plan.directions * plan.batch, 1, [&](IndexRange range) {
    std::vector<float> from_input(static_cast<size_t>(stacked));
    std::vector<float> from_hidden(static_cast<size_t>(stacked));
    for (int64_t lane = range.begin; lane < range.end; ++lane) {
      const int64_t direction = lane / plan.batch;
      const int64_t b = lane % plan.batch;
      const bool reverse = direction == 1 || plan.first_reverse;
      const int64_t given = call.has_input(4) ? call.input(4).at_i64(b) : plan.steps;
      const int64_t length = std::clamp<int64_t>(given, 0, plan.steps);
      const float* w = call.input(1).data<float>() + direction * stacked * plan.input;
      const float* r = call.input(2).data<float>() + direction * stacked * hidden;
      const float* bias =
          call.has_input(3) ? call.input(3).data<float>() + direction * 2 * stacked : nullptr;
      const Strips by_input(w, stacked, plan.input), by_hidden(r, stacked, hidden);
      std::vector<float> h(static_cast<size_t>(hidden));
      std::vector<float> c(has_cells ? h.size() : 0);
      initial(5, state_at(direction, b), h);
      if (has_cells) initial(6, state_at(direction, b), c);
      CellStep step = {.direction = direction,
                       .from_input = from_input,
                       .from_hidden = from_hidden,
                       .recurrence = r,
                       .recurrence_bias = bias != nullptr ? bias + stacked : nullptr,
                       .h = h,
                       .c = c};
      for (int64_t n = 0; n < length; ++n) {
        const int64_t t = reverse ? length - 1 - n : n;
        const int64_t x_at = plan.batch_first ? b * plan.steps + t : t * plan.batch + b;
        by_input.multiply(call.input(0).data<float>() + x_at * plan.input, bias, from_input);
        by_hidden.multiply(h.data(), step.recurrence_bias, from_hidden);
        cell(step);
        const int64_t y_at = plan.batch_first ? (b * plan.steps + t) * plan.directions + direction
                                              : (t * plan.directions + direction) * plan.batch + b;
        std::ranges::copy(h, y.mutable_data<float>() + y_at * hidden);
      }
      const int64_t at = state_at(direction, b);
      if (call.outputs.size() > 1) std::ranges::copy(h, call.output(1).mutable_data<float>() + at);
      if (call.outputs.size() > 2) std::ranges::copy(c, call.output(2).mutable_data<float>() + at);
    }
  });
}

std::vector<AttrDef> recurrent_attrs() {
  return {
      {"direction", "forward", "forward, reverse or bidirectional"},
      {"hidden_size", int64_t{1}, "extent of the state; taken from the weights where not given",
       AttrDef::kOptional},
      {"activations", std::vector<std::string>{}, "functions of the cell, for each direction"},
      {"activation_alpha", std::vector<float>{},
       "alpha of those activations that have one, in order"},
      {"activation_beta", std::vector<float>{},
       "beta of those activations that have one, in order"},
      {"clip", 0.0f, "limit of the gates' arguments", AttrDef::kOptional},
      {"layout", int64_t{0}, "0: time first; 1: batch first"},
  };
}

Cost recurrent_cost(const Node& node) {
  const auto elements = [&](size_t i) {
    return static_cast<uint64_t>(node.input(i).shape().elements());
  };
  const Shape& x = node.input(0).shape();
  return {.macs = static_cast<uint64_t>(x[0] * x[1]) * (elements(1) + elements(2))};
}

}  // namespace rk::ops

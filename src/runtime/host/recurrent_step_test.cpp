// SPDX-License-Identifier: Apache-2.0
// LSTM and GRU of fp16 tensors against the operators' formulas in double. Hidden extents below and above a panel; two
// entries in the batch; states that are given and states that begin at 0.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/half.h"
#include "runtime/session/session.h"
#include "runtime/test_program.h"

namespace rk::runtime {
namespace {

using Floats = std::vector<float>;

struct Layer {
  const char* op;
  const char* direction;
  int64_t hidden;
  bool reset_after;
  bool given;  // a bias and initial states
};

constexpr int64_t kSteps = 6, kBatch = 2, kInput = 5;

Floats noise(int64_t count, float spread, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  Floats out(static_cast<size_t>(count));
  for (float& v : out) v = half_to_float(float_to_half(normal(random)));
  return out;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct TestLayer {
  explicit TestLayer(const Layer& layer)
      : layer(layer),
        lstm(std::string_view(layer.op) == "LSTM"),
        gates(lstm ? 4 : 3),
        directions(std::string_view(layer.direction) == "bidirectional" ? 2 : 1),
        x(noise(kSteps * kBatch * kInput, 1, 1)),
        w(noise(directions * gates * layer.hidden * kInput, 0.4f, 2)),
        r(noise(directions * gates * layer.hidden * layer.hidden, 0.2f, 3)),
        bias(noise(directions * 2 * gates * layer.hidden, layer.given ? 0.5f : 0.0f, 4)),
        h(noise(directions * kBatch * layer.hidden, layer.given ? 0.5f : 0.0f, 5)),
        c(noise(directions * kBatch * layer.hidden, layer.given ? 0.5f : 0.0f, 6)) {}

  // One direction and entry of the batch; y[t], then the last states.
  struct Result {
    std::vector<std::vector<double>> y;
    std::vector<double> h, c;
  };
  Result formula(int64_t direction, int64_t b) const {
    const int64_t n = layer.hidden;
    const bool reverse = direction == 1 || std::string_view(layer.direction) == "reverse";
    Result out;
    out.y.resize(kSteps);
    for (int64_t i = 0; i < n; ++i) {
      out.h.push_back(h[static_cast<size_t>((direction * kBatch + b) * n + i)]);
      out.c.push_back(c[static_cast<size_t>((direction * kBatch + b) * n + i)]);
    }
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t t = reverse ? kSteps - 1 - step : step;
      const auto from_input = [&](int64_t gate, int64_t i) {
        const int64_t row = (direction * gates + gate) * n + i;
        double sum = bias[static_cast<size_t>(direction * 2 * gates * n + gate * n + i)];
        for (int64_t k = 0; k < kInput; ++k)
          sum += double{w[static_cast<size_t>(row * kInput + k)]} *
                 x[static_cast<size_t>((t * kBatch + b) * kInput + k)];
        return sum;
      };
      const auto from_hidden = [&](int64_t gate, int64_t i, const std::vector<double>& state) {
        const int64_t row = (direction * gates + gate) * n + i;
        double sum = bias[static_cast<size_t>((direction * 2 + 1) * gates * n + gate * n + i)];
        for (int64_t k = 0; k < n; ++k)
          sum += double{r[static_cast<size_t>(row * n + k)]} * state[static_cast<size_t>(k)];
        return sum;
      };
      const auto gate = [&](int64_t number, int64_t i) {
        return from_input(number, i) + from_hidden(number, i, out.h);
      };
      std::vector<double> next(out.h.size()), reset(out.h.size());
      for (int64_t i = 0; i < n && !lstm; ++i)
        reset[static_cast<size_t>(i)] = sigmoid(gate(1, i)) * out.h[static_cast<size_t>(i)];
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i);
        if (lstm) {
          out.c[at] = sigmoid(gate(2, i)) * out.c[at] + sigmoid(gate(0, i)) * std::tanh(gate(3, i));
          next[at] = sigmoid(gate(1, i)) * std::tanh(out.c[at]);
        } else {
          const double update = sigmoid(gate(0, i));
          const double hidden = layer.reset_after ? sigmoid(gate(1, i)) * from_hidden(2, i, out.h)
                                                  : from_hidden(2, i, reset);
          next[at] = (1 - update) * std::tanh(from_input(2, i) + hidden) + update * out.h[at];
        }
      }
      out.h = next;
      out.y[static_cast<size_t>(t)] = next;
    }
    return out;
  }

  Layer layer;
  bool lstm;
  int64_t gates, directions;
  Floats x, w, r, bias, h, c;
};

class RecurrentStepTest : public testing::TestWithParam<Layer> {};

TEST_P(RecurrentStepTest, MatchesTheFormula) {
  const TestLayer net(GetParam());
  const Layer& layer = net.layer;
  TestProgram p;
  const auto constant = [&](const char* name, const Shape& shape, const Floats& values) {
    return p.constant(name, {DType::kF32, shape}, TestProgram::bytes_of(values));
  };
  const int64_t stacked = net.gates * layer.hidden;
  const Shape state = {net.directions, kBatch, layer.hidden};
  std::vector<int32_t> inputs = {p.input("x", {DType::kF16, {kSteps, kBatch, kInput}}),
                                 constant("w", {net.directions, stacked, kInput}, net.w),
                                 constant("r", {net.directions, stacked, layer.hidden}, net.r)};
  if (layer.given) {
    inputs.push_back(constant("b", {net.directions, 2 * stacked}, net.bias));
    inputs.push_back(program::kNone);
    inputs.push_back(p.input("h", {DType::kF16, state}));
    if (net.lstm) inputs.push_back(p.input("c", {DType::kF16, state}));
  }
  std::vector<int32_t> outputs = {
      p.output("y", {DType::kF16, {kSteps, net.directions, kBatch, layer.hidden}}),
      p.output("yh", {DType::kF16, state})};
  if (net.lstm) outputs.push_back(p.output("yc", {DType::kF16, state}));
  AttrMap attrs;
  attrs["direction"] = std::string(layer.direction);
  if (layer.reset_after) attrs["linear_before_reset"] = int64_t{1};
  p.step(layer.op, inputs, outputs, program::OpParams{layer.op, attrs});
  auto model = LoadedModel::from_program(std::move(p.program), {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto opened = Session::create(model.value(), {});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  Session& session = *opened.value();
  const CallerFormat plain{.dtype = DType::kF32, .format = TensorFormat::kNchw};
  const std::vector<const Floats*> given = {&net.x, &net.h, &net.c};
  for (size_t i = 0; i < (layer.given ? net.lstm ? 3u : 2u : 1u); ++i)
    ASSERT_TRUE(session.set_input(i, plain, given[i]->data(), given[i]->size() * 4).ok()) << i;
  ASSERT_TRUE(session.run().ok());
  std::vector<Floats> got = {Floats(static_cast<size_t>(kSteps) * net.h.size()),
                             Floats(net.h.size()), Floats(net.h.size())};
  for (size_t i = 0; i < outputs.size(); ++i)
    ASSERT_TRUE(session.get_output(i, plain, got[i].data(), got[i].size() * 4).ok()) << i;
  const auto near = [](float value, double want) {
    return std::fabs(value - want) <= 1e-6 + std::fabs(want) * 0x1p-10;
  };
  for (int64_t lane = 0; lane < net.directions * kBatch; ++lane) {
    const TestLayer::Result want = net.formula(lane / kBatch, lane % kBatch);
    for (size_t i = 0; i < want.h.size(); ++i) {
      const size_t at = static_cast<size_t>(lane) * want.h.size() + i;
      for (size_t t = 0; t < kSteps; ++t)
        ASSERT_TRUE(near(got[0][t * net.h.size() + at], want.y[t][i]))
            << lane << " " << t << " " << i;
      ASSERT_TRUE(near(got[1][at], want.h[i])) << lane << " " << i;
      ASSERT_TRUE(!net.lstm || near(got[2][at], want.c[i])) << lane << " " << i;
    }
  }
}

// Fewer units than a quarter of a panel run by definition.
INSTANTIATE_TEST_SUITE_P(Layers, RecurrentStepTest,
                         testing::Values(Layer{"LSTM", "forward", 20, false, false},
                                         Layer{"LSTM", "bidirectional", 70, false, true},
                                         Layer{"LSTM", "reverse", 3, false, true},
                                         Layer{"GRU", "forward", 20, false, true},
                                         Layer{"GRU", "bidirectional", 70, true, true},
                                         Layer{"GRU", "reverse", 64, true, false}));

}  // namespace
}  // namespace rk::runtime

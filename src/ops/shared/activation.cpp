// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/shared/shape_util.h"

namespace rk::ops {

float sigmoid_of(float x) {
  if (x >= 0) return 1.0f / (1.0f + std::exp(-x));
  const float e = std::exp(x);
  return e / (1.0f + e);
}

float hard_sigmoid_of(float x, float alpha, float beta) {
  return std::max(0.0f, std::min(1.0f, alpha * x + beta));
}

float hard_swish_of(float x) { return x * hard_sigmoid_of(x, 1.0f / 6.0f, 0.5f); }

float elu_of(float x, float alpha) { return x < 0 ? alpha * std::expm1(x) : x; }

float softplus_of(float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::fabs(x))); }

float swish_of(float x, float beta) { return x * sigmoid_of(beta * x); }

float mish_of(float x) { return x * std::tanh(softplus_of(x)); }

float gelu_of(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678118654752f)); }

float gelu_tanh_of(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.79788456080286536f * (x + 0.044715f * x * x * x)));
}

namespace {

using Params = Activation::Params;

struct ActivationRow {
  std::string_view name;
  float alpha;  // the operator's own defaults
  float beta;
  float (*function)(float, const Params&);
};

float relu_of(float x, const Params&) { return std::max(x, 0.0f); }
float clip_of(float x, const Params& p) { return std::min(std::max(x, p.min), p.max); }

constexpr ActivationRow kActivations[] = {
    {"Relu", 0, 0, relu_of},
    {"Clip", 0, 0, clip_of},
    {"LeakyRelu", 0.01f, 0, [](float x, const Params& p) { return x >= 0 ? x : p.alpha * x; }},
    {"Sigmoid", 0, 0, [](float x, const Params&) { return sigmoid_of(x); }},
    {"Tanh", 0, 0, [](float x, const Params&) { return std::tanh(x); }},
    {"HardSigmoid", 0.2f, 0.5f,
     [](float x, const Params& p) { return hard_sigmoid_of(x, p.alpha, p.beta); }},
    {"HardSwish", 0, 0, [](float x, const Params&) { return hard_swish_of(x); }},
    {"Elu", 1, 0, [](float x, const Params& p) { return elu_of(x, p.alpha); }},
    {"Softplus", 0, 0, [](float x, const Params&) { return softplus_of(x); }},
    {"exSwish", 0, 1, [](float x, const Params& p) { return swish_of(x, p.beta); }},
    {"exMish", 0, 0, [](float x, const Params&) { return mish_of(x); }},
    {"exGelu", 0, 0, [](float x, const Params&) { return gelu_of(x); }},
};

}  // namespace

Result<Activation> Activation::from_node(const Node& node, std::string_view attr) {
  const std::string& name = node.text(attr);
  Activation out;
  if (name.empty()) return out;
  const auto row = std::ranges::find(kActivations, name, &ActivationRow::name);
  if (row == std::end(kActivations)) {
    std::string known;
    for (const ActivationRow& each : kActivations)
      known += str(known.empty() ? "" : ", ", each.name);
    return refuse("attribute '", attr, "' is '", name, "', expected '' or one of ", known);
  }
  const auto given = [&](std::string_view param, float otherwise) {
    return node.has_attr(param) ? node.f32(param) : otherwise;
  };
  out.function_ = row->function;
  out.params_ = {.alpha = given("alpha", row->alpha),
                 .beta = given("beta", row->beta),
                 .min = given("clip_min", std::numeric_limits<float>::lowest()),
                 .max = given("clip_max", std::numeric_limits<float>::max())};
  return out;
}

std::optional<Activation::Bounds> Activation::bounds() const {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (function_ == nullptr) return Bounds{-kInfinity, kInfinity};
  if (function_ == relu_of) return Bounds{0, kInfinity};
  if (function_ == clip_of) return Bounds{params_.min, params_.max};
  return std::nullopt;
}

}  // namespace rk::ops

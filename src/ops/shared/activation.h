// SPDX-License-Identifier: Apache-2.0
// The scalar functions of the activation operators, in one place because FusedConv and the
// recurrent operators apply the same ones. All are written so that large arguments give the limit,
// not inf / inf.
#pragma once

#include <optional>
#include <string_view>

#include "ir/graph.h"

namespace rk::ops {

float sigmoid_of(float x);
float hard_sigmoid_of(float x, float alpha, float beta);  // max(0, min(1, alpha * x + beta))
float hard_swish_of(float x);                             // x * hard_sigmoid(x, 1/6, 0.5)
float elu_of(float x, float alpha);
float softplus_of(float x);
float swish_of(float x, float beta);  // x * sigmoid(beta * x)
float mish_of(float x);               // x * tanh(softplus(x))
float gelu_of(float x);               // 0.5 * x * (1 + erf(x / sqrt 2))
float gelu_tanh_of(float x);          // the tanh approximation

// An activation chosen by operator name, with its parameters.
class Activation {
 public:
  struct Params {
    float alpha = 0;
    float beta = 0;
    float min = 0;
    float max = 0;
  };

  Activation() = default;  // the identity
  // From attribute `attr` ("" or the name of an activation operator) and the node's alpha, beta,
  // clip_min, clip_max.
  static Result<Activation> from_node(const Node& node, std::string_view attr);

  float operator()(float x) const { return function_ == nullptr ? x : function_(x, params_); }
  explicit operator bool() const { return function_ != nullptr; }
  const Params& params() const { return params_; }
  // Of an activation that is nothing but a clamp to them, the identity included.
  struct Bounds {
    float low;
    float high;
  };
  std::optional<Bounds> bounds() const;

 private:
  float (*function_)(float, const Params&) = nullptr;
  Params params_;
};

}  // namespace rk::ops

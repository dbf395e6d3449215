// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/random_fill.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

// SplitMix64: small, and the same on every machine, which std::normal_distribution is not.
class Source {
 public:
  explicit Source(const Node& node) {
    state_ = node.has_attr("seed") ? std::bit_cast<uint32_t>(node.f32("seed")) : 0;
    // Two nodes with the same seed, or none, do not draw the same numbers.
    for (const char c : node.name()) state_ = (state_ ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }

  double uniform() {  // 0 to below 1
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
  }

  double normal() {  // Box and Muller; the second number of each pair is not used
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t state_ = 0;
};

template <typename Draw>
Status fill(const EvalCall& call, Draw draw) {
  Source source(call.node);
  Tensor& out = call.output(0);
  const size_t step = byte_size(out.dtype());
  for (int64_t i = 0; i < out.elements(); ++i) {
    store_f64(out.dtype(), out.mutable_data<uint8_t>() + static_cast<size_t>(i) * step,
              draw(source));
  }
  return ok_status();
}

OpDef common_def(std::vector<AttrDef> own) {
  own.push_back(
      {"dtype", int64_t{1}, "ONNX number of a float dtype; f32 or x's", AttrDef::kOptional});
  own.push_back({"seed", 0.0f, "where the drawing starts", AttrDef::kOptional});
  return {
      .outputs = {{"y"}},
      .attrs = std::move(own),
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace

Result<DType> random_dtype(const Node& node, DType fallback) {
  if (!node.has_attr("dtype")) return is_float(fallback) ? fallback : DType::kF32;
  const auto dtype = dtype_from_onnx(node.i64("dtype"));
  if (dtype && is_float(*dtype)) return *dtype;
  return refuse("attribute 'dtype' is ", node.i64("dtype"),
                ", expected the number of a float dtype");
}

Status infer_random(InferCall& call) {
  RK_ASSIGN(const DType dtype, random_dtype(call.node, DType::kF32));
  return set_output(call, 0, dtype, call.node.ints("shape"));
}

Status infer_random_like(InferCall& call) {
  RK_ASSIGN(const DType dtype, random_dtype(call.node, call.input(0).dtype));
  return set_output(call, 0, dtype, call.input(0).shape);
}

Status fill_normal(const EvalCall& call) {
  const double mean = call.node.f32("mean");
  const double scale = call.node.f32("scale");
  return fill(call, [=](Source& source) { return mean + scale * source.normal(); });
}

Status fill_uniform(const EvalCall& call) {
  const double low = call.node.f32("low");
  const double high = call.node.f32("high");
  return fill(call, [=](Source& source) { return low + (high - low) * source.uniform(); });
}

OpDef random_def(std::vector<AttrDef> own) {
  OpDef def = common_def(std::move(own));
  def.attrs.push_back({"shape", std::vector<int64_t>{}, "extents of y", AttrDef::kRequired});
  def.infer = infer_random;
  return def;
}

OpDef random_like_def(std::vector<AttrDef> own) {
  OpDef def = common_def(std::move(own));
  def.inputs = {{"x", anything()}};
  def.infer = infer_random_like;
  def.shape_only = true;
  return def;
}

std::vector<AttrDef> normal_attrs() {
  return {{"mean", 0.0f, "middle of the distribution"}, {"scale", 1.0f, "standard deviation"}};
}

std::vector<AttrDef> uniform_attrs() {
  return {{"low", 0.0f, "least number"}, {"high", 1.0f, "bound above"}};
}

}  // namespace rk::ops

// SPDX-License-Identifier: Apache-2.0
// float16 single layers against double arithmetic on the same float16 inputs and weights:
//   |y - y64| <= 1 ulp16(y64) + K * 2^-24 * sum|x*w|
#include <gtest/gtest.h>

#include <cmath>

#include "base/half.h"
#include "compiler/compile.h"
#include "format/writer.h"
#include "ops/registry.h"
#include "tests/e2e/figure.h"
#include "tests/foundation/any_model.h"

namespace rk::foundation {
namespace {

float half_of(double value) { return half_to_float(float_to_half(static_cast<float>(value))); }

// Distance between neighboring float16 values around y.
double ulp16(double y) {
  const double magnitude = std::fabs(y);
  if (magnitude < 0x1p-14) return 0x1p-24;
  return std::ldexp(1.0, std::ilogb(magnitude) - 10);
}

Tensor random_half(const Shape& shape, uint64_t seed, double spread) {
  Tensor out = Tensor::make({DType::kF32, shape});
  uint64_t state = seed * 6364136223846793005u + 1442695040888963407u;
  for (int64_t i = 0; i < out.elements(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    out.mutable_data<float>()[i] =
        half_of((static_cast<double>(state >> 40) / (1 << 23) - 1) * spread);
  }
  return out;
}

struct Layer {
  const char* name;
  int64_t in, out, group, kernel_h, kernel_w, stride, pad, dilation;
  bool transposed;
};

constexpr Layer kLayers[] = {
    {"1x1, 64 to 40", 64, 40, 1, 1, 1, 1, 0, 1, false},
    {"3x3, 33 to 17, stride 2", 33, 17, 1, 3, 3, 2, 1, 1, false},
    {"depthwise 5x5, 24", 24, 24, 24, 5, 5, 1, 2, 1, false},
    {"grouped 3x2, 8 to 12 in 4", 8, 12, 4, 3, 2, 1, 1, 1, false},
    {"dilated 3x3, 16 to 16", 16, 16, 1, 3, 3, 1, 2, 2, false},
    {"transposed 4x4, 10 to 6, stride 2", 10, 6, 1, 4, 4, 2, 1, 1, true},
};

struct Exact {
  std::vector<double> y;
  std::vector<double> magnitude;  // sum|x*w|
  std::vector<int64_t> terms;
};

Exact exact_conv(const Layer& layer, const Tensor& x, const Tensor& w, const Tensor& b,
                 const Shape& out) {
  const int64_t h = x.shape()[2], wd = x.shape()[3];
  Exact e;
  e.y.resize(static_cast<size_t>(out.elements()));
  for (int64_t oc = 0; oc < out[1]; ++oc) {
    for (int64_t i = 0; i < out[2] * out[3]; ++i)
      e.y[static_cast<size_t>(oc * out[2] * out[3] + i)] = b.at_f64(oc);
  }
  e.magnitude.assign(e.y.size(), 0);
  e.terms.assign(e.y.size(), 1);
  const int64_t in_group = layer.in / layer.group, out_group = layer.out / layer.group;
  for (int64_t oc = 0; oc < layer.out; ++oc) {
    for (int64_t k = 0; k < in_group; ++k) {
      const int64_t ic = oc / out_group * in_group + k;
      for (int64_t ky = 0; ky < layer.kernel_h; ++ky) {
        for (int64_t kx = 0; kx < layer.kernel_w; ++kx) {
          const int64_t w_index =
              layer.transposed
                  ? ((ic * out_group + oc % out_group) * layer.kernel_h + ky) * layer.kernel_w + kx
                  : ((oc * in_group + k) * layer.kernel_h + ky) * layer.kernel_w + kx;
          for (int64_t a = 0; a < (layer.transposed ? h : out[2]); ++a) {
            for (int64_t c = 0; c < (layer.transposed ? wd : out[3]); ++c) {
              const int64_t other_y = a * layer.stride - layer.pad + ky * layer.dilation;
              const int64_t other_x = c * layer.stride - layer.pad + kx * layer.dilation;
              const int64_t limit_y = layer.transposed ? out[2] : h,
                            limit_x = layer.transposed ? out[3] : wd;
              if (other_y < 0 || other_x < 0 || other_y >= limit_y || other_x >= limit_x) continue;
              const int64_t iy = layer.transposed ? a : other_y,
                            ix = layer.transposed ? c : other_x;
              const int64_t oy = layer.transposed ? other_y : a,
                            ox = layer.transposed ? other_x : c;
              const double product = x.at_f64((ic * h + iy) * wd + ix) * w.at_f64(w_index);
              const auto at = static_cast<size_t>((oc * out[2] + oy) * out[3] + ox);
              e.y[at] += product;
              e.magnitude[at] += std::fabs(product);
              ++e.terms[at];
            }
          }
        }
      }
    }
  }
  return e;
}

TEST(HalfBound, SingleConvolutionsStayWithinOneUlpAndTheRoundingOfSums) {
  for (const Layer& layer : kLayers) {
    Graph graph(ops::registry());
    const Tensor x = random_half({1, layer.in, 9, 13}, 1, 4);
    const Shape w_shape =
        layer.transposed ? Shape{layer.in, layer.out / layer.group, layer.kernel_h, layer.kernel_w}
                         : Shape{layer.out, layer.in / layer.group, layer.kernel_h, layer.kernel_w};
    const Tensor w = random_half(w_shape, 2, 0.5), b = random_half({layer.out}, 3, 2);
    Value* input = *graph.add_input("x", x.type());
    const std::vector<int64_t> pads(4, layer.pad);
    auto node = graph.add_node({layer.transposed ? "ConvTranspose" : "Conv",
                                "layer",
                                {input, graph.add_constant("w", w), graph.add_constant("b", b)},
                                {"y"},
                                {{"group", layer.group},
                                 {"strides", std::vector<int64_t>(2, layer.stride)},
                                 {"dilations", std::vector<int64_t>(2, layer.dilation)},
                                 {"pads", pads}}});
    ASSERT_TRUE(node.ok()) << node.status().message();
    ASSERT_TRUE(graph.add_output(&(*node)->output()).ok());
    const Shape out = (*node)->output().shape();
    const auto program = compiler::compile(graph, {});
    ASSERT_TRUE(program.ok()) << layer.name << ": " << program.status().message();
    const auto rknn = format::write_rknn(*program);
    ASSERT_TRUE(rknn.ok()) << rknn.status().message();
    const auto model = AnyModel::load(*rknn);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto results = model->run_float({x});
    ASSERT_TRUE(results.ok()) << results.status().message();
    const Exact exact = exact_conv(layer, x, w, b, out);
    double worst = 0;
    ASSERT_EQ((*results)[0].size(), exact.y.size());
    for (size_t i = 0; i < exact.y.size(); ++i) {
      const double bound =
          ulp16(exact.y[i]) + static_cast<double>(exact.terms[i]) * 0x1p-24 * exact.magnitude[i];
      worst = std::max(worst, std::fabs((*results)[0][i] - exact.y[i]) / bound);
    }
    e2e::figure_at_most(str("float16 ", layer.name, ", error over bound"), worst, 1.0);
  }
}

}  // namespace
}  // namespace rk::foundation

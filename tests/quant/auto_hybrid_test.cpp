// SPDX-License-Identifier: Apache-2.0
// auto_hybrid: a few layers in float16 bring the outputs to the wanted cosine, on pictures that the choice was not made on.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "tests/e2e/figure.h"
#include "tests/e2e/models.h"
#include "toolkit/simulator.h"

namespace rk::quant_check {
namespace {

double cosine(std::span<const float> a, std::span<const float> b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return aa == 0 || bb == 0 ? (aa == bb ? 1 : 0) : dot / std::sqrt(aa * bb);
}

struct Score {
  std::vector<std::string> names;
  std::vector<double> worst;  // cosine per output, over all pictures
  size_t layers = 0;
  size_t float_layers = 0;
};

Result<Score> score(const e2e::TestModel& model, bool hybrid, double threshold,
                    const std::string& algorithm) {
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.mean_values = {model.mean};
  config.std_values = {model.std};
  config.quantized_algorithm = algorithm;
  config.auto_hybrid_cos_thresh = threshold;
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(model.onnx));
  toolkit::BuildOptions build;
  build.dataset = model.dataset;
  build.auto_hybrid = hybrid;
  RK_TRY(toolkit.build(build));
  Score out;
  for (const auto& step : toolkit.program().main_variant().steps) {
    if (step.type == "exDataConvert") continue;
    ++out.layers;
  }
  out.float_layers = toolkit.float_layers().size();
  RK_ASSIGN(auto simulator, toolkit::Simulator::create(toolkit.program(), {}));
  for (size_t i = 0; i < simulator->output_count(); ++i) {
    out.names.push_back(simulator->output_attr(i).name);
    out.worst.push_back(1);
  }
  for (const media::Picture& picture : model.pictures) {
    Tensor input = e2e::picture_tensor(picture);
    RK_ASSIGN(const auto golden, toolkit.golden({input}));
    const toolkit::Feed feed{
        {DType::kF32, input.shape(), input.mutable_data<float>(), input.size_bytes()}, true};
    std::vector<Tensor> found;
    std::vector<toolkit::ArrayRef> refs;
    for (size_t i = 0; i < simulator->output_count(); ++i) {
      found.push_back(Tensor::make(simulator->output_type(i)));
      refs.push_back(
          {DType::kF32, found[i].shape(), found[i].mutable_data<float>(), found[i].size_bytes()});
    }
    RK_TRY(simulator->run({&feed, 1}, refs));
    for (size_t i = 0; i < found.size(); ++i)
      out.worst[i] =
          std::min(out.worst[i], cosine(golden[i].span<float>(), found[i].span<float>()));
  }
  return out;
}

TEST(AutoHybrid, AFewFloat16LayersBringRawBoxesClose) {
  const auto model = e2e::load_model("ultraface_rfb320_nopost");
  ASSERT_TRUE(model.ok()) << model.status().message();
  if (!model->has_value()) GTEST_SKIP() << "../shared is absent";
  const auto plain = score(**model, false, 0, "normal");
  const auto hybrid = score(**model, true, 0.997, "normal");
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  ASSERT_TRUE(hybrid.ok()) << hybrid.status().message();
  for (size_t i = 0; i < hybrid->names.size(); ++i) {
    std::printf("%s: int8 %.5f, hybrid %.5f with %zu of %zu layers\n", hybrid->names[i].c_str(),
                plain->worst[i], hybrid->worst[i], hybrid->float_layers, hybrid->layers);
    if (hybrid->names[i] == "boxes")
      e2e::figure_at_least("auto_hybrid, ultraface raw boxes: worst cosine", hybrid->worst[i],
                           0.995);
  }
  e2e::figure_at_most(
      "auto_hybrid, ultraface: share of layers in float16",
      static_cast<double>(hybrid->float_layers) / static_cast<double>(hybrid->layers), 0.1);
}

TEST(AutoHybrid, SignsGetBetterToo) {
  const auto model = e2e::load_signs();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto plain = score(*model, false, 0, "normal");
  const auto hybrid = score(*model, true, 0.9999, "normal");
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  ASSERT_TRUE(hybrid.ok()) << hybrid.status().message();
  double before = 1, after = 1;
  for (size_t i = 0; i < hybrid->names.size(); ++i) {
    before = std::min(before, plain->worst[i]);
    after = std::min(after, hybrid->worst[i]);
  }
  std::printf("signs: int8 %.5f, hybrid %.5f with %zu of %zu layers\n", before, after,
              hybrid->float_layers, hybrid->layers);
  e2e::figure_at_least("auto_hybrid, signs: worst cosine gained", after - before, 0);
}

}  // namespace
}  // namespace rk::quant_check

// SPDX-License-Identifier: Apache-2.0
// The network built to be hard: what plain ranges lose, what each remedy recovers, and whether the report names the
// layer that is to blame.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "tests/e2e/figure.h"
#include "tests/quant/converted.h"
#include "tests/quant/hard_network.h"

namespace rk::quant_check {
namespace {

class Hard : public testing::Test {
 protected:
  // A fresh build; nothing where it failed.
  std::unique_ptr<toolkit::Toolkit> build(bool with_spike, const std::string& algorithm,
                                          int level) {
    auto network = make_hard_network(with_spike);
    EXPECT_TRUE(network.ok()) << network.status().message();
    if (!network.ok()) return nullptr;
    network_ = std::move(*network);
    auto toolkit = std::make_unique<toolkit::Toolkit>();
    toolkit::Config config;
    config.target_platform = "rk3588";
    config.quantized_algorithm = algorithm;
    config.optimization_level = level;
    Status status = toolkit->config(config);
    if (status.ok()) status = toolkit->load_onnx(network_.onnx);
    toolkit::BuildOptions options;
    options.dataset = network_.dataset;
    if (status.ok()) status = toolkit->build(options);
    EXPECT_TRUE(status.ok()) << status.message();
    return status.ok() ? std::move(toolkit) : nullptr;
  }

  double worst_cosine(bool with_spike, const std::string& algorithm, int level) {
    const auto toolkit = build(with_spike, algorithm, level);
    if (toolkit == nullptr) return -1;
    const auto rknn = toolkit->rknn_bytes();
    EXPECT_TRUE(rknn.ok());
    const auto model = foundation::AnyModel::load(*rknn);
    EXPECT_TRUE(model.ok()) << model.status().message();
    double worst = 1;
    for (const Tensor& input : network_.inputs) {
      const auto golden = toolkit->golden({input});
      const auto found = model->run_float({input});
      EXPECT_TRUE(golden.ok() && found.ok());
      worst = std::min(worst, cosine((*golden)[0].span<float>(), (*found)[0]));
    }
    return worst;
  }

  std::string first_proposal(bool with_spike, int level) {
    const auto toolkit = build(with_spike, "normal", level);
    if (toolkit == nullptr) return "";
    const auto report = toolkit->accuracy_analysis({network_.input_files[0]}, {});
    EXPECT_TRUE(report.ok()) << report.status().message();
    if (!report.ok()) return "";
    std::printf("%s", analysis::to_text(*report).c_str());
    return report->proposals.empty() ? "none" : report->proposals.front().text;
  }

  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(network_.folder, ignored);
  }
  HardNetwork network_;
};

TEST_F(Hard, EqualisationRecoversTheWideChannel) {
  e2e::figure_at_most("hard network, wide channel: normal without equalisation, cosine",
                      worst_cosine(false, "normal", 2), 0.95);
  e2e::figure_at_least("hard network, wide channel: normal with equalisation, cosine",
                       worst_cosine(false, "normal", 3), 0.99);
}

TEST_F(Hard, KlAndMmseRecoverTheSpike) {
  e2e::figure_at_most("hard network: normal without equalisation, cosine",
                      worst_cosine(true, "normal", 2), 0.95);
  e2e::figure_at_most("hard network: normal with equalisation, cosine",
                      worst_cosine(true, "normal", 3), 0.99);
  for (const char* algorithm : {"percentile", "kl_divergence", "mmse"}) {
    e2e::figure_at_least(str("hard network: ", algorithm, " with equalisation, cosine"),
                         worst_cosine(true, algorithm, 3), 0.99);
  }
}

TEST_F(Hard, TheFirstProposalNamesTheRightLayer) {
  const std::string spike = first_proposal(true, 3), wide = first_proposal(false, 2);
  e2e::figure_holds("hard network: first proposal", spike.find("keep 'spike'") == 0, spike,
                    "keep 'spike' ...");
  e2e::figure_holds("hard network, wide channel, no equalisation: first proposal",
                    wide.find("keep 'wide'") == 0, wide, "keep 'wide' ...");
}

}  // namespace
}  // namespace rk::quant_check

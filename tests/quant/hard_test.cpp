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
  std::unique_ptr<toolkit::Toolkit> build(const Flaws& flaws, const std::string& algorithm,
                                          int level) {
    auto network = make_hard_network(flaws);
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

  double worst_cosine(const Flaws& flaws, const std::string& algorithm, int level) {
    const auto toolkit = build(flaws, algorithm, level);
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

  std::string first_proposal(const Flaws& flaws, int level) {
    const auto toolkit = build(flaws, "normal", level);
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

constexpr Flaws kSpike{.spike = true}, kWide{.wide = true}, kBoth{.spike = true, .wide = true};

TEST_F(Hard, EqualizationRecoversTheWideChannel) {
  e2e::figure_at_most("hard network, wide channel: normal without equalization, cosine",
                      worst_cosine(kWide, "normal", 2), 0.95);
  e2e::figure_at_least("hard network, wide channel: normal with equalization, cosine",
                       worst_cosine(kWide, "normal", 3), 0.99);
}

TEST_F(Hard, KlAndMmseRecoverTheSpike) {
  e2e::figure_at_most("hard network, spike: normal without equalization, cosine",
                      worst_cosine(kSpike, "normal", 2), 0.99);
  for (const char* algorithm : {"percentile", "kl_divergence", "mmse"}) {
    e2e::figure_at_least(str("hard network, spike: ", algorithm, " without equalization, cosine"),
                         worst_cosine(kSpike, algorithm, 2), 0.99);
  }
}

TEST_F(Hard, BothFlawsTogetherAreRecovered) {
  e2e::figure_at_most("hard network: normal without equalization, cosine",
                      worst_cosine(kBoth, "normal", 2), 0.95);
  for (const char* algorithm : {"normal", "percentile", "kl_divergence", "mmse"}) {
    e2e::figure_at_least(str("hard network: ", algorithm, " with equalization, cosine"),
                         worst_cosine(kBoth, algorithm, 3), 0.99);
  }
}

TEST_F(Hard, TheFirstProposalNamesTheRightLayer) {
  const std::string spike = first_proposal(kSpike, 2), wide = first_proposal(kWide, 2);
  e2e::figure_holds("hard network, spike: first proposal", spike.find("keep 'spike'") == 0, spike,
                    "keep 'spike' ...");
  e2e::figure_holds("hard network, wide channel: first proposal", wide.find("keep 'wide'") == 0,
                    wide, "keep 'wide' ...");
}

}  // namespace
}  // namespace rk::quant_check

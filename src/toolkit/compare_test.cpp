// SPDX-License-Identifier: Apache-2.0
// Datasets and saved outputs against the float model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/npy.h"
#include "frontends/frontend.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::toolkit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ComparedModel : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / str("compare_", ::getpid());
    fs::create_directories(folder_);
    const auto graph = parse_graph(R"(graph "g" {
      input %x: f32[1,3,2,4]
      const %w: f32[3,3,1,1] = [0.5, -0.2, 0.1, 0.3, 0.4, -0.6, -0.1, 0.2, 0.7]
      const %b: f32[3] = [0.1, -0.2, 0.3]
      %a = Conv(%x, %w, %b) @"c1"
      %r = Relu(%a) @"r1"
      %y = GlobalAveragePool(%r) @"p"
      output %y
    })",
                                   ops::registry());
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto bytes = frontends::export_onnx(*graph);
    ASSERT_TRUE(bytes.ok() && write_file(path("net.onnx"), *bytes).ok());
    std::ofstream list(path("data.txt")), labels(path("labels.txt"));
    for (int i = 0; i < 6; ++i) {
      inputs_.push_back(picture(i));
      save(str("in", i, ".npy"), inputs_.back());
      list << "in" << i << ".npy\n";
    }
    ASSERT_TRUE(load(toolkit_).ok());
    for (int i = 0; i < 6; ++i) {
      const auto golden = toolkit_.golden({inputs_[static_cast<size_t>(i)]});
      ASSERT_TRUE(golden.ok());
      const auto values = (*golden)[0].to_f32();
      labels << std::max_element(values.begin(), values.end()) - values.begin() << "\n";
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(std::string_view name) const { return (folder_ / name).string(); }

  static Tensor picture(int seed) {
    std::vector<float> values;
    for (int i = 0; i < 24; ++i) values.push_back(static_cast<float>((i * 37 + seed * 91) % 256));
    return Tensor::f32({1, 3, 2, 4}, values);
  }
  void save(const std::string& name, const Tensor& tensor, std::vector<int64_t> shape = {}) const {
    NpyArray array;
    array.shape = shape;
    if (shape.empty())
      array.shape.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
    array.bytes.assign(tensor.bytes().begin(), tensor.bytes().end());
    ASSERT_TRUE(write_npy(path(name), array).ok());
  }
  Status load(Toolkit& toolkit, std::vector<float> mean = {100, 110, 120}) const {
    Config config;
    config.target_platform = "rk3588";
    config.mean_values = {mean};
    config.std_values = {{50, 60, 70}};
    RK_TRY(toolkit.config(config));
    return toolkit.load_onnx(path("net.onnx"));
  }
  // What find_slip says about outputs that the float model gives for this raw input.
  std::string verdict(const Tensor& fed_there, std::vector<int64_t> shape = {}) {
    const auto outputs = toolkit_.golden({fed_there});
    EXPECT_TRUE(outputs.ok());
    save("out.npy", (*outputs)[0], std::move(shape));
    const auto report = toolkit_.find_slip({path("in0.npy")}, {path("out.npy")});
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? to_text(*report) : "";
  }

  fs::path folder_;
  Toolkit toolkit_;
  std::vector<Tensor> inputs_;
};

TEST_F(ComparedModel, GivesTheDistributionOfCosinesAndTop1) {
  BuildOptions build;
  build.dataset = path("data.txt");
  ASSERT_TRUE(toolkit_.build(build).ok());
  const auto report = toolkit_.compare({.dataset = path("data.txt"), .labels = path("labels.txt")});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->samples, 6u);
  ASSERT_EQ(report->outputs.size(), 1u);
  EXPECT_EQ(report->outputs.at("y").cosines.size(), 6u);
  for (const double cosine : report->outputs.at("y").cosines) EXPECT_GT(cosine, 0.995);
  EXPECT_EQ(report->right_float, 6u);
  EXPECT_THAT(to_text(*report), HasSubstr("top-1: float 100.00 %"));
  const auto two = toolkit_.compare({.dataset = path("data.txt"), .limit = 2});
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->samples, 2u);
  EXPECT_FALSE(two->has_labels);
}

TEST_F(ComparedModel, WantsALabelForEverySample) {
  BuildOptions build;
  build.dataset = path("data.txt");
  ASSERT_TRUE(toolkit_.build(build).ok());
  std::ofstream(path("few.txt")) << "1\n2\n";
  std::ofstream(path("odd.txt")) << "1\ncat\n";
  EXPECT_THAT(
      toolkit_.compare({.dataset = path("data.txt"), .labels = path("few.txt")}).status().message(),
      HasSubstr("2 labels for 6 samples"));
  EXPECT_THAT(
      toolkit_.compare({.dataset = path("data.txt"), .labels = path("odd.txt")}).status().message(),
      HasSubstr("line 2: 'cat'"));
}

TEST_F(ComparedModel, NamesTheSlipThatExplainsSavedOutputs) {
  EXPECT_THAT(verdict(inputs_[0]), HasSubstr("agree with this model as configured"));
  const auto values = inputs_[0].to_f32();
  std::vector<float> swapped(values.begin() + 16, values.end());
  swapped.insert(swapped.end(), values.begin() + 8, values.begin() + 16);
  swapped.insert(swapped.end(), values.begin(), values.begin() + 8);
  EXPECT_THAT(verdict(Tensor::f32({1, 3, 2, 4}, swapped)),
              HasSubstr("this fits: red and blue are swapped\n"));
  // Fed with x * std + mean the configured model sees x itself: mean and std do nothing.
  const float mean[] = {100, 110, 120}, std[] = {50, 60, 70};
  std::vector<float> plain = values, twice = values;
  for (size_t i = 0; i < values.size(); ++i) {
    plain[i] = values[i] * std[i / 8] + mean[i / 8];
    twice[i] = (values[i] - mean[i / 8]) / std[i / 8];
  }
  EXPECT_THAT(verdict(Tensor::f32({1, 3, 2, 4}, plain)),
              HasSubstr("this fits: mean and std were not applied there"));
  EXPECT_THAT(verdict(Tensor::f32({1, 3, 2, 4}, twice)),
              HasSubstr("this fits: mean and std were applied twice there"));
  EXPECT_THAT(verdict(picture(5)), HasSubstr("none of the usual slips"));
}

TEST_F(ComparedModel, TakesArraysWithoutBatchAxisAndSaysSo) {
  save("in0.npy", inputs_[0], {3, 2, 4});
  const std::string text = verdict(inputs_[0], {3, 1, 1});
  EXPECT_THAT(text, HasSubstr("in0.npy' has no batch axis"));
  EXPECT_THAT(text, HasSubstr("out.npy' has no batch axis"));
  EXPECT_THAT(text, HasSubstr("agree with this model as configured"));
  save("out.npy", inputs_[0]);
  EXPECT_THAT(toolkit_.find_slip({path("in0.npy")}, {path("out.npy")}).status().message(),
              HasSubstr("output 'y' has [1,3,1,1]"));
}

}  // namespace
}  // namespace rk::toolkit

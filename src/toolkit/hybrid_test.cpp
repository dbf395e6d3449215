// SPDX-License-Identifier: Apache-2.0
// The two steps of hybrid quantization over their three files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/log.h"
#include "base/npy.h"
#include "frontends/frontend.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::toolkit {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Hybrid : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / str("hybrid_", ::getpid());
    fs::create_directories(folder_);
    const auto graph = parse_graph(R"(graph "g" {
      input %x: f32[1,2,4,4]
      const %w1: f32[2,2,1,1] = [1, -0.5, 0.25, 2]
      const %w2: f32[2,2,1,1] = [0.5, 1, -1, 0.75]
      const %w3: f32[2,2,1,1] = [1, 1, 0.3, -0.2]
      %a = Conv(%x, %w1) @"c1"
      %b = Conv(%a, %w2) @"c2"
      %c = Sigmoid(%b) @"s"
      %y = Conv(%c, %w3) @"c3"
      output %y
    })",
                                   ops::registry());
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto bytes = frontends::export_onnx(*graph);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    ASSERT_TRUE(write_file(path("net.onnx"), *bytes).ok());
    NpyArray array;
    array.shape = {1, 2, 4, 4};
    std::vector<float> values;
    for (int i = 0; i < 32; ++i) values.push_back(static_cast<float>((i * 7) % 32 - 16) / 4);
    const auto* raw = reinterpret_cast<const uint8_t*>(values.data());
    array.bytes.assign(raw, raw + values.size() * 4);
    ASSERT_TRUE(write_npy(path("in.npy"), array).ok());
    std::ofstream(path("data.txt")) << "in.npy\n";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(std::string_view name) const { return (folder_ / name).string(); }

  Result<HybridFiles> step1(HybridOptions options = {}) {
    Toolkit toolkit;
    Config config;
    config.target_platform = "rk3588";
    RK_TRY(toolkit.config(config));
    RK_TRY(toolkit.load_onnx(path("net.onnx")));
    options.dataset = path("data.txt");
    options.output_dir = folder_.string();
    return toolkit.hybrid_quantization_step1(options);
  }
  std::string cfg_text() const {
    std::ifstream file(path("net.quantization.cfg"));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write_cfg(const std::string& text) const {
    std::ofstream(path("net.quantization.cfg")) << text;
  }
  HybridFiles files() const {
    return {path("net.model"), path("net.data"), path("net.quantization.cfg")};
  }
  Result<std::vector<uint8_t>> step2() const {
    Toolkit toolkit;
    RK_TRY(toolkit.hybrid_quantization_step2(files()));
    return toolkit.rknn_bytes();
  }
  // Of the output, after step 2 with these layers (the text behind "custom_quantize_layers:") on the calibrated input.
  double error_of(const std::string& layers) const {
    const std::string text = cfg_text();
    write_cfg("custom_quantize_layers:" + layers + "\n" +
              text.substr(text.find("quantize_parameters:")));
    Toolkit toolkit;
    const Status built = toolkit.hybrid_quantization_step2(files());
    EXPECT_TRUE(built.ok()) << built.message();
    const auto report = toolkit.accuracy_analysis({path("in.npy")}, {});
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? report->outputs.at(0).euclidean : 1e9;
  }
  static std::vector<std::string> steps(const Toolkit& toolkit) {
    std::vector<std::string> out;
    for (const auto& step : toolkit.program().main_variant().steps) out.push_back(step.type);
    return out;
  }
  // The first occurrence behind `after`.
  static std::string replaced(std::string text, std::string_view from, std::string_view to,
                              std::string_view after = "") {
    const size_t at = text.find(from, text.find(after));
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }

  fs::path folder_;
};

TEST_F(Hybrid, UneditedFilesGiveThePlainInt8Model) {
  const auto written = step1();
  ASSERT_TRUE(written.ok()) << written.status().message();
  EXPECT_EQ(written->model, path("net.model"));
  Toolkit plain;
  Config config;
  config.target_platform = "rk3588";
  ASSERT_TRUE(plain.config(config).ok());
  ASSERT_TRUE(plain.load_onnx(path("net.onnx")).ok());
  BuildOptions build;
  build.dataset = path("data.txt");
  ASSERT_TRUE(plain.build(build).ok());
  const auto found = step2();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(*found, *plain.rknn_bytes());
}

TEST_F(Hybrid, CfgAndModelUseTheSameNames) {
  ASSERT_TRUE(step1().ok());
  const auto model = frontends::import_onnx(path("net.model"), {}, ops::registry());
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const char* name : {"x", "a", "b", "c", "y", "w1"}) {
    EXPECT_NE(model->find(name), nullptr) << name;
    EXPECT_THAT(cfg_text(), HasSubstr(str("\n    ", name, ":\n")));
  }
  EXPECT_THAT(cfg_text(), HasSubstr("qmethod: channel"));
}

TEST_F(Hybrid, LayersOfOtherTypesHaveConversionsAroundThem) {
  ASSERT_TRUE(step1().ok());
  write_cfg(replaced(cfg_text(), "custom_quantize_layers: {}",
                     "custom_quantize_layers:\n    b: float16"));
  Toolkit toolkit;
  const Status built = toolkit.hybrid_quantization_step2(files());
  ASSERT_TRUE(built.ok()) << built.message();
  EXPECT_THAT(steps(toolkit), Contains("exDataConvert"));
  write_cfg(replaced(cfg_text(), "b: float16", "b: int16"));
  const Status wide = toolkit.hybrid_quantization_step2(files());
  ASSERT_TRUE(wide.ok()) << wide.message();
  EXPECT_THAT(steps(toolkit), Contains("exDataConvert"));
}

TEST_F(Hybrid, AnInt16LayerIsMorePreciseThanInt8) {
  ASSERT_TRUE(step1().ok());
  const double int8 = error_of(" {}");
  const double int16 = error_of("\n    a: int16\n    b: int16\n    c: int16\n    y: int16");
  EXPECT_LT(int16, int8 / 2);  // the input stays int8
}

TEST_F(Hybrid, AnInputMayStayFloat16WithTheLayersThatReadIt) {
  ASSERT_TRUE(step1().ok());
  const double rounded =
      error_of("\n    a: float16\n    b: float16\n    c: float16\n    y: float16");
  const double exact =
      error_of("\n    x: float16\n    a: float16\n    b: float16\n    c: float16\n    y: float16");
  EXPECT_LT(exact, rounded / 4);  // 11 bits of a float16 beside the input's 8
}

TEST_F(Hybrid, EditedParametersChangeTheResult) {
  ASSERT_TRUE(step1().ok());
  const auto before = step2();
  ASSERT_TRUE(before.ok()) << before.status().message();
  // The fixed range of Sigmoid is 0..1; hold half of it.
  write_cfg(replaced(cfg_text(), "max:\n        - 1.0\n", "max:\n        - 0.5\n", "\n    c:\n"));
  const auto after = step2();
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_NE(*before, *after);
  write_cfg(replaced(cfg_text(), "scale:\n        - 0.003921", "scale:\n        - 0.013921",
                     "\n    c:\n"));
  const auto clash = step2();
  EXPECT_THAT(clash.status().message(), HasSubstr("quantize_parameters of 'c'"));
}

TEST_F(Hybrid, ABatchOfStep1IsTheModelsOfStep2) {
  HybridOptions options;
  ASSERT_TRUE(step1(options).ok());
  Toolkit one;
  ASSERT_TRUE(one.hybrid_quantization_step2(files()).ok());
  EXPECT_EQ(one.program().batch, 1);
  options.rknn_batch_size = 3;
  ASSERT_TRUE(step1(options).ok());
  Toolkit three;
  ASSERT_TRUE(three.hybrid_quantization_step2(files()).ok());
  EXPECT_EQ(three.program().batch, 3);
  EXPECT_EQ(steps(three), steps(one));

  options.rknn_batch_size = 0;
  EXPECT_THAT(step1(options).status().message(), HasSubstr("Invalid rknn_batch_size 0"));
  std::ifstream file(path("net.data"));
  std::string data(std::istreambuf_iterator<char>(file), {});
  const size_t at = data.find("\"rknn_batch_size\": 3");
  ASSERT_NE(at, std::string::npos);
  for (const std::string_view bad : {"-2", "true", "5000"}) {
    std::ofstream(path("net.data"))
        << data.substr(0, at) << "\"rknn_batch_size\": " << bad << data.substr(at + 20);
    EXPECT_THAT(step2().status().message(), HasSubstr("rknn_batch_size")) << bad;
  }
}

// A number that folding makes of each shape, so the graphs differ by more than extents.
class HybridAtShapes : public Hybrid {
 protected:
  void SetUp() override {
    Hybrid::SetUp();
    const auto graph = parse_graph(R"(graph "g" {
      input %x: f32[1,2,4,4]
      const %w1: f32[2,2,1,1] = [1, -0.5, 0.25, 2]
      const %w2: f32[2,2,1,1] = [0.5, 1, -1, 0.75]
      %a = Conv(%x, %w1) @"c1"
      %shape = Shape(%a) @"shape"
      %numbers = Cast(%shape) {to=1} @"numbers"
      %mean = ReduceMean(%numbers) {keepdims=0} @"mean"
      %b = Add(%a, %mean) @"add"
      %y = Conv(%b, %w2) @"c2"
      output %y
    })",
                                   ops::registry());
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    ASSERT_TRUE(write_file(path("net.onnx"), *frontends::export_onnx(*graph)).ok());
    config_.target_platform = "rk3588";
    config_.dynamic_input = {{{1, 2, 2, 3}}, {{1, 2, 4, 4}}, {{1, 2, 1, 2}}};
  }

  Result<HybridFiles> first(HybridOptions options = {}) const {
    Toolkit toolkit;
    RK_TRY(toolkit.config(config_));
    RK_TRY(toolkit.load_onnx(path("net.onnx")));
    options.dataset = path("data.txt");
    options.output_dir = folder_.string();
    return toolkit.hybrid_quantization_step1(options);
  }
  Result<std::vector<uint8_t>> built_at_once(const std::vector<std::string>& float_layers) const {
    Toolkit toolkit;
    RK_TRY(toolkit.config(config_));
    RK_TRY(toolkit.load_onnx(path("net.onnx")));
    BuildOptions build;
    build.dataset = path("data.txt");
    build.float_layers = float_layers;
    RK_TRY(toolkit.build(build));
    return toolkit.rknn_bytes();
  }
  std::string data_text() const {
    std::ifstream file(path("net.data"));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Config config_;
};

TEST_F(HybridAtShapes, BothStepsGiveTheModelOfOneBuild) {
  const auto written = first();
  ASSERT_TRUE(written.ok()) << written.status().message();
  const auto found = step2();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(*found, *built_at_once({}));

  write_cfg(replaced(cfg_text(), "custom_quantize_layers: {}",
                     "custom_quantize_layers:\n    b: float16"));
  const auto mixed = step2();
  ASSERT_TRUE(mixed.ok()) << mixed.status().message();
  EXPECT_NE(*mixed, *found);
  EXPECT_EQ(*mixed, *built_at_once({"b"}));
}

TEST_F(HybridAtShapes, EditedParametersHoldAtEveryShape) {
  ASSERT_TRUE(first().ok());
  const std::string cfg = cfg_text();
  const size_t at = cfg.find("scale:", cfg.find("\n    b:\n"));
  ASSERT_NE(at, std::string::npos);
  Toolkit plain, edited;
  ASSERT_TRUE(plain.hybrid_quantization_step2(files()).ok());
  const size_t low = cfg.find("min:", cfg.find("\n    b:\n")), end = cfg.find("scale:", low);
  ASSERT_LT(end, cfg.size());
  write_cfg(cfg.substr(0, low) + "min:\n        - -32.0\n        max:\n        - 31.75\n        " +
            cfg.substr(end));
  const Status built = edited.hybrid_quantization_step2(files());
  ASSERT_TRUE(built.ok()) << built.message();
  ASSERT_EQ(edited.program().variants.size(), 3u);
  for (const auto& variant : edited.program().variants) {
    const auto b = std::ranges::find(variant.tensors, "b", &program::ProgramTensor::name);
    ASSERT_NE(b, variant.tensors.end());
    EXPECT_FLOAT_EQ(b->scale, 0.25f);
  }
}

TEST_F(HybridAtShapes, EachShapeCanBeAnalyzed) {
  ASSERT_TRUE(first().ok());
  Toolkit toolkit;
  ASSERT_TRUE(toolkit.hybrid_quantization_step2(files()).ok());
  NpyArray array;
  array.shape = {1, 2, 2, 3};
  const std::vector<float> values = {1, -2, 3, -4, 2, -1, 0, 1, 2, 3, -3, 4};
  const auto* raw = reinterpret_cast<const uint8_t*>(values.data());
  array.bytes.assign(raw, raw + values.size() * 4);
  ASSERT_TRUE(write_npy(path("small.npy"), array).ok());
  const auto report = toolkit.accuracy_analysis({path("small.npy")}, {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_GT(report->outputs.at(0).cosine, 0.999);
}

TEST_F(HybridAtShapes, DamagedDataIsRefused) {
  ASSERT_TRUE(first().ok());
  const std::string data = data_text();
  const auto with = [&](std::string_view from, std::string_view to) {
    std::ofstream(path("net.data")) << replaced(data, from, to, "other_shapes");
    const Status status = step2().status();
    EXPECT_FALSE(status.ok()) << from;
    return std::string(status.message());
  };
  EXPECT_THAT(with("other_shapes", "othershapes"), HasSubstr("other_shapes"));
  EXPECT_THAT(with("graph", "grave"), HasSubstr("'graph' is expected"));
  EXPECT_THAT(with("= <", "= <0"), HasSubstr("is not the one that the text was made with"));
  with("Conv(", "Gone(");
  HybridOptions batch;
  batch.rknn_batch_size = 2;
  EXPECT_THAT(first(batch).status().message(), HasSubstr("does not go with dynamic_input"));
}

TEST_F(Hybrid, ProposalsAndSubgraphsAreWrittenIntoTheCfg) {
  HybridOptions options;
  options.custom_hybrid = {{"a", "c"}};
  ASSERT_TRUE(step1(options).ok());
  EXPECT_THAT(cfg_text(), HasSubstr("custom_quantize_layers:\n    b: float16\n    c: float16\n"));
  options.custom_hybrid = {{"c", "a"}};
  EXPECT_THAT(step1(options).status().message(), HasSubstr("'a' is not computed from 'c'"));
  options.custom_hybrid = {{"aa", "c"}};
  EXPECT_THAT(step1(options).status().message(), HasSubstr("custom_hybrid names 'aa'"));
  options.custom_hybrid.clear();
  options.proposal = true;
  EXPECT_TRUE(step1(options).ok());
}

TEST_F(Hybrid, MistakesInTheFilesAreNamed) {
  ASSERT_TRUE(step1().ok());
  const std::string text = cfg_text();
  write_cfg(
      replaced(text, "custom_quantize_layers: {}", "custom_quantize_layers:\n    bb: float16"));
  EXPECT_THAT(step2().status().message(), HasSubstr("custom_quantize_layers names 'bb'"));
  write_cfg(
      replaced(text, "custom_quantize_layers: {}", "custom_quantize_layers:\n    x: float16"));
  EXPECT_THAT(step2().status().message(), HasSubstr("'x' as float16, but an int8 layer reads it"));
  write_cfg(replaced(text, "custom_quantize_layers: {}", "custom_quantize_layers:\n    x: int16"));
  EXPECT_THAT(step2().status().message(), HasSubstr("'x', which no layer computes"));
  write_cfg("a: [b");
  EXPECT_FALSE(step2().ok());
  write_cfg(text);
  std::ofstream(path("net.model"), std::ios::app) << "x";
  EXPECT_THAT(step2().status().message(), HasSubstr("do not belong together"));
  std::ofstream(path("net.data")) << "{}";
  EXPECT_THAT(step2().status().message(), HasSubstr("no .data file"));
  fs::remove(path("net.data"));
  EXPECT_FALSE(step2().ok());
}

// A dead layer: a bias of 2 in units of its accumulator, 1e-14, has 48 bits.
TEST_F(Hybrid, ALayerThatIntegersCannotExpressComputesInFloat16) {
  const auto graph = parse_graph(R"(graph "g" {
    input %x: f32[1,2,4,4]
    const %w1: f32[2,2,1,1] = [1, -0.5, 0.25, 2]
    const %w2: f32[2,2,1,1] = [1e-12, 2e-12, -1e-12, 1e-12]
    const %b2: f32[2] = [2, 3]
    const %w3: f32[2,2,1,1] = [1, 1, 0.3, -0.2]
    %a = Conv(%x, %w1) @"c1"
    %b = Conv(%a, %w2, %b2) @"c2"
    %y = Conv(%b, %w3) @"c3"
    output %y
  })",
                                 ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto bytes = frontends::export_onnx(*graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  ASSERT_TRUE(write_file(path("dead.onnx"), *bytes).ok());
  for (const bool auto_hybrid : {false, true}) {
    Toolkit toolkit;
    Config config;
    config.target_platform = "rk3588";
    ASSERT_TRUE(toolkit.config(config).ok());
    ASSERT_TRUE(toolkit.load_onnx(path("dead.onnx")).ok());
    const Status status = toolkit.build(
        {.do_quantization = true, .dataset = path("data.txt"), .auto_hybrid = auto_hybrid});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(toolkit.float_layers(), Contains("b"));
    EXPECT_THAT(toolkit.float_layers(), Not(Contains("a")));
  }
}

// build() refuses the same model (build_test.cpp).
TEST_F(Hybrid, NaNThatReachesAnOutputIsRefusedInStepTwoToo) {
  const auto graph = parse_graph(R"(graph "g" {
    input %x: f32[1,2,4,4]
    %a = ReduceSumSquare(%x) {keepdims=1}
    %l = Log(%a)
    %m = ReduceMean(%l) {keepdims=1}
    %d = Sub(%l, %m)
    %y = Mul(%d, %d)
    output %y
  })",
                                 ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(write_file(path("net.onnx"), *frontends::export_onnx(*graph)).ok());
  NpyArray array;
  array.shape = {1, 2, 4, 4};
  const std::vector<float> values(32, 300.0f);  // 32 * 300^2 = 2.88e+06
  const auto* raw = reinterpret_cast<const uint8_t*>(values.data());
  array.bytes.assign(raw, raw + values.size() * 4);
  ASSERT_TRUE(write_npy(path("in.npy"), array).ok());
  std::string warnings;
  set_log_sink([&](LogLevel level, std::string_view line) {
    if (level <= LogLevel::kWarning) warnings += line;
  });
  ASSERT_TRUE(step1().ok());
  EXPECT_THAT(step2().status().message(),
              HasSubstr("output 'y' would be NaN: 'd' holds NaN on the first calibration sample"));
  EXPECT_THAT(warnings, HasSubstr("'a' reaches 2.88e+06 in calibration"));
  // The ranges are in the .data file, the samples may be gone.
  fs::remove(path("in.npy"));
  warnings.clear();
  EXPECT_TRUE(step2().ok());
  EXPECT_THAT(warnings, HasSubstr("'a' reaches 2.88e+06 in calibration"));
  set_log_sink({});
}

}  // namespace
}  // namespace rk::toolkit

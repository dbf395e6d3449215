// SPDX-License-Identifier: Apache-2.0
#include "analysis/accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "analysis/auto_hybrid.h"
#include "analysis/tensor_folder.h"
#include "base/log.h"
#include "format/writer.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "quant/quantize.h"

namespace rk::analysis {
namespace {

using ::testing::HasSubstr;

TEST(Compare, GivesTheHandComputedNumbers) {
  const std::vector<float> golden = {3, 4}, found = {3, 3};
  const Errors errors = compare(golden, found);
  EXPECT_NEAR(errors.cosine, 21 / (5 * std::sqrt(18.0)), 1e-12);
  EXPECT_DOUBLE_EQ(errors.euclidean, 1);
  EXPECT_DOUBLE_EQ(errors.max_abs, 1);
  EXPECT_NEAR(errors.sqnr_db, 10 * std::log10(25.0), 1e-12);
}

TEST(Compare, ZeroVectorsAreEqualToEachOtherOnly) {
  const std::vector<float> zero = {0, 0}, other = {1, 0};
  EXPECT_EQ(compare(zero, zero).cosine, 1);
  EXPECT_EQ(compare(zero, other).cosine, 0);
  EXPECT_EQ(compare(other, std::vector<float>{INFINITY, 0}).cosine, 0);
}

// A layer that is right but for a factor has cosine 1: its distance gives it away.
TEST(ReportText, ALowCosineOrALargeDistanceIsColored) {
  const std::vector<float> golden = {3, 4}, doubled = {6, 8}, near = {3.3f, 4.4f}, turned = {4, -3},
                           other = {3, 3};
  AccuracyReport report;
  for (const auto* found : {&golden, &near, &other, &doubled, &turned}) {
    Layer layer;
    layer.type = "Conv";
    layer.name = str("c", report.layers.size());
    layer.entire = compare(golden, *found);
    report.layers.push_back(layer);
  }
  const auto line = [](const std::string& text, const char* name) {
    const size_t begin = text.find(str("[Conv] ", name));
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const std::string text = to_text(report, Color::kTerminal);
  EXPECT_EQ(line(text, "c0").find('\x1b'), std::string::npos);
  EXPECT_EQ(line(text, "c1").find('\x1b'), std::string::npos) << "20 dB";
  EXPECT_THAT(line(text, "c2"), HasSubstr("\x1b[33m0.98995"));  // 14 dB to the decimal
  EXPECT_THAT(line(text, "c3"), HasSubstr("\x1b[31m1.00000"));
  EXPECT_THAT(line(text, "c4"), HasSubstr("\x1b[31m0.00000"));
  EXPECT_EQ(to_text(report, Color::kNone).find('\x1b'), std::string::npos);
}

std::vector<Tensor> sixteen() {
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>(i - 8) / 2);
  return {Tensor::f32({1, 4, 2, 2}, values)};
}

// A convolution that copies, and a function of it.
Trial trial_of(const quant::Ranges& ranges, std::string_view function = "Softsign") {
  auto graph = parse_graph(str(R"(graph "g" {
    input %x: f32[1,4,2,2]
    const %w: f32[4,4,1,1] = [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]
    %a = Conv(%x, %w)
    %y = )",
                               function, R"((%a)
    output %y
  })"),
                           ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(quant::quantize(*graph, ranges, {}).ok());
  auto program = compiler::compile(*graph, {});
  EXPECT_TRUE(program.ok()) << program.status().message();
  return {std::move(graph).value(), std::move(program).value()};
}

TEST(Analyze, BlamesTheLayerWhoseRangeIsTooNarrow) {
  const std::vector<Tensor> input = sixteen();
  // The convolution copies -4..3.5, but its range ends at 1.1.
  const Trial trial = trial_of({{"x", {-4, 4}}, {"a", {-1.1f, 1.1f}}, {"y", {-1, 1}}});
  const auto report =
      analyze({trial.graph, trial.graph, trial.program, {}}, {input, input}, {}, nullptr);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->layers.size(), 4u);
  EXPECT_EQ(report->layers[0].type, "Input");
  EXPECT_EQ(report->layers[0].entire->euclidean, 0);
  EXPECT_EQ(report->layers[1].type, "exDataConvert");
  EXPECT_EQ(report->layers[1].name, "x_int8");
  EXPECT_GT(report->layers[1].single->euclidean, 0);
  const Layer& conv = report->layers[2];
  EXPECT_EQ(conv.name, "a");
  ASSERT_TRUE(conv.single.has_value());
  EXPECT_LT(conv.single->cosine, 0.97);
  EXPECT_NEAR(conv.saturated, 11.0 / 16, 1e-9);  // all but -1, -0.5, 0, 0.5, 1
  ASSERT_TRUE(report->layers[3].single.has_value());
  EXPECT_GT(report->layers[3].single->sqnr_db, conv.single->sqnr_db);
  EXPECT_EQ(worst_layers(*report).front(), "a");
  EXPECT_THAT(to_text(*report), HasSubstr("[Conv] a"));
  // The application gets the output as float: a row for each form.
  EXPECT_THAT(to_text(*report), testing::ContainsRegex("\\] y_int8 .*\n\\[exDataConvert\\] y "));
  // Seven of the values saturate at each end: as stored they all lie in the two bins of the limits.
  EXPECT_EQ(
      std::accumulate(conv.stored_histogram.begin(), conv.stored_histogram.end(), uint64_t{0}),
      16u);
  EXPECT_NE(conv.stored_histogram, conv.histogram);
}

// Each layer is a model of its own here; a log with three lines of versions per layer hides the rest.
TEST(Analyze, TheLogDoesNotAnnounceEachLayer) {
  const int level = log_level();
  set_log_level(2);
  size_t lines = 0;
  set_log_sink([&](LogLevel, std::string_view line) {
    lines += line.find("Runtime Information") != line.npos;
  });
  const Trial trial = trial_of({{"x", {-4, 4}}, {"a", {-4, 4}}, {"y", {-1, 1}}});
  const auto report =
      analyze({trial.graph, trial.graph, trial.program, {}}, {sixteen(), sixteen()}, {}, nullptr);
  set_log_sink({});
  set_log_level(level);
  EXPECT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(lines, 0u);
}

// The table works on the sums: what would be rounded to the narrow range is nowhere, and its row has no numbers.
TEST(Analyze, AConvolutionThatTheChipComputesWithItsActivationHasAnEmptyRow) {
  const std::vector<Tensor> input = sixteen();
  const Trial trial = trial_of({{"x", {-4, 4}}, {"a", {-1.1f, 1.1f}}, {"y", {0, 1}}}, "Sigmoid");
  const auto report =
      analyze({trial.graph, trial.graph, trial.program, {}}, {input, input}, {}, nullptr);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->layers.size(), 4u);
  EXPECT_EQ(report->layers[2].name, "a");
  EXPECT_FALSE(report->layers[2].single.has_value());
  EXPECT_FALSE(report->layers[2].entire.has_value());
  const Layer& both = report->layers[3];
  EXPECT_EQ(both.type, "ConvSigmoid");
  ASSERT_TRUE(both.single.has_value() && both.entire.has_value());
  EXPECT_EQ(both.single->euclidean, both.entire->euclidean);
  EXPECT_LT(both.single->max_abs, 0.01);  // of 1/255 a step
}

// As a model with activations looks after the passes: three of its layers are left.
TEST(Analyze, LayersThatPassesFusedHaveEmptyRowsAboveTheirOwn) {
  const auto model = parse_graph(R"(graph "g" {
    input %x: f32[1,4,2,4]
    const %w: f32[4,4,1,1] = [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]
    %c = Conv(%x, %w)
    %a = Relu(%c)
    %same = Identity(%a)
    %gate = Sigmoid(%same)
    %y = Mul(%same, %gate)
    %extents = Shape(%y)
    %numbers = Cast(%extents) {to=1}
    %half = Sqrt(%numbers)
    %z = Add(%y, %half)
    %dead = Neg(%a)
    output %z
  })",
                                 ops::registry());
  ASSERT_TRUE(model.ok()) << model.status().message();
  AccuracyReport report;
  for (const auto& [type, name] : {std::pair("Input", "x"), std::pair("ConvRelu", "a"),
                                   std::pair("exSwish", "y"), std::pair("Add", "z")}) {
    Layer& layer = report.layers.emplace_back();
    layer.type = type;
    layer.name = name;
    layer.entire = Errors{};
  }
  name_fused_layers(*model, report);
  EXPECT_THAT(to_text(report), testing::ContainsRegex("\\[Input\\] x .*\n\\[Conv\\] c\n"
                                                      "\\[ConvRelu\\] a .*\n\\[Sigmoid\\] gate\n"
                                                      "\\[exSwish\\] y .*\n\\[Add\\] z "));
}

class WithFolder : public testing::Test {
 protected:
  WithFolder() : folder_(std::filesystem::temp_directory_path() / str("analysis_", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~WithFolder() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(WithFolder, TheBoardRunsTheWrittenFileWithTheSameBytes) {
  const Trial trial = trial_of({{"x", {-4, 4}}, {"a", {-4, 4}}, {"y", {-1, 1}}});
  const auto file = format::write_rknn(trial.program);
  ASSERT_TRUE(file.ok()) << file.status().message();
  AccuracyOptions options;
  options.output_dir = folder_.string();
  options.board = *file;
  const auto report = analyze({trial.graph, trial.graph, trial.program, {}}, {sixteen(), sixteen()},
                              options, nullptr);
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (const Layer& layer : report->layers) {
    ASSERT_TRUE(layer.board_single.has_value()) << layer.name;
    EXPECT_EQ(layer.board_single->euclidean, 0) << layer.name;
    EXPECT_EQ(layer.board_entire->euclidean, layer.entire->euclidean) << layer.name;
  }
  EXPECT_THAT(to_text(*report), HasSubstr("single_sim"));
  for (const char* name : {"golden/a.npy", "simulator/a.npy", "simulator_single/a.npy",
                           "runtime/a.npy", "golden/x_int8.npy", "map_name_to_file.txt"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / name)) << name;
}

TEST_F(WithFolder, AFullDiskIsAnErrorThatNamesTheFile) {
  const Trial trial = trial_of({{"x", {-4, 4}}, {"a", {-4, 4}}, {"y", {-1, 1}}});
  std::filesystem::create_directories(folder_ / "golden");
  std::filesystem::create_symlink("/dev/full", folder_ / "golden" / "a.npy");
  AccuracyOptions options;
  options.output_dir = folder_.string();
  const auto report = analyze({trial.graph, trial.graph, trial.program, {}}, {sixteen(), sixteen()},
                              options, nullptr);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.status().message(), HasSubstr("golden/a.npy"));
  EXPECT_THAT(report.status().message(), HasSubstr("No space left"));
}

TEST_F(WithFolder, TheSpaceNeededIsToldBeforeItIsUsed) {
  EXPECT_TRUE(check_space(folder_, 1).ok());
  EXPECT_THAT(check_space(folder_, uint64_t{1} << 60).message(),
              HasSubstr("would write 1099511627776 MiB (1152921504606846976 bytes)"));
}

TEST(FileNamesTest, AreSafeAndEachOnlyOnce) {
  FileNames names;
  EXPECT_EQ(names.of("/conv/out:0"), "_conv_out_0.npy");
  EXPECT_EQ(names.of("_conv_out_0"), "_conv_out_0_1.npy");
  EXPECT_EQ(names.of("/conv/out:0"), "_conv_out_0.npy");
  EXPECT_EQ(names.of(".."), "_...npy");
  EXPECT_EQ(names.map_text(),
            "/conv/out:0 _conv_out_0.npy\n_conv_out_0 _conv_out_0_1.npy\n.. _...npy\n");
}

TEST(Analyze, NamesTheLayerThatOverflowsFloat16) {
  auto graph = parse_graph(R"(graph "g" {
    input %x: f32[1,4,2,2]
    const %w: f32[1,4,1,1] = [30000, 1, 1, 1]
    %big = Conv(%x, %w)
    %y = Sigmoid(%big)
    output %y
  })",
                           ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto program = compiler::compile(*graph, {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto report = analyze({*graph, *graph, *program, {}}, {sixteen(), sixteen()}, {}, nullptr);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_THAT(report->findings[0], HasSubstr("'big' exceeds the range of float16"));
}

TEST(Analyze, NamesTheOperandThatVanishesInFloat16) {
  auto graph = parse_graph(R"(graph "g" {
    input %x: f32[1,4,2,2]
    const %down: f32[1] = [-23.0]
    %positive = Relu(%x)
    %low = Add(%positive, %down)
    %small = Exp(%low)
    %y = Log(%small)
    output %y
  })",
                           ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto program = compiler::compile(*graph, {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto report = analyze({*graph, *graph, *program, {}}, {sixteen(), sixteen()}, {}, nullptr);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_THAT(report->findings[0],
              HasSubstr("'y' becomes infinite or NaN: its operand 'small' holds "
                        "1.02619e-10, which float16 rounds to 0"));
}

TEST(Analyze, CanBeStopped) {
  const Trial trial = trial_of({{"x", {-4, 4}}, {"a", {-4, 4}}, {"y", {-1, 1}}});
  AccuracyOptions options;
  options.progress = [](size_t done, size_t total) {
    EXPECT_EQ(total, 2u);
    return done < 1;
  };
  EXPECT_EQ(analyze({trial.graph, trial.graph, trial.program, {}}, {sixteen(), sixteen()}, options,
                    nullptr)
                .status()
                .code(),
            Code::kCancelled);
}

}  // namespace
}  // namespace rk::analysis

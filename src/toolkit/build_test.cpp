// SPDX-License-Identifier: Apache-2.0
// What a build does and says where int8 or the chip does not fit the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "analysis/simulate.h"
#include "base/file.h"
#include "base/log.h"
#include "base/npy.h"
#include "frontends/frontend.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "toolkit/rknn_toolkit.h"
#include "toolkit/simulator.h"

namespace rk::toolkit {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Build : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / str("build_", ::getpid());
    fs::create_directories(folder_);
    set_log_sink([this](LogLevel level, std::string_view line) {
      if (level <= LogLevel::kWarning) log_ += line;
    });
  }
  void TearDown() override {
    set_log_sink({});
    fs::remove_all(folder_);
  }
  std::string path(std::string_view name) const { return (folder_ / name).string(); }

  void sample(const std::vector<int64_t>& shape, const std::vector<float>& values) {
    NpyArray array;
    array.shape = shape;
    const auto* raw = reinterpret_cast<const uint8_t*>(values.data());
    array.bytes.assign(raw, raw + values.size() * sizeof(float));
    ASSERT_TRUE(write_npy(path("in.npy"), array).ok());
    std::ofstream(path("data.txt")) << "in.npy\n";
  }
  Status build(std::string_view text, const std::string& chip, BuildOptions options) {
    RK_ASSIGN(const Graph graph, parse_graph(text, ops::registry()));
    RK_ASSIGN(const std::vector<uint8_t> model, frontends::export_onnx(graph));
    RK_TRY(write_file(path("net.onnx"), model));
    Config config;
    config.target_platform = chip;
    RK_TRY(toolkit_.config(config));
    RK_TRY(toolkit_.load_onnx(path("net.onnx")));
    if (options.do_quantization) options.dataset = path("data.txt");
    return toolkit_.build(options);
  }
  const program::Step& step(std::string_view output) const {
    const program::Variant& variant = toolkit_.program().main_variant();
    for (const program::Step& step : variant.steps) {
      const std::string& name = variant.tensors[static_cast<size_t>(step.outputs[0])].name;
      if (name == output || name == str(output, "__float16")) return step;
    }
    ADD_FAILURE() << "no step makes '" << output << "'";
    return variant.steps.front();
  }
  DType dtype_read_by(std::string_view output) const {
    const program::Variant& variant = toolkit_.program().main_variant();
    return variant.tensors[static_cast<size_t>(step(output).inputs[0])].dtype;
  }

  fs::path folder_;
  std::string log_;
  Toolkit toolkit_;
};

// A mean near zero of values up to 100: the ratio of the two scales is beyond the chip's shifts.
// Eight channels whose mean is next to nothing.
std::vector<float> alternating(int pixels, float more) {
  std::vector<float> values;
  for (int i = 0; i < 8 * pixels; ++i) values.push_back(i % 2 == 0 ? 100.0f : -100.0f);
  for (int c = 0; c < 8; ++c) values[static_cast<size_t>(c * pixels)] += more;
  return values;
}

std::string eye() {
  std::string out = "[";
  for (int i = 0; i < 64; ++i) out += str(i == 0 ? "" : ",", i % 9 == 0 ? 1 : 0);
  return out + "]";
}

TEST_F(Build, ALayerThatIntegersCannotExpressComputesInFloatBetweenIntegerLayers) {
  sample({1, 8, 6, 6}, alternating(36, 1.5e-5f));
  const std::string head =
      str("graph \"g\" { input %x: f32[1,8,6,6] const %w: f32[8,8,1,1] = ", eye(),
          " %c = Conv(%x, %w) %g = GlobalAveragePool(%c) ");
  for (const std::string& tail :
       {std::string("output %g }"),
        std::string("%s = Conv(%g, %w) %h = HardSigmoid(%s) "
                    "%y = Mul(%c, %h) output %y }"),
        std::string("%s = Conv(%g, %w) %r = Relu(%s) %t = Conv(%r, %w) %h = HardSigmoid(%t) "
                    "%m = Mul(%c, %h) %y = Add(%c, %m) output %y }")}) {
    log_.clear();
    const Status status = build(head + tail, "rk3588", {});
    ASSERT_TRUE(status.ok()) << tail << status.message();
    EXPECT_THAT(log_, HasSubstr("layer 'g' computes in float16"));
    EXPECT_EQ(dtype_read_by("g"), DType::kF16) << tail;
    EXPECT_EQ(dtype_read_by("c"), DType::kI8) << tail;
  }
}

// The user's own list has the same meaning: the reader in int8 does not take the layer back to int8.
TEST_F(Build, ANamedLayerComputesInFloatAlthoughIntegerLayersSurroundIt) {
  sample({1, 8, 16, 16}, alternating(256, 1e-3f));
  const std::string text =
      str("graph \"g\" { input %x: f32[1,8,16,16] const %w: f32[8,8,1,1] = ", eye(),
          " %c = Conv(%x, %w) %m = MaxPool(%c) {kernel_shape=[2,2], strides=[2,2]}"
          " %a = Add(%m, %m) %s = Conv(%a, %w) output %s }");
  BuildOptions options;
  ASSERT_TRUE(build(text, "rk3588", options).ok());
  EXPECT_EQ(dtype_read_by("a"), DType::kI8);
  options.float_layers = {"a"};
  const Status status = build(text, "rk3588", options);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(dtype_read_by("a"), DType::kF16);
  EXPECT_EQ(dtype_read_by("s"), DType::kI8);
}

TEST_F(Build, ValuesBeyondFloat16AreSaidBeforeAnybodyRunsTheModel) {
  sample({1, 4, 2, 2}, std::vector<float>(16, 300.0f));
  const std::string_view text = R"(graph "g" { input %x: f32[1,4,2,2]
    %a = ReduceSumSquare(%x) {keepdims=1} %y = Log(%a) output %y })";
  const Status status = build(text, "rk3588", {});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(log_, HasSubstr("'a' reaches 1.44e+06 in calibration and computes in float16"));
  log_.clear();
  sample({1, 4, 2, 2}, std::vector<float>(16, 3.0f));
  ASSERT_TRUE(build(text, "rk3588", {}).ok());
  EXPECT_THAT(log_, Not(HasSubstr("float16, which ends")));
}

// A front end of speech models: power, logarithm, mean taken off. With the epsilon at 0 it would be -inf - -inf.
TEST_F(Build, ALogarithmOfSilenceIsANumberInFloat16) {
  std::vector<float> values(16, 0.5f);
  std::fill(values.begin() + 8, values.end(), 0.0f);
  sample({1, 1, 2, 8}, values);
  const std::string text =
      "graph \"g\" { input %x: f32[1,1,2,8] const %e: f32[1] = [1e-10]"
      " %p = Mul(%x, %x) %s = Add(%p, %e) %l = Log(%s) %m = ReduceMean(%l) {keepdims=1}"
      " %y = Sub(%l, %m) output %y }";
  for (const bool quantize : {true, false}) {
    BuildOptions options;
    options.do_quantization = quantize;
    const Status status = build(text, "rk3588", options);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<float> y;
    ASSERT_TRUE(analysis::simulate(toolkit_.program(), ops::registry(),
                                   {Tensor::f32({1, 1, 2, 8}, values)},
                                   [&](const std::string& name, const Tensor& tensor) {
                                     if (name == "y") {
                                       const auto all = tensor.span<float>();
                                       y.assign(all.begin(), all.end());
                                     }
                                     return ok_status();
                                   })
                    .ok());
    ASSERT_EQ(y.size(), 16u);
    // log(0.25) = -1.386, log(2^-24) = -16.636: half of the difference on either side. In int8 a step is 0.085.
    for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(y[i], i < 8 ? 7.625 : -7.625, 0.05) << quantize;
  }
}

TEST_F(Build, NaNThatReachesAnOutputIsRefused) {
  sample({1, 4, 2, 2}, std::vector<float>(16, 300.0f));
  const std::string head =
      "graph \"g\" { input %x: f32[1,4,2,2] %a = ReduceSumSquare(%x) {keepdims=1} %l = Log(%a)"
      " %m = ReduceMean(%l) {keepdims=1} %d = Sub(%l, %m) ";
  const Status status = build(head + "%y = Mul(%d, %d) output %y }", "rk3588", {});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("output 'y' would be NaN: 'd' holds NaN on the first "
                                          "calibration sample"));
  EXPECT_THAT(log_, HasSubstr("'a' reaches 1.44e+06 in calibration"));
  EXPECT_THAT(log_, HasSubstr("no processor: 1 ReduceSumSquare"));
  EXPECT_THAT(log_, Not(HasSubstr("Build with do_quantization=True"))) << "it is built so";
  // Only what the model itself says is NaN: 0 / 0.
  sample({1, 4, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  const Status own =
      build("graph \"g\" { input %x: f32[1,4,2,2] %d = Div(%x, %x) %y = Exp(%d) output %y }",
            "rk3588", {});
  EXPECT_TRUE(own.ok()) << own.message();
}

// A float16 build has no calibration, but scripts give it the dataset of the int8 build too.
TEST_F(Build, AFloat16BuildThatIsGivenADatasetSaysWhatOverflowsOnIt) {
  sample({1, 4, 2, 2}, std::vector<float>(16, 300.0f));
  const std::string text =
      "graph \"g\" { input %x: f32[1,4,2,2] %a = ReduceSumSquare(%x) {keepdims=1} %l = Log(%a)"
      " %m = ReduceMean(%l) {keepdims=1} %d = Sub(%l, %m) %y = Mul(%d, %d) output %y }";
  BuildOptions options;
  options.do_quantization = false;
  options.dataset = path("data.txt");
  ASSERT_TRUE(build(text, "rk3588", options).ok());
  // 16 * 300^2
  EXPECT_THAT(log_, HasSubstr("'a' reaches 1.44e+06 on the dataset's first sample and computes in "
                              "float16"));
  EXPECT_THAT(log_, HasSubstr("output 'y' becomes NaN: 'd' holds NaN on the first calibration"));
  // As before: nobody has to have the files that a float16 build does not need.
  options.dataset = path("no_such_file.txt");
  log_.clear();
  EXPECT_TRUE(build(text, "rk3588", options).ok());
  EXPECT_THAT(log_, Not(HasSubstr("65504")));
}

TEST_F(Build, TheFirstInferenceNamesTheLayerThatFloat16DoesNotHold) {
  const std::string text =
      "graph \"g\" { input %x: f32[1,4] %a = Mul(%x, %x) %b = Mul(%a, %a) %l = Log(%b) "
      "%y = Neg(%l) output %y }";
  BuildOptions options;
  options.do_quantization = false;
  const auto run = [&](const std::vector<float>& values) {
    EXPECT_TRUE(build(text, "rk3588", options).ok());
    log_.clear();
    auto simulator = Simulator::create(toolkit_.program(), {});
    ASSERT_TRUE(simulator.ok()) << simulator.status().message();
    std::vector<float> x = values, y(4);
    const Feed feed{{DType::kF32, {1, 4}, x.data(), 16}};
    const ArrayRef to{DType::kF32, {1, 4}, y.data(), 16};
    for (int frame = 0; frame < 2; ++frame)
      ASSERT_TRUE((*simulator)->run({&feed, 1}, {&to, 1}).ok());
  };
  run({1, 2, 3, 20});  // 20^4 = 160000
  EXPECT_THAT(log_, HasSubstr("'b' (Mul) is the first to hold infinity on these inputs"));
  EXPECT_EQ(log_.find("is the first", log_.find("is the first") + 1), std::string::npos);
  run({1, 2, 3, 1e6f});
  EXPECT_THAT(log_, HasSubstr("input 'x' is the first to hold infinity"));
  run({1, 2, 3, 15});  // 15^4 = 50625
  EXPECT_EQ(log_, "");
}

// (x - mean) / std by hand: (5 - 1) / 2, (5 - 2) / 2, (5 - 3) / 4.
TEST_F(Build, InputsThatAreNoPicturesAreNormalizedPerEntryOfTheirSecondAxis) {
  const auto graph =
      parse_graph(R"(graph "g" { input %x: f32[1,3] %y = Neg(%x) output %y })", ops::registry());
  ASSERT_TRUE(graph.ok());
  ASSERT_TRUE(write_file(path("flat.onnx"), *frontends::export_onnx(*graph)).ok());
  Config config;
  config.target_platform = "rk3588";
  config.mean_values = {{1, 2}};
  config.std_values = {{2, 2, 4}};
  ASSERT_TRUE(toolkit_.config(config).ok());
  EXPECT_THAT(toolkit_.load_onnx(path("flat.onnx")).message(),
              HasSubstr("The len of mean_values ([1, 2]) for input 0 is wrong, expect 3!"));
  config.mean_values = {{1, 2, 3}};
  ASSERT_TRUE(toolkit_.config(config).ok());
  const Status loaded = toolkit_.load_onnx(path("flat.onnx"));
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  const auto golden = toolkit_.golden({Tensor::f32({1, 3}, {5, 5, 5})});
  ASSERT_TRUE(golden.ok()) << golden.status().message();
  EXPECT_THAT(golden->at(0).to_f32(), testing::ElementsAre(-2, -1.5f, -0.5f));
}

// Two networks of the same weights at two resolutions, both at level 3: 'a' and 'b' are equalized
// by what each has seen, so the second keeps them; 'c' is the same in both.
TEST_F(Build, AModelWithoutWeightsRunsWithThoseOfAnotherResolution) {
  std::string weights[3];
  uint32_t state = 1;
  for (int layer = 0; layer < 3; ++layer) {
    for (int i = 0; i < 16 * 16 * 9; ++i) {
      state = state * 1664525u + 1013904223u;
      const int channel = i / 144;
      const double wide = layer == 0 ? std::pow(2.0, channel % 8) : 1;
      weights[layer] +=
          str(i == 0 ? "[" : ",", (static_cast<int>(state >> 24) - 128) / 512.0 * wide);
    }
    weights[layer] += "]";
  }
  const auto build_at = [&](int size, float gain, bool remove) -> Result<std::vector<uint8_t>> {
    std::vector<float> values;
    for (int i = 0; i < 16 * size * size; ++i)
      values.push_back(gain * static_cast<float>((i * 37 + size) % 64 - 32));
    sample({1, 16, size, size}, values);
    RK_ASSIGN(const Graph graph,
              parse_graph(str("graph \"g\" { input %x: f32[1,16,", size, ",", size,
                              "] const %wa: f32[16,16,3,3] = ", weights[0],
                              " const %wb: f32[16,16,3,3] = ", weights[1],
                              " const %wc: f32[16,16,3,3] = ", weights[2],
                              " %a = Conv(%x, %wa) %r = Relu(%a) %b = Conv(%r, %wb)"
                              " %s = Sigmoid(%b) %c = Conv(%s, %wc) output %c }"),
                          ops::registry()));
    RK_ASSIGN(const std::vector<uint8_t> model, frontends::export_onnx(graph));
    RK_TRY(write_file(path("net.onnx"), model));
    Config config;
    config.target_platform = "rk3588";
    config.remove_weight = remove;
    RK_TRY(toolkit_.config(config));
    RK_TRY(toolkit_.load_onnx(path("net.onnx")));
    BuildOptions options;
    options.dataset = path("data.txt");
    RK_TRY(toolkit_.build(options));
    return toolkit_.rknn_bytes();
  };
  const auto donor = build_at(12, 0.25f, false);
  ASSERT_TRUE(donor.ok()) << donor.status().message();
  const program::Program donor_program = toolkit_.program();
  const auto whole = build_at(9, 1.0f, false), light = build_at(9, 1.0f, true);
  ASSERT_TRUE(whole.ok() && light.ok()) << light.status().message();
  EXPECT_THAT(log_, HasSubstr("remove_weight: 4608 of 6912 bytes of weights stay in the file"));
  EXPECT_LT(light->size() + 2000, whole->size());
  EXPECT_FALSE(runtime::LoadedModel::from_bytes(*light, {}).ok());
  const auto run = [&](const std::vector<uint8_t>& file, const program::Program* lender) {
    std::vector<float> y;
    const auto model = runtime::LoadedModel::from_bytes(file, {.weights_from = lender});
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return y;
    std::vector<float> x;
    for (int i = 0; i < 16 * 81; ++i) x.push_back(static_cast<float>((i * 31) % 64 - 32));
    const Status ran = analysis::simulate(*model, {Tensor::f32({1, 16, 9, 9}, x)},
                                          [&](const std::string& name, const Tensor& tensor) {
                                            if (name == "c") y = tensor.to_f32();
                                            return ok_status();
                                          });
    EXPECT_TRUE(ran.ok()) << ran.message();
    return y;
  };
  const std::vector<float> expected = run(*whole, nullptr);
  EXPECT_EQ(expected.size(), 16u * 3 * 3);
  EXPECT_EQ(run(*light, &donor_program), expected);
}

// The patterns of quant/sparsity_test.cpp, in the words of the vendor's table, also after the file
// is read again.
TEST_F(Build, TheLayerTableSaysAlongWhichChannelsAConvolutionIsSparse) {
  std::string along_outputs, along_inputs;
  for (int i = 0; i < 32 * 32; ++i) {
    along_outputs += str(i == 0 ? "[" : ",", i / 32 % 4 < 2 ? 1 + i % 3 : 0);
    along_inputs += str(i == 0 ? "[" : ",", (i + i / 32) % 4 < 2 ? 1 + i % 3 : 0);
  }
  sample({1, 32, 4, 4}, alternating(64, 1));
  const auto graph = parse_graph(str("graph \"g\" { input %x: f32[1,32,4,4]"
                                     " const %wo: f32[32,32,1,1] = ",
                                     along_outputs, "] const %wi: f32[32,32,1,1] = ", along_inputs,
                                     "] %a = Conv(%x, %wo) %y = Conv(%a, %wi) output %y }"),
                                 ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(write_file(path("net.onnx"), *frontends::export_onnx(*graph)).ok());
  Config config;
  config.target_platform = "rk3576";
  config.sparse_infer = true;
  ASSERT_TRUE(toolkit_.config(config).ok());
  ASSERT_TRUE(toolkit_.load_onnx(path("net.onnx")).ok());
  BuildOptions options;
  options.dataset = path("data.txt");
  const Status built = toolkit_.build(options);
  ASSERT_TRUE(built.ok()) << built.message();
  EXPECT_EQ(step("a").macs, 32u * 32 * 16 / 2);
  const auto simulator = Simulator::create(*toolkit_.rknn_bytes(), {.perf_debug = true});
  ASSERT_TRUE(simulator.ok()) << simulator.status().message();
  const auto table = (*simulator)->performance(true, {});
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(*table, testing::ContainsRegex("50%\\(OC\\)[^\n]*Conv:"));
  EXPECT_THAT(*table, testing::ContainsRegex("50%\\(IC\\)[^\n]*Conv:"));
}

TEST_F(Build, LayersThatTheBoardWouldRefuseAreNamedOncePerOperator) {
  const std::string text =
      str("graph \"g\" { input %x: f32[1,8,4,4] const %w: f32[8,8,1,1] = ", eye(),
          " %c = Conv(%x, %w) @\"one\" %d = Conv(%c, %w) @\"two\" output %d }");
  BuildOptions options;
  options.do_quantization = false;
  ASSERT_TRUE(build(text, "rv1106", options).ok());
  EXPECT_THAT(log_, HasSubstr("rv1106 runs these layers on no processor: 2 Conv (first: 'one': "));
  EXPECT_THAT(log_, HasSubstr("the board would refuse the model. Build with do_quantization=True"));
  log_.clear();
  ASSERT_TRUE(build(text, "rk3588", options).ok());
  EXPECT_THAT(log_, Not(HasSubstr("would refuse")));
}

}  // namespace
}  // namespace rk::toolkit

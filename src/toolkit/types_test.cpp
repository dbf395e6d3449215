// SPDX-License-Identifier: Apache-2.0
// quantized_dtype, quantized_method and quantize_weight: which chip takes what, and what it costs in accuracy and size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/file.h"
#include "base/npy.h"
#include "frontends/frontend.h"
#include "ir/graph.h"
#include "ops/registry.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::toolkit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Status configured(std::string platform, std::string dtype, std::string method = "channel",
                  bool what_if = false) {
  Config config;
  config.target_platform = std::move(platform);
  config.quantized_dtype = std::move(dtype);
  config.quantized_method = std::move(method);
  config.what_if = what_if;
  return Toolkit().config(config);
}

TEST(QuantizedDtype, AChipRefusesWhatItLacksAndListsWhatItHas) {
  EXPECT_TRUE(configured("rk3588", "w8a8").ok());
  EXPECT_TRUE(configured("rk3588", "asymmetric_quantized-8").ok());
  EXPECT_TRUE(configured("rk3562", "w8a16").ok());
  EXPECT_TRUE(configured("rk3576", "w4a16", "group64").ok());
  EXPECT_TRUE(configured("rv1106", "w16a16i", "layer").ok());
  const Status refused = configured("rk3588", "w4a16");
  EXPECT_EQ(refused.code(), Code::kUnsupported);
  EXPECT_THAT(refused.message(), HasSubstr("not supported by rk3588, which has ['w8a8']"));
  EXPECT_TRUE(configured("rk3588", "w4a16", "channel", true).ok());
  EXPECT_THAT(configured("rv1106", "w16a16i_dfp").message(), HasSubstr("not offered"));
  EXPECT_THAT(configured("rk3588", "w4a8").message(), HasSubstr("Invalid quantized_dtype 'w4a8'"));
}

TEST(QuantizedMethod, GroupsAreForFourBitsInStepsOf32) {
  for (const char* size : {"group16", "group48", "group288", "group", "groupx"})
    EXPECT_THAT(configured("rk3576", "w4a16", size).message(), HasSubstr("multiple of 32")) << size;
  EXPECT_THAT(configured("rk3576", "w8a8", "group32").message(), HasSubstr("w4a16 only"));
  EXPECT_THAT(configured("rk3576", "w8a8", "tensor").message(), HasSubstr("'layer', 'channel'"));
}

// Two convolutions and a matrix product with random weights, and one sample.
class Types : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / str("types_", ::getpid());
    fs::create_directories(folder_);
    Graph graph(ops::registry());
    graph.name = "g";
    Value* x = *graph.add_input("x", {DType::kF32, {1, 16, 6, 6}});
    std::mt19937 random(7);
    const auto weights = [&](const std::string& name, const Shape& shape) {
      std::normal_distribution<float> normal(0, 0.2f);
      std::vector<float> values(static_cast<size_t>(shape.elements()));
      for (float& value : values) value = normal(random);
      return graph.add_constant(name, Tensor::f32(shape, values));
    };
    const auto next = [&](NodeSpec spec) { return &(*graph.add_node(std::move(spec)))->output(); };
    const AttrMap pads = {{"pads", std::vector<int64_t>{1, 1, 1, 1}}};
    x = next({"Conv", "c1", {x, weights("w1", {32, 16, 3, 3})}, {"a"}, pads});
    x = next({"Relu", "r", {x}, {"b"}, {}});
    x = next({"Conv", "c2", {x, weights("w2", {16, 32, 3, 3})}, {"c"}, pads});
    x = next({"GlobalAveragePool", "p", {x}, {"d"}, {}});
    x = next({"Flatten", "f", {x}, {"e"}, {}});
    x = next({"MatMul", "m", {x, weights("w3", {16, 12})}, {"y"}, {}});
    ASSERT_TRUE(graph.add_output(x).ok());
    ASSERT_TRUE(write_file(path("net.onnx"), *frontends::export_onnx(graph)).ok());
    NpyArray array;
    array.shape = {1, 16, 6, 6};
    std::normal_distribution<float> normal;
    std::vector<float> values(576);
    for (float& value : values) value = normal(random);
    const auto* raw = reinterpret_cast<const uint8_t*>(values.data());
    array.bytes.assign(raw, raw + values.size() * sizeof(float));
    ASSERT_TRUE(write_npy(path("in.npy"), array).ok());
    std::ofstream(path("data.txt")) << "in.npy\n";
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(std::string_view name) const { return (folder_ / name).string(); }

  struct Built {
    double sqnr_db = 0;
    size_t file_bytes = 0;
  };
  Built built(const std::string& platform, const std::string& dtype,
              const std::string& method = "channel", bool quantize = true,
              bool quantize_weight = false) {
    Config config;
    config.target_platform = platform;
    config.quantized_dtype = dtype;
    config.quantized_method = method;
    config.quantize_weight = quantize_weight;
    BuildOptions build;
    build.do_quantization = quantize;
    build.dataset = path("data.txt");
    Toolkit toolkit;
    for (const Status& status :
         {toolkit.config(config), toolkit.load_onnx(path("net.onnx")), toolkit.build(build)}) {
      EXPECT_TRUE(status.ok()) << dtype << ": " << status.message();
      if (!status.ok()) return {};
    }
    const auto report = toolkit.accuracy_analysis({path("in.npy")}, {});
    EXPECT_TRUE(report.ok()) << report.status().message();
    if (!report.ok()) return {};
    return {report->outputs.at(0).sqnr_db, toolkit.rknn_bytes()->size()};
  }

  fs::path folder_;
};

TEST_F(Types, WiderTypesAreMorePreciseAndNarrowerOnesSmaller) {
  const Built f16 = built("rk3576", "w8a8", "channel", false);
  const Built w8a8 = built("rk3576", "w8a8");
  const Built w8a16 = built("rk3562", "w8a16");
  const Built w4 = built("rk3576", "w4a16");
  const Built w4_groups = built("rk3576", "w4a16", "group32");
  const Built w4_layer = built("rk3576", "w4a16", "layer");
  const Built w16 = built("rv1106", "w16a16i");
  const Built stored = built("rk3588", "w8a8", "channel", false, true);
  EXPECT_GT(f16.sqnr_db, 50);
  EXPECT_GT(w16.sqnr_db, w8a8.sqnr_db + 20);
  EXPECT_GT(w8a16.sqnr_db, 35);
  EXPECT_GT(w8a16.sqnr_db, w4.sqnr_db + 10);
  EXPECT_GT(w4_groups.sqnr_db, w4.sqnr_db);
  EXPECT_GE(w4.sqnr_db, w4_layer.sqnr_db - 1);
  EXPECT_GT(w4_layer.sqnr_db, 5);
  EXPECT_GT(stored.sqnr_db, w8a16.sqnr_db - 1);  // its smallest weights stay float16
  // 9408 weights: 18 KiB in float16, half and a quarter of that.
  EXPECT_LT(w8a16.file_bytes + 7000, f16.file_bytes);
  EXPECT_LT(w4.file_bytes + 3500, w8a16.file_bytes);
}

}  // namespace
}  // namespace rk::toolkit

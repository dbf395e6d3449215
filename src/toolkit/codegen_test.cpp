// SPDX-License-Identifier: Apache-2.0
// What codegen writes, leaves alone and refuses; tests/python/test_codegen.py builds and runs a project.
#include "toolkit/codegen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

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
using testing::Not;

class Codegen : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / str("codegen_", ::getpid());
    fs::create_directories(folder_);
    const auto graph = parse_graph(R"(graph "g" {
      input %x: f32[1,2,2,3]
      %y = Relu(%x) @"r"
      output %y
    })",
                                   ops::registry());
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto onnx = frontends::export_onnx(*graph);
    ASSERT_TRUE(onnx.ok() && write_file(path("net.onnx"), *onnx).ok());
    Toolkit toolkit;
    Config config;
    config.target_platform = "rk3588";
    ASSERT_TRUE(toolkit.config(config).ok());
    ASSERT_TRUE(toolkit.load_onnx(path("net.onnx")).ok());
    BuildOptions build;
    build.do_quantization = false;
    ASSERT_TRUE(toolkit.build(build).ok());
    ASSERT_TRUE(toolkit.export_rknn(path("a net.rknn")).ok());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  std::string save(std::string_view name, std::vector<int64_t> shape) const {
    NpyArray array{'f', 4, std::move(shape), {}};
    // -1, 0, 1, 2, ... so that Relu shows.
    for (float value = -1; value < 11; value += 1) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
      array.bytes.insert(array.bytes.end(), bytes, bytes + sizeof value);
    }
    EXPECT_TRUE(write_npy(path(name), array).ok());
    return path(name);
  }
  std::string text(std::string_view name) const {
    const auto bytes = read_file(path(name));
    return bytes.ok() ? std::string(bytes->begin(), bytes->end()) : "missing";
  }
  CodegenOptions options() const {
    return {.model = path("a net.rknn"),
            .output_path = path("out/"),
            .inputs = {},
            .overwrite = false,
            .rgb2bgr = {}};
  }

  fs::path folder_;
};

TEST_F(Codegen, SavesInputsAsTheApiTakesThemAndTheSimulatorsOutputs) {
  CodegenOptions call = options();
  call.inputs = {save("x.npy", {1, 2, 2, 3})};
  const auto result = codegen(call);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->project, "out");
  // NCHW 1x2x2x3 becomes NHWC 1x2x3x2: pixel 0 has the first elements of both planes.
  const auto input = read_npy(path("out/data/input_0.npy"));
  ASSERT_TRUE(input.ok());
  EXPECT_EQ(input->shape, (std::vector<int64_t>{1, 2, 3, 2}));
  float values[12];
  std::memcpy(values, input->bytes.data(), sizeof values);
  EXPECT_EQ(values[0], -1);
  EXPECT_EQ(values[1], 5);
  const auto output = read_npy(path("out/data/simulator_output_0.npy"));
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->shape, (std::vector<int64_t>{1, 2, 2, 3}));
  std::memcpy(values, output->bytes.data(), sizeof values);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[11], 10);
  EXPECT_THAT(text("out/src/model_info.h"), HasSubstr("\"model/a_net.rknn\""));
  EXPECT_EQ(text("out/model/a_net.rknn"), text("a net.rknn"));
  for (const char* file : {"CMakeLists.txt", "README.md", "build-linux.sh", "src/model_info.h"})
    EXPECT_THAT(text(str("out/", file)), Not(testing::ContainsRegex("@[A-Z_]+@"))) << file;
}

TEST_F(Codegen, LeavesAnExistingFolderAloneUnlessToldOtherwise) {
  fs::create_directories(path("out"));
  CodegenOptions call = options();
  auto result = codegen(call);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->skipped);
  EXPECT_TRUE(fs::is_empty(path("out")));
  call.overwrite = true;
  result = codegen(call);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->skipped);
  EXPECT_THAT(text("out/README.md"), HasSubstr("nothing is compared"));
}

TEST_F(Codegen, WritesNothingWhenAnInputDoesNotFit) {
  CodegenOptions call = options();
  call.inputs = {save("x.npy", {1, 3, 2, 2})};
  EXPECT_THAT(codegen(call).status().message(),
              HasSubstr("x.npy' has shape [1,3,2,2], input 'x' needs [1,2,2,3]"));
  call.inputs = {path("missing.npy")};
  EXPECT_THAT(codegen(call).status().message(), HasSubstr("missing.npy"));
  call.inputs.push_back(path("missing.npy"));
  EXPECT_THAT(codegen(call).status().message(),
              HasSubstr("inputs has 2 file(s), the model has 1 input(s)"));
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(Codegen, RefusesAFileInPlaceOfTheFolderAndDamagedModels) {
  CodegenOptions call = options();
  call.output_path = path("net.onnx");
  EXPECT_THAT(codegen(call).status().message(), HasSubstr("is not a folder"));
  call = options();
  call.model = path("net.onnx");
  EXPECT_FALSE(codegen(call).ok());
  EXPECT_FALSE(fs::exists(path("out")));
}

}  // namespace
}  // namespace rk::toolkit

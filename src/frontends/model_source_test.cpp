// SPDX-License-Identifier: Apache-2.0
// What the door does before any format is parsed, also in builds without some formats.
#include "frontends/model_source.h"

#include <gtest/gtest.h>

#include "frontends/frontend.h"
#include "ops/registry.h"

namespace rk::frontends {
namespace {

using namespace std::string_literals;

ByteSpan bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The first bytes of real files.
const std::string kOnnx("\x08\x07\x12\x07pytorch\x3a\x02\x0a\x00", 15);
const std::string kTflite = "\x1c\0\0\0TFL3abcd"s;
const std::string kGraphDef("\x0a\x14\x0a\x05image\x12\x0bPlaceholder", 22);
const std::string kCaffeModel("\x0a\x05LeNet\xa2\x06\x07\x0a\x05mnist", 17);
const std::string kPrototxt = "# a net\nname: \"LeNet\"\nlayer {\n}\n";
const std::string kDarknet = "# made by hand\n[net]\nbatch=1\n";
const std::string kTorch = "PK\x03\x04 archive";

TEST(ModelSourceTest, EveryFormatRecognizesItsOwnFilesOnly) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"onnx", kOnnx},        {"tflite", kTflite},  {"tensorflow", kGraphDef},
      {"caffe", kCaffeModel}, {"caffe", kPrototxt}, {"darknet", kDarknet},
      {"pytorch", kTorch}};
  for (const auto& [format, text] : files) {
    for (const ModelSource& source : model_sources()) {
      EXPECT_EQ(source.recognize(bytes_of(text), "model"), source.format == format)
          << source.format << " asked about " << format;
    }
    const auto found = recognize_source(bytes_of(text), "model");
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ((*found)->format, format);
  }
}

TEST(ModelSourceTest, MixUpsNameTheRightCall) {
  for (const auto& [given, text, call] : std::vector<std::array<std::string, 3>>{
           {"onnx", kTflite, "it is a TFLite model; use load_tflite"},
           {"onnx", kGraphDef, "it is a frozen TensorFlow graph; use load_tensorflow"},
           {"onnx", kPrototxt, "it is a Caffe model; use load_caffe"},
           {"onnx", kDarknet, "it is a Darknet model; use load_darknet"},
           {"onnx", kTorch, "use load_pytorch"},
           {"tflite", kOnnx, "it is an ONNX model; use load_onnx"},
           {"pytorch", kOnnx, "it is an ONNX model; use load_onnx"},
           {"tensorflow", kCaffeModel, "it is a Caffe model; use load_caffe"},
           {"tensorflow", kTflite, "it is a TFLite model; use load_tflite"}}) {
    const ModelFile file{"", bytes_of(text)};
    const auto imported = import_files({&file, 1}, given, {}, ops::registry());
    ASSERT_FALSE(imported.ok());
    EXPECT_EQ(imported.status().code(), Code::kInvalidModel);
    EXPECT_NE(imported.status().message().find(call), std::string::npos)
        << imported.status().message();
  }
}

TEST(ModelSourceTest, FilesThatAreNoModelSayWhatToDo) {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "the file is empty"},
           {"RKNN\0\0\0\0"s, "already converted; use load_rknn"},
           {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
           {"\x89HDF\r\n", "HDF5"}}) {
    EXPECT_NE(recognize_other(bytes_of(text), "", "onnx").find(part), std::string::npos) << part;
    const auto graph = import_onnx_bytes(bytes_of(text), "", {}, ops::registry());
    ASSERT_FALSE(graph.ok());
    EXPECT_NE(graph.status().message().find("this is not an ONNX model: "), std::string::npos);
    EXPECT_NE(graph.status().message().find(part), std::string::npos);
  }
  const uint8_t onnx[] = {0x08, 0x08, 0x12, 0x00};
  EXPECT_EQ(recognize_other(onnx, "", "onnx"), "");
}

TEST(ModelSourceTest, AFormatOfTwoFilesAsksForBoth) {
  const ModelFile file{"yolo.cfg", bytes_of(kDarknet)};
  const auto imported = import_files({&file, 1}, "", {}, ops::registry());
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.status().message(),
            "a Darknet model has 2 files: model (.cfg), weight (.weights); 1 was given");
}

TEST(ModelSourceTest, AnUnknownFormatIsRefusedWithTheAcceptedOnes) {
  const ModelFile file{"m.mlmodel", bytes_of(kOnnx)};
  const auto imported = import_files({&file, 1}, "coreml", {}, ops::registry());
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.status().message(),
            "there is no model format 'coreml'; accepted are 'onnx', 'tflite', 'tensorflow', "
            "'caffe', 'darknet', 'pytorch'");
}

TEST(ModelSourceTest, AnImporterThatIsNotBuiltSaysWhichOptionSwitchesItOn) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"onnx", kOnnx}, {"tflite", kTflite}, {"tensorflow", kGraphDef}, {"pytorch", kTorch}};
  for (const auto& [format, text] : files) {
    const auto source = find_source(format);
    ASSERT_TRUE(source.ok());
    if ((*source)->import != nullptr) continue;
    const ModelFile file{"", bytes_of(text)};
    const auto imported = import_files({&file, 1}, format, {}, ops::registry());
    ASSERT_FALSE(imported.ok());
    EXPECT_EQ(imported.status().code(), Code::kUnsupported);
    EXPECT_NE(imported.status().message().find(str("-D", (*source)->option, "=ON")),
              std::string::npos);
  }
}

TEST(ModelSourceTest, AFileThatCannotBeReadIsNamed) {
  const auto graph = import_onnx("/nonexistent/model.onnx", {}, ops::registry());
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), Code::kIo);
  EXPECT_NE(graph.status().message().find("/nonexistent/model.onnx"), std::string::npos);
}

}  // namespace
}  // namespace rk::frontends

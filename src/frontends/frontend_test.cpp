// SPDX-License-Identifier: Apache-2.0
// What the entry points do before any format is parsed, also in builds without some formats.
#include "frontends/frontend.h"

#include <gtest/gtest.h>

#include "frontends/file_kind.h"
#include "frontends/suggest.h"
#include "ops/registry.h"

namespace rk::frontends {
namespace {

TEST(FrontendTest, RecognisesFilesOfOtherFormats) {
  using namespace std::string_literals;
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "the file is empty"},
           {"RKNN\0\0\0\0"s, "already converted; use load_rknn"},
           {"\x1c\0\0\0TFL3abcd"s, "use load_tflite"},
           {"PK\x03\x04 archive", "use load_pytorch"},
           {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
           {"\x89HDF\r\n", "HDF5"}}) {
    const ByteSpan bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    const std::string found = recognize_other_than_onnx(bytes);
    EXPECT_NE(found.find(part), std::string::npos) << found;
#if RK_FRONTEND_ONNX
    const auto graph = import_onnx_bytes(bytes, "", {}, ops::registry());
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.status().message(), "this is not an ONNX model: " + found);
#endif
  }
  const uint8_t onnx[] = {0x08, 0x08, 0x12, 0x00};
  EXPECT_EQ(recognize_other_than_onnx(onnx), "");
}

TEST(FrontendTest, AFileThatCannotBeReadIsNamed) {
  const auto graph = import_onnx("/nonexistent/model.onnx", {}, ops::registry());
  ASSERT_FALSE(graph.ok());
#if RK_FRONTEND_ONNX
  EXPECT_EQ(graph.status().code(), Code::kIo);
  EXPECT_NE(graph.status().message().find("/nonexistent/model.onnx"), std::string::npos);
#else
  EXPECT_EQ(graph.status().code(), Code::kUnsupported);
  EXPECT_NE(graph.status().message().find("switched off"), std::string::npos);
#endif
}

TEST(FrontendTest, CloseNamesComeClosestFirst) {
  EXPECT_EQ(close_names("conv1", {"relu1", "conv12", "cnov1", "conv2"}),
            "'conv12', 'conv2', 'cnov1'");
  EXPECT_EQ(close_names("x", {"something_else"}), "");
}

}  // namespace
}  // namespace rk::frontends

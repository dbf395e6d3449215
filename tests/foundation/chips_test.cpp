// SPDX-License-Identifier: Apache-2.0
// Every chip converts and runs the bundled detector in the types it has; every flow gives the same bytes; native
// attributes follow the chip.
#include <gtest/gtest.h>

#include "media/picture.h"
#include "target/target.h"
#include "tests/e2e/figure.h"
#include "tests/foundation/any_model.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::foundation {
namespace {

std::string example(const std::string& path) {
  return std::string(RK_SOURCE_DIR) + "/examples/" + path;
}

Result<std::vector<uint8_t>> convert_signs(std::string_view chip, bool quantize) {
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = std::string(chip);
  config.std_values = {{255, 255, 255}};
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(example("signs/signs.onnx")));
  toolkit::BuildOptions build;
  build.do_quantization = quantize;
  if (quantize) build.dataset = example("signs/dataset.txt");
  RK_TRY(toolkit.build(build));
  return toolkit.rknn_bytes();
}

class Chips : public testing::TestWithParam<const target::Target*> {};

void check_chip(const target::Target& chip, bool quantize) {
  const std::string label = str(chip.name, quantize ? " int8" : " float16");
  const auto rknn = convert_signs(chip.name, quantize);
  ASSERT_TRUE(rknn.ok()) << rknn.status().message();
  const auto model = AnyModel::load(*rknn);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto picture = media::read_picture(example("signs/test/000.jpg"), media::Color::kRgb);
  ASSERT_TRUE(picture.ok());
  const auto copied = model->run_picture(picture->pixels, Flow::kCopy);
  ASSERT_TRUE(copied.ok()) << copied.status().message();
  bool equal = true;
  for (const Flow flow : {Flow::kPlainMemory, Flow::kNativeMemory, Flow::kDuplicate}) {
    const auto other = model->run_picture(picture->pixels, flow);
    ASSERT_TRUE(other.ok()) << other.status().message();
    equal &= *other == *copied;
  }
  e2e::figure_holds(str("flows identical, ", label), equal, equal ? "identical" : "different",
                    "identical bytes");

  const int c2 = quantize ? chip.c2_i8 : chip.c2_f16;
  const rknn_tensor_attr output = model->output_attr(0, RKNN_QUERY_NATIVE_OUTPUT_ATTR);
  const rknn_tensor_attr input = model->input_attr(0, RKNN_QUERY_NATIVE_INPUT_ATTR);
  EXPECT_EQ(output.fmt, RKNN_TENSOR_NC1HWC2) << label;
  EXPECT_EQ(output.n_dims, 5u) << label;
  EXPECT_EQ(static_cast<int>(output.dims[4]), c2) << label;
  const int align =
      quantize ? chip.conv_output_channel_align_i8 : chip.conv_output_channel_align_f16;
  EXPECT_EQ(output.dims[1] * output.dims[4],
            static_cast<uint32_t>((39 + align - 1) / align * align))
      << label;
  EXPECT_EQ(input.fmt, RKNN_TENSOR_NHWC) << label;
  const int width_align = quantize ? chip.input_width_align_i8 : chip.input_width_align_f16;
  EXPECT_EQ(input.w_stride % static_cast<uint32_t>(width_align), 0u) << label;
  EXPECT_EQ(output.type, quantize ? RKNN_TENSOR_INT8 : RKNN_TENSOR_FLOAT16) << label;
}

TEST_P(Chips, RunsTheDetectorInInt8) {
  if (!GetParam()->has_i8) {
    EXPECT_FALSE(convert_signs(GetParam()->name, true).ok());
    return;
  }
  check_chip(*GetParam(), true);
}

TEST_P(Chips, RunsTheDetectorInFloat16) {
  if (!GetParam()->has_f16) {
    EXPECT_FALSE(convert_signs(GetParam()->name, false).ok());
    return;
  }
  check_chip(*GetParam(), false);
}

INSTANTIATE_TEST_SUITE_P(All, Chips,
                         testing::ValuesIn(target::all_targets().begin(),
                                           target::all_targets().end()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace rk::foundation

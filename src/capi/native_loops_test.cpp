// SPDX-License-Identifier: Apache-2.0
// The loops by which applications unpack NC1HWC2 outputs, written as the user guide has them: planes of
// dims[2] * dims[3] pixels, blocks of dims[4] channels. Sizes where neither is a multiple of anything.
#include <gtest/gtest.h>

#include "capi/test_context.h"

namespace rk::capi {
namespace {

constexpr int kChannels = 18, kHeight = 3, kWidth = 5;

program::Program odd_program(const std::string& target) {
  runtime::TestProgram p(target);
  const int32_t in = p.input("x", {DType::kI8, {1, 7, kHeight, kWidth}, 1.0f, 0});
  const int32_t out = p.output("y", {DType::kI8, {1, kChannels, kHeight, kWidth}, 1.0f, 0});
  runtime::TestProgram::IntegerConv conv;
  for (int i = 0; i < kChannels * 7; ++i) conv.weights.push_back(static_cast<int8_t>(i % 11 - 5));
  conv.params.output.scale = {16384, 16};
  p.conv(in, out, {kChannels, 7, 1, 1}, conv);
  return std::move(p.program);
}

std::vector<int8_t> to_nchw(const int8_t* from, const rknn_tensor_attr& native) {
  const auto height = static_cast<int>(native.dims[2]), width = static_cast<int>(native.dims[3]);
  const auto c2 = static_cast<int>(native.dims[4]);
  std::vector<int8_t> out;
  for (int c = 0; c < kChannels; ++c) {
    const int8_t* const plane = from + c / c2 * height * width * c2;
    for (int at = 0; at < height * width; ++at) out.push_back(plane[at * c2 + c % c2]);
  }
  return out;
}

std::vector<int8_t> to_nhwc(const int8_t* from, const rknn_tensor_attr& native) {
  const auto height = static_cast<int>(native.dims[2]), width = static_cast<int>(native.dims[3]);
  const auto c2 = static_cast<int>(native.dims[4]);
  std::vector<int8_t> out;
  for (int at = 0; at < height * width; ++at) {
    for (int c = 0; c < kChannels; ++c)
      out.push_back(from[(c / c2 * height * width + at) * c2 + c % c2]);
  }
  return out;
}

TEST(NativeLoopsTest, GuideLoopsGiveThePlainOutput) {
  for (const char* target : {"rk3588", "rk3566", "rk3562"}) {
    const TestContext context(0, odd_program(target));
    std::vector<int8_t> values(7 * kHeight * kWidth);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int8_t>(i * 29 % 120 - 60);
    rknn_input input{};
    input.buf = values.data();
    input.size = static_cast<uint32_t>(values.size());
    input.type = RKNN_TENSOR_INT8;
    input.fmt = RKNN_TENSOR_NHWC;
    ASSERT_EQ(rknn_inputs_set(context.handle, 1, &input), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
    const std::vector<int8_t> plain = context.scores();
    rknn_tensor_attr native = context.attr(RKNN_QUERY_NATIVE_OUTPUT_ATTR);
    ASSERT_EQ(native.fmt, RKNN_TENSOR_NC1HWC2);
    rknn_tensor_mem* const memory = rknn_create_mem(context.handle, native.size_with_stride);
    ASSERT_EQ(rknn_set_io_mem(context.handle, memory, &native), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
    const auto* const bytes = static_cast<const int8_t*>(memory->virt_addr);
    EXPECT_EQ(to_nchw(bytes, native), plain) << target;
    const std::vector<int8_t> nhwc = to_nhwc(bytes, native);
    for (int c = 0; c < kChannels; ++c) {
      for (int at = 0; at < kHeight * kWidth; ++at) {
        EXPECT_EQ(nhwc[static_cast<size_t>(at * kChannels + c)],
                  plain[static_cast<size_t>(c * kHeight * kWidth + at)]);
      }
    }
    EXPECT_EQ(rknn_destroy_mem(context.handle, memory), RKNN_SUCC);
  }
}

}  // namespace
}  // namespace rk::capi

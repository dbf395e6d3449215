// SPDX-License-Identifier: Apache-2.0
// RKNN_VALIDATE=1 seen from a program: one line for each mistake, none for correct use, and the same results.
#include <gtest/gtest.h>

#include <thread>

#include "capi/test_context.h"

namespace rk::capi {
namespace {

using runtime::picture_pixels;
using runtime::picture_scores;

constexpr std::string_view kMark = "RKNN_VALIDATE: ";

class ValidateTest : public testing::Test {
 protected:
  const Environment validate_{"RKNN_VALIDATE", "1"};
  const LogCapture log_;
};

// A picture large enough to be judged.
program::Program large_picture() {
  runtime::TestProgram p;
  const int32_t in = p.input("image", {DType::kI8, {1, 3, 16, 32}, 1.0f, -128});
  const int32_t out = p.output("scores", {DType::kI8, {1, 2, 16, 32}, 0.5f, -10});
  runtime::TestProgram::IntegerConv conv;
  conv.weights = {1, 2, 3, -1, 0, 1};
  conv.params.output.scale = {16384, 19};
  p.conv(in, out, {2, 3, 1, 1}, conv);
  return std::move(p.program);
}

TEST_F(ValidateTest, CorrectUseIsSilent) {
  {
    const TestContext copying;
    ASSERT_EQ(copying.set(picture_pixels()), RKNN_SUCC);
    ASSERT_EQ(rknn_run(copying.handle, nullptr), RKNN_SUCC);
    EXPECT_EQ(copying.scores(), picture_scores());
    const TestContext bound;
    rknn_tensor_attr in = bound.attr(RKNN_QUERY_NATIVE_INPUT_ATTR);
    rknn_tensor_attr out = bound.attr(RKNN_QUERY_NATIVE_OUTPUT_ATTR);
    in.type = RKNN_TENSOR_UINT8;
    rknn_tensor_mem* const from = rknn_create_mem(bound.handle, in.size_with_stride);
    rknn_tensor_mem* const to = rknn_create_mem(bound.handle, out.size_with_stride);
    EXPECT_EQ(rknn_set_io_mem(bound.handle, from, &in), RKNN_SUCC);
    EXPECT_EQ(rknn_set_io_mem(bound.handle, to, &out), RKNN_SUCC);
    EXPECT_EQ(rknn_run(bound.handle, nullptr), RKNN_SUCC);
    EXPECT_EQ(rknn_destroy_mem(bound.handle, from), RKNN_SUCC);
    EXPECT_EQ(rknn_destroy_mem(bound.handle, to), RKNN_SUCC);
  }
  EXPECT_FALSE(log_.has(kMark)) << log_.text();
}

TEST_F(ValidateTest, NothingIsSaidUnlessAskedFor) {
  unsetenv("RKNN_VALIDATE");
  const TestContext context;
  EXPECT_TRUE(context.scores().empty());
  EXPECT_FALSE(log_.has(kMark)) << log_.text();
}

TEST_F(ValidateTest, MixedFlowsAreNamedOnce) {
  const TestContext context;
  rknn_tensor_attr out = context.attr(RKNN_QUERY_OUTPUT_ATTR);
  rknn_tensor_mem* const memory = rknn_create_mem(context.handle, out.size_with_stride);
  ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rknn_set_io_mem(context.handle, memory, &out), RKNN_SUCC);
  EXPECT_EQ(log_.count("does not support both on one context"), 1u) << log_.text();
  ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
  EXPECT_EQ(context.scores(), picture_scores());
  EXPECT_TRUE(log_.has("read the bound memory instead")) << log_.text();
  EXPECT_EQ(rknn_destroy_mem(context.handle, memory), RKNN_SUCC);
}

TEST_F(ValidateTest, StridesInBytesAreNamed) {
  const TestContext context;
  rknn_tensor_attr in = context.attr(RKNN_QUERY_INPUT_ATTR);
  rknn_tensor_mem* const memory = rknn_create_mem(context.handle, in.size_with_stride);
  in.type = RKNN_TENSOR_UINT8;
  in.w_stride = in.w_stride * 3;
  EXPECT_EQ(rknn_set_io_mem(context.handle, memory, &in), RKNN_SUCC);
  EXPECT_TRUE(log_.has("w_stride 48 looks like bytes")) << log_.text();
  EXPECT_EQ(rknn_destroy_mem(context.handle, memory), RKNN_SUCC);
}

TEST_F(ValidateTest, FloatBuffersForBytesAreNamed) {
  const TestContext context;
  rknn_tensor_attr out = context.attr(RKNN_QUERY_NATIVE_OUTPUT_ATTR);
  rknn_tensor_mem* const memory = rknn_create_mem(context.handle, 4 * out.size_with_stride);
  EXPECT_EQ(rknn_set_io_mem(context.handle, memory, &out), RKNN_SUCC);
  EXPECT_TRUE(log_.has("output 'scores': the memory holds four bytes per element")) << log_.text();
  std::vector<float> pixels(24, 0.5f);
  rknn_input input{};
  input.buf = pixels.data();
  input.size = 96;
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  EXPECT_EQ(rknn_inputs_set(context.handle, 1, &input), RKNN_SUCC);
  EXPECT_TRUE(log_.has("size 96 is four bytes per element")) << log_.text();
  EXPECT_EQ(rknn_destroy_mem(context.handle, memory), RKNN_SUCC);
}

TEST_F(ValidateTest, MemoryWithoutRowPaddingIsNamed) {
  const TestContext context;
  rknn_tensor_attr in = context.attr(RKNN_QUERY_INPUT_ATTR);
  in.type = RKNN_TENSOR_UINT8;
  rknn_tensor_mem* const memory = rknn_create_mem(context.handle, in.size);
  EXPECT_EQ(rknn_set_io_mem(context.handle, memory, &in), RKNN_SUCC);
  EXPECT_TRUE(log_.has("the memory has 24 bytes, rows padded to 16 pixels need 96")) << log_.text();
  EXPECT_EQ(rknn_destroy_mem(context.handle, memory), RKNN_SUCC);
}

TEST_F(ValidateTest, MissingSyncsAreNamedAndRealOnesAreNot) {
  for (const bool sync : {false, true}) {
    const TestContext context(RKNN_FLAG_DISABLE_FLUSH_INPUT_MEM_CACHE |
                              RKNN_FLAG_DISABLE_FLUSH_OUTPUT_MEM_CACHE);
    rknn_tensor_attr in = context.attr(RKNN_QUERY_INPUT_ATTR);
    rknn_tensor_attr out = context.attr(RKNN_QUERY_OUTPUT_ATTR);
    rknn_tensor_mem* const from = rknn_create_mem(context.handle, in.size_with_stride);
    rknn_tensor_mem* const to = rknn_create_mem(context.handle, out.size_with_stride);
    EXPECT_EQ(rknn_set_io_mem(context.handle, from, &in), RKNN_SUCC);
    EXPECT_EQ(rknn_set_io_mem(context.handle, to, &out), RKNN_SUCC);
    const size_t before = log_.count(kMark);
    for (int i = 0; i < 2; ++i) {
      if (sync) {
        EXPECT_EQ(rknn_mem_sync(0, from, RKNN_MEMORY_SYNC_TO_DEVICE), RKNN_SUCC);
      }
      EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
      if (sync) {
        EXPECT_EQ(rknn_mem_sync(0, to, RKNN_MEMORY_SYNC_FROM_DEVICE), RKNN_SUCC);
      }
    }
    EXPECT_EQ(log_.count(kMark) - before, sync ? 0u : 2u) << log_.text();
    EXPECT_EQ(rknn_destroy_mem(0, from), RKNN_SUCC);
    EXPECT_EQ(rknn_destroy_mem(0, to), RKNN_SUCC);
  }
}

TEST_F(ValidateTest, NeedlessSyncsAreNamed) {
  const TestContext context;
  rknn_tensor_attr in = context.attr(RKNN_QUERY_INPUT_ATTR);
  rknn_tensor_mem* const bound = rknn_create_mem(context.handle, in.size_with_stride);
  rknn_tensor_mem* const uncached =
      rknn_create_mem2(context.handle, 64, RKNN_FLAG_MEMORY_NON_CACHEABLE);
  EXPECT_EQ(rknn_mem_sync(context.handle, bound, RKNN_MEMORY_SYNC_TO_DEVICE), RKNN_SUCC);
  EXPECT_FALSE(log_.has(kMark)) << log_.text();
  EXPECT_EQ(rknn_set_io_mem(context.handle, bound, &in), RKNN_SUCC);
  EXPECT_EQ(rknn_mem_sync(context.handle, bound, RKNN_MEMORY_SYNC_TO_DEVICE), RKNN_SUCC);
  EXPECT_TRUE(log_.has("rknn_run flushes it anyway")) << log_.text();
  EXPECT_EQ(rknn_mem_sync(context.handle, uncached, RKNN_MEMORY_SYNC_TO_DEVICE), RKNN_SUCC);
  EXPECT_TRUE(log_.has("there is no cache to flush")) << log_.text();
  EXPECT_EQ(rknn_mem_sync(context.handle, bound, RKNN_MEMORY_SYNC_BIDIRECTIONAL), RKNN_SUCC);
  EXPECT_TRUE(log_.has("flushes and invalidates")) << log_.text();
  EXPECT_EQ(rknn_destroy_mem(context.handle, bound), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy_mem(context.handle, uncached), RKNN_SUCC);
}

TEST_F(ValidateTest, BindingsAfterTheFirstRunAreNamed) {
  const TestContext context;
  ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
  rknn_tensor_attr out = context.attr(RKNN_QUERY_OUTPUT_ATTR);
  rknn_tensor_mem* const memory = rknn_create_mem(context.handle, out.size_with_stride);
  EXPECT_EQ(rknn_set_io_mem(context.handle, memory, &out), RKNN_SUCC);
  EXPECT_TRUE(log_.has("was bound after the first rknn_run")) << log_.text();
  EXPECT_EQ(rknn_destroy_mem(context.handle, memory), RKNN_SUCC);
}

TEST_F(ValidateTest, UsesAfterTheEndAreNamed) {
  rknn_context gone = 0;
  {
    const TestContext context;
    gone = context.handle;
  }
  EXPECT_EQ(rknn_run(gone, nullptr), RKNN_ERR_CTX_INVALID);
  EXPECT_TRUE(log_.has("is destroyed: a board touches freed memory here")) << log_.text();
  EXPECT_EQ(rknn_run(0x7ffffff0, nullptr), RKNN_ERR_CTX_INVALID);
  EXPECT_TRUE(log_.has("was never made")) << log_.text();
}

// A ramp through the whole byte range along each row, as pixels are smooth.
TEST_F(ValidateTest, SignedAndUnsignedBytesAreToldApart) {
  const TestContext context(0, large_picture());
  std::vector<uint8_t> pixels(3 * 16 * 32), centered(pixels.size());
  for (size_t i = 0; i < 512; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      const auto value = static_cast<int>(112 + i % 32 + c);
      pixels[i * 3 + c] = static_cast<uint8_t>(value);
      centered[i * 3 + c] = static_cast<uint8_t>(value - 128);
    }
  }
  const auto set_as = [&](std::vector<uint8_t>& bytes, rknn_tensor_type type) {
    rknn_input input{};
    input.buf = bytes.data();
    input.size = static_cast<uint32_t>(bytes.size());
    input.type = type;
    input.fmt = RKNN_TENSOR_NHWC;
    EXPECT_EQ(rknn_inputs_set(context.handle, 1, &input), RKNN_SUCC);
  };
  set_as(pixels, RKNN_TENSOR_UINT8);
  set_as(centered, RKNN_TENSOR_INT8);
  EXPECT_FALSE(log_.has(kMark)) << log_.text();
  set_as(pixels, RKNN_TENSOR_INT8);
  EXPECT_TRUE(log_.has("pass smoothly from 127 to 128")) << log_.text();
  set_as(centered, RKNN_TENSOR_UINT8);
  EXPECT_TRUE(log_.has("pass smoothly from 255 to 0")) << log_.text();
}

TEST_F(ValidateTest, OutputsBeforeARunAreExplained) {
  const TestContext context;
  EXPECT_TRUE(context.scores().empty());
  EXPECT_TRUE(log_.has("rknn_outputs_get before the first rknn_run")) << log_.text();
}

TEST_F(ValidateTest, LeaksAtTheEndAreCounted) {
  TestContext context;
  ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
  ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
  rknn_output output{};
  ASSERT_EQ(rknn_outputs_get(context.handle, 1, &output, nullptr), RKNN_SUCC);
  rknn_tensor_mem* const memory = rknn_create_mem(context.handle, 64);
  rknn_tensor_mem* const other = rknn_create_mem2(0, 64, RKNN_MEM_FLAG_ALLOC_NO_CONTEXT);
  ASSERT_EQ(rknn_destroy(context.handle), RKNN_SUCC);
  context.handle = 0;
  EXPECT_TRUE(log_.has("1 outputs were never given back")) << log_.text();
  EXPECT_TRUE(log_.has("1 memories made for this context")) << log_.text();
  EXPECT_EQ(rknn_destroy_mem(0, memory), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy_mem(0, other), RKNN_SUCC);
}

TEST_F(ValidateTest, PlanesAndShiftedBytesAreSuspected) {
  const TestContext context(0, large_picture());
  std::vector<uint8_t> planes(3 * 16 * 32), pixels(planes.size()), grey(planes.size());
  for (size_t c = 0; c < 3; ++c) {
    for (size_t i = 0; i < 512; ++i) {
      const size_t x = i % 32, y = i / 32;
      const auto value = static_cast<uint8_t>(40 * c + 4 * x + y);
      planes[c * 512 + i] = value;
      pixels[i * 3 + c] = value;
      grey[i * 3 + c] = static_cast<uint8_t>(4 * x + y);
    }
  }
  EXPECT_EQ(context.set(pixels), RKNN_SUCC);
  EXPECT_EQ(context.set(grey), RKNN_SUCC);
  EXPECT_FALSE(log_.has(kMark)) << log_.text();
  EXPECT_EQ(context.set(planes), RKNN_SUCC);
  EXPECT_TRUE(log_.has("looks like planes (NCHW)")) << log_.text();
  EXPECT_EQ(context.set(std::vector<uint8_t>(planes.size(), 0x80)), RKNN_SUCC);
  EXPECT_TRUE(log_.has("within 2 of 0x80")) << log_.text();
}

}  // namespace
}  // namespace rk::capi

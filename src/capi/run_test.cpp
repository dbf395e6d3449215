// SPDX-License-Identifier: Apache-2.0
// Frames in the background, one behind the other, with time-outs, and with memory of the caller.
#include <gtest/gtest.h>

#include <cfenv>

#include "capi/test_context.h"

namespace rk::capi {
namespace {

using runtime::picture_pixels;
using runtime::picture_scores;

// All pixels (level, 0, 0): sums level and -level, so scores rne(level / 32) - 10 and rne(-level / 32) - 10.
std::vector<uint8_t> red(uint8_t level) {
  std::vector<uint8_t> out(24, 0);
  for (size_t i = 0; i < 24; i += 3) out[i] = level;
  return out;
}
std::vector<int8_t> red_scores(int steps) {
  std::vector<int8_t> out(16, static_cast<int8_t>(steps - 10));
  std::fill(out.begin() + 8, out.end(), static_cast<int8_t>(-steps - 10));
  return out;
}

TEST(RunTest, AsyncOutputsAreThoseOfTheFrameBefore) {
  const TestContext context(RKNN_FLAG_ASYNC_MASK);
  rknn_output_extend extend{};
  for (int frame = 1; frame <= 5; ++frame) {
    ASSERT_EQ(context.set(red(static_cast<uint8_t>(32 * frame))), RKNN_SUCC);
    rknn_run_extend run{};
    ASSERT_EQ(rknn_run(context.handle, &run), RKNN_SUCC);
    EXPECT_EQ(run.frame_id, static_cast<uint64_t>(frame));
    // The first frame has none before it: its own result is waited for.
    const int expected = std::max(1, frame - 1);
    EXPECT_EQ(context.scores(&extend), red_scores(expected)) << frame;
    EXPECT_EQ(extend.frame_id, static_cast<uint64_t>(expected));
    EXPECT_EQ(context.scores(), red_scores(expected)) << "asking again changes nothing";
  }
  // Waiting ends the delay: the last frame is not lost.
  ASSERT_EQ(rknn_wait(context.handle, nullptr), RKNN_SUCC);
  EXPECT_EQ(context.scores(&extend), red_scores(5));
  EXPECT_EQ(extend.frame_id, 5u);
}

TEST(RunTest, AProgramThatChangedItsRoundingGetsTheSameBytesAndKeepsItsRounding) {
  const TestContext context;
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(rounding), 0);
    const int set = context.set(red(80));  // a tie: 80 / 32 is 2.5
    const int run = rknn_run(context.handle, nullptr);
    const std::vector<int8_t> scores = context.scores();
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(set, RKNN_SUCC);
    ASSERT_EQ(run, RKNN_SUCC);
    EXPECT_EQ(scores, red_scores(2));
    EXPECT_EQ(after, rounding);
  }
}

TEST(RunTest, AsyncOutputsBeforeAnyRunAreRefused) {
  const TestContext context(RKNN_FLAG_ASYNC_MASK);
  EXPECT_TRUE(context.scores().empty());
}

TEST(RunTest, AsyncWithBoundOutputsIsBlocking) {
  const TestContext context(RKNN_FLAG_ASYNC_MASK);
  rknn_tensor_attr out = context.attr(RKNN_QUERY_OUTPUT_ATTR);
  rknn_tensor_mem* const memory = rknn_create_mem(context.handle, out.size_with_stride);
  ASSERT_EQ(rknn_set_io_mem(context.handle, memory, &out), RKNN_SUCC);
  for (int frame = 1; frame <= 3; ++frame) {
    ASSERT_EQ(context.set(red(static_cast<uint8_t>(32 * frame))), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
    EXPECT_EQ(static_cast<const int8_t*>(memory->virt_addr)[0], frame - 10);
  }
  EXPECT_EQ(rknn_destroy_mem(context.handle, memory), RKNN_SUCC);
}

TEST(RunTest, NonBlockingFramesAreWaitedForWhereTheirResultIsNeeded) {
  const TestContext context;
  rknn_run_extend run{};
  run.non_block = 1;
  for (int frame = 1; frame <= 3; ++frame) {
    ASSERT_EQ(context.set(red(static_cast<uint8_t>(32 * frame))), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context.handle, &run), RKNN_SUCC);
    EXPECT_EQ(run.frame_id, static_cast<uint64_t>(frame));
    if (frame == 2) {
      rknn_run_extend wait{};
      EXPECT_EQ(rknn_wait(context.handle, &wait), RKNN_SUCC);
      EXPECT_EQ(wait.frame_id, 2u);
    }
    EXPECT_EQ(context.scores(), red_scores(frame));
  }
  EXPECT_EQ(rknn_wait(context.handle, nullptr), RKNN_SUCC);
}

TEST(RunTest, AContextMayEndWhileItsFrameRuns) {
  for (int i = 0; i < 20; ++i) {
    const TestContext context;
    rknn_run_extend run{};
    run.non_block = 1;
    ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context.handle, &run), RKNN_SUCC);
  }
}

TEST(RunTest, ATimeOutThatIsLongEnoughChangesNothing) {
  const TestContext context;
  ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
  rknn_run_extend run{};
  run.timeout_ms = 60000;
  ASSERT_EQ(rknn_run(context.handle, &run), RKNN_SUCC);
  EXPECT_EQ(context.scores(), picture_scores());
  EXPECT_EQ(rknn_wait(context.handle, &run), RKNN_SUCC);
}

// A model whose one step takes a while: a 3x3 convolution over a large picture.
program::Program slow_program() {
  runtime::TestProgram p;
  const int32_t in = p.input("image", {DType::kI8, {1, 32, 256, 256}, 1.0f, 0});
  const int32_t out = p.output("scores", {DType::kI8, {1, 64, 256, 256}, 1.0f, 0});
  runtime::TestProgram::IntegerConv conv;
  conv.weights.assign(64 * 32 * 9, 1);
  conv.params.pads = {1, 1, 1, 1};
  conv.params.output.scale = {16384, 19};
  p.conv(in, out, {64, 32, 3, 3}, conv);
  return std::move(p.program);
}

TEST(RunTest, AFrameThatTakesTooLongTimesOutAndStillEnds) {
  const TestContext context(0, slow_program());
  rknn_run_extend run{};
  run.timeout_ms = 1;
  EXPECT_EQ(rknn_run(context.handle, &run), RKNN_ERR_TIMEOUT);
  EXPECT_EQ(rknn_wait(context.handle, nullptr), RKNN_SUCC);
  EXPECT_FALSE(context.scores().empty());
  const Environment patient("RKNN_MIN_TIMEOUT_MS", "60000");
  EXPECT_EQ(rknn_run(context.handle, &run), RKNN_SUCC);
}

TEST(RunTest, AFailureInTheBackgroundIsToldOnce) {
  const TestContext context;
  rknn_tensor_attr in = context.attr(RKNN_QUERY_INPUT_ATTR);
  rknn_tensor_mem* const memory = rknn_create_mem(context.handle, in.size_with_stride);
  ASSERT_EQ(rknn_set_io_mem(context.handle, memory, &in), RKNN_SUCC);
  ASSERT_EQ(rknn_destroy_mem(context.handle, memory), RKNN_SUCC);
  rknn_run_extend run{};
  run.non_block = 1;
  EXPECT_EQ(rknn_run(context.handle, &run), RKNN_SUCC);
  EXPECT_EQ(rknn_wait(context.handle, nullptr), RKNN_ERR_INPUT_INVALID);
  EXPECT_EQ(rknn_wait(context.handle, nullptr), RKNN_SUCC);
  EXPECT_EQ(rknn_run(context.handle, &run), RKNN_SUCC);
  EXPECT_TRUE(context.scores().empty());
}

TEST(RunTest, MemoryOfTheCallerIsNeededBeforeTheFirstRun) {
  const TestContext context(RKNN_FLAG_MEM_ALLOC_OUTSIDE);
  const rknn_mem_size sizes = context.memory();
  EXPECT_EQ(sizes.total_dma_allocated_size, 0u);
  ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
  const LogCapture log;
  EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(log.has("rknn_set_weight_mem")) << log.text();
  rknn_tensor_mem* const weights = rknn_create_mem(context.handle, sizes.total_weight_size);
  rknn_tensor_mem* const small = rknn_create_mem(context.handle, sizes.total_internal_size - 1);
  rknn_tensor_mem* const internal = rknn_create_mem(context.handle, sizes.total_internal_size);
  EXPECT_EQ(rknn_set_weight_mem(context.handle, weights), RKNN_SUCC);
  EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(log.has("rknn_set_internal_mem")) << log.text();
  EXPECT_EQ(rknn_set_internal_mem(context.handle, small), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_set_internal_mem(context.handle, internal), RKNN_SUCC);
  ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
  EXPECT_EQ(context.scores(), picture_scores());
  for (rknn_tensor_mem* memory : {weights, small, internal})
    EXPECT_EQ(rknn_destroy_mem(context.handle, memory), RKNN_SUCC);
  EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_ERR_PARAM_INVALID);
}

TEST(RunTest, InternalMemoryAloneMayBeTheCallers) {
  const TestContext context(RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE);
  const rknn_mem_size sizes = context.memory();
  EXPECT_EQ(sizes.total_dma_allocated_size, sizes.total_weight_size);
  ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
  EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_ERR_PARAM_INVALID);
  // Two models that never run at once share one buffer.
  const TestContext other(RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE);
  rknn_tensor_mem* const shared = rknn_create_mem(context.handle, sizes.total_internal_size);
  EXPECT_EQ(rknn_set_internal_mem(context.handle, shared), RKNN_SUCC);
  EXPECT_EQ(rknn_set_internal_mem(other.handle, shared), RKNN_SUCC);
  EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
  EXPECT_EQ(context.scores(), picture_scores());
  EXPECT_EQ(rknn_destroy_mem(0, shared), RKNN_SUCC);
}

TEST(Flows, AStrictBoardTakesOneOfThem) {
  const Environment strict("RKNN_STRICT", "1");
  const auto bind = [](const TestContext& context, rknn_tensor_mem*& memory) {
    rknn_tensor_attr out = context.attr(RKNN_QUERY_NATIVE_OUTPUT_ATTR);
    memory = rknn_create_mem(context.handle, out.size_with_stride);
    return rknn_set_io_mem(context.handle, memory, &out);
  };
  rknn_tensor_mem* memory = nullptr;
  const TestContext copying;
  ASSERT_EQ(copying.set(runtime::picture_pixels()), RKNN_SUCC);
  EXPECT_EQ(bind(copying, memory), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_destroy_mem(copying.handle, memory), RKNN_SUCC);
  const TestContext bound;
  ASSERT_EQ(bind(bound, memory), RKNN_SUCC);
  EXPECT_EQ(bound.set(runtime::picture_pixels()), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_destroy_mem(bound.handle, memory), RKNN_SUCC);
}

TEST(Flows, WhatIsTakenButHardlyMeantIsSaidOnce) {
  const LogCapture log;
  const TestContext context(0x80000000u);
  EXPECT_EQ(log.count("flag has bits that mean nothing here: 2147483648"), 1u) << log.text();
  std::vector<uint8_t> pixels = runtime::picture_pixels();
  const size_t needed = pixels.size();
  pixels.resize(needed * 4);
  rknn_input input{};
  input.buf = pixels.data();
  input.size = static_cast<uint32_t>(pixels.size());
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  EXPECT_EQ(rknn_inputs_set(context.handle, 1, &input), RKNN_SUCC);
  EXPECT_EQ(rknn_inputs_set(context.handle, 1, &input), RKNN_SUCC);
  EXPECT_EQ(log.count("are the elements wider"), 1u) << log.text();
  const TestContext usual;
  EXPECT_EQ(usual.set(runtime::picture_pixels()), RKNN_SUCC);
  EXPECT_EQ(log.count("rknn_inputs_set, input"), 1u) << log.text();
}

}  // namespace
}  // namespace rk::capi

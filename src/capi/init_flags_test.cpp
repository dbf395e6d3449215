// SPDX-License-Identifier: Apache-2.0
// What the flags of rknn_init promise beside the way of running.
#include <gtest/gtest.h>

#include "capi/test_context.h"

namespace rk::capi {
namespace {

using runtime::picture_pixels;
using runtime::picture_program;
using runtime::picture_scores;

TEST(InitFlagsTest, AModelInDeviceMemoryIsUsedInPlaceAndMayGoAtAnyTime) {
  const std::vector<uint8_t> image = image_of(picture_program());
  rknn_tensor_mem* const memory =
      rknn_create_mem2(0, image.size() + 300, RKNN_MEM_FLAG_ALLOC_NO_CONTEXT);
  ASSERT_NE(memory, nullptr);
  std::memcpy(static_cast<uint8_t*>(memory->virt_addr) + 100, image.data(), image.size());
  rknn_init_extend extend{};
  extend.real_model_offset = 100;
  extend.real_model_size = static_cast<uint32_t>(image.size());
  extend.model_buffer_fd = memory->fd;
  extend.model_buffer_flags = memory->flags;
  const LogCapture log;
  const Environment strict("RKNN_STRICT", "1");
  rknn_context context = 0;
  ASSERT_EQ(rknn_init(&context, memory->virt_addr, static_cast<uint32_t>(image.size() + 300),
                      RKNN_FLAG_MODEL_BUFFER_ZERO_COPY, &extend),
            RKNN_SUCC)
      << log.text();
  rknn_tensor_mem place{};
  ASSERT_EQ(rknn_query(context, RKNN_QUERY_DEVICE_MEM_INFO, &place, sizeof place), RKNN_SUCC);
  EXPECT_EQ(place.fd, memory->fd);
  EXPECT_EQ(place.phys_addr, memory->phys_addr);
  EXPECT_EQ(rknn_destroy_mem(0, memory), RKNN_SUCC);
  rknn_context copy = 0;
  ASSERT_EQ(rknn_dup_context(&context, &copy), RKNN_SUCC);
  ASSERT_EQ(rknn_destroy(context), RKNN_SUCC);
  std::vector<uint8_t> pixels = picture_pixels();
  rknn_input input{};
  input.buf = pixels.data();
  input.size = 24;
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  ASSERT_EQ(rknn_inputs_set(copy, 1, &input), RKNN_SUCC);
  ASSERT_EQ(rknn_run(copy, nullptr), RKNN_SUCC);
  rknn_output output{};
  ASSERT_EQ(rknn_outputs_get(copy, 1, &output, nullptr), RKNN_SUCC);
  EXPECT_EQ(std::memcmp(output.buf, picture_scores().data(), 16), 0);
  EXPECT_EQ(rknn_destroy(copy), RKNN_SUCC);
}

TEST(InitFlagsTest, AModelInOrdinaryMemoryIsNoZeroCopyModel) {
  std::vector<uint8_t> image = image_of(picture_program());
  rknn_init_extend extend{};
  rknn_context context = 0;
  const LogCapture log;
  ASSERT_EQ(rknn_init(&context, image.data(), static_cast<uint32_t>(image.size()),
                      RKNN_FLAG_MODEL_BUFFER_ZERO_COPY, &extend),
            RKNN_SUCC);
  EXPECT_TRUE(log.has("it is copied")) << log.text();
  rknn_tensor_mem place{};
  EXPECT_LT(rknn_query(context, RKNN_QUERY_DEVICE_MEM_INFO, &place, sizeof place), 0);
  EXPECT_EQ(rknn_destroy(context), RKNN_SUCC);
  const Environment strict("RKNN_STRICT", "1");
  EXPECT_EQ(rknn_init(&context, image.data(), static_cast<uint32_t>(image.size()),
                      RKNN_FLAG_MODEL_BUFFER_ZERO_COPY, &extend),
            RKNN_ERR_PARAM_INVALID);
}

TEST(InitFlagsTest, PlacesOutsideTheBufferAreRefused) {
  std::vector<uint8_t> image = image_of(picture_program());
  rknn_init_extend extend{};
  rknn_context context = 0;
  for (const int64_t offset : {int64_t{-1}, int64_t{1} << 30}) {
    extend.real_model_offset = static_cast<decltype(extend.real_model_offset)>(offset);
    EXPECT_EQ(rknn_init(&context, image.data(), static_cast<uint32_t>(image.size()),
                        RKNN_FLAG_MODEL_BUFFER_ZERO_COPY, &extend),
              RKNN_ERR_PARAM_INVALID);
  }
}

TEST(InitFlagsTest, ModelsBeyondTheMemoryLimitFailAsOnABoard) {
  std::vector<uint8_t> image = image_of(picture_program());
  const auto init = [&] {
    rknn_context context = 0;
    const int code =
        rknn_init(&context, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr);
    if (code == RKNN_SUCC) {
      EXPECT_EQ(rknn_destroy(context), RKNN_SUCC);
    }
    return code;
  };
  {
    const Environment limit("RKNN_MEM_LIMIT", "64");
    const LogCapture log;
    EXPECT_EQ(init(), -4);
    EXPECT_TRUE(
        log.has("failed to allocate fd, ret: -1, errno: 12, errstr: Cannot allocate memory"))
        << log.text();
    EXPECT_TRUE(log.has("RKNN_MEM_LIMIT leaves 64")) << log.text();
  }
  const Environment enough("RKNN_MEM_LIMIT", "1M");
  EXPECT_EQ(init(), RKNN_SUCC);
}

TEST(InitFlagsTest, SramIsSharedByTheContextsThatAskForIt) {
  const TestContext without;
  EXPECT_EQ(without.memory().total_sram_size, 0u);
  EXPECT_EQ(without.memory().free_sram_size, 0u);
  const TestContext first(RKNN_FLAG_ENABLE_SRAM);
  const rknn_mem_size sizes = first.memory();
  EXPECT_EQ(sizes.total_sram_size, 956u * 1024);
  EXPECT_EQ(sizes.free_sram_size, 956u * 1024 - 4096);
  EXPECT_EQ(sizes.total_dma_allocated_size, sizes.total_weight_size);
  const TestContext second(RKNN_FLAG_ENABLE_SRAM | RKNN_FLAG_SHARE_SRAM);
  EXPECT_EQ(first.memory().free_sram_size, 956u * 1024 - 8192);
  std::vector<uint8_t> image = image_of(picture_program());
  rknn_context context = 0;
  EXPECT_EQ(rknn_init(&context, image.data(), static_cast<uint32_t>(image.size()),
                      RKNN_FLAG_SHARE_SRAM, nullptr),
            RKNN_ERR_PARAM_INVALID);
}

TEST(InitFlagsTest, MemoryFiguresAddUp) {
  const TestContext context;
  const rknn_mem_size sizes = context.memory();
  EXPECT_EQ(sizes.total_dma_allocated_size,
            uint64_t{sizes.total_weight_size} + sizes.total_internal_size);
}

TEST(InitFlagsTest, InfoOnlyContextsAnswerOneQueryOnAStrictBoard) {
  const Environment strict("RKNN_STRICT", "1");
  const TestContext context(RKNN_FLAG_COLLECT_MODEL_INFO_ONLY | RKNN_FLAG_MEM_ALLOC_OUTSIDE);
  EXPECT_GT(context.memory().total_internal_size, 0u);
  rknn_input_output_num counts{};
  EXPECT_EQ(rknn_query(context.handle, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts),
            RKNN_ERR_PARAM_INVALID);
  EXPECT_LT(context.set(picture_pixels()), 0);
  EXPECT_LT(rknn_run(context.handle, nullptr), 0);
}

TEST(InitFlagsTest, CallersThatFlushThemselvesUseZeroCopyOnAStrictBoard) {
  const uint32_t flags =
      RKNN_FLAG_DISABLE_FLUSH_INPUT_MEM_CACHE | RKNN_FLAG_DISABLE_FLUSH_OUTPUT_MEM_CACHE;
  {
    const TestContext lenient(flags);
    ASSERT_EQ(lenient.set(picture_pixels()), RKNN_SUCC);
    ASSERT_EQ(rknn_run(lenient.handle, nullptr), RKNN_SUCC);
    EXPECT_EQ(lenient.scores(), picture_scores());
  }
  const Environment strict("RKNN_STRICT", "1");
  const TestContext context(flags);
  EXPECT_EQ(context.set(picture_pixels()), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(context.scores().empty());
}

TEST(LogLevelTest, TablesAppearFromLevelThreeOn) {
  const LogCapture log;
  const int before = log_level();
  set_log_level(2);
  { const TestContext quiet; }
  EXPECT_FALSE(log.has("Information Table"));
  set_log_level(3);
  { const TestContext planned; }
  EXPECT_TRUE(log.has("Feature Tensor Information Table"));
  set_log_level(4);
  {
    const TestContext timed;
    rknn_tensor_attr in = timed.attr(RKNN_QUERY_INPUT_ATTR);
    rknn_tensor_mem* const memory = rknn_create_mem(timed.handle, in.size_with_stride);
    EXPECT_EQ(rknn_set_io_mem(timed.handle, memory, &in), RKNN_SUCC);
    EXPECT_EQ(rknn_run(timed.handle, nullptr), RKNN_SUCC);
    EXPECT_EQ(rknn_destroy_mem(timed.handle, memory), RKNN_SUCC);
  }
  set_log_level(before);
  EXPECT_TRUE(log.has("width 4, w_stride 16, line bytes 12, stride bytes 48")) << log.text();
  EXPECT_TRUE(log.has("Network Layer Information Table"));
  EXPECT_TRUE(log.has("Operator Time Consuming Ranking Table"));
}

}  // namespace
}  // namespace rk::capi

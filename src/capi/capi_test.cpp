// SPDX-License-Identifier: Apache-2.0
// The C interface as programs use it, on a .rknn image of a Program made by hand, and as they misuse it.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "capi/test_context.h"

namespace rk::capi {
namespace {

using runtime::picture_pixels;
using runtime::picture_program;
using runtime::picture_scores;

// A context on picture_program() that ends with the test.
class CapiTest : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<uint8_t> image = image_of(picture_program());
    ASSERT_EQ(rknn_init(&context_, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
              RKNN_SUCC);
    std::fill(image.begin(), image.end(), 0xee);  // the caller's memory again
  }
  void TearDown() override {
    if (context_ != 0) {
      EXPECT_EQ(rknn_destroy(context_), RKNN_SUCC);
    }
  }

  static rknn_input picture(std::vector<uint8_t>& pixels) {
    rknn_input input{};
    input.buf = pixels.data();
    input.size = static_cast<uint32_t>(pixels.size());
    input.type = RKNN_TENSOR_UINT8;
    input.fmt = RKNN_TENSOR_NHWC;
    return input;
  }
  static std::vector<int8_t> scores(rknn_context context) {
    rknn_output output{};
    if (rknn_outputs_get(context, 1, &output, nullptr) != RKNN_SUCC) return {};
    const auto* const from = static_cast<const int8_t*>(output.buf);
    const std::vector<int8_t> out(from, from + output.size);
    EXPECT_EQ(rknn_outputs_release(context, 1, &output), RKNN_SUCC);
    return out;
  }
  static int set_and_run(rknn_context context) {
    std::vector<uint8_t> pixels = picture_pixels();
    rknn_input input = picture(pixels);
    const int ret = rknn_inputs_set(context, 1, &input);
    return ret != RKNN_SUCC ? ret : rknn_run(context, nullptr);
  }
  rknn_tensor_attr attr(rknn_query_cmd cmd, uint32_t index = 0) {
    rknn_tensor_attr out;
    std::memset(&out, 0x5a, sizeof out);
    out.index = index;
    EXPECT_EQ(rknn_query(context_, cmd, &out, sizeof out), RKNN_SUCC);
    return out;
  }

  rknn_context context_ = 0;
};

TEST_F(CapiTest, CopyingFlowGivesHandComputedScores) {
  ASSERT_EQ(set_and_run(context_), RKNN_SUCC);
  EXPECT_EQ(scores(context_), picture_scores());
  rknn_output output{};
  output.want_float = 1;
  ASSERT_EQ(rknn_outputs_get(context_, 1, &output, nullptr), RKNN_SUCC);
  ASSERT_EQ(output.size, 64u);
  EXPECT_EQ(static_cast<const float*>(output.buf)[1], 24.0f);
  EXPECT_EQ(rknn_outputs_release(context_, 1, &output), RKNN_SUCC);
  EXPECT_EQ(rknn_outputs_release(context_, 1, &output), RKNN_SUCC);
}

TEST_F(CapiTest, HandleIsSmallAndItsLowHalfSuffices) {
  EXPECT_LT(context_, rknn_context{1} << 31);
  const rknn_context dirty = context_ | (rknn_context{0xdeadbeef} << 32);
  EXPECT_EQ(set_and_run(dirty), RKNN_SUCC);
}

TEST_F(CapiTest, AttributesSayWhatTheBoardSays) {
  const rknn_tensor_attr in = attr(RKNN_QUERY_INPUT_ATTR);
  EXPECT_STREQ(in.name, "image");
  EXPECT_EQ(in.n_dims, 4u);
  EXPECT_EQ(in.dims[1], 2u);
  EXPECT_EQ(in.dims[2], 4u);
  EXPECT_EQ(in.dims[3], 3u);
  EXPECT_EQ(in.dims[4], 0u);
  EXPECT_EQ(in.fmt, RKNN_TENSOR_NHWC);
  EXPECT_EQ(in.type, RKNN_TENSOR_INT8);
  EXPECT_EQ(in.qnt_type, RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC);
  EXPECT_EQ(in.zp, -128);
  EXPECT_EQ(in.size, 24u);
  EXPECT_EQ(in.w_stride, 16u);
  EXPECT_EQ(in.size_with_stride, 96u);
  const rknn_tensor_attr out = attr(RKNN_QUERY_OUTPUT_ATTR);
  EXPECT_STREQ(out.name, "scores");
  EXPECT_EQ(out.fmt, RKNN_TENSOR_NCHW);
  EXPECT_EQ(out.dims[1], 2u);
  const rknn_tensor_attr native = attr(RKNN_QUERY_NATIVE_OUTPUT_ATTR);
  EXPECT_EQ(native.fmt, RKNN_TENSOR_NC1HWC2);
  EXPECT_EQ(native.n_dims, 5u);
  EXPECT_EQ(native.dims[4], 16u);
}

TEST_F(CapiTest, OldSmallerStructuresAreFilledAsFarAsTheyGo) {
  uint8_t bytes[sizeof(rknn_tensor_attr)];
  std::memset(bytes, 0, sizeof bytes);
  bytes[372] = 0x77;
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_INPUT_ATTR, bytes, 372), RKNN_SUCC);
  EXPECT_EQ(bytes[372], 0x77);
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_INPUT_ATTR, bytes, 100), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_SDK_VERSION, bytes, 100), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_IN_OUT_NUM, nullptr, 8), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_CMD_MAX, bytes, 376), RKNN_ERR_PARAM_INVALID);
}

TEST_F(CapiTest, OtherQueriesAnswer) {
  rknn_input_output_num counts{};
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts), RKNN_SUCC);
  EXPECT_EQ(counts.n_input, 1u);
  EXPECT_EQ(counts.n_output, 1u);
  rknn_sdk_version version{};
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_SDK_VERSION, &version, sizeof version), RKNN_SUCC);
  EXPECT_EQ(std::string(version.api_version).substr(0, 7), "2.3.2 (");
  EXPECT_NE(std::string(version.api_version).find('@'), std::string::npos);
  rknn_mem_size sizes{};
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_MEM_SIZE, &sizes, sizeof sizes), RKNN_SUCC);
  EXPECT_GT(sizes.total_weight_size, 0u);
  EXPECT_GT(sizes.total_internal_size, 0u);
  rknn_custom_string text{};
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_CUSTOM_STRING, &text, sizeof text), RKNN_SUCC);
  EXPECT_STREQ(text.string, "made by hand");
  rknn_perf_run perf{-1};
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_PERF_RUN, &perf, sizeof perf), RKNN_SUCC);
  EXPECT_EQ(perf.run_duration, 0);
  ASSERT_EQ(set_and_run(context_), RKNN_SUCC);
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_PERF_RUN, &perf, sizeof perf), RKNN_SUCC);
  EXPECT_GT(perf.run_duration, 0);
  rknn_perf_detail detail{};
  EXPECT_EQ(rknn_query(context_, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail),
            RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(detail.perf_data, nullptr);
}

TEST_F(CapiTest, PerfDetailListsEveryStep) {
  std::vector<uint8_t> image = image_of(picture_program());
  rknn_context timed = 0;
  ASSERT_EQ(rknn_init(&timed, image.data(), static_cast<uint32_t>(image.size()),
                      RKNN_FLAG_COLLECT_PERF_MASK, nullptr),
            RKNN_SUCC);
  ASSERT_EQ(set_and_run(timed), RKNN_SUCC);
  rknn_perf_detail detail{};
  ASSERT_EQ(rknn_query(timed, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail), RKNN_SUCC);
  const std::string text(detail.perf_data, detail.data_len);
  EXPECT_NE(text.find("Network Layer Information Table"), std::string::npos);
  EXPECT_NE(text.find("Conv:node0"), std::string::npos);
  EXPECT_NE(text.find("measured on this machine"), std::string::npos);
  EXPECT_NE(text.find("WorkLoad(0/1/2)"), std::string::npos);
  EXPECT_NE(text.find("100.0%/0.0%/0.0%"), std::string::npos);
  const size_t name = text.find("Conv:node0"), start = text.rfind('\n', name) + 1;
  EXPECT_EQ(text.substr(start, name - start).find(" 0/0/0 "), std::string::npos);
  EXPECT_NE(text.find("(1,2,2,4)"), std::string::npos);
  EXPECT_EQ(rknn_destroy(timed), RKNN_SUCC);
}

TEST_F(CapiTest, BadInputsAreRefusedAndTouchNothing) {
  ASSERT_EQ(set_and_run(context_), RKNN_SUCC);
  std::vector<uint8_t> pixels(24, 0);
  rknn_input input = picture(pixels);
  input.index = 1;
  EXPECT_EQ(rknn_inputs_set(context_, 1, &input), RKNN_ERR_INPUT_INVALID);
  input = picture(pixels);
  input.buf = nullptr;
  EXPECT_EQ(rknn_inputs_set(context_, 1, &input), RKNN_ERR_INPUT_INVALID);
  input = picture(pixels);
  input.type = RKNN_TENSOR_FLOAT32;
  EXPECT_EQ(rknn_inputs_set(context_, 1, &input), RKNN_ERR_PARAM_INVALID);
  input = picture(pixels);
  input.type = RKNN_TENSOR_INT4;
  EXPECT_EQ(rknn_inputs_set(context_, 1, &input), RKNN_ERR_INPUT_INVALID);
  input = picture(pixels);
  EXPECT_EQ(rknn_inputs_set(context_, 2, &input), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_inputs_set(context_, 1, nullptr), RKNN_ERR_PARAM_INVALID);
  ASSERT_EQ(rknn_run(context_, nullptr), RKNN_SUCC);
  EXPECT_EQ(scores(context_), picture_scores());
}

TEST_F(CapiTest, PreallocatedOutputsAreFilledInPlaceAndNeverFreed) {
  ASSERT_EQ(set_and_run(context_), RKNN_SUCC);
  std::vector<float> buffer(16, -1.0f);
  rknn_output output{};
  output.want_float = 1;
  output.is_prealloc = 1;
  output.index = 99;  // the only output there is: position counts
  output.buf = buffer.data();
  output.size = 64;
  ASSERT_EQ(rknn_outputs_get(context_, 1, &output, nullptr), RKNN_SUCC);
  EXPECT_EQ(output.index, 0u);
  EXPECT_EQ(output.buf, buffer.data());
  EXPECT_EQ(buffer[0], 2.0f);
  EXPECT_EQ(rknn_outputs_release(context_, 1, &output), RKNN_SUCC);
  EXPECT_EQ(output.buf, buffer.data());
  output.size = 63;
  buffer[0] = -7.0f;
  EXPECT_EQ(rknn_outputs_get(context_, 1, &output, nullptr), RKNN_ERR_OUTPUT_INVALID);
  EXPECT_EQ(buffer[0], -7.0f);
}

TEST_F(CapiTest, OutputsThatAreNeverReleasedDoNotGrowWithoutEnd) {
  ASSERT_EQ(set_and_run(context_), RKNN_SUCC);
  std::vector<void*> seen;
  for (int i = 0; i < 100; ++i) {
    rknn_output output{};
    ASSERT_EQ(rknn_outputs_get(context_, 1, &output, nullptr), RKNN_SUCC);
    if (std::find(seen.begin(), seen.end(), output.buf) == seen.end()) seen.push_back(output.buf);
  }
  EXPECT_LE(seen.size(), 8u);
}

TEST_F(CapiTest, OutputsBeforeARunAreRefused) {
  rknn_output output{};
  EXPECT_EQ(rknn_outputs_get(context_, 1, &output, nullptr), RKNN_ERR_OUTPUT_INVALID);
  EXPECT_EQ(output.buf, nullptr);
}

TEST_F(CapiTest, StaleHandlesAreErrors) {
  const rknn_context stale = context_;
  ASSERT_EQ(rknn_destroy(context_), RKNN_SUCC);
  context_ = 0;
  EXPECT_EQ(rknn_destroy(stale), RKNN_ERR_CTX_INVALID);
  EXPECT_EQ(rknn_run(stale, nullptr), RKNN_ERR_CTX_INVALID);
  std::vector<uint8_t> image = image_of(picture_program());
  ASSERT_EQ(rknn_init(&context_, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
            RKNN_SUCC);
  EXPECT_NE(context_, stale);
}

TEST_F(CapiTest, CopiesOutliveTheirOriginal) {
  rknn_context copy = 0, copy_of_copy = 0;
  ASSERT_EQ(rknn_dup_context(&context_, &copy), RKNN_SUCC);
  ASSERT_EQ(rknn_destroy(context_), RKNN_SUCC);
  context_ = 0;
  ASSERT_EQ(rknn_dup_context(&copy, &copy_of_copy), RKNN_SUCC);
  ASSERT_EQ(rknn_destroy(copy), RKNN_SUCC);
  ASSERT_EQ(set_and_run(copy_of_copy), RKNN_SUCC);
  EXPECT_EQ(scores(copy_of_copy), picture_scores());
  EXPECT_EQ(rknn_destroy(copy_of_copy), RKNN_SUCC);
}

TEST_F(CapiTest, ZeroCopyWithNativeAttributes) {
  rknn_tensor_attr in = attr(RKNN_QUERY_NATIVE_INPUT_ATTR);
  rknn_tensor_attr out = attr(RKNN_QUERY_NATIVE_OUTPUT_ATTR);
  in.type = RKNN_TENSOR_UINT8;
  in.fmt = RKNN_TENSOR_NHWC;
  rknn_tensor_mem* const in_mem = rknn_create_mem(context_, in.size_with_stride);
  rknn_tensor_mem* const out_mem = rknn_create_mem(context_, out.size_with_stride);
  ASSERT_NE(in_mem, nullptr);
  ASSERT_NE(out_mem, nullptr);
  EXPECT_GE(in_mem->fd, 0);
  ASSERT_EQ(rknn_set_io_mem(context_, in_mem, &in), RKNN_SUCC);
  ASSERT_EQ(rknn_set_io_mem(context_, out_mem, &out), RKNN_SUCC);
  const std::vector<uint8_t> pixels = picture_pixels();
  for (size_t row = 0; row < 2; ++row) {
    std::memcpy(static_cast<uint8_t*>(in_mem->virt_addr) + row * in.w_stride * 3,
                pixels.data() + row * 12, 12);
  }
  EXPECT_EQ(rknn_mem_sync(context_, in_mem, RKNN_MEMORY_SYNC_TO_DEVICE), RKNN_SUCC);
  ASSERT_EQ(rknn_run(context_, nullptr), RKNN_SUCC);
  const auto* const data = static_cast<const int8_t*>(out_mem->virt_addr);
  for (size_t c = 0; c < 2; ++c) {
    for (size_t i = 0; i < 8; ++i)
      EXPECT_EQ(data[i * 16 + c], picture_scores()[c * 8 + i]) << c << " " << i;
  }
  EXPECT_EQ(rknn_destroy_mem(context_, in_mem), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy_mem(context_, in_mem), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_run(context_, nullptr), RKNN_ERR_INPUT_INVALID);
  EXPECT_EQ(rknn_destroy_mem(context_, out_mem), RKNN_SUCC);
}

TEST_F(CapiTest, ForeignMemoryIsUsedWhereItLies) {
  rknn_tensor_attr in = attr(RKNN_QUERY_INPUT_ATTR);
  rknn_tensor_attr out = attr(RKNN_QUERY_OUTPUT_ATTR);
  in.type = RKNN_TENSOR_UINT8;
  out.type = RKNN_TENSOR_FLOAT32;
  std::vector<uint8_t> pixels(100, 0);
  const std::vector<uint8_t> picture = picture_pixels();
  std::copy(picture.begin(), picture.end(), pixels.begin() + 40);
  rknn_tensor_mem* const backing = rknn_create_mem2(0, 64, RKNN_MEM_FLAG_ALLOC_NO_CONTEXT);
  ASSERT_NE(backing, nullptr);
  rknn_tensor_mem* const in_mem =
      rknn_create_mem_from_fd(context_, backing->fd, pixels.data(), 24, 40);
  rknn_tensor_mem* const out_mem = rknn_create_mem_from_fd(context_, backing->fd, nullptr, 64, 0);
  ASSERT_NE(in_mem, nullptr);
  ASSERT_NE(out_mem, nullptr);
  EXPECT_NE(out_mem->virt_addr, backing->virt_addr);
  ASSERT_EQ(rknn_set_io_mem(context_, in_mem, &in), RKNN_SUCC);
  ASSERT_EQ(rknn_set_io_mem(context_, out_mem, &out), RKNN_SUCC);
  ASSERT_EQ(rknn_run(context_, nullptr), RKNN_SUCC);
  EXPECT_EQ(static_cast<const float*>(backing->virt_addr)[1], 24.0f);
  for (rknn_tensor_mem* mem : {in_mem, out_mem, backing})
    EXPECT_EQ(rknn_destroy_mem(0, mem), RKNN_SUCC);
  EXPECT_EQ(rknn_create_mem_from_fd(context_, -1, pixels.data(), 24, 0), nullptr);
  EXPECT_EQ(rknn_create_mem_from_phys(context_, 0x1000, nullptr, 24), nullptr);
}

TEST_F(CapiTest, WrongMemoryIsRefused) {
  rknn_tensor_attr in = attr(RKNN_QUERY_INPUT_ATTR);
  rknn_tensor_mem stray{};
  EXPECT_EQ(rknn_set_io_mem(context_, &stray, &in), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_set_io_mem(context_, nullptr, &in), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_destroy_mem(context_, &stray), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_mem_sync(0, &stray, RKNN_MEMORY_SYNC_TO_DEVICE), RKNN_ERR_PARAM_INVALID);
  rknn_tensor_mem* const small = rknn_create_mem(context_, 10);
  EXPECT_EQ(rknn_set_io_mem(context_, small, &in), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_set_io_mem(context_, small, nullptr), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_set_weight_mem(context_, small), RKNN_ERR_PARAM_INVALID);
  std::strcpy(in.name, "nobody");
  EXPECT_EQ(rknn_set_io_mem(context_, small, &in), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_destroy_mem(0, small), RKNN_SUCC);
  EXPECT_EQ(rknn_create_mem2(context_, uint64_t{1} << 40, 0), nullptr);
}

TEST_F(CapiTest, MemoryLoopsLeakNoDescriptor) {
  int first = -1;
  for (int i = 0; i < 2000; ++i) {
    rknn_tensor_mem* const mem = rknn_create_mem2(0, 4096, RKNN_MEM_FLAG_ALLOC_NO_CONTEXT);
    ASSERT_NE(mem, nullptr);
    if (first < 0) first = mem->fd;
    EXPECT_EQ(mem->fd, first);
    ASSERT_EQ(rknn_destroy_mem(0, mem), RKNN_SUCC);
  }
}

TEST_F(CapiTest, TwoThreadsOnOneContextTakeTurns) {
  const auto work = [&] {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(set_and_run(context_), RKNN_SUCC);
      EXPECT_EQ(scores(context_), picture_scores());
    }
  };
  std::thread other(work);
  work();
  other.join();
}

TEST_F(CapiTest, ContextMayBeDestroyedWhileAnotherThreadRuns) {
  std::vector<std::thread> threads;
  rknn_context copy = 0;
  ASSERT_EQ(rknn_dup_context(&context_, &copy), RKNN_SUCC);
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([copy] {
      for (int i = 0; i < 20; ++i) {
        const int ret = rknn_run(copy, nullptr);
        EXPECT_TRUE(ret == RKNN_SUCC || ret == RKNN_ERR_CTX_INVALID) << ret;
      }
    });
  }
  EXPECT_EQ(rknn_destroy(copy), RKNN_SUCC);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CapiTest, CoreMasksFollowTheModelsChip) {
  EXPECT_EQ(rknn_set_core_mask(context_, RKNN_NPU_CORE_0_1_2), RKNN_SUCC);
  EXPECT_EQ(rknn_set_core_mask(context_, static_cast<rknn_core_mask>(6)), RKNN_ERR_FAIL);
  std::vector<uint8_t> image = image_of(picture_program({}, "rk3566"));
  rknn_context single = 0;
  ASSERT_EQ(rknn_init(&single, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
            RKNN_SUCC);
  EXPECT_EQ(rknn_set_core_mask(single, RKNN_NPU_CORE_AUTO), RKNN_ERR_TARGET_PLATFORM_UNMATCH);
  EXPECT_EQ(rknn_destroy(single), RKNN_SUCC);
}

TEST_F(CapiTest, WorkIsSharedByTheCoresOfTheMaskUnlessTheModelIsForOne) {
  const auto table = [](rknn_context context) {
    rknn_perf_detail detail{};
    EXPECT_EQ(rknn_query(context, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail), RKNN_SUCC);
    return std::string(detail.perf_data, detail.data_len);
  };
  program::Program program = picture_program();
  for (const bool single_core : {false, true}) {
    program.single_core = single_core;
    const TestContext context(RKNN_FLAG_COLLECT_PERF_MASK, program);
    const LogCapture log;
    ASSERT_EQ(rknn_set_core_mask(context.handle, RKNN_NPU_CORE_0_1_2), RKNN_SUCC);
    EXPECT_EQ(log.has("Not support core mask: 7, fallback to single core auto mode"), single_core);
    ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
    EXPECT_EQ(context.scores(), picture_scores());
    EXPECT_NE(table(context.handle).find(single_core ? "100.0%/0.0%/0.0%" : "50.0%/50.0%/0.0%"),
              std::string::npos);
  }
}

TEST_F(CapiTest, TheTableNamesTheCoreOfTheMaskAndTheTypeThatAStepReads) {
  const TestContext context(RKNN_FLAG_COLLECT_PERF_MASK);
  const std::pair<rknn_core_mask, const char*> masks[] = {{RKNN_NPU_CORE_1, "0.0%/100.0%/0.0%"},
                                                          {RKNN_NPU_CORE_2, "0.0%/0.0%/100.0%"}};
  for (const auto& [mask, shares] : masks) {
    ASSERT_EQ(rknn_set_core_mask(context.handle, mask), RKNN_SUCC);
    ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
    rknn_perf_detail detail{};
    ASSERT_EQ(rknn_query(context.handle, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail),
              RKNN_SUCC);
    const std::string text(detail.perf_data, detail.data_len);
    EXPECT_NE(text.find(shares), std::string::npos) << text;
    EXPECT_EQ(text.find("100.0%/0.0%/0.0%"), std::string::npos) << text;
    EXPECT_NE(text.find("UINT8"), std::string::npos) << text;  // pixels, in both of the first rows
  }
}

TEST_F(CapiTest, BatchCoresFollowTheChipAndTheModel) {
  EXPECT_EQ(rknn_set_batch_core_num(context_, 3), RKNN_SUCC);
  EXPECT_EQ(rknn_set_batch_core_num(context_, 4), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_set_batch_core_num(context_, 0), RKNN_ERR_PARAM_INVALID);
  const Environment strict("RKNN_STRICT", "1");
  const TestContext one_picture;
  EXPECT_EQ(rknn_set_batch_core_num(one_picture.handle, 2), RKNN_ERR_PARAM_INVALID);
}

TEST_F(CapiTest, MemoryIsFoundByItsSimulatedPhysicalAddress) {
  rknn_tensor_mem* const first = rknn_create_mem(context_, 5000);
  rknn_tensor_mem* const second = rknn_create_mem(context_, 100);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_GE(second->phys_addr, first->phys_addr + 5000);
  rknn_tensor_mem* const part =
      rknn_create_mem_from_phys(context_, first->phys_addr + 1000, nullptr, 4000);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->virt_addr, static_cast<uint8_t*>(first->virt_addr) + 1000);
  EXPECT_EQ(rknn_create_mem_from_phys(context_, first->phys_addr + 1001, nullptr, 4000), nullptr);
  // Bound memory whose whole is destroyed is refused like memory that is destroyed itself.
  rknn_tensor_attr in = attr(RKNN_QUERY_INPUT_ATTR);
  ASSERT_EQ(rknn_set_io_mem(context_, part, &in), RKNN_SUCC);
  EXPECT_EQ(rknn_run(context_, nullptr), RKNN_SUCC);
  const uint64_t gone = second->phys_addr;
  EXPECT_EQ(rknn_destroy_mem(context_, first), RKNN_SUCC);
  EXPECT_EQ(rknn_run(context_, nullptr), RKNN_ERR_INPUT_INVALID);
  for (rknn_tensor_mem* mem : {second, part}) EXPECT_EQ(rknn_destroy_mem(context_, mem), RKNN_SUCC);
  EXPECT_EQ(rknn_create_mem_from_phys(context_, gone, nullptr, 100), nullptr);
}

TEST_F(CapiTest, ModelsOfAnotherChipDoNotLoadOnAPretendedBoard) {
  std::vector<uint8_t> image = image_of(picture_program());
  rknn_context other = 0;
  setenv("RKNN_TARGET", "rk3566", 1);
  EXPECT_EQ(rknn_init(&other, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
            RKNN_ERR_TARGET_PLATFORM_UNMATCH);
  unsetenv("RKNN_TARGET");
  EXPECT_EQ(other, 0u);
}

TEST_F(CapiTest, PathsAndEmbeddedModelsLoad) {
  const std::vector<uint8_t> image = image_of(picture_program());
  std::vector<uint8_t> embedded(100, 0xab);
  embedded.insert(embedded.end(), image.begin(), image.end());
  embedded.insert(embedded.end(), 50, 0xcd);
  const std::string path = testing::TempDir() + "embedded.bin";
  ASSERT_TRUE(write_file(path, embedded).ok());
  rknn_context other = 0;
  rknn_init_extend extend{};
  extend.real_model_offset = 100;
  extend.real_model_size = static_cast<uint32_t>(image.size());
  ASSERT_EQ(rknn_init(&other, const_cast<char*>(path.c_str()), 0, 0, &extend), RKNN_SUCC);
  EXPECT_EQ(set_and_run(other), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy(other), RKNN_SUCC);
  extend.real_model_size = 0xffffffff;
  other = 0;
  EXPECT_EQ(rknn_init(&other, const_cast<char*>(path.c_str()), 0, 0, &extend),
            RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(other, 0u);
  std::remove(path.c_str());
}

TEST_F(CapiTest, DamagedImagesAreModelErrors) {
  std::vector<uint8_t> image = image_of(picture_program());
  rknn_context other = 0;
  image.resize(image.size() / 2);
  EXPECT_EQ(rknn_init(&other, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
            RKNN_ERR_MODEL_INVALID);
  EXPECT_EQ(other, 0u);
}

TEST_F(CapiTest, InfoOnlyContextsTellTheirMemory) {
  std::vector<uint8_t> image = image_of(picture_program());
  rknn_context info = 0;
  ASSERT_EQ(rknn_init(&info, image.data(), static_cast<uint32_t>(image.size()),
                      RKNN_FLAG_COLLECT_MODEL_INFO_ONLY | RKNN_FLAG_MEM_ALLOC_OUTSIDE, nullptr),
            RKNN_SUCC);
  rknn_mem_size sizes{};
  EXPECT_EQ(rknn_query(info, RKNN_QUERY_MEM_SIZE, &sizes, sizeof sizes), RKNN_SUCC);
  EXPECT_GT(sizes.total_internal_size, 0u);
  EXPECT_LT(rknn_run(info, nullptr), 0);
  EXPECT_EQ(rknn_destroy(info), RKNN_SUCC);
}

TEST_F(CapiTest, WhatNoChipOffersIsRefused) {
  EXPECT_EQ(rknn_create_mem_from_mb_blk(context_, nullptr, 0), nullptr);
  rknn_tensor_attr in = attr(RKNN_QUERY_INPUT_ATTR);
  in.dims[1] += 1;
  EXPECT_LT(rknn_set_input_shapes(context_, 1, &in), 0);
  EXPECT_LT(rknn_set_input_shape(context_, &in), 0);
  rknn_input_range* const range = new rknn_input_range{};
  EXPECT_LT(rknn_query(context_, RKNN_QUERY_INPUT_DYNAMIC_RANGE, range, sizeof *range), 0);
  delete range;
  EXPECT_LT(rknn_register_custom_ops(context_, nullptr, 0), 0);
}

}  // namespace
}  // namespace rk::capi

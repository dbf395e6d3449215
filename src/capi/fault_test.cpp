// SPDX-License-Identifier: Apache-2.0
// Failures on request, and fences.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capi/test_context.h"

namespace rk::capi {
namespace {

using runtime::picture_pixels;
using runtime::picture_scores;

TEST(FaultTest, TheChosenCallFailsWithTheChosenCode) {
  const TestContext context;
  ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
  {
    const Environment fault("RKNN_FAULT", "rknn_run:2=-2,rknn_create_mem=-4");
    EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
    EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_ERR_TIMEOUT);
    EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
    EXPECT_EQ(rknn_create_mem(context.handle, 64), nullptr);
    EXPECT_EQ(context.scores(), picture_scores());
  }
  EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
}

TEST(FaultTest, TextThatMakesNoSenseIsIgnored) {
  const TestContext context;
  for (const char* text : {"rknn_run", "rknn_run=", "rknn_run=5", "=-1", "rknn_run:-3=-1", ",,,"}) {
    const Environment fault("RKNN_FAULT", text);
    EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC) << text;
  }
}

bool readable(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  return poll(&wanted, 1, 2000) == 1 && (wanted.revents & POLLIN) != 0;
}

TEST(FenceTest, AFrameWaitsForItsFenceAndSignalsItsOwn) {
  const TestContext context(RKNN_FLAG_FENCE_IN_OUTSIDE | RKNN_FLAG_FENCE_OUT_OUTSIDE);
  ASSERT_EQ(context.set(picture_pixels()), RKNN_SUCC);
  const int fence = eventfd(0, EFD_CLOEXEC);
  rknn_run_extend extend{};
  extend.non_block = 1;
  extend.fence_fd = fence;
  ASSERT_EQ(rknn_run(context.handle, &extend), RKNN_SUCC);
  const int done = extend.fence_fd;
  ASSERT_NE(done, fence);
  pollfd early{done, POLLIN, 0};
  EXPECT_EQ(poll(&early, 1, 20), 0) << "nothing happens before the fence is signalled";
  const uint64_t one = 1;
  ASSERT_EQ(write(fence, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  EXPECT_TRUE(readable(done));
  EXPECT_EQ(context.scores(), picture_scores());
  close(done);
  close(fence);
}

TEST(FenceTest, ContextsMadeForFencesNeedThem) {
  const TestContext context(RKNN_FLAG_FENCE_IN_OUTSIDE);
  EXPECT_EQ(rknn_run(context.handle, nullptr), RKNN_ERR_PARAM_INVALID);
  rknn_run_extend extend{};
  extend.fence_fd = 987654;
  EXPECT_EQ(rknn_run(context.handle, &extend), RKNN_ERR_PARAM_INVALID);
}

TEST(SmallChipTest, AStrictBoardOfTheSmallFamilyHasZeroCopyOnly) {
  const Environment strict("RKNN_STRICT", "1");
  const TestContext context(0, runtime::picture_program({}, "rv1106"));
  EXPECT_EQ(context.set(picture_pixels()), RKNN_ERR_FAIL);
  EXPECT_TRUE(context.scores().empty());
  rknn_perf_run perf{};
  EXPECT_LT(rknn_query(context.handle, RKNN_QUERY_PERF_RUN, &perf, sizeof perf), 0);
  rknn_context handle = context.handle, copy = 0;
  EXPECT_LT(rknn_dup_context(&handle, &copy), 0);
}

TEST(SmallChipTest, OutputsAreBoundAsInt8OrFloat16) {
  const auto bound = [](const char* chip, rknn_tensor_type type) {
    const Environment strict("RKNN_STRICT", "1");
    const TestContext context(0, runtime::picture_program({}, chip));
    rknn_tensor_attr attr{};
    EXPECT_EQ(rknn_query(context.handle, RKNN_QUERY_OUTPUT_ATTR, &attr, sizeof attr), 0);
    attr.type = type;
    rknn_tensor_mem* const memory = rknn_create_mem(context.handle, 4096);
    const int code = rknn_set_io_mem(context.handle, memory, &attr);
    rknn_destroy_mem(context.handle, memory);
    return code;
  };
  for (const rknn_tensor_type type : {RKNN_TENSOR_INT8, RKNN_TENSOR_FLOAT16}) {
    EXPECT_EQ(bound("rv1106", type), 0) << type;
    EXPECT_EQ(bound("rk3588", type), 0) << type;
  }
  EXPECT_EQ(bound("rv1106", RKNN_TENSOR_FLOAT32), RKNN_ERR_OUTPUT_INVALID);
  EXPECT_EQ(bound("rk3588", RKNN_TENSOR_FLOAT32), 0);
}

}  // namespace
}  // namespace rk::capi

// SPDX-License-Identifier: Apache-2.0
// Client patterns about memory, old structures of the matmul interface, and frames in flight.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "rknn_matmul_api.h"
#include "tests/e2e/client_patterns.h"

namespace rk::e2e {
namespace {

constexpr uint32_t kSide = 28;  // digits

// The picture as floats, `stride` pixels from row to row.
std::vector<float> float_rows(const media::Picture& picture, size_t stride) {
  std::vector<float> out(kSide * stride, 0);
  for (size_t y = 0; y < kSide; ++y) {
    for (size_t x = 0; x < kSide; ++x)
      out[y * stride + x] = static_cast<float>(picture.pixels[y * kSide + x]);
  }
  return out;
}

TEST_F(ClientPatterns, Row11PlainAttributeWithFloatsTakesDenseAndPaddedRows) {
  load("digits");
  const auto wanted = plain();
  rknn_tensor_attr attr = api_->inputs().at(0);
  const uint32_t padded_bytes = attr.size_with_stride * 4, dense_bytes = attr.n_elems * 4;
  EXPECT_EQ(padded_bytes, 32u * kSide * 4);
  attr.type = RKNN_TENSOR_FLOAT32;
  for (const uint32_t bytes : {padded_bytes, dense_bytes}) {
    attr.size = bytes;
    rknn_tensor_mem* const memory = rknn_create_mem(context(), bytes);
    ASSERT_NE(memory, nullptr);
    const std::vector<float> rows =
        float_rows(picture(), bytes == padded_bytes ? attr.w_stride : kSide);
    std::memcpy(memory->virt_addr, rows.data(), bytes);
    ASSERT_EQ(rknn_set_io_mem(context(), memory, &attr), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context(), nullptr), RKNN_SUCC);
    EXPECT_EQ(first_output(), wanted[0]) << bytes;
    EXPECT_EQ(rknn_destroy_mem(context(), memory), RKNN_SUCC);
  }
  rknn_tensor_mem* const small = rknn_create_mem(context(), dense_bytes - 4);
  EXPECT_EQ(rknn_set_io_mem(context(), small, &attr), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_destroy_mem(context(), small), RKNN_SUCC);
}

TEST_F(ClientPatterns, Row18MemoryOfOneContextServesAnotherByPointerFdAndOffset) {
  load("digits");
  const auto wanted = plain();
  auto other = ApiModel::load(rknn_);
  ASSERT_TRUE(other.ok());
  constexpr int32_t kOffset = 4096;
  rknn_tensor_attr attr = api_->inputs().at(0);
  attr.type = RKNN_TENSOR_UINT8;
  // Made with the other context; rows start at an offset, as in a frame buffer with several planes.
  rknn_tensor_mem* const whole =
      rknn_create_mem((*other)->context(), kOffset + attr.size_with_stride);
  ASSERT_NE(whole, nullptr);
  rknn_tensor_mem* const part = rknn_create_mem_from_fd(context(), whole->fd, whole->virt_addr,
                                                        attr.size_with_stride, kOffset);
  rknn_tensor_mem* const mapped =
      rknn_create_mem_from_fd(context(), whole->fd, nullptr, attr.size_with_stride, kOffset);
  ASSERT_TRUE(part != nullptr && mapped != nullptr);
  EXPECT_EQ(part->virt_addr, whole->virt_addr) << "the base; data lies at virt_addr + offset";
  EXPECT_EQ(part->offset, kOffset);
  for (uint32_t y = 0; y < kSide; ++y) {
    std::memcpy(static_cast<uint8_t*>(whole->virt_addr) + kOffset + y * attr.w_stride,
                picture().pixels.data() + y * kSide, kSide);
  }
  for (rknn_tensor_mem* const memory : {part, mapped}) {
    ASSERT_EQ(rknn_set_io_mem(context(), memory, &attr), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context(), nullptr), RKNN_SUCC);
    EXPECT_EQ(first_output(), wanted[0]);
    EXPECT_EQ(rknn_destroy_mem(context(), memory), RKNN_SUCC);
  }
  EXPECT_EQ(rknn_destroy_mem(context(), whole), RKNN_SUCC);
}

TEST_F(ClientPatterns, Row18AnotherProcessMapsTheFd) {
  load("digits");
  rknn_tensor_mem* const memory = rknn_create_mem(context(), 4096);
  ASSERT_NE(memory, nullptr);
  const pid_t child = fork();
  if (child == 0) {
    void* const seen = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
    if (seen == MAP_FAILED) _exit(1);
    static_cast<char*>(seen)[17] = 42;
    _exit(0);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(static_cast<const char*>(memory->virt_addr)[17], 42);
  EXPECT_EQ(rknn_destroy_mem(context(), memory), RKNN_SUCC);
}

TEST_F(ClientPatterns, Row18InputAndOutputMayShareMemory) {
  load("digits");
  const auto wanted = plain();
  rknn_tensor_attr in = api_->inputs().at(0), out = api_->outputs().at(0);
  in.type = RKNN_TENSOR_UINT8;
  rknn_tensor_mem* const memory = rknn_create_mem(context(), in.size_with_stride);
  ASSERT_EQ(rknn_set_io_mem(context(), memory, &in), RKNN_SUCC);
  ASSERT_EQ(rknn_set_io_mem(context(), memory, &out), RKNN_SUCC);
  for (uint32_t y = 0; y < kSide; ++y) {
    std::memcpy(static_cast<uint8_t*>(memory->virt_addr) + y * in.w_stride,
                picture().pixels.data() + y * kSide, kSide);
  }
  ASSERT_EQ(rknn_run(context(), nullptr), RKNN_SUCC);
  EXPECT_EQ(std::memcmp(memory->virt_addr, wanted[0].data(), wanted[0].size()), 0);
  EXPECT_EQ(rknn_destroy_mem(context(), memory), RKNN_SUCC);
}

TEST_F(ClientPatterns, Row21MatmulInfoOfTheOldHeaderIsAnsweredWithoutACrash) {
  // 1.5 had six 32-bit words; what follows in memory is somebody else's.
  struct OldInfo {
    int32_t m = 4, k = 32, n = 32, type = 2, b_layout = 0, ac_layout = 0;
    unsigned char garbage[sizeof(rknn_matmul_info) - 24];
  } info;
  std::memset(info.garbage, 0xa5, sizeof info.garbage);
  rknn_matmul_ctx matmul = 0;
  rknn_matmul_io_attr io{};
  const int ret = rknn_matmul_create(&matmul, reinterpret_cast<rknn_matmul_info*>(&info), &io);
  EXPECT_LE(ret, 0);
  if (ret == RKNN_SUCC) {
    EXPECT_EQ(rknn_matmul_destroy(matmul), RKNN_SUCC);
  }
}

TEST_F(ClientPatterns, Row22OldArityOfTheLayoutCallFailsCleanly) {
  // 1.6 passed subN where the info pointer is now.
  std::vector<int8_t> from(32 * 32), to(32 * 32);
  auto* const impossible = reinterpret_cast<rknn_matmul_info*>(uintptr_t{16});
  EXPECT_LT(rknn_B_normal_layout_to_native_layout(from.data(), to.data(), 32, 32, impossible), 0);
}

TEST_F(ClientPatterns, Row24AsyncGivesThePreviousFrameAndTheFirstItsOwn) {
  load("digits");
  ASSERT_GE(model_.pictures.size(), 3u);
  std::vector<std::vector<uint8_t>> wanted;
  for (size_t i = 0; i < 3; ++i) wanted.push_back(plain(i)[0]);
  auto async = ApiModel::load(rknn_, RKNN_FLAG_ASYNC_MASK);
  ASSERT_TRUE(async.ok());
  for (size_t frame = 0; frame < 3; ++frame) {
    const auto got = (*async)->run_raw(picture(frame));
    ASSERT_TRUE(got.ok());
    EXPECT_EQ((*got)[0], wanted[frame == 0 ? 0 : frame - 1]) << "frame " << frame;
  }
}

}  // namespace
}  // namespace rk::e2e

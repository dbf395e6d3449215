// SPDX-License-Identifier: Apache-2.0
// What the interface refuses and how it says so; memory, shapes, domains, cores.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "rknn_matmul_api.h"

namespace {

std::string& last_error() {
  static std::string text;
  return text;
}

class MatmulRules : public testing::Test {
 protected:
  void SetUp() override {
    setenv("RKNN_TARGET", "rk3588", 1);
    unsetenv("RKNN_STRICT");
    last_error().clear();
    rk::set_log_sink([](rk::LogLevel level, std::string_view line) {
      if (level == rk::LogLevel::kError) last_error() = std::string(line);
    });
  }
  void TearDown() override {
    rk::set_log_sink(nullptr);
    unsetenv("RKNN_STRICT");
  }

  static rknn_matmul_info info(int m, int k, int n, rknn_matmul_type type) {
    rknn_matmul_info out{};
    out.M = m;
    out.K = k;
    out.N = n;
    out.type = type;
    return out;
  }
  static int create(rknn_matmul_info wanted) {
    rknn_matmul_ctx ctx = 0;
    rknn_matmul_io_attr io{};
    const int code = rknn_matmul_create(&ctx, &wanted, &io);
    if (code == 0) {
      EXPECT_EQ(rknn_matmul_destroy(ctx), 0);
    }
    return code;
  }
};

bool says(const std::string& part) { return last_error().find(part) != std::string::npos; }

TEST_F(MatmulRules, SizesThatBreakTheChipsRuleAreRefusedWithTheRule) {
  EXPECT_EQ(create(info(1, 33, 32, RKNN_INT8_MM_INT8_TO_INT32)), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("K 33: rk3588 takes multiples of 32")) << last_error();
  EXPECT_EQ(create(info(1, 32, 48, RKNN_INT8_MM_INT8_TO_INT32)), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("N 48: rk3588 takes multiples of 32")) << last_error();
  EXPECT_EQ(create(info(1, 32, 16, RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32)), 0);
  EXPECT_EQ(create(info(0, 32, 32, RKNN_INT8_MM_INT8_TO_INT32)), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("each must be at least 1")) << last_error();
  setenv("RKNN_TARGET", "rk3566", 1);
  EXPECT_EQ(create(info(1, 10272, 16, RKNN_INT8_MM_INT8_TO_INT32)), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("rk3566 takes at most 10240")) << last_error();
  EXPECT_EQ(create(info(1, 16, 8, RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32)), 0);
}

TEST_F(MatmulRules, StrictModeTakesWhatTheGuideListsOnly) {
  setenv("RKNN_STRICT", "1", 1);
  EXPECT_EQ(create(info(1, 32, 32, RKNN_FLOAT16_MM_INT4_TO_FLOAT32)), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("rk3588 does not multiply FLOAT16_MM_INT4_TO_FLOAT32")) << last_error();
  EXPECT_EQ(create(info(1, 32, 8192, RKNN_INT8_MM_INT8_TO_INT32)), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("takes at most 4096")) << last_error();
  EXPECT_EQ(create(info(1, 32, 8192, RKNN_INT4_MM_INT4_TO_INT16)), 0);
  rknn_matmul_info channel = info(1, 32, 32, RKNN_INT8_MM_INT8_TO_FLOAT32);
  channel.B_quant_type = RKNN_QUANT_TYPE_PER_CHANNEL_SYM;
  EXPECT_EQ(create(channel), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("INT8_MM_INT8_TO_INT8 and INT8_MM_INT8_TO_INT32 only")) << last_error();
  unsetenv("RKNN_STRICT");
  EXPECT_EQ(create(info(1, 32, 32, RKNN_FLOAT16_MM_INT4_TO_FLOAT32)), 0);
  EXPECT_EQ(create(info(1, 32, 8192, RKNN_INT8_MM_INT8_TO_INT32)), 0);
  EXPECT_EQ(create(channel), 0);
}

TEST_F(MatmulRules, NonsenseIsRefused) {
  for (const int type : {0, 13, 14, 16, -1, 1 << 30}) {
    EXPECT_EQ(create(info(1, 32, 32, static_cast<rknn_matmul_type>(type))), RKNN_ERR_PARAM_INVALID);
  }
  rknn_matmul_info bad = info(1, 32, 32, RKNN_INT8_MM_INT8_TO_INT32);
  bad.B_layout = 3;
  EXPECT_EQ(create(bad), RKNN_ERR_PARAM_INVALID);
  bad = info(1, 32, 32, RKNN_INT8_MM_INT8_TO_INT32);
  bad.AC_layout = 2;
  EXPECT_EQ(create(bad), RKNN_ERR_PARAM_INVALID);
  bad = info(1, 32, 32, RKNN_INT8_MM_INT8_TO_INT32);
  bad.AC_quant_type = RKNN_QUANT_TYPE_PER_CHANNEL_SYM;
  EXPECT_EQ(create(bad), RKNN_ERR_PARAM_INVALID);
  bad = info(1, 64, 32, RKNN_FLOAT16_MM_INT4_TO_FLOAT32);
  bad.B_quant_type = RKNN_QUANT_TYPE_PER_GROUP_SYM;
  EXPECT_EQ(create(bad), RKNN_ERR_PARAM_INVALID);
  bad.group_size = 48;
  EXPECT_EQ(create(bad), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("group_size 48 does not divide K 64")) << last_error();
  EXPECT_EQ(create(info(1 << 20, 1 << 20, 1 << 20, RKNN_INT8_MM_INT8_TO_INT32)),
            RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("4 GiB")) << last_error();
  EXPECT_EQ(rknn_matmul_create(nullptr, nullptr, nullptr), RKNN_ERR_PARAM_INVALID);
  for (const rknn_matmul_ctx ctx : {rknn_matmul_ctx{0}, rknn_matmul_ctx{987654}}) {
    EXPECT_EQ(rknn_matmul_run(ctx), RKNN_ERR_CTX_INVALID);
    EXPECT_EQ(rknn_matmul_destroy(ctx), RKNN_ERR_CTX_INVALID);
    EXPECT_EQ(rknn_matmul_set_io_mem(ctx, nullptr, nullptr), RKNN_ERR_CTX_INVALID);
  }
  setenv("RKNN_TARGET", "rv1106", 1);
  EXPECT_EQ(create(info(1, 32, 32, RKNN_INT8_MM_INT8_TO_INT32)), RKNN_ERR_FAIL);
}

TEST_F(MatmulRules, ProgramsOfOlderVersionsAreUnderstoodOrRefusedCleanly) {
  // Version 1.5: six 32-bit numbers, and nothing of theirs after them.
  struct Old {
    int32_t m, k, n, type, native_layout, perf_layout;
    int32_t not_theirs[10];
  } old = {3, 64, 32, RKNN_INT8_MM_INT8_TO_INT32, 1, 0, {}};
  for (int32_t& word : old.not_theirs) word = -559038737;
  static_assert(sizeof(Old) == sizeof(rknn_matmul_info));
  rknn_matmul_ctx ctx = 0;
  rknn_matmul_io_attr io{};
  ASSERT_EQ(rknn_matmul_create(&ctx, reinterpret_cast<rknn_matmul_info*>(&old), &io), 0);
  EXPECT_EQ(io.B.n_dims, 4u);
  EXPECT_EQ(io.A.n_dims, 2u);
  EXPECT_EQ(rknn_matmul_destroy(ctx), 0);
  // Version 1.6: subN stands where info is now.
  std::vector<uint8_t> b(64 * 32), native(64 * 32);
  EXPECT_EQ(rknn_B_normal_layout_to_native_layout(b.data(), native.data(), 64, 32,
                                                  reinterpret_cast<rknn_matmul_info*>(32)),
            RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("fifth argument")) << last_error();
}

TEST_F(MatmulRules, MemoryIsSharedBetweenContextsWithOffsetsAndTooSmallOneIsRefused) {
  rknn_matmul_info wanted = info(1, 32, 32, RKNN_INT8_MM_INT8_TO_INT32);
  rknn_matmul_ctx first = 0, second = 0;
  rknn_matmul_io_attr io{};
  ASSERT_EQ(rknn_matmul_create(&first, &wanted, &io), 0);
  ASSERT_EQ(rknn_matmul_create(&second, &wanted, &io), 0);
  // A at 0, B at 64, C at 2048 of one memory that the first context made.
  rknn_tensor_mem* const mem = rknn_create_mem(first, 64 + 1024 + 960 + 128);
  auto* const bytes = static_cast<int8_t*>(mem->virt_addr);
  for (int i = 0; i < 32; ++i) bytes[i] = 1;
  for (int i = 0; i < 1024; ++i) bytes[64 + i] = static_cast<int8_t>(i / 32);  // B[k][n] = k
  EXPECT_EQ(rknn_matmul_run(second), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("has no memory")) << last_error();
  EXPECT_EQ(rknn_matmul_set_io_mem(second, mem, &io.A), 0);
  mem->offset = 64;
  EXPECT_EQ(rknn_matmul_set_io_mem(second, mem, &io.B), 0);
  mem->offset = 2048;
  EXPECT_EQ(rknn_matmul_set_io_mem(second, mem, &io.C), 0);
  EXPECT_EQ(rknn_matmul_set_io_mem(second, mem, &io.B), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("matrix B takes 1024 bytes, the memory has 128")) << last_error();
  mem->offset = 0;
  ASSERT_EQ(rknn_matmul_run(second), 0);
  const auto* const c = reinterpret_cast<const int32_t*>(bytes + 2048);
  for (int n = 0; n < 32; ++n) EXPECT_EQ(c[n], 31 * 32 / 2);
  // The contents were taken over: a change counts from the next rknn_matmul_set_io_mem on.
  bytes[0] = 2;
  ASSERT_EQ(rknn_matmul_run(second), 0);
  EXPECT_EQ(c[0], 496);
  bytes[64] = 10;  // B[0][0]
  mem->offset = 64;
  EXPECT_EQ(rknn_matmul_set_io_mem(second, mem, &io.B), 0);
  mem->offset = 0;
  EXPECT_EQ(rknn_matmul_set_io_mem(second, mem, &io.A), 0);
  ASSERT_EQ(rknn_matmul_run(second), 0);
  EXPECT_EQ(c[0], 496 + 20);
  EXPECT_EQ(rknn_matmul_destroy(first), 0);
  ASSERT_EQ(rknn_matmul_run(second), 0);
  EXPECT_EQ(rknn_destroy_mem(second, mem), 0);
  EXPECT_EQ(rknn_matmul_destroy(second), 0);
  EXPECT_EQ(rknn_matmul_destroy(second), RKNN_ERR_CTX_INVALID);
}

TEST_F(MatmulRules, DynamicShapesSwitchAndKeepB) {
  rknn_matmul_info wanted = info(0, 0, 0, RKNN_INT8_MM_INT8_TO_INT32);
  rknn_matmul_shape shapes[] = {{1, 32, 32}, {4, 32, 32}};
  rknn_matmul_io_attr io[2] = {};
  rknn_matmul_ctx ctx = 0;
  ASSERT_EQ(rknn_matmul_create_dynamic_shape(&ctx, &wanted, 2, shapes, io), 0);
  rknn_tensor_mem* const a = rknn_create_mem(ctx, io[1].A.size);
  rknn_tensor_mem* const b = rknn_create_mem(ctx, io[1].B.size);
  rknn_tensor_mem* const c = rknn_create_mem(ctx, io[1].C.size);
  std::memset(a->virt_addr, 1, io[1].A.size);
  std::memset(b->virt_addr, 3, io[1].B.size);
  EXPECT_EQ(rknn_matmul_set_io_mem(ctx, a, &io[1].A), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("rknn_matmul_set_dynamic_shape first")) << last_error();
  ASSERT_EQ(rknn_matmul_set_io_mem(ctx, b, &io[0].B), 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(rknn_matmul_set_dynamic_shape(ctx, &shapes[i]), 0);
    ASSERT_EQ(rknn_matmul_set_io_mem(ctx, a, &io[i].A), 0);
    ASSERT_EQ(rknn_matmul_set_io_mem(ctx, c, &io[i].C), 0);
    ASSERT_EQ(rknn_matmul_run(ctx), 0);
    for (int e = 0; e < shapes[i].M * 32; ++e)
      ASSERT_EQ(static_cast<const int32_t*>(c->virt_addr)[e], 96);
  }
  rknn_matmul_shape other = {5, 32, 32};
  EXPECT_EQ(rknn_matmul_set_dynamic_shape(ctx, &other), RKNN_ERR_PARAM_INVALID);
  for (rknn_tensor_mem* mem : {a, b, c}) EXPECT_EQ(rknn_destroy_mem(ctx, mem), 0);
  EXPECT_EQ(rknn_matmul_destroy(ctx), 0);
}

TEST_F(MatmulRules, ScalesPerChannelAreNormalizedAndCanBeAsked) {
  rknn_matmul_info wanted = info(1, 32, 32, RKNN_INT8_MM_INT8_TO_INT32);
  wanted.B_quant_type = RKNN_QUANT_TYPE_PER_CHANNEL_SYM;
  rknn_matmul_ctx ctx = 0;
  rknn_matmul_io_attr io{};
  ASSERT_EQ(rknn_matmul_create(&ctx, &wanted, &io), 0);
  float scales[32];
  for (int i = 0; i < 32; ++i) scales[i] = i % 2 == 0 ? 0.5f : 0.25f;
  int32_t zeros[32] = {};
  rknn_quant_params params{};
  params.name[0] = 'B';
  params.scale = scales;
  params.scale_len = 31;
  params.zp = zeros;
  params.zp_len = 32;
  EXPECT_EQ(rknn_matmul_set_quant_params(ctx, &params), RKNN_ERR_PARAM_INVALID);
  params.scale_len = 32;
  zeros[3] = 1;
  EXPECT_EQ(rknn_matmul_set_quant_params(ctx, &params), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("symmetric")) << last_error();
  zeros[3] = 0;
  EXPECT_EQ(rknn_matmul_set_quant_params(ctx, &params), 0);
  float scale = 0;
  EXPECT_EQ(rknn_matmul_get_quant_params(ctx, &params, &scale), 0);
  EXPECT_EQ(scale, 0.5f);
  rknn_tensor_mem* const a = rknn_create_mem(ctx, io.A.size);
  rknn_tensor_mem* const b = rknn_create_mem(ctx, io.B.size);
  rknn_tensor_mem* const c = rknn_create_mem(ctx, io.C.size);
  std::memset(a->virt_addr, 1, io.A.size);
  std::memset(b->virt_addr, 3, io.B.size);
  ASSERT_EQ(rknn_matmul_set_io_mem(ctx, a, &io.A), 0);
  ASSERT_EQ(rknn_matmul_set_io_mem(ctx, b, &io.B), 0);
  ASSERT_EQ(rknn_matmul_set_io_mem(ctx, c, &io.C), 0);
  ASSERT_EQ(rknn_matmul_run(ctx), 0);
  // 32 * 3 = 96, and the half of it where the scale is half of the largest.
  EXPECT_EQ(static_cast<const int32_t*>(c->virt_addr)[0], 96);
  EXPECT_EQ(static_cast<const int32_t*>(c->virt_addr)[1], 48);
  for (rknn_tensor_mem* mem : {a, b, c}) EXPECT_EQ(rknn_destroy_mem(ctx, mem), 0);
  EXPECT_EQ(rknn_matmul_destroy(ctx), 0);
}

TEST_F(MatmulRules, ADomainHoldsFourGibibytesAndTheNextOneAgain) {
  rknn_matmul_ctx ctx[2] = {};
  rknn_matmul_io_attr io{};
  for (int d = 0; d < 2; ++d) {
    rknn_matmul_info wanted = info(1, 32, 32, RKNN_INT8_MM_INT8_TO_INT32);
    wanted.iommu_domain_id = d + 1;
    ASSERT_EQ(rknn_matmul_create(&ctx[d], &wanted, &io), 0);
  }
  // Nothing touches the pages, so the system does not have to have them.
  const uint64_t gibibyte = uint64_t{1} << 30;
  rknn_tensor_mem* large[4];
  for (rknn_tensor_mem*& mem : large)
    ASSERT_NE(mem = rknn_create_mem2(ctx[0], gibibyte, 0), nullptr);
  EXPECT_EQ(rknn_create_mem2(ctx[0], 4096, 0), nullptr);
  EXPECT_TRUE(says("IOMMU domain 1 has 0 of 4294967296 bytes left")) << last_error();
  rknn_tensor_mem* const other = rknn_create_mem2(ctx[1], gibibyte, 0);
  EXPECT_NE(other, nullptr);
  EXPECT_EQ(rknn_destroy_mem(ctx[0], large[0]), 0);
  EXPECT_NE(large[0] = rknn_create_mem2(ctx[0], gibibyte, 0), nullptr);
  for (rknn_tensor_mem* mem : large) EXPECT_EQ(rknn_destroy_mem(ctx[0], mem), 0);
  EXPECT_EQ(rknn_destroy_mem(ctx[1], other), 0);
  for (const rknn_matmul_ctx one : ctx) EXPECT_EQ(rknn_matmul_destroy(one), 0);
}

TEST_F(MatmulRules, CoreMasksFollowTheChip) {
  rknn_matmul_info wanted = info(1, 32, 32, RKNN_INT8_MM_INT8_TO_INT32);
  rknn_matmul_io_attr io{};
  rknn_matmul_ctx ctx = 0;
  ASSERT_EQ(rknn_matmul_create(&ctx, &wanted, &io), 0);
  EXPECT_EQ(rknn_matmul_set_core_mask(ctx, RKNN_NPU_CORE_2), 0);
  EXPECT_EQ(rknn_matmul_set_core_mask(ctx, RKNN_NPU_CORE_0_1_2), 0);
  EXPECT_EQ(rknn_matmul_set_core_mask(ctx, static_cast<rknn_core_mask>(5)), RKNN_ERR_FAIL);
  EXPECT_EQ(rknn_matmul_destroy(ctx), 0);
  setenv("RKNN_STRICT", "1", 1);
  ASSERT_EQ(rknn_matmul_create(&ctx, &wanted, &io), 0);
  EXPECT_EQ(rknn_matmul_set_core_mask(ctx, RKNN_NPU_CORE_0_1_2), RKNN_ERR_FAIL);
  EXPECT_EQ(rknn_matmul_set_core_mask(ctx, RKNN_NPU_CORE_1), 0);
  EXPECT_EQ(rknn_matmul_destroy(ctx), 0);
}

}  // namespace

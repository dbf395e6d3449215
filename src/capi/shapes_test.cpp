// SPDX-License-Identifier: Apache-2.0
// Models with several shapes, with a batch, and with the weights of another context.
#include <gtest/gtest.h>

#include <memory>

#include "capi/test_context.h"
#include "runtime/device/memory.h"

namespace rk::capi {
namespace {

using runtime::dynamic_picture_program;
using runtime::heavy_program;
using runtime::picture_pixels;
using runtime::picture_program;
using runtime::picture_scores;

int choose(const TestContext& context, uint32_t height, uint32_t width) {
  rknn_tensor_attr attr{};
  attr.n_dims = 4;
  attr.fmt = RKNN_TENSOR_NHWC;
  attr.dims[0] = 1;
  attr.dims[1] = height;
  attr.dims[2] = width;
  attr.dims[3] = 3;
  return rknn_set_input_shapes(context.handle, 1, &attr);
}

constexpr std::pair<uint32_t, uint32_t> kShapes[] = {{3, 3}, {2, 4}, {1, 2}, {2, 4}, {3, 3}};

TEST(DynamicShapeTest, RangeListsEveryShapeWithTheLargestFirst) {
  const TestContext context(0, dynamic_picture_program());
  const auto range = std::make_unique<rknn_input_range>();
  ASSERT_EQ(rknn_query(context.handle, RKNN_QUERY_INPUT_DYNAMIC_RANGE, range.get(), sizeof *range),
            RKNN_SUCC);
  EXPECT_EQ(range->shape_number, 3u);
  EXPECT_EQ(range->n_dims, 4u);
  EXPECT_EQ(range->fmt, RKNN_TENSOR_NHWC);
  EXPECT_STREQ(range->name, "image");
  EXPECT_EQ(std::vector<uint32_t>(range->dyn_range[0], range->dyn_range[0] + 4),
            (std::vector<uint32_t>{1, 3, 3, 3}));
  EXPECT_EQ(std::vector<uint32_t>(range->dyn_range[2], range->dyn_range[2] + 4),
            (std::vector<uint32_t>{1, 1, 2, 3}));
  EXPECT_EQ(context.attr(RKNN_QUERY_INPUT_ATTR).dims[1], 3u) << "the largest, before any choice";
}

TEST(DynamicShapeTest, CopyingFlowFollowsTheShapeInForce) {
  const TestContext context(0, dynamic_picture_program());
  for (const auto& [height, width] : kShapes) {
    ASSERT_EQ(choose(context, height, width), RKNN_SUCC);
    const rknn_tensor_attr in = context.attr(RKNN_QUERY_CURRENT_INPUT_ATTR);
    EXPECT_EQ(in.dims[1], height);
    EXPECT_EQ(in.dims[2], width);
    const rknn_tensor_attr out = context.attr(RKNN_QUERY_CURRENT_OUTPUT_ATTR);
    EXPECT_EQ(out.n_elems, 2 * height * width);
    ASSERT_EQ(context.set(picture_pixels(height * width)), RKNN_SUCC);
    ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
    EXPECT_EQ(context.scores(), picture_scores(height * width));
  }
}

TEST(DynamicShapeTest, ZeroCopyFlowUsesOneBufferOfTheLargestSize) {
  const TestContext context(0, dynamic_picture_program());
  rknn_tensor_mem* const in = rknn_create_mem(context.handle, 4096);
  rknn_tensor_mem* const out = rknn_create_mem(context.handle, 4096);
  for (const auto& [height, width] : kShapes) {
    ASSERT_EQ(choose(context, height, width), RKNN_SUCC);
    rknn_tensor_attr in_attr = context.attr(RKNN_QUERY_CURRENT_INPUT_ATTR);
    rknn_tensor_attr out_attr = context.attr(RKNN_QUERY_CURRENT_OUTPUT_ATTR);
    in_attr.type = RKNN_TENSOR_UINT8;
    ASSERT_EQ(rknn_set_io_mem(context.handle, in, &in_attr), RKNN_SUCC);
    ASSERT_EQ(rknn_set_io_mem(context.handle, out, &out_attr), RKNN_SUCC);
    const std::vector<uint8_t> pixels = picture_pixels(height * width);
    for (uint32_t row = 0; row < height; ++row) {
      std::memcpy(static_cast<uint8_t*>(in->virt_addr) + row * in_attr.w_stride * 3,
                  pixels.data() + row * width * 3, width * 3);
    }
    ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
    const auto* const scores = static_cast<const int8_t*>(out->virt_addr);
    EXPECT_EQ(std::vector<int8_t>(scores, scores + 2 * height * width),
              picture_scores(height * width));
  }
  EXPECT_EQ(rknn_destroy_mem(context.handle, in), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy_mem(context.handle, out), RKNN_SUCC);
}

TEST(DynamicShapeTest, NativeAttributesAreThoseOfTheShapeInForce) {
  const TestContext context(0, dynamic_picture_program());
  ASSERT_EQ(choose(context, 1, 2), RKNN_SUCC);
  const rknn_tensor_attr native = context.attr(RKNN_QUERY_CURRENT_NATIVE_OUTPUT_ATTR);
  EXPECT_EQ(native.fmt, RKNN_TENSOR_NC1HWC2);
  EXPECT_EQ(native.dims[2], 1u);
  EXPECT_EQ(native.dims[3], 2u);
  EXPECT_EQ(context.attr(RKNN_QUERY_CURRENT_NATIVE_INPUT_ATTR).fmt, RKNN_TENSOR_NHWC);
}

TEST(DynamicShapeTest, ANewShapeForgetsInputsAndResults) {
  const TestContext context(0, dynamic_picture_program());
  ASSERT_EQ(context.set(picture_pixels(9)), RKNN_SUCC);
  ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
  ASSERT_EQ(choose(context, 3, 3), RKNN_SUCC);
  EXPECT_EQ(context.scores(), picture_scores(9)) << "the shape in force already: nothing changes";
  ASSERT_EQ(choose(context, 2, 4), RKNN_SUCC);
  EXPECT_TRUE(context.scores().empty());
}

TEST(DynamicShapeTest, ShapesThatAreNotListedAreNamed) {
  const TestContext context(0, dynamic_picture_program());
  const LogCapture log;
  EXPECT_EQ(choose(context, 5, 5), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(log.has("are not among those the model was built for"));
  EXPECT_TRUE(log.has("[1,3,1,2]"));
  rknn_tensor_attr attr{};
  attr.n_dims = 77;
  EXPECT_EQ(rknn_set_input_shapes(context.handle, 1, &attr), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_set_input_shapes(context.handle, 0, &attr), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_set_input_shapes(context.handle, 1, nullptr), RKNN_ERR_PARAM_INVALID);
}

TEST(DynamicShapeTest, DynamicModelsAreNotDuplicated) {
  const TestContext context(0, dynamic_picture_program());
  rknn_context handle = context.handle, copy = 0;
  EXPECT_EQ(rknn_dup_context(&handle, &copy), RKNN_ERR_FAIL);
}

TEST(DynamicShapeTest, OneArenaHoldsTheLargestPlanAndWeightsCountOnce) {
  const TestContext context(0, dynamic_picture_program());
  const TestContext largest(0, picture_program({}, "rk3588", 3, 3));
  EXPECT_EQ(context.memory().total_weight_size, largest.memory().total_weight_size);
  EXPECT_GE(context.memory().total_internal_size, largest.memory().total_internal_size);
}

program::Program batch_program(int32_t batch) {
  program::Program out = picture_program();
  out.batch = batch;
  return out;
}

// Every sample another rotation of the pixels.
std::vector<uint8_t> batch_pixels(size_t batch) {
  std::vector<uint8_t> out;
  for (size_t sample = 0; sample < batch; ++sample) {
    std::vector<uint8_t> one = picture_pixels();
    std::rotate(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(3 * (sample % 8)),
                one.end());
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

TEST(BatchTest, AttributesAreThoseOfTheWholeBatch) {
  const TestContext context(0, batch_program(3)), one;
  const rknn_tensor_attr in = context.attr(RKNN_QUERY_INPUT_ATTR);
  EXPECT_EQ(in.dims[0], 3u);
  EXPECT_EQ(in.size, 3 * one.attr(RKNN_QUERY_INPUT_ATTR).size);
  EXPECT_EQ(in.size_with_stride, 3 * one.attr(RKNN_QUERY_INPUT_ATTR).size_with_stride);
  EXPECT_EQ(context.attr(RKNN_QUERY_NATIVE_OUTPUT_ATTR).dims[0], 3u);
}

TEST(BatchTest, EverySampleIsAsIfRunAlone) {
  for (const int32_t batch : {2, 3, 7}) {
    const std::vector<uint8_t> pixels = batch_pixels(static_cast<size_t>(batch));
    std::vector<int8_t> expected;
    const TestContext one;
    for (size_t sample = 0; sample < static_cast<size_t>(batch); ++sample) {
      const auto* const from = pixels.data() + sample * 24;
      ASSERT_EQ(one.set({from, from + 24}), RKNN_SUCC);
      ASSERT_EQ(rknn_run(one.handle, nullptr), RKNN_SUCC);
      const std::vector<int8_t> scores = one.scores();
      expected.insert(expected.end(), scores.begin(), scores.end());
    }
    const TestContext context(0, batch_program(batch));
    for (const int cores : {0, 1, 2, 3}) {
      if (cores != 0) {
        ASSERT_EQ(rknn_set_batch_core_num(context.handle, cores), RKNN_SUCC);
      }
      ASSERT_EQ(context.set(pixels), RKNN_SUCC);
      ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
      EXPECT_EQ(context.scores(), expected) << batch << " samples, " << cores << " cores";
    }
  }
}

TEST(BatchTest, BoundMemoryHoldsSamplesWithExtraRows) {
  const TestContext context(0, batch_program(2));
  rknn_tensor_attr in = context.attr(RKNN_QUERY_INPUT_ATTR);
  rknn_tensor_attr out = context.attr(RKNN_QUERY_OUTPUT_ATTR);
  in.type = RKNN_TENSOR_UINT8;
  in.h_stride = 5;
  const uint32_t row_bytes = in.w_stride * 3;
  rknn_tensor_mem* const from = rknn_create_mem(context.handle, 2 * 5 * row_bytes);
  rknn_tensor_mem* const to = rknn_create_mem(context.handle, out.size_with_stride);
  ASSERT_EQ(rknn_set_io_mem(context.handle, from, &in), RKNN_SUCC);
  ASSERT_EQ(rknn_set_io_mem(context.handle, to, &out), RKNN_SUCC);
  const std::vector<uint8_t> pixels = batch_pixels(2);
  for (uint32_t sample = 0; sample < 2; ++sample) {
    for (uint32_t row = 0; row < 2; ++row) {
      std::memcpy(static_cast<uint8_t*>(from->virt_addr) + (sample * 5 + row) * row_bytes,
                  pixels.data() + (sample * 2 + row) * 12, 12);
    }
  }
  ASSERT_EQ(rknn_run(context.handle, nullptr), RKNN_SUCC);
  const std::vector<int8_t> first = picture_scores();
  EXPECT_EQ(std::memcmp(to->virt_addr, first.data(), first.size()), 0);
  EXPECT_EQ(static_cast<const int8_t*>(to->virt_addr)[16], first[1]) << "the second is rotated";
  EXPECT_EQ(rknn_destroy_mem(context.handle, from), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy_mem(context.handle, to), RKNN_SUCC);
}

std::vector<uint8_t> image_without_weights(const program::Program& program) {
  auto file = format::write_rknn(program, {.remove_weight = true});
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? std::move(file).value() : std::vector<uint8_t>{};
}

TEST(ShareWeightTest, AModelWithoutWeightsRunsWithThoseOfAnother) {
  std::vector<uint8_t> light = image_without_weights(heavy_program());
  EXPECT_LT(light.size() + 2000, image_of(heavy_program()).size());
  const auto size = static_cast<uint32_t>(light.size());
  rknn_context shared = 0;
  EXPECT_LT(rknn_init(&shared, light.data(), size, 0, nullptr), 0);
  EXPECT_LT(rknn_init(&shared, light.data(), size, RKNN_FLAG_SHARE_WEIGHT_MEM, nullptr), 0);
  std::vector<int8_t> expected;
  const auto result = [](rknn_context context) {
    std::vector<int8_t> values(64);
    for (size_t i = 0; i < 64; ++i) values[i] = static_cast<int8_t>(i * 5 % 17);
    rknn_input input{};
    input.buf = values.data();
    input.size = 64;
    input.type = RKNN_TENSOR_INT8;
    EXPECT_EQ(rknn_inputs_set(context, 1, &input), RKNN_SUCC);
    EXPECT_EQ(rknn_run(context, nullptr), RKNN_SUCC);
    rknn_output output{};
    EXPECT_EQ(rknn_outputs_get(context, 1, &output, nullptr), RKNN_SUCC);
    const auto* const from = static_cast<const int8_t*>(output.buf);
    return std::vector<int8_t>(from, from + output.size);
  };
  {
    const TestContext donor(0, heavy_program());
    expected = result(donor.handle);
    // Applications fill in the context alone.
    rknn_init_extend extend;
    std::memset(&extend, 0xa5, sizeof extend);
    extend.ctx = donor.handle;
    ASSERT_EQ(rknn_init(&shared, light.data(), size, RKNN_FLAG_SHARE_WEIGHT_MEM, &extend),
              RKNN_SUCC);
  }
  EXPECT_EQ(result(shared), expected) << "the donor is gone, its weights are not";
  EXPECT_EQ(rknn_destroy(shared), RKNN_SUCC);
}

TEST(ShareWeightTest, AnotherNetworkIsNoDonor) {
  std::vector<uint8_t> light = image_without_weights(heavy_program());
  const TestContext other;
  rknn_init_extend extend{};
  extend.ctx = other.handle;
  rknn_context shared = 0;
  const LogCapture log;
  EXPECT_EQ(rknn_init(&shared, light.data(), static_cast<uint32_t>(light.size()),
                      RKNN_FLAG_SHARE_WEIGHT_MEM, &extend),
            RKNN_ERR_MODEL_INVALID);
  EXPECT_TRUE(log.has("both must be built from the same network"));
  rknn_mem_size memory{};
  ASSERT_EQ(rknn_init(&shared, light.data(), static_cast<uint32_t>(light.size()),
                      RKNN_FLAG_COLLECT_MODEL_INFO_ONLY, nullptr),
            RKNN_SUCC);
  EXPECT_EQ(rknn_query(shared, RKNN_QUERY_MEM_SIZE, &memory, sizeof memory), RKNN_SUCC);
  EXPECT_GE(memory.total_weight_size, 64u * 32u);
  EXPECT_EQ(rknn_destroy(shared), RKNN_SUCC);
}

}  // namespace
}  // namespace rk::capi

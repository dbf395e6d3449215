// SPDX-License-Identifier: Apache-2.0
// What the interface costs beside the work itself: one 1x1 convolution on 224x224x3 bytes, one thread, outputs as
// stored. The work is the conversion of the input, the convolution and the conversion of the output, called directly.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "rknn_api.h"
#include "runtime/host/plan.h"
#include "runtime/session/convert.h"
#include "tests/e2e/figure.h"
#include "tests/runtime/models.h"

namespace rk::under_load {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kSide = 224;
constexpr int64_t kOutChannels = 3;

template <typename Work>
double median_us(int repeats, const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const Clock::time_point start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// The same work without the interface.
class Direct {
 public:
  Direct() : program_(conv_program(3, kSide, 1, kOutChannels)) {
    auto plan = runtime::host::make_plan(program_, program_.main_variant(), constants_);
    EXPECT_TRUE(plan.ok());
    plan_ = std::move(plan).value();
    arena_ = Buffer::make(plan_.arena_bytes);
  }
  void run(const std::vector<uint8_t>& from, std::vector<uint8_t>& to) {
    const program::Variant& variant = program_.main_variant();
    const auto in = static_cast<size_t>(variant.inputs[0]);
    const auto out = static_cast<size_t>(variant.outputs[0]);
    const auto place = [&](size_t i) {
      return runtime::host::host_view(variant.tensors[i], plan_.tensors[i],
                                      arena_.data() + plan_.tensors[i].offset_in_arena);
    };
    const auto in_extents = runtime::picture_extents(variant.tensors[in].shape);
    const auto out_extents = runtime::picture_extents(variant.tensors[out].shape);
    runtime::convert(
        in_extents,
        {DType::kU8, 0, 0, runtime::nhwc_strides(in_extents), const_cast<uint8_t*>(from.data())},
        place(in), {}, &pool_);
    const runtime::host::StepCall call{plan_.tensors, arena_.data(), &pool_, &scratch_};
    EXPECT_TRUE(plan_.steps[0](call).ok());
    const runtime::ElementView stored = place(out);
    runtime::convert(out_extents, stored,
                     {stored.dtype, stored.scale, stored.zero_point,
                      runtime::nchw_strides(out_extents), to.data()},
                     {}, &pool_);
  }

 private:
  program::Program program_;
  runtime::host::PackedConstants constants_;
  runtime::host::HostPlan plan_;
  Buffer arena_;
  ThreadPool pool_{1};
  runtime::host::ScratchTensors scratch_;
};

TEST(Overhead, CallsCostLittleBesideTheirKernels) {
  setenv("RKNN_NUM_THREADS", "1", 1);
  std::vector<uint8_t> image = image_of(conv_program(3, kSide, 1, kOutChannels));
  rknn_context context = 0;
  ASSERT_EQ(rknn_init(&context, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
            RKNN_SUCC);
  std::vector<uint8_t> picture(kSide * kSide * 3), result(kSide * kSide * kOutChannels),
      direct_result(result.size());
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<uint8_t>(i * 7 % 256);
  rknn_input input{};
  input.buf = picture.data();
  input.size = static_cast<uint32_t>(picture.size());
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  rknn_output output{};
  output.is_prealloc = 1;
  output.buf = result.data();
  output.size = static_cast<uint32_t>(result.size());
  const auto api = [&] {
    rknn_inputs_set(context, 1, &input);
    rknn_run(context, nullptr);
    rknn_outputs_get(context, 1, &output, nullptr);
  };
  Direct direct;
  const auto work = [&] { direct.run(picture, direct_result); };
  constexpr int kRepeats = 400;
  // Other processes only ever add time: the best of several rounds of each.
  double total = 1e9, kernels = 1e9;
  for (int round = 0; round < 5; ++round) {
    total = std::min(total, median_us(kRepeats, api));
    kernels = std::min(kernels, median_us(kRepeats, work));
  }
  EXPECT_EQ(std::memcmp(result.data(), direct_result.data(), result.size()), 0);

  // Zero-copy: the output is bound in its native form, the input as pixels.
  rknn_tensor_attr in_attr{}, out_attr{};
  ASSERT_EQ(rknn_query(context, RKNN_QUERY_INPUT_ATTR, &in_attr, sizeof in_attr), RKNN_SUCC);
  ASSERT_EQ(rknn_query(context, RKNN_QUERY_NATIVE_OUTPUT_ATTR, &out_attr, sizeof out_attr),
            RKNN_SUCC);
  in_attr.type = RKNN_TENSOR_UINT8;
  rknn_tensor_mem* const in = rknn_create_mem(context, in_attr.size_with_stride);
  rknn_tensor_mem* const out = rknn_create_mem(context, out_attr.size_with_stride);
  ASSERT_EQ(rknn_set_io_mem(context, in, &in_attr), RKNN_SUCC);
  ASSERT_EQ(rknn_set_io_mem(context, out, &out_attr), RKNN_SUCC);
  std::memcpy(in->virt_addr, picture.data(), picture.size());
  const double zero_copy = median_us(kRepeats, [&] { rknn_run(context, nullptr); });
  rknn_destroy_mem(context, in);
  rknn_destroy_mem(context, out);
  EXPECT_EQ(rknn_destroy(context), RKNN_SUCC);
  unsetenv("RKNN_NUM_THREADS");
  std::printf("general flow %.1f us, kernels alone %.1f us, zero-copy run %.1f us\n", total,
              kernels, zero_copy);
  if (kSanitized) return;
  e2e::figure_at_most("inputs_set + run + outputs_get beyond the kernels, us", total - kernels, 15);
  e2e::figure_at_most("zero-copy run / general flow", zero_copy / total, 1.0);
}

TEST(Overhead, ADuplicateOfATenMegabyteModelTakesUnderAMillisecond) {
  std::vector<uint8_t> image = image_of(conv_program(1088, 8, 3, 1088));
  EXPECT_GT(image.size(), 10u << 20);
  rknn_context context = 0, copy = 0;
  ASSERT_EQ(rknn_init(&context, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
            RKNN_SUCC);
  const double us = median_us(50, [&] {
    EXPECT_EQ(rknn_dup_context(&context, &copy), RKNN_SUCC);
    EXPECT_EQ(rknn_destroy(copy), RKNN_SUCC);
  });
  EXPECT_EQ(rknn_destroy(context), RKNN_SUCC);
  if (kSanitized) return;
  e2e::figure_at_most("rknn_dup_context and rknn_destroy, 10 MB model, us", us, 1000);
}

}  // namespace
}  // namespace rk::under_load

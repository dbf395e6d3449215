// SPDX-License-Identifier: Apache-2.0
// The vendor's sample files through the C API, as an application runs them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "evaluator/evaluate.h"
#include "frontends/frontend.h"
#include "media/picture.h"
#include "ops/registry.h"
#include "rknn_api.h"
#include "tests/e2e/figure.h"
#include "tests/vendor/samples.h"
#include "tests/vendor/session_run.h"

namespace rk::vendor {
namespace {

using e2e::figure_at_least;
using e2e::figure_at_most;
using e2e::figure_holds;

class Context {
 public:
  explicit Context(std::vector<uint8_t> file, uint32_t flags = 0) {
    code_ = rknn_init(&context_, file.data(), static_cast<uint32_t>(file.size()), flags, nullptr);
  }
  ~Context() {
    if (code_ == RKNN_SUCC) rknn_destroy(context_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int code() const { return code_; }
  rknn_context get() const { return context_; }

  rknn_tensor_attr attr(rknn_query_cmd query, uint32_t index) const {
    rknn_tensor_attr attr{};
    attr.index = index;
    EXPECT_EQ(rknn_query(context_, query, &attr, sizeof attr), RKNN_SUCC);
    return attr;
  }

  // uint8 NHWC inputs; the outputs' stored elements.
  std::vector<std::vector<uint8_t>> run(const std::vector<std::vector<uint8_t>>& inputs) const {
    std::vector<rknn_input> in(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      in[i] = {};
      in[i].index = static_cast<uint32_t>(i);
      in[i].buf = const_cast<uint8_t*>(inputs[i].data());
      in[i].size = static_cast<uint32_t>(inputs[i].size());
      in[i].type = RKNN_TENSOR_UINT8;
      in[i].fmt = RKNN_TENSOR_NHWC;
    }
    EXPECT_EQ(rknn_inputs_set(context_, static_cast<uint32_t>(in.size()), in.data()), RKNN_SUCC);
    EXPECT_EQ(rknn_run(context_, nullptr), RKNN_SUCC);
    rknn_input_output_num count{};
    EXPECT_EQ(rknn_query(context_, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count), RKNN_SUCC);
    std::vector<rknn_output> out(count.n_output);
    EXPECT_EQ(rknn_outputs_get(context_, count.n_output, out.data(), nullptr), RKNN_SUCC);
    std::vector<std::vector<uint8_t>> result;
    for (const rknn_output& output : out) {
      const auto* from = static_cast<const uint8_t*>(output.buf);
      result.emplace_back(from, from + output.size);
    }
    rknn_outputs_release(context_, count.n_output, out.data());
    return result;
  }

 private:
  rknn_context context_ = 0;
  int code_ = 0;
};

std::vector<uint32_t> dims(const rknn_tensor_attr& attr) {
  return {attr.dims, attr.dims + attr.n_dims};
}

// uint8 HWC to f32 NCHW.
Tensor float_picture(const std::vector<uint8_t>& pixels, int64_t channels, int64_t extent) {
  Tensor out = Tensor::make({DType::kF32, {1, channels, extent, extent}});
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < extent * extent; ++i) {
      out.mutable_data<float>()[c * extent * extent + i] =
          pixels[static_cast<size_t>(i * channels + c)];
    }
  }
  return out;
}

TEST(VendorFilesTest, MultipleInputIsWithinElevenTenthsOfAStepOfItsFloatNetwork) {
  RK_NEEDS_SAMPLES();
  const std::vector<uint8_t> grey = sample("multiple_input_input1.bin");
  const std::vector<uint8_t> color = sample("multiple_input_input2.bin");
  ASSERT_EQ(grey.size(), 128u * 128);
  ASSERT_EQ(color.size(), 3u * 128 * 128);

  auto graph =
      frontends::import_onnx(sample_folder() + "/multiple_input_test.onnx", {}, ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  std::vector<Tensor> inputs;
  for (const Value* input : graph->inputs()) {
    inputs.push_back(input->shape()[1] == 1 ? float_picture(grey, 1, 128)
                                            : float_picture(color, 3, 128));
  }
  const auto wanted = evaluator::evaluate(*graph, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status().message();

  std::vector<std::vector<uint8_t>> bytes;
  for (const char* chip : {"RK3588", "RK3566_RK3568"}) {
    const Context context(sample(str("multiple_input_", chip, ".rknn")));
    ASSERT_EQ(context.code(), RKNN_SUCC);
    const rknn_tensor_attr attr = context.attr(RKNN_QUERY_OUTPUT_ATTR, 0);
    const auto outputs = context.run({grey, color});
    ASSERT_EQ(outputs.size(), 1u);
    ASSERT_EQ(outputs[0].size(), 8u * 128 * 128);
    double worst = 0;
    for (size_t i = 0; i < outputs[0].size(); ++i) {
      const double got = (static_cast<int8_t>(outputs[0][i]) - attr.zp) * double{attr.scale};
      const double ideal = (*wanted)[0].data<float>()[i];
      worst = std::max(worst, std::abs(got - ideal) / double{attr.scale});
    }
    figure_at_most(str("multiple_input ", chip, ": worst distance from float, in output steps"),
                   worst, 1.1);
    bytes.push_back(outputs[0]);
  }
  figure_holds("multiple_input: RK3588 and RK3566 files give the same bytes", bytes[0] == bytes[1],
               str(bytes[0].size(), " bytes"), "identical");
}

TEST(VendorFilesTest, MultipleInputAnswersItsQueries) {
  RK_NEEDS_SAMPLES();
  const Context context(sample("multiple_input_RK3588.rknn"));
  ASSERT_EQ(context.code(), RKNN_SUCC);
  const rknn_tensor_attr grey = context.attr(RKNN_QUERY_INPUT_ATTR, 0);
  EXPECT_STREQ(grey.name, "input.1");
  EXPECT_EQ(dims(grey), (std::vector<uint32_t>{1, 128, 128, 1}));
  EXPECT_EQ(grey.fmt, RKNN_TENSOR_NHWC);
  EXPECT_EQ(grey.type, RKNN_TENSOR_INT8);
  EXPECT_EQ(grey.zp, -128);
  EXPECT_FLOAT_EQ(grey.scale, 1.0f);
  EXPECT_EQ(grey.w_stride, 128u);
  EXPECT_EQ(grey.size_with_stride, 16384u);
  const rknn_tensor_attr out = context.attr(RKNN_QUERY_OUTPUT_ATTR, 0);
  EXPECT_STREQ(out.name, "8");
  EXPECT_EQ(dims(out), (std::vector<uint32_t>{1, 8, 128, 128}));
  EXPECT_EQ(out.fmt, RKNN_TENSOR_NCHW);
  EXPECT_EQ(out.zp, 20);
  EXPECT_FLOAT_EQ(out.scale, 4.142374515533447f);
  const rknn_tensor_attr native = context.attr(RKNN_QUERY_NATIVE_OUTPUT_ATTR, 0);
  EXPECT_EQ(dims(native), (std::vector<uint32_t>{1, 2, 128, 128, 16}));
  EXPECT_EQ(native.size_with_stride, 524288u);
  rknn_mem_size memory{};
  ASSERT_EQ(rknn_query(context.get(), RKNN_QUERY_MEM_SIZE, &memory, sizeof memory), RKNN_SUCC);
  EXPECT_EQ(memory.total_internal_size, 1114112u);
  rknn_sdk_version version{};
  EXPECT_EQ(rknn_query(context.get(), RKNN_QUERY_SDK_VERSION, &version, sizeof version), RKNN_SUCC);
}

// The middle panel of the vendor's figure shows the mask in dark red (128, 0, 0) on black. Its borders are found on the
// white page; a pixel is person where red is at least 64, half way between the two colors.
std::vector<bool> silhouette(const media::Picture& page) {
  constexpr int kDark = 160, kPersonRed = 64, kExtent = 192;
  const auto channel = [&](int x, int y, int c) {
    return page.pixels[static_cast<size_t>((y * page.width + x) * 3 + c)];
  };
  const auto on_panel = [&](int x, int y) { return channel(x, y, 1) < kDark; };
  const int third = page.width / 3, middle_y = page.height / 2;
  // The panel covers the middle of the page; walk outwards from there.
  int left = page.width / 2, right = left, top = middle_y, bottom = middle_y;
  while (left > third && on_panel(left - 1, middle_y)) --left;
  while (right < 2 * third && on_panel(right + 1, middle_y)) ++right;
  while (top > 0 && on_panel(left + 4, top - 1)) --top;
  while (bottom + 1 < page.height && on_panel(left + 4, bottom + 1)) ++bottom;
  EXPECT_GT(right - left, 250);
  EXPECT_NEAR(right - left, bottom - top, 3);
  std::vector<bool> mask;
  for (int y = 0; y < kExtent; ++y) {
    for (int x = 0; x < kExtent; ++x) {
      const int at_x = left + static_cast<int>((x + 0.5) * (right - left + 1) / kExtent);
      const int at_y = top + static_cast<int>((y + 0.5) * (bottom - top + 1) / kExtent);
      mask.push_back(channel(at_x, at_y, 0) >= kPersonRed);
    }
  }
  return mask;
}

TEST(VendorFilesTest, PersonSegmentationAgreesBetweenChipsAndWithTheVendorsPicture) {
  RK_NEEDS_SAMPLES();
  const auto pixels = portrait_pixels();
  ASSERT_TRUE(pixels.ok()) << pixels.status().message();
  std::vector<std::vector<uint8_t>> masks;
  for (const char* chip : {"RK3588", "RK3566_RK3568"}) {
    if (is_subset() && !masks.empty()) break;
    const Context context(sample(str("pp_human_seg_", chip, ".rknn")));
    ASSERT_EQ(context.code(), RKNN_SUCC);
    const auto outputs = context.run({*pixels});
    ASSERT_EQ(outputs.size(), 1u);
    ASSERT_EQ(outputs[0].size(), 192u * 192 * 8);
    masks.push_back(outputs[0]);
  }
  const auto page =
      media::read_picture(sample_folder() + "/pp_human_seg_result.jpg", media::Color::kRgb);
  ASSERT_TRUE(page.ok());
  const std::vector<bool> wanted = silhouette(*page);
  for (size_t chip = 0; chip < masks.size(); ++chip) {
    size_t equal = 0, persons = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const bool person = load<int64_t>(masks[chip].data() + i * 8) == 1;
      equal += person == wanted[i];
      persons += person;
    }
    EXPECT_GT(persons, wanted.size() / 50);
    figure_at_least(str("pp_human_seg ", chip == 0 ? "RK3588" : "RK3566",
                        ": share of mask pixels equal to the vendor's picture (red >= 64)"),
                    static_cast<double>(equal) / static_cast<double>(wanted.size()), 0.98);
  }
}

TEST(VendorFilesTest, PersonSegmentationGivesIdenticalLogitsFromBothChipsFiles) {
  RK_NEEDS_SAMPLES();
  if (is_subset()) GTEST_SKIP() << "two whole networks: in the release build only";
  const auto pixels = portrait_pixels();
  ASSERT_TRUE(pixels.ok());
  std::vector<Tensor> logits, enlarged;
  for (const char* chip : {"RK3588", "RK3566_RK3568"}) {
    const std::vector<uint8_t> file = sample(str("pp_human_seg_", chip, ".rknn"));
    const auto model = format::read_model(file);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const format::FileGraph& graph = model->graphs.front();
    const format::FileTensor& in = graph.tensors[static_cast<size_t>(graph.inputs[0])];
    const auto run =
        run_with_tensors(file, {quantized_portrait(*pixels, in.scale[0], in.zero_point[0])});
    ASSERT_TRUE(run.ok()) << run.status().message();
    // The operand of ArgMax, and the convolution that the last resize enlarges.
    for (const format::FileNode& node : graph.nodes) {
      if (node.type != "ArgMax") continue;
      enlarged.push_back(run->tensors.at(node.inputs[0]));
      for (const format::FileNode& resize : graph.nodes) {
        if (resize.type == "Resize" && resize.outputs[0] == node.inputs[0]) {
          logits.push_back(run->tensors.at(resize.inputs[0]));
        }
      }
    }
  }
  ASSERT_EQ(logits.size(), 2u);
  ASSERT_EQ(enlarged.size(), 2u);
  const auto equal = [](const Tensor& a, const Tensor& b) {
    return a.type() == b.type() &&
           std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin());
  };
  figure_holds("pp_human_seg: logits of the RK3588 and RK3566 files", equal(logits[0], logits[1]),
               str(logits[0].size_bytes(), " bytes"), "identical");
  figure_holds("pp_human_seg: enlarged logits of both files", equal(enlarged[0], enlarged[1]),
               str(enlarged[0].size_bytes(), " bytes"), "identical");
}

void expect_dual_residual_queries(const Context& context, bool is_rk3588, size_t& right) {
  for (uint32_t i = 0; i < 2; ++i) {
    const rknn_tensor_attr in = context.attr(RKNN_QUERY_INPUT_ATTR, i);
    EXPECT_STREQ(in.name, i == 0 ? "0" : "1");
    EXPECT_EQ(dims(in), (std::vector<uint32_t>{1, 10, 10, 3}));
    EXPECT_EQ(in.fmt, RKNN_TENSOR_NHWC);
    EXPECT_EQ(in.type, RKNN_TENSOR_FLOAT16);
    EXPECT_EQ(in.n_elems, 300u);
    EXPECT_EQ(in.size, 600u);
    EXPECT_EQ(in.w_stride, is_rk3588 ? 16u : 12u);
    EXPECT_EQ(in.size_with_stride, is_rk3588 ? 960u : 720u);
    const rknn_tensor_attr out = context.attr(RKNN_QUERY_OUTPUT_ATTR, i);
    EXPECT_STREQ(out.name, i == 0 ? "2" : "3");
    EXPECT_EQ(dims(out), (std::vector<uint32_t>{1, 3, 10, 10}));
    EXPECT_EQ(out.fmt, RKNN_TENSOR_NCHW);
    EXPECT_EQ(out.type, RKNN_TENSOR_FLOAT16);
    const rknn_tensor_attr native = context.attr(RKNN_QUERY_NATIVE_OUTPUT_ATTR, i);
    EXPECT_EQ(dims(native), (std::vector<uint32_t>{1, 3, 10, 10}));
    EXPECT_EQ(native.size_with_stride, is_rk3588 ? 1600u : 800u);
    right += 3;
  }
  rknn_input_output_num count{};
  EXPECT_EQ(rknn_query(context.get(), RKNN_QUERY_IN_OUT_NUM, &count, sizeof count), RKNN_SUCC);
  EXPECT_EQ(count.n_input, 2u);
  EXPECT_EQ(count.n_output, 2u);
  rknn_mem_size memory{};
  EXPECT_EQ(rknn_query(context.get(), RKNN_QUERY_MEM_SIZE, &memory, sizeof memory), RKNN_SUCC);
  EXPECT_EQ(memory.total_internal_size, is_rk3588 ? 9920u : 5536u);
  // Pre_weight0 and 1, and the scratch of the barrier on RK3588: rounded up to 64 bytes each.
  EXPECT_EQ(memory.total_weight_size, is_rk3588 ? 2176u : 128u);
  right += 2;
}

TEST(VendorFilesTest, DualResidualAnswersQueriesAndRunNamesItsCustomOperator) {
  RK_NEEDS_SAMPLES();
  size_t right = 0;
  for (const char* chip : {"RK3588", "RK3566_RK3568"}) {
    for (const uint32_t flags : {uint32_t{0}, uint32_t{RKNN_FLAG_COLLECT_MODEL_INFO_ONLY}}) {
      const Context context(sample(str("dual_residual_", chip, ".rknn")), flags);
      ASSERT_EQ(context.code(), RKNN_SUCC);
      expect_dual_residual_queries(context, std::string(chip) == "RK3588", right);
    }
  }
  figure_holds("dual_residual: queries answered as the file says", !::testing::Test::HasFailure(),
               str(right, " answers"), "all right");
  const std::vector<uint8_t> file = sample("dual_residual_RK3588.rknn");
  const std::vector<uint8_t> zeros(600);
  const auto run = run_with_tensors(file, {zeros, zeros});
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.status().message().find("cstDualResidual"), std::string::npos)
      << run.status().message();
  EXPECT_NE(run.status().message().find("rknn_register_custom_ops"), std::string::npos);
}

}  // namespace
}  // namespace rk::vendor

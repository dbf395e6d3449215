// SPDX-License-Identifier: Apache-2.0
// One file with several shapes against one static build per shape: every result must be the same bytes. An image axis,
// a sequence axis (inputs of two and three dimensions) and the batch axis; copying and zero-copy; float16 and int8.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>

#include "base/file.h"
#include "base/npy.h"
#include "rknn_api.h"
#include "tests/frontends/onnx/model_builder.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::e2e {
namespace {

using frontends::testing::kInt64;
using frontends::testing::kUnknown;
using frontends::testing::ModelWriter;
using frontends::testing::set_ints;
using toolkit::ShapeSet;

std::vector<float> numbers(size_t count, float scale) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = scale * (static_cast<float>(i * 37 % 101) - 50) / 50;
  return out;
}

std::string write_model(const ModelWriter& writer, const std::string& name) {
  const std::string path = testing::TempDir() + name;
  const std::string bytes = writer.model->SerializeAsString();
  EXPECT_TRUE(
      write_file(path, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}).ok());
  return path;
}

// [n,3,h,w] -> strided 3x3, Relu, pooling, 1x1.
std::string image_model() {
  ModelWriter m;
  m.input("x", {kUnknown, 3, kUnknown, kUnknown}).output("y");
  m.floats("w1", {8, 3, 3, 3}, numbers(216, 0.2f));
  m.floats("b1", {8}, numbers(8, 0.5f));
  m.floats("w2", {20, 8, 1, 1}, numbers(160, 0.3f));
  auto& conv = m.node("Conv", {"x", "w1", "b1"}, {"c"}, "first");
  set_ints(conv, "pads", {1, 1, 1, 1});
  set_ints(conv, "strides", {2, 2});
  m.node("Relu", {"c"}, {"r"}, "relu");
  auto& pool = m.node("MaxPool", {"r"}, {"p"}, "pool");
  set_ints(pool, "kernel_shape", {2, 2});
  set_ints(pool, "strides", {2, 2});
  m.node("Conv", {"p", "w2"}, {"y"}, "last");
  return write_model(m, "dynamic_image.onnx");
}

// Pixels do not mix, so that the ranges of two pictures with the same pixels are the same.
std::string pixel_model() {
  ModelWriter m;
  m.input("x", {1, 3, kUnknown, kUnknown}).output("y");
  m.floats("w1", {8, 3, 1, 1}, numbers(24, 0.02f));
  m.floats("w2", {4, 8, 1, 1}, numbers(32, 0.3f));
  m.node("Conv", {"x", "w1"}, {"c"}, "first");
  m.node("Relu", {"c"}, {"r"}, "relu");
  m.node("Conv", {"r", "w2"}, {"y"}, "last");
  return write_model(m, "dynamic_pixels.onnx");
}

// Tokens [1,l] through a table, plus [1,l,16], times [16,16].
std::string sequence_model() {
  ModelWriter m;
  m.input("ids", {1, kUnknown}, kInt64).input("x", {1, kUnknown, 16}).output("y");
  m.floats("table", {10, 16}, numbers(160, 1));
  m.floats("w", {16, 16}, numbers(256, 0.4f));
  m.node("Gather", {"table", "ids"}, {"e"}, "embed");
  m.node("Add", {"e", "x"}, {"s"}, "add");
  m.node("MatMul", {"s", "w"}, {"y"}, "project");
  return write_model(m, "dynamic_sequence.onnx");
}

struct Build {
  std::string model;
  std::vector<ShapeSet> dynamic;
  ShapeSet fixed;
  std::string dataset;
};

std::vector<uint8_t> built(const Build& build) {
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.dynamic_input = build.dynamic;
  Status status = toolkit.config(config);
  if (status.ok()) status = toolkit.load_onnx(build.model, {.input_size_list = build.fixed});
  if (status.ok()) {
    status = toolkit.build({.do_quantization = !build.dataset.empty(), .dataset = build.dataset});
  }
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status.ok()) return {};
  auto bytes = toolkit.rknn_bytes();
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? std::move(bytes).value() : std::vector<uint8_t>{};
}

size_t elements(const std::vector<int64_t>& shape) {
  size_t out = 1;
  for (const int64_t extent : shape) out *= static_cast<size_t>(extent);
  return out;
}

class Model {
 public:
  explicit Model(std::vector<uint8_t> bytes) {
    EXPECT_EQ(rknn_init(&context, bytes.data(), static_cast<uint32_t>(bytes.size()), 0, nullptr),
              RKNN_SUCC);
  }
  ~Model() { EXPECT_EQ(rknn_destroy(context), RKNN_SUCC); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void choose(const ShapeSet& set) const {
    std::vector<rknn_tensor_attr> attrs(set.size());
    for (size_t i = 0; i < set.size(); ++i) {
      const std::vector<int64_t>& s = set[i];
      const std::vector<int64_t> dims =
          s.size() == 4 ? std::vector<int64_t>{s[0], s[2], s[3], s[1]} : s;
      attrs[i].index = static_cast<uint32_t>(i);
      attrs[i].n_dims = static_cast<uint32_t>(dims.size());
      std::copy(dims.begin(), dims.end(), attrs[i].dims);
      attrs[i].fmt = s.size() == 4 ? RKNN_TENSOR_NHWC : RKNN_TENSOR_UNDEFINED;
    }
    EXPECT_EQ(rknn_set_input_shapes(context, static_cast<uint32_t>(attrs.size()), attrs.data()),
              RKNN_SUCC);
  }

  // Inputs are made from the shapes alone: f32 in model order, tokens for inputs of two dimensions.
  std::vector<uint8_t> run(const ShapeSet& set) const {
    std::vector<std::vector<float>> floats(set.size());
    std::vector<std::vector<int64_t>> tokens(set.size());
    std::vector<rknn_input> inputs(set.size());
    for (size_t i = 0; i < set.size(); ++i) {
      const size_t count = elements(set[i]);
      inputs[i].index = static_cast<uint32_t>(i);
      inputs[i].fmt = set[i].size() == 4 ? RKNN_TENSOR_NCHW : RKNN_TENSOR_UNDEFINED;
      if (set[i].size() == 2) {
        for (size_t k = 0; k < count; ++k) tokens[i].push_back(static_cast<int64_t>(k * 7 % 10));
        inputs[i].type = RKNN_TENSOR_INT64;
        inputs[i].buf = tokens[i].data();
        inputs[i].size = static_cast<uint32_t>(count * 8);
      } else {
        floats[i] = numbers(count, 100);
        inputs[i].type = RKNN_TENSOR_FLOAT32;
        inputs[i].buf = floats[i].data();
        inputs[i].size = static_cast<uint32_t>(count * 4);
      }
    }
    EXPECT_EQ(rknn_inputs_set(context, static_cast<uint32_t>(inputs.size()), inputs.data()),
              RKNN_SUCC);
    EXPECT_EQ(rknn_run(context, nullptr), RKNN_SUCC);
    rknn_output output{};
    EXPECT_EQ(rknn_outputs_get(context, 1, &output, nullptr), RKNN_SUCC);
    const auto* const from = static_cast<const uint8_t*>(output.buf);
    std::vector<uint8_t> out(from, from + output.size);
    EXPECT_EQ(rknn_outputs_release(context, 1, &output), RKNN_SUCC);
    return out;
  }

  rknn_tensor_attr attr(rknn_query_cmd command) const {
    rknn_tensor_attr out{};
    EXPECT_EQ(rknn_query(context, command, &out, sizeof out), RKNN_SUCC);
    return out;
  }

  rknn_context context = 0;
};

// Every shape twice and back, so that what a shape leaves behind would show.
void expect_same_as_static(const std::string& model, const std::vector<ShapeSet>& sets) {
  const Model dynamic(built({.model = model, .dynamic = sets, .fixed = {}, .dataset = ""}));
  std::vector<std::vector<uint8_t>> wanted;
  for (const ShapeSet& set : sets) {
    const Model fixed(built({.model = model, .dynamic = {}, .fixed = set, .dataset = ""}));
    wanted.push_back(fixed.run(set));
    ASSERT_FALSE(wanted.back().empty());
  }
  for (const size_t k : {0, 1, 2, 1, 0, 2}) {
    dynamic.choose(sets[k]);
    EXPECT_EQ(dynamic.run(sets[k]), wanted[k]) << "shapes " << k;
  }
}

TEST(DynamicShape, ImageAxisEqualsStaticBuilds) {
  expect_same_as_static(image_model(), {{{1, 3, 24, 16}}, {{1, 3, 64, 48}}, {{1, 3, 40, 20}}});
}

TEST(DynamicShape, BatchAxisEqualsStaticBuilds) {
  expect_same_as_static(image_model(), {{{4, 3, 16, 16}}, {{1, 3, 16, 16}}, {{2, 3, 16, 16}}});
}

TEST(DynamicShape, SequenceAxisEqualsStaticBuilds) {
  expect_same_as_static(sequence_model(),
                        {{{1, 4}, {1, 4, 16}}, {{1, 12}, {1, 12, 16}}, {{1, 7}, {1, 7, 16}}});
}

TEST(DynamicShape, ZeroCopyEqualsTheCopyingFlow) {
  const std::vector<ShapeSet> sets = {{{1, 3, 24, 16}}, {{1, 3, 64, 48}}, {{1, 3, 40, 20}}};
  const Model model(built({.model = image_model(), .dynamic = sets, .fixed = {}, .dataset = ""}));
  rknn_tensor_mem* const in = rknn_create_mem(model.context, 64 * 48 * 3 * 4);
  rknn_tensor_mem* const out = rknn_create_mem(model.context, 64 * 48 * 20 * 2);
  for (const ShapeSet& set : sets) {
    model.choose(set);
    const std::vector<uint8_t> wanted = model.run(set);
    rknn_tensor_attr in_attr = model.attr(RKNN_QUERY_CURRENT_INPUT_ATTR);
    rknn_tensor_attr out_attr = model.attr(RKNN_QUERY_CURRENT_OUTPUT_ATTR);
    EXPECT_EQ(out_attr.size, wanted.size());
    in_attr.type = RKNN_TENSOR_FLOAT32;
    in_attr.fmt = RKNN_TENSOR_NCHW;
    const std::vector<float> values = numbers(elements(set[0]), 100);
    std::memcpy(in->virt_addr, values.data(), values.size() * 4);
    ASSERT_EQ(rknn_set_io_mem(model.context, in, &in_attr), RKNN_SUCC);
    ASSERT_EQ(rknn_set_io_mem(model.context, out, &out_attr), RKNN_SUCC);
    ASSERT_EQ(rknn_run(model.context, nullptr), RKNN_SUCC);
    EXPECT_EQ(std::memcmp(out->virt_addr, wanted.data(), wanted.size()), 0);
  }
  EXPECT_EQ(rknn_destroy_mem(model.context, in), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy_mem(model.context, out), RKNN_SUCC);
}

// One .npy picture of `side` pixels whose 4x4 corner repeats.
std::string dataset_of(int64_t side) {
  NpyArray array;
  array.shape = {1, 3, side, side};
  const std::vector<float> pixels = numbers(48, 120);
  std::vector<float> values;
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t y = 0; y < side; ++y) {
      for (int64_t x = 0; x < side; ++x)
        values.push_back(pixels[static_cast<size_t>(c * 16 + y % 4 * 4 + x % 4)]);
    }
  }
  const auto* const bytes = reinterpret_cast<const uint8_t*>(values.data());
  array.bytes.assign(bytes, bytes + values.size() * 4);
  const std::string stem = testing::TempDir() + str("pixels", side);
  EXPECT_TRUE(write_npy(stem + ".npy", array).ok());
  std::ofstream(stem + ".txt") << stem << ".npy\n";
  return stem + ".txt";
}

TEST(DynamicShape, Int8ScalesAreThoseOfTheLargestShape) {
  const std::string model = pixel_model();
  const std::vector<ShapeSet> sets = {{{1, 3, 4, 4}}, {{1, 3, 8, 8}}};
  const Model dynamic(
      built({.model = model, .dynamic = sets, .fixed = {}, .dataset = dataset_of(8)}));
  const Model fixed(
      built({.model = model, .dynamic = {}, .fixed = sets[0], .dataset = dataset_of(4)}));
  dynamic.choose(sets[0]);
  EXPECT_EQ(dynamic.attr(RKNN_QUERY_CURRENT_OUTPUT_ATTR).type, RKNN_TENSOR_INT8);
  EXPECT_EQ(dynamic.attr(RKNN_QUERY_CURRENT_OUTPUT_ATTR).scale,
            fixed.attr(RKNN_QUERY_OUTPUT_ATTR).scale);
  EXPECT_EQ(dynamic.run(sets[0]), fixed.run(sets[0]));
}

TEST(DynamicShape, WeightsAreStoredOnceForManyShapes) {
  std::vector<ShapeSet> one = {{{1, 3, 64, 48}}}, many;
  for (int64_t height = 8; height < 40; ++height) many.push_back({{1, 3, height, 16}});
  const std::string model = image_model();
  const size_t single = built({.model = model, .dynamic = one, .fixed = {}, .dataset = ""}).size();
  const size_t all = built({.model = model, .dynamic = many, .fixed = {}, .dataset = ""}).size();
  EXPECT_LT(all, single + many.size() * 2048) << "tensors of a shape, no weights";
}

TEST(DynamicShape, FiveHundredAndTwelveShapesFit) {
  std::vector<ShapeSet> sets;
  for (int64_t i = 0; i < 512; ++i) sets.push_back({{1, 3, 1 + i % 32, 1 + i / 32}});
  const Model model(built({.model = pixel_model(), .dynamic = sets, .fixed = {}, .dataset = ""}));
  const auto range = std::make_unique<rknn_input_range>();
  ASSERT_EQ(rknn_query(model.context, RKNN_QUERY_INPUT_DYNAMIC_RANGE, range.get(), sizeof *range),
            RKNN_SUCC);
  EXPECT_EQ(range->shape_number, 512u);
  EXPECT_EQ(range->dyn_range[0][1] * range->dyn_range[0][2], 32u * 16u) << "the largest first";
  for (const size_t k : {0, 77, 511}) {
    model.choose(sets[k]);
    EXPECT_EQ(model.run(sets[k]).size(), 2 * 4 * elements(sets[k][0]) / 3);
  }
}

TEST(DynamicShape, BatchOfABuildEqualsSingleRuns) {
  const std::string model = image_model();
  const ShapeSet set = {{1, 3, 24, 16}};
  toolkit::Toolkit toolkit;
  ASSERT_TRUE(toolkit.config({.target_platform = "rk3588"}).ok());
  ASSERT_TRUE(toolkit.load_onnx(model, {.input_size_list = set}).ok());
  const auto bytes_of = [&](int batch) {
    EXPECT_TRUE(toolkit.build({.do_quantization = false, .rknn_batch_size = batch}).ok());
    return toolkit.rknn_bytes().value();
  };
  const Model one(bytes_of(1)), three(bytes_of(3));
  const std::vector<uint8_t> batch = three.run({{3, 3, 24, 16}});
  const std::vector<float> values = numbers(3 * elements(set[0]), 100);
  std::vector<uint8_t> singles;
  for (size_t sample = 0; sample < 3; ++sample) {
    rknn_input input{};
    input.buf = const_cast<float*>(values.data() + sample * elements(set[0]));
    input.size = static_cast<uint32_t>(elements(set[0]) * 4);
    input.type = RKNN_TENSOR_FLOAT32;
    input.fmt = RKNN_TENSOR_NCHW;
    ASSERT_EQ(rknn_inputs_set(one.context, 1, &input), RKNN_SUCC);
    ASSERT_EQ(rknn_run(one.context, nullptr), RKNN_SUCC);
    rknn_output output{};
    ASSERT_EQ(rknn_outputs_get(one.context, 1, &output, nullptr), RKNN_SUCC);
    const auto* const from = static_cast<const uint8_t*>(output.buf);
    singles.insert(singles.end(), from, from + output.size);
    EXPECT_EQ(rknn_outputs_release(one.context, 1, &output), RKNN_SUCC);
  }
  EXPECT_EQ(batch, singles);
}

TEST(DynamicShape, WrongSetsAreNamed) {
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.dynamic_input = {{{1, 3, 8, 8}}, {{1, 3, 8, 8}, {1, 2}}};
  EXPECT_NE(toolkit.config(config).message().find("dynamic_input[1] has 2 shape(s)"),
            std::string::npos);
  config.dynamic_input = {{{1, 3, 0, 8}}};
  EXPECT_NE(toolkit.config(config).message().find("extents of 1 or more"), std::string::npos);
  config.dynamic_input.assign(513, {{1, 3, 8, 8}});
  EXPECT_NE(toolkit.config(config).message().find("513 sets"), std::string::npos);
}

}  // namespace
}  // namespace rk::e2e

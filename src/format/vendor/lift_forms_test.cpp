// SPDX-License-Identifier: Apache-2.0
// Forms of nodes that few files have: normalizations, pooling and resizing as operators, Where, Pad
// with its constant in the registers. Numbers are worked out by hand beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "format/vendor/test_file.h"

namespace rk::format {
namespace {

using testing::HasSubstr;

std::vector<uint8_t> floats(std::initializer_list<float> values) {
  std::vector<uint8_t> out(values.size() * sizeof(float));
  std::memcpy(out.data(), values.begin(), out.size());
  return out;
}

std::string operators_of(const program::Program& program) {
  std::string out;
  for (const program::Step& step : program.main_variant().steps) {
    const auto* const p = std::get_if<program::OpParams>(&step.params);
    out += str(out.empty() ? "" : " ", p == nullptr ? "step" : p->op);
  }
  return out;
}

const AttrMap& attrs_of(const program::Program& program, size_t step = 0) {
  return std::get<program::OpParams>(program.main_variant().steps[step].params).attrs;
}

template <typename T>
T constant_of(const program::Program& program, size_t step, size_t input) {
  const program::Variant& variant = program.main_variant();
  const auto tensor = static_cast<size_t>(variant.steps[step].inputs[input]);
  const auto weight = static_cast<size_t>(variant.tensors[tensor].weight);
  return load<T>(program.weights[weight].bytes.data());
}

std::string refusal(VendorFile& file) {
  const auto program = file.lift();
  EXPECT_FALSE(program.ok());
  return program.ok() ? "" : program.status().message();
}

// x (scale 0.5, zero point -3) -> one node -> y (scale 0.25, zero point -5), both [1,1,2,2].
struct OneNode {
  explicit OneNode(float out_scale = 0.25f, int32_t out_zero_point = -5)
      : x(file.feature("x", TensorKind::kInput, 0.5f, -3)),
        y(file.feature("y", TensorKind::kOutput, out_scale, out_zero_point)) {}
  FileTensor& tensor(int32_t i) { return file.graph().tensors[static_cast<size_t>(i)]; }
  int32_t numbers(const char* name, std::initializer_list<float> values) {
    const auto count = static_cast<int32_t>(values.size());
    return file.constant(name, DType::kF32, {count}, {count}, floats(values));
  }
  FileNode& node(const char* type, std::vector<int32_t> inputs, std::vector<Attribute> attributes) {
    FileNode& out = file.node(type, std::move(inputs), {y});
    out.params = FileOperatorParams{1, std::move(attributes)};
    return out;
  }
  Result<program::Program> lifted() {
    auto program = file.lift();
    EXPECT_TRUE(program.ok()) << program.status().message();
    return program;
  }

  VendorFile file;
  int32_t x, y;
};

TEST(VendorFormsTest, BatchNormalizationIsAProductAndASum) {
  OneNode one;
  const int32_t gamma = one.numbers("gamma", {2.0f}), beta = one.numbers("beta", {1.5f});
  one.file.node("BatchNormalization", {one.x, gamma, beta}, {one.y});
  const auto program = one.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(operators_of(*program), "Mul Add");
  EXPECT_EQ(constant_of<float>(*program, 0, 1), 2.0f);
  EXPECT_EQ(constant_of<float>(*program, 1, 1), 1.5f);
}

// Stored: gamma 8 of scale 0.25, beta 10 in units of 0.5 * 0.25 = 0.125 with the zero point of x (-3)
// taken in: 8 * -3 + 10 = -14, times 0.125 is -1.75.
TEST(VendorFormsTest, BatchNormalizationOfIntegersHasTheZeroPointInItsAddend) {
  OneNode one;
  const int32_t gamma = one.file.constant("gamma", DType::kI16, {1}, {1}, {8, 0});
  const int32_t beta = one.file.constant("beta", DType::kI32, {1}, {1}, {10, 0, 0, 0});
  one.tensor(gamma).scale = {0.25f};
  one.tensor(gamma).zero_point = {0};
  one.file.node("BatchNormalizationRelu", {one.x, gamma, beta}, {one.y});
  const auto program = one.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(operators_of(*program), "Mul Add Relu");
  EXPECT_EQ(constant_of<float>(*program, 0, 1), 2.0f);
  EXPECT_EQ(constant_of<float>(*program, 1, 1), -1.75f);
}

TEST(VendorFormsTest, BatchNormalizationOfAnotherFormIsRefused) {
  OneNode two;
  const int32_t pair = two.numbers("gamma", {2.0f, 3.0f}), beta = two.numbers("beta", {1.5f});
  two.file.node("BatchNormalization", {two.x, pair, beta}, {two.y});
  EXPECT_THAT(refusal(two.file), HasSubstr("gamma and beta have 2 and 1 values for 1 channels"));
  OneNode plain;
  const int32_t gamma = plain.file.constant("gamma", DType::kI16, {1}, {1}, {8, 0});
  const int32_t addend = plain.numbers("beta", {1.5f});
  plain.file.node("BatchNormalization", {plain.x, gamma, addend}, {plain.y});
  EXPECT_THAT(refusal(plain.file),
              HasSubstr("gamma, beta and data are not quantized as known files have them"));
}

TEST(VendorFormsTest, AConditionInInt8IsCastBeforeWhere) {
  OneNode one;
  const int32_t condition = one.file.feature("condition", TensorKind::kInput, 1.0f, 0);
  one.file.node("Where", {condition, one.x, one.x}, {one.y});
  const auto program = one.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(operators_of(*program), "Cast Where");
  const program::Variant& variant = program->main_variant();
  const auto cast = static_cast<size_t>(variant.steps[0].outputs[0]);
  EXPECT_EQ(variant.tensors[cast].dtype, DType::kBool);
  EXPECT_EQ(variant.steps[1].inputs[0], variant.steps[0].outputs[0]);
  OneNode less;
  less.file.node("Where", {less.x, less.x}, {less.y});
  EXPECT_THAT(refusal(less.file), HasSubstr("2 operands, expected three"));
}

TEST(VendorFormsTest, NormalizationOverAPlaneIsItsFormula) {
  OneNode one;
  const int32_t gamma = one.numbers("gamma", {2.0f}), beta = one.numbers("beta", {1.5f});
  one.node("exNorm", {one.x, gamma, beta},
           {{"mode", std::string("layer")}, {"eps", 0.5}, {"axes", std::vector<int64_t>{2, 3}}});
  const auto program = one.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(operators_of(*program), "ReduceMean Sub Mul ReduceMean Add Sqrt Div Mul Add");
  const program::Variant& variant = program->main_variant();
  const auto mean = static_cast<size_t>(variant.steps[0].outputs[0]);
  EXPECT_EQ(variant.tensors[mean].shape, (Shape{1, 1, 1, 1}));
  EXPECT_EQ(variant.tensors[mean].dtype, DType::kF32);
  EXPECT_EQ(constant_of<int64_t>(*program, 0, 1), 2);
  EXPECT_EQ(constant_of<float>(*program, 4, 1), 0.5f) << "eps is added to the variance";
  EXPECT_EQ(constant_of<float>(*program, 7, 1), 2.0f);
  EXPECT_EQ(constant_of<float>(*program, 8, 1), 1.5f);
  EXPECT_EQ(variant.steps[8].outputs[0], one.y);
  // Without factors and addends the quotient is the result.
  OneNode bare;
  bare.node("exNorm", {bare.x},
            {{"mode", std::string("layer")}, {"eps", 0.5}, {"axes", std::vector<int64_t>{2, 3}}});
  EXPECT_EQ(operators_of(*bare.lifted()), "ReduceMean Sub Mul ReduceMean Add Sqrt Div Identity");
}

TEST(VendorFormsTest, NormalizationOfAnotherFormIsRefused) {
  const auto refused = [](std::vector<Attribute> attributes, auto change) {
    OneNode one;
    const int32_t gamma = one.numbers("gamma", {2.0f, 3.0f});
    one.node("exNorm", {one.x, gamma}, std::move(attributes));
    change(one);
    return refusal(one.file);
  };
  const auto nothing = [](OneNode&) {};
  const std::vector<int64_t> channels = {1};
  EXPECT_THAT(refused({{"mode", std::string("layer")}, {"eps", 0.5}}, nothing),
              HasSubstr("its parameter table (mode, eps, axes) is missing"));
  EXPECT_THAT(refused({{"mode", std::string("layer")}, {"eps", 0.5}, {"axes", channels}}, nothing),
              HasSubstr("gamma and beta have 2 and 1 values for 1 channels"));
  EXPECT_THAT(refused({{"mode", std::string("cosine")}, {"eps", 0.5}, {"axes", channels}}, nothing),
              HasSubstr("normalization mode 'cosine' is not known"));
  EXPECT_THAT(
      refused({{"mode", std::string("layer")}, {"eps", 0.5}, {"axes", std::vector<int64_t>{4}}},
              nothing),
      HasSubstr("axis 4 of 4 dimensions"));
  EXPECT_THAT(refused({{"mode", std::string("layer")}, {"eps", 0.5}, {"axes", channels}},
                      [](OneNode& one) {
                        for (const int32_t i : {one.x, one.y}) {
                          one.tensor(i).layout = program::Layout::kPlain;
                          one.tensor(i).shape = one.tensor(i).native_shape = {1, 2, 2};
                        }
                      }),
              HasSubstr("tensor 'x' has shape [1,2,2], four extents are known"));
}

using Ints = std::vector<int64_t>;

TEST(VendorFormsTest, PoolingThatTheStepCannotSayIsTheOperator) {
  // Another scale: the maximum is moved to it.
  OneNode scaled;
  scaled.node("MaxPool", {scaled.x},
              {{"kernel_shape", Ints{1, 1}}, {"strides", Ints{1, 1}}, {"pads", Ints{0, 0, 0, 0}}});
  auto program = scaled.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(operators_of(*program), "MaxPool");
  EXPECT_EQ(std::get<Ints>(attrs_of(*program).at("dilations")), (Ints{1, 1}));
  // Windows of 2 x 2 with one element between: one window in 3 x 3 with a pad of one at the end.
  OneNode wide(0.5f, -3);
  wide.node("MaxPool", {wide.x},
            {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{2, 2}}, {"pads", Ints{0, 0, 1, 1}}});
  wide.tensor(wide.y).shape = {1, 1, 1, 1};
  wide.tensor(wide.y).native_shape = {1, 1, 1, 1, 16};
  program = wide.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(operators_of(*program), "MaxPool");
  EXPECT_EQ(std::get<Ints>(attrs_of(*program).at("dilations")), (Ints{2, 2}));
  EXPECT_EQ(std::get<Ints>(attrs_of(*program).at("pads")), (Ints{0, 0, 1, 1}));
  // Pads count, what ceil_mode adds does not.
  OneNode counted;
  counted.node("AveragePool", {counted.x},
               {{"kernel_shape", Ints{3, 3}},
                {"strides", Ints{2, 2}},
                {"pads", Ints{1, 1, 0, 0}},
                {"ceil_mode", int64_t{1}},
                {"count_include_pad", int64_t{1}}});
  program = counted.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(operators_of(*program), "AveragePool");
  EXPECT_EQ(std::get<int64_t>(attrs_of(*program).at("ceil_mode")), 1);
  EXPECT_EQ(std::get<int64_t>(attrs_of(*program).at("count_include_pad")), 1);
}

// Windows of 3, stride 2, 2 elements to 1: (1 - 1) * 2 + 3 - 2 = 1 element to add on one side.
TEST(VendorFormsTest, PadsByNameComeFromTheExtents) {
  const auto pads = [](const char* name) {
    OneNode one(0.5f, -3);
    one.tensor(one.y).shape = {1, 1, 1, 1};
    one.tensor(one.y).native_shape = {1, 1, 1, 1, 16};
    one.node(
        "MaxPool", {one.x},
        {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"auto_pad", std::string(name)}});
    const auto program = one.lifted();
    return std::get<program::PoolParams>(program->main_variant().steps[0].params).pads;
  };
  EXPECT_EQ(pads("SAME_UPPER"), (program::Pads2{0, 0, 1, 1}));
  EXPECT_EQ(pads("SAME_LOWER"), (program::Pads2{1, 1, 0, 0}));
}

TEST(VendorFormsTest, GlobalPoolingHasTheWindowOfItsInput) {
  OneNode one(0.5f, -3);
  one.tensor(one.y).shape = {1, 1, 1, 1};
  one.tensor(one.y).native_shape = {1, 1, 1, 1, 16};
  one.file.node("GlobalAveragePool", {one.x}, {one.y});
  const auto program = one.lifted();
  ASSERT_TRUE(program.ok());
  const auto& p = std::get<program::PoolParams>(program->main_variant().steps[0].params);
  EXPECT_EQ(p.kind, program::PoolKind::kAverage);
  EXPECT_EQ(p.kernel, (program::Extent2{2, 2}));
  EXPECT_EQ(p.by_count.size(), 4u);
}

TEST(VendorFormsTest, PoolingOfAnotherFormIsRefused) {
  const auto refused = [](const char* type, std::vector<Attribute> attributes, bool flat) {
    OneNode one;
    one.node(type, {one.x}, std::move(attributes));
    for (const int32_t i : {one.x, one.y}) {
      if (!flat) continue;
      one.tensor(i).layout = program::Layout::kPlain;
      one.tensor(i).shape = one.tensor(i).native_shape = {1, 2, 2};
    }
    return refusal(one.file);
  };
  EXPECT_THAT(refused("MaxPool", {}, false),
              HasSubstr("its kernel_shape is not among the node's parameters"));
  EXPECT_THAT(refused("MaxPool", {{"kernel_shape", Ints{2, 2, 2}}}, false),
              HasSubstr("kernel_shape has 3 extents or one out of range"));
  EXPECT_THAT(refused("MaxPool", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{0, 1}}}, false),
              HasSubstr("strides has 2 extents or one out of range"));
  EXPECT_THAT(refused("MaxPool", {{"kernel_shape", Ints{1, 1}}, {"pads", Ints{0, 0}}}, false),
              HasSubstr("2 pads, four are known"));
  EXPECT_THAT(refused("LpPool", {{"kernel_shape", Ints{1, 1}}}, false),
              HasSubstr("this kind of pooling is not decoded"));
  EXPECT_THAT(refused("MaxPool", {{"kernel_shape", Ints{2}}}, true),
              HasSubstr("only two-dimensional pooling is decoded"));
}

TEST(VendorFormsTest, ResizingThatTheStepCannotSayIsTheOperator) {
  OneNode sizes;
  sizes.file.node("Resize", {sizes.x}, {sizes.y}).params =
      FileResizeParams{"tf_half_pixel_for_nn", "nearest", "floor"};
  auto program = sizes.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(operators_of(*program), "Resize");
  EXPECT_EQ(std::get<std::string>(attrs_of(*program).at("nearest_mode")), "floor");
  EXPECT_EQ(constant_of<int64_t>(*program, 0, 3), 1) << "sizes, as no factors are given";
  OneNode factors;
  const int32_t given = factors.numbers("factors", {1.0f, 1.0f, 1.25f, 1.0f});
  factors.file.node("Resize", {factors.x, -1, given}, {factors.y}).params =
      FileResizeParams{"tf_half_pixel_for_nn", "linear", ""};
  program = factors.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->main_variant().steps[0].inputs.size(), 3u);
  EXPECT_EQ(constant_of<float>(*program, 0, 2), 1.0f);
  EXPECT_FALSE(attrs_of(*program).contains("nearest_mode"));
}

TEST(VendorFormsTest, ResizingOfAnotherFormIsRefused) {
  const auto refused = [](FileParams params) {
    OneNode one;
    one.file.node("Resize", {one.x}, {one.y}).params = std::move(params);
    return refusal(one.file);
  };
  EXPECT_THAT(refused({}), HasSubstr("its parameter table (mode, coordinates) is missing"));
  EXPECT_THAT(refused(FileResizeParams{"asymmetric", "cubic", ""}),
              HasSubstr("mode 'cubic' is not known"));
  EXPECT_THAT(refused(FileResizeParams{"around", "linear", ""}),
              HasSubstr("coordinate mode 'around' is not known"));
  EXPECT_THAT(refused(FileResizeParams{"asymmetric", "nearest", "up"}),
              HasSubstr("nearest mode 'up' is not known"));
}

// A task that multiplies what lies in the output by 0 and adds `fill`: what the vendor's converter
// writes around the copy.
VendorFile padded(uint32_t fill, uint32_t scale) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, -3);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, -3);
  const int32_t pads = file.constant("pads", DType::kI64, {8}, {8}, std::vector<uint8_t>(64));
  const int32_t value = file.constant("value", DType::kF32, {1}, {1}, floats({104.4f}));
  file.node("Pad", {x, pads, value}, {y}).params =
      FileOperatorParams{1, {{"mode", std::string("constant")}}};
  const size_t first = file.word_count();
  file.task(0x18, {{reg::DPU_BS_CFG, 0x42},  // no addition, no Relu
                   {reg::DPU_BS_MUL_CFG, 0},
                   {reg::DPU_BN_CFG, 0x20050},  // an addition only
                   {reg::DPU_BN_ALU_CFG, fill},
                   {reg::DPU_EW_CFG, 0x383},
                   {reg::DPU_OUT_CVT_OFFSET, 0},
                   {reg::DPU_OUT_CVT_SCALE, scale},
                   {reg::DPU_OUT_CVT_SHIFT, 0},
                   {reg::DPU_RDMA_RDMA_SRC_BASE_ADDR, 0},
                   {reg::DPU_DST_BASE_ADDR, 0}});
  file.graph().relocs.push_back(
      {"y", {{0, static_cast<uint32_t>(first + 8)}, {0, static_cast<uint32_t>(first + 9)}}, {}});
  return file;
}

// The model's own constant is 104.4; what the file writes counts: (100 + 3) * 0.5.
TEST(VendorFormsTest, ThePadsConstantIsWhatTheRegistersAdd) {
  VendorFile file = padded(100, 1);
  auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(operators_of(*program), "Pad");
  EXPECT_EQ(constant_of<float>(*program, 0, 2), 51.5f);
  // Another task than that: the file's own number stays.
  VendorFile other = padded(100, 2);
  program = other.lift();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(constant_of<float>(*program, 0, 2), 104.4f);
  VendorFile beyond = padded(300, 1);
  program = beyond.lift();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(constant_of<float>(*program, 0, 2), 104.4f);
}

TEST(VendorFormsTest, AxesOfReductionsComeFromTheTableOrTheSecondOperand) {
  OneNode one;
  const int32_t axes = one.file.constant("axes", DType::kI64, {1}, {1}, {2, 0, 0, 0, 0, 0, 0, 0});
  one.tensor(one.y).shape = {1, 1, 1, 2};
  one.tensor(one.y).native_shape = {1, 1, 1, 2, 16};
  one.file.node("ReduceMean", {one.x, axes}, {one.y});
  auto program = one.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(constant_of<int64_t>(*program, 0, 1), 2);
  EXPECT_EQ(std::get<int64_t>(attrs_of(*program).at("keepdims")), 1);
  OneNode best;
  best.node("ArgMax", {best.x}, {{"axis", int64_t{1}}});
  program = best.lifted();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(std::get<int64_t>(attrs_of(*program).at("axis")), 1);
  OneNode none;
  none.file.node("ArgMax", {none.x}, {none.y});
  EXPECT_THAT(refusal(none.file), HasSubstr("its axis is missing"));
}

}  // namespace
}  // namespace rk::format

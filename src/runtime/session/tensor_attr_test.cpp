// SPDX-License-Identifier: Apache-2.0
// Attributes as boards print them.
#include "runtime/session/tensor_attr.h"

#include <gtest/gtest.h>

#include "runtime/test_program.h"

namespace rk::runtime {
namespace {

using Dims = std::vector<uint32_t>;

program::ProgramTensor input_of(const TestProgram::Type& type,
                                const std::string& target = "rk3588") {
  TestProgram p(target);
  return p.tensor(p.input("x", type));
}
program::ProgramTensor output_of(const TestProgram::Type& type) {
  TestProgram p;
  return p.tensor(p.output("y", type));
}

TEST(TensorAttrTest, NarrowPictureHasPaddedRows) {
  const TensorAttr attr =
      input_attr(input_of({DType::kI8, {1, 3, 12, 12}, 0.0039f, -128}), 0, AttrView::kPlain);
  EXPECT_EQ(attr.format, TensorFormat::kNhwc);
  EXPECT_EQ(attr.dims, (Dims{1, 12, 12, 3}));
  EXPECT_EQ(attr.elements, 432u);
  EXPECT_EQ(attr.size_bytes, 432u);
  EXPECT_EQ(attr.w_stride, 16u);
  EXPECT_EQ(attr.size_with_stride_bytes, 576u);
  EXPECT_TRUE(attr.affine);
  EXPECT_EQ(attr.zero_point, -128);
}

TEST(TensorAttrTest, NativePictureStaysNhwc) {
  const TensorAttr attr =
      input_attr(input_of({DType::kI8, {1, 3, 224, 224}, 1.0f, 0}), 0, AttrView::kNative);
  EXPECT_EQ(attr.format, TensorFormat::kNhwc);
  EXPECT_EQ(attr.dims, (Dims{1, 224, 224, 3}));
  EXPECT_EQ(attr.w_stride, 224u);
}

TEST(TensorAttrTest, OtherChannelCountsAreBlocked) {
  const TensorAttr attr =
      input_attr(input_of({DType::kI8, {1, 20, 5, 7}, 1.0f, 0}), 1, AttrView::kNative);
  EXPECT_EQ(attr.format, TensorFormat::kNc1hwc2);
  EXPECT_EQ(attr.dims, (Dims{1, 2, 5, 7, 16}));
  EXPECT_EQ(attr.index, 1u);
  const TensorAttr lite =
      input_attr(input_of({DType::kI8, {1, 20, 5, 7}, 1.0f, 0}, "rk3566"), 0, AttrView::kNative);
  EXPECT_EQ(lite.dims, (Dims{1, 3, 5, 7, 8}));
}

TEST(TensorAttrTest, HalfPrecisionLooksAffineWithScaleOne) {
  const TensorAttr attr = output_attr(output_of({DType::kF16, {1, 1000}}), 0, AttrView::kNative);
  EXPECT_EQ(attr.format, TensorFormat::kUndefined);
  EXPECT_EQ(attr.dims, (Dims{1, 1000}));
  EXPECT_TRUE(attr.affine);
  EXPECT_EQ(attr.scale, 1.0f);
  EXPECT_EQ(attr.zero_point, 0);
  EXPECT_EQ(attr.w_stride, 0u);
}

TEST(TensorAttrTest, ConvolutionOutputReservesWholePlanes) {
  // 255 channels are stored as 256.
  const auto tensor = output_of({DType::kI8, {1, 255, 80, 80}, 0.5f, 60});
  const TensorAttr plain = output_attr(tensor, 0, AttrView::kPlain);
  EXPECT_EQ(plain.format, TensorFormat::kNchw);
  EXPECT_EQ(plain.dims, (Dims{1, 255, 80, 80}));
  EXPECT_EQ(plain.size_bytes, 1632000u);
  EXPECT_EQ(plain.size_with_stride_bytes, 1638400u);
  EXPECT_EQ(plain.w_stride, 0u);
  EXPECT_EQ(output_attr(tensor, 0, AttrView::kNative).dims, (Dims{1, 16, 80, 80, 16}));
  EXPECT_EQ(output_attr(tensor, 0, AttrView::kNativeNhwc).dims, (Dims{1, 80, 80, 255}));
}

TEST(TensorAttrTest, IntegerInputsKeepTheirOrderNatively) {
  const auto tensor = input_of({DType::kI64, {1, 3, 4, 5}});
  EXPECT_EQ(input_attr(tensor, 0, AttrView::kNative).format, TensorFormat::kNchw);
  EXPECT_EQ(input_attr(tensor, 0, AttrView::kPlain).format, TensorFormat::kNhwc);
  EXPECT_FALSE(input_attr(tensor, 0, AttrView::kPlain).affine);
}

TEST(TensorAttrTest, NativeShapeThatDoesNotCoverTheTensorIsIgnored) {
  auto tensor = output_of({DType::kI8, {1, 40, 4, 4}, 1.0f, 0});
  tensor.native_shape = {1, 1, 4, 4, 16};
  EXPECT_EQ(native_c2(tensor), 0);
  EXPECT_EQ(output_attr(tensor, 0, AttrView::kNative).format, TensorFormat::kNchw);
}

}  // namespace
}  // namespace rk::runtime

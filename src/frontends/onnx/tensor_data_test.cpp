// SPDX-License-Identifier: Apache-2.0
// Every way in which a file holds the elements of a tensor, with the numbers written by hand.
#include "frontends/onnx/tensor_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rk::frontends {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

onnx::TensorProto proto_of(int type, std::initializer_list<int64_t> dims) {
  onnx::TensorProto out;
  out.set_data_type(type);
  for (const int64_t dim : dims) out.add_dims(dim);
  return out;
}

std::vector<int64_t> integers(const onnx::TensorProto& proto) {
  const auto tensor = import_tensor(proto, "", "t");
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  return tensor.ok() ? tensor->to_i64() : std::vector<int64_t>();
}

std::string refusal(const onnx::TensorProto& proto) {
  const auto tensor = import_tensor(proto, "", "t");
  EXPECT_FALSE(tensor.ok());
  return tensor.ok() ? "" : tensor.status().message();
}

constexpr int kUint4 = 21, kInt4 = 22, kUint2 = 25, kInt2 = 26;

TEST(OnnxTensorData, PackedIntegersStartInTheLowBits) {
  for (const bool raw : {true, false}) {
    const auto packed = [&](int type, std::initializer_list<int64_t> dims,
                            std::initializer_list<uint8_t> bytes) {
      onnx::TensorProto proto = proto_of(type, dims);
      if (raw) proto.set_raw_data(std::string(bytes.begin(), bytes.end()));
      for (const uint8_t byte : bytes) {
        if (!raw) proto.add_int32_data(byte);
      }
      return integers(proto);
    };
    EXPECT_THAT(packed(kInt4, {3}, {0x8f, 0x07}), ElementsAre(-1, -8, 7));
    EXPECT_THAT(packed(kUint4, {3}, {0x8f, 0x07}), ElementsAre(15, 8, 7));
    EXPECT_THAT(packed(kInt2, {5}, {0b11'10'01'00, 0b10}), ElementsAre(0, 1, -2, -1, -2));
    EXPECT_THAT(packed(kUint2, {5}, {0b11'10'01'00, 0b10}), ElementsAre(0, 1, 2, 3, 2));
  }
}

TEST(OnnxTensorData, TypedFieldsHoldEveryType) {
  for (const auto& [type, low, high] :
       {std::tuple(2, 0, 255), std::tuple(3, -128, 127), std::tuple(4, 0, 65535),
        std::tuple(5, -32768, 32767), std::tuple(6, INT32_MIN, INT32_MAX)}) {
    onnx::TensorProto proto = proto_of(type, {2});
    proto.add_int32_data(low);
    proto.add_int32_data(high);
    EXPECT_THAT(integers(proto), ElementsAre(low, high)) << type;
    if (type == 6) continue;
    proto.set_int32_data(1, high + 1);
    EXPECT_THAT(refusal(proto), HasSubstr(str("value ", high + 1, " does not fit"))) << type;
  }
  onnx::TensorProto wide = proto_of(12, {1});
  wide.add_uint64_data(UINT32_MAX);
  EXPECT_THAT(integers(wide), ElementsAre(UINT32_MAX));
  wide.set_data_type(13);
  EXPECT_THAT(integers(wide), ElementsAre(UINT32_MAX));
  onnx::TensorProto exact = proto_of(11, {2});
  exact.add_double_data(0.5);
  exact.add_double_data(-3);
  const auto doubles = import_tensor(exact, "", "t");
  ASSERT_TRUE(doubles.ok()) << doubles.status().message();
  EXPECT_THAT(doubles->to_f32(), ElementsAre(0.5f, -3));
}

TEST(OnnxTensorData, AnyByteOfABoolIsTrue) {
  onnx::TensorProto proto = proto_of(9, {3});
  proto.set_raw_data(std::string("\x00\x01\xfe", 3));
  EXPECT_THAT(integers(proto), ElementsAre(0, 1, 1));
}

TEST(OnnxTensorData, CountsAndTypesThatDoNotFitAreNamed) {
  onnx::TensorProto proto = proto_of(kInt4, {3});
  proto.set_raw_data("abc");
  EXPECT_THAT(refusal(proto), HasSubstr("3 bytes found"));
  proto = proto_of(7, {2});
  proto.add_int64_data(1);
  EXPECT_THAT(refusal(proto), HasSubstr("1 values found"));
  for (const auto& [type, name] :
       {std::pair(0, "undefined"), std::pair(8, "string"), std::pair(14, "complex64"),
        std::pair(15, "complex128"), std::pair(99, "unknown")}) {
    EXPECT_THAT(refusal(proto_of(type, {1})),
                HasSubstr(str("element type ", type, " (", name, ")")));
  }
}

}  // namespace
}  // namespace rk::frontends

// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/fixed_point.h"
#include "base/half.h"

namespace rk::runtime {
namespace {

template <typename T>
uint8_t* raw(std::vector<T>& values) {
  return reinterpret_cast<uint8_t*>(values.data());
}

TEST(ConvertTest, IntegersKeepEveryBitAndSaturate) {
  constexpr int64_t kBig = (int64_t{1} << 53) + 1;  // not a double
  std::vector<int64_t> in = {kBig, -5, 300, -70000};
  const PictureExtents e{1, 1, 1, 4};
  std::vector<int64_t> same(4);
  convert(e, {DType::kI64, 0, 0, nchw_strides(e), raw(in)},
          {DType::kI64, 0, 0, nchw_strides(e), raw(same)}, {}, nullptr);
  EXPECT_EQ(same, in);
  std::vector<int16_t> narrow(4);
  convert(e, {DType::kI64, 0, 0, nchw_strides(e), raw(in)},
          {DType::kI16, 0, 0, nchw_strides(e), raw(narrow)}, {}, nullptr);
  EXPECT_EQ(narrow, (std::vector<int16_t>{32767, -5, 300, -32768}));
  std::vector<uint8_t> flags(4);
  in[1] = 0;
  convert(e, {DType::kI64, 0, 0, nchw_strides(e), raw(in)},
          {DType::kBool, 0, 0, nchw_strides(e), raw(flags)}, {}, nullptr);
  EXPECT_EQ(flags, (std::vector<uint8_t>{1, 0, 1, 1}));
}

TEST(ConvertTest, FloatsThatDoNotFitSaturate) {
  std::vector<float> in = {1e20f, -1e20f, std::numeric_limits<float>::quiet_NaN(), 2.9f};
  const PictureExtents e{1, 1, 1, 4};
  std::vector<int32_t> out(4);
  convert(e, {DType::kF32, 0, 0, nchw_strides(e), raw(in)},
          {DType::kI32, 0, 0, nchw_strides(e), raw(out)}, {}, nullptr);
  EXPECT_EQ(out, (std::vector<int32_t>{2147483647, -2147483647 - 1, 0, 2}));
}

TEST(ConvertTest, StoredElementsOfOneOrderAreConvertedAlikeByVectorsAndOneByOne) {
  const PictureExtents e{2, 19, 9, 37};
  const int64_t places = 2 * 32 * 9 * 37;  // in blocks of 16
  std::vector<uint16_t> halves(static_cast<size_t>(places));
  for (size_t i = 0; i < halves.size(); ++i)
    halves[i] = float_to_half(static_cast<float>(i % 701) / 7.0f - 50.0f);
  for (const Strides& strides : {nchw_strides(e), blocked_strides(e, 16)}) {
    std::vector<int8_t> bytes(halves.size());
    std::vector<uint16_t> back(halves.size());
    convert(e, {DType::kF16, 0, 0, strides, raw(halves)},
            {DType::kI8, 0.37f, -5, strides, raw(bytes)}, {}, nullptr);
    convert(e, {DType::kI8, 0.37f, -5, strides, raw(bytes)},
            {DType::kF16, 0, 0, strides, raw(back)}, {}, nullptr);
    for (int64_t c = 0; c < e.c; ++c) {
      for (int64_t w = 0; w < e.w; ++w) {
        const auto at = static_cast<size_t>(strides.at(1, c, 8, w));
        ASSERT_EQ(bytes[at], quantize_f32(half_to_float(halves[at]), 0.37f, -5)) << at;
        ASSERT_EQ(half_to_float(back[at]),
                  half_to_float(float_to_half(static_cast<float>(bytes[at] + 5) * 0.37f)));
      }
    }
  }
}

// A permutation between every pair of orders: what goes there and back must be what it was.
TEST(ConvertTest, EveryPairOfOrdersRoundTrips) {
  const PictureExtents e{2, 19, 3, 5};
  std::vector<int8_t> values(static_cast<size_t>(e.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int8_t>(i * 7);
  const std::vector<Strides> orders = {nchw_strides(e), nhwc_strides(e),
                                       nhwc_strides(e, {.w_stride = 8, .h_stride = 4}),
                                       blocked_strides(e, 16), blocked_strides(e, 8)};
  for (const Strides& a : orders) {
    for (const Strides& b : orders) {
      std::vector<int8_t> first(static_cast<size_t>(span_elements(e, a)) + 256);
      std::vector<int8_t> second(static_cast<size_t>(span_elements(e, b)) + 256);
      std::vector<int8_t> back(values.size());
      std::fill(second.begin(), second.end(), int8_t{99});
      const ElementView plain{DType::kI8, 0, 0, nchw_strides(e), raw(values)};
      const ElementView at_a{DType::kI8, 0, 0, a, raw(first)},
          at_b{DType::kI8, 0, 0, b, raw(second)};
      convert(e, plain, at_a, {}, nullptr);
      convert(e, at_a, at_b, {}, nullptr);
      convert(e, at_b, {DType::kI8, 0, 0, nchw_strides(e), raw(back)}, {}, nullptr);
      EXPECT_EQ(back, values);
    }
  }
}

TEST(ConvertTest, MoreThanFourChannelsUseTheFirstMean) {
  const PictureExtents e{1, 6, 1, 1};
  std::vector<float> in = {1, 2, 3, 4, 5, 6}, out(6);
  convert(e, {DType::kF32, 0, 0, nchw_strides(e), raw(in)},
          {DType::kF32, 0, 0, nchw_strides(e), raw(out)}, {{.mean = 1, .stddev = 2}}, nullptr);
  EXPECT_EQ(out, (std::vector<float>{0, 0.5f, 1, 1.5f, 2, 2.5f}));
}

// Kernels serve aligned memory only: at an odd address the same elements go one by one, and must come out the same.
TEST(ConvertTest, KernelsAgreeWithSingleElements) {
  for (const int64_t channels : {1, 3, 4, 19}) {
    const PictureExtents e{2, channels, 3, 21};
    ChannelAffine affine;
    for (int64_t c = 0; c < channels; ++c) {
      affine.push_back({.mean = 0.25f * static_cast<float>(c), .stddev = 1.5f});
    }
    const auto elements = static_cast<size_t>(e.elements());
    for (const DType dtype : {DType::kF32, DType::kF16}) {
      const size_t size = byte_size(dtype);
      std::vector<uint8_t> even(elements * size), odd(even.size() + 1);
      for (size_t i = 0; i < elements; ++i) {
        const float value = static_cast<float>(static_cast<int>(i * 37 % 255) - 127) * 0.125f;
        const uint16_t half = float_to_half(value);
        std::memcpy(even.data() + i * size,
                    dtype == DType::kF32 ? static_cast<const void*>(&value) : &half, size);
      }
      std::copy(even.begin(), even.end(), odd.begin() + 1);
      for (const ElementView& kind :
           {ElementView{.dtype = DType::kI8, .scale = 0.07f, .zero_point = -3},
            ElementView{.dtype = DType::kF16}}) {
        for (const Strides& from : {nchw_strides(e), nhwc_strides(e)}) {
          for (const Strides& to : {nhwc_strides(e), blocked_strides(e, 16)}) {
            const auto converted = [&](uint8_t* source) {
              std::vector<uint8_t> out(static_cast<size_t>(span_elements(e, to)) * 2 + 64);
              ElementView target = kind;
              target.strides = to;
              target.data = out.data();
              convert(e, {dtype, 0, 0, from, source}, target, affine, nullptr);
              std::vector<uint16_t> values(elements);  // without the padding of blocks
              ElementView plain = kind;
              plain.strides = nchw_strides(e);
              plain.data = raw(values);
              convert(e, target, plain, {}, nullptr);
              return values;
            };
            EXPECT_EQ(converted(even.data()), converted(odd.data() + 1)) << channels;
          }
        }
      }
    }
  }
}

TEST(ConvertTest, EmptyTensorsAreLeftAlone) {
  const PictureExtents e{1, 1, 1, 0};
  convert(e, {DType::kF32, 0, 0, nchw_strides(e), nullptr},
          {DType::kF32, 0, 0, nchw_strides(e), nullptr}, {}, nullptr);
  EXPECT_EQ(span_elements(e, nchw_strides(e)), 0);
}

}  // namespace
}  // namespace rk::runtime

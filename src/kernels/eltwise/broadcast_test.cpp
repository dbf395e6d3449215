// SPDX-License-Identifier: Apache-2.0
// Broadcasts against the same formula over logical indices: int8 and fp16 results agree bit for bit.
#include "kernels/eltwise/broadcast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "base/fixed_point.h"
#include "base/half.h"
#include "kernels/kernel_test.h"

namespace rk::kernels {
namespace {

float apply(BinaryOp op, float a, float b) {
  return op == BinaryOp::kAdd   ? a + b
         : op == BinaryOp::kSub ? a - b
         : op == BinaryOp::kMul ? a * b
                                : a / b;
}

constexpr BinaryOp kOps[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv};

struct Case {
  const char* name;
  BroadcastShape shape;
  int64_t a_elements, b_elements, rows;
};

std::vector<Case> cases() {
  constexpr RunOperand kStream = RunOperand::kStream, kBlock = RunOperand::kBlock,
                       kScalar = RunOperand::kScalar;
  return {
      {"equal shapes, several pieces", {0, {}, {}, {}, 9001, kStream, kStream}, 9001, 9001, 1},
      {"by a scalar", {0, {}, {}, {}, 4099, kStream, kScalar}, 4099, 1, 1},
      {"scalar first", {0, {}, {}, {}, 77, kScalar, kStream}, 1, 77, 1},
      {"a gate per channel block",
       {2, {2, 3}, {480, 160}, {48, 16}, 160, kStream, kBlock},
       960,
       96,
       6},
      {"block first", {1, {3}, {16}, {4112}, 4112, kBlock, kStream}, 48, 12336, 3},
      {"by a row", {1, {5}, {49}, {0}, 49, kStream, kStream}, 245, 49, 5},
      {"by a column", {1, {6}, {33}, {1}, 33, kStream, kScalar}, 198, 6, 6},
      {"repeated in the middle", {2, {2, 4}, {68, 17}, {17, 0}, 17, kStream, kStream}, 136, 34, 8},
  };
}

// The element of an operand for element i of row r, from the shape's own meaning.
int64_t element(const BroadcastShape& s, const int64_t* step, RunOperand kind, int64_t r,
                int64_t i) {
  int64_t at = 0;
  for (int axis = s.axes; axis-- > 0;) {
    at += r % s.extent[axis] * step[axis];
    r /= s.extent[axis];
  }
  return at + (kind == RunOperand::kStream ? i : kind == RunOperand::kBlock ? i % 16 : 0);
}

template <typename T>
std::vector<T> noise(int64_t count, int seed) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  std::vector<T> values(static_cast<size_t>(count));
  for (T& v : values) {
    if constexpr (sizeof(T) == 1) {
      v = static_cast<T>(random());
    } else {
      v = float_to_half(static_cast<float>(static_cast<int>(random() % 4000) - 2000) / 64.0f);
    }
  }
  return values;
}

KERNEL_TEST(BroadcastTest, Int8FollowsTheOperatorBetweenDequantizeAndQuantize) {
  for (const Case& c : cases()) {
    for (const BinaryOp op : kOps) {
      const auto a = noise<int8_t>(c.a_elements, 1), b = noise<int8_t>(c.b_elements, 2);
      std::vector<int8_t> y(static_cast<size_t>(c.rows * c.shape.run) + 1, 55);
      BinaryI8Args args;
      args.shape = c.shape, args.op = op;
      args.a = a.data(), args.b = b.data(), args.output = y.data();
      args.a_scale = {0.037f, -3}, args.b_scale = {0.011f, 17}, args.output_scale = {0.0213f, -20};
      const int64_t units = broadcast_units(args.shape);
      for (int64_t unit = units; unit-- > 0;) binary_i8(args, {unit, unit + 1});
      for (int64_t r = 0; r < c.rows; ++r) {
        for (int64_t i = 0; i < c.shape.run; ++i) {
          const int8_t p = a[size_t(element(c.shape, c.shape.a_step, c.shape.a, r, i))];
          const int8_t q = b[size_t(element(c.shape, c.shape.b_step, c.shape.b, r, i))];
          const float x = static_cast<float>(p + 3) * 0.037f,
                      z = static_cast<float>(q - 17) * 0.011f;
          // 0 / 0 is among them: NaN becomes the zero point.
          ASSERT_EQ(y[size_t(r * c.shape.run + i)], quantize_f32(apply(op, x, z), 0.0213f, -20))
              << c.name << " " << int(p) << " " << int(q);
        }
      }
      EXPECT_EQ(y.back(), 55);
    }
  }
}

// A constant operand in float32 gives what the stored one does.
void expect_same_by_values(BinaryArgs<uint16_t> args, const std::vector<uint16_t>& a,
                           const std::vector<uint16_t>& b) {
  const int64_t units = broadcast_units(args.shape);
  int64_t elements = args.shape.run;
  for (int axis = 0; axis < args.shape.axes; ++axis) elements *= args.shape.extent[axis];
  std::vector<uint16_t> y(static_cast<size_t>(elements) + 1, 55);
  for (const bool first : {true, false}) {
    std::vector<float> values;
    for (const uint16_t v : first ? a : b) values.push_back(half_to_float(v));
    BinaryArgs<uint16_t> by_values = args;
    (first ? by_values.a_values : by_values.b_values) = values.data();
    by_values.output = y.data();
    binary_f16(by_values, {0, units});
    for (size_t i = 0; i < static_cast<size_t>(elements); ++i) {
      if (std::isnan(half_to_float(args.output[i]))) continue;
      ASSERT_EQ(y[i], args.output[i]);
    }
    EXPECT_EQ(y.back(), 55);
  }
}

KERNEL_TEST(BroadcastTest, HalvesAreRoundedOnce) {
  for (const Case& c : cases()) {
    for (const BinaryOp op : kOps) {
      const auto a = noise<uint16_t>(c.a_elements, 3), b = noise<uint16_t>(c.b_elements, 4);
      std::vector<uint16_t> y(static_cast<size_t>(c.rows * c.shape.run) + 1, 55);
      BinaryArgs<uint16_t> args;
      args.shape = c.shape, args.op = op;
      args.a = a.data(), args.b = b.data(), args.output = y.data();
      binary_f16(args, {0, broadcast_units(args.shape)});
      expect_same_by_values(args, a, b);
      for (int64_t r = 0; r < c.rows; ++r) {
        for (int64_t i = 0; i < c.shape.run; ++i) {
          const float x =
              half_to_float(a[size_t(element(c.shape, c.shape.a_step, c.shape.a, r, i))]);
          const float z =
              half_to_float(b[size_t(element(c.shape, c.shape.b_step, c.shape.b, r, i))]);
          const float want = apply(op, x, z);
          if (std::isnan(want)) continue;
          ASSERT_EQ(y[size_t(r * c.shape.run + i)], float_to_half(want)) << c.name;
        }
      }
      EXPECT_EQ(y.back(), 55);
    }
  }
}

KERNEL_TEST(AffineTest, EveryByteAndHalvesPerChannel) {
  const AffineShape shape = {6, 3, 7};  // two pictures of three blocks
  const int64_t elements = 6 * 7 * 16;
  std::vector<float> scale(48), shift(48);
  for (size_t c = 0; c < 48; ++c)
    scale[c] = 0.25f * static_cast<float>(c) - 5.0f,
    shift[c] = static_cast<float>(c * c) * 0.5f - 300;
  const auto bytes = noise<int8_t>(elements, 5);
  const auto halves = noise<uint16_t>(elements, 6);
  std::vector<int8_t> y(size_t(elements) + 1, 55);
  std::vector<uint16_t> half_y(size_t(elements) + 1, 55);
  affine_i8({shape, bytes.data(), y.data(), scale.data(), shift.data()}, {2, 6});
  affine_i8({shape, bytes.data(), y.data(), scale.data(), shift.data()}, {0, 2});
  affine_f16({shape, halves.data(), half_y.data(), scale.data(), shift.data()}, {0, 6});
  for (size_t e = 0; e < size_t(elements); ++e) {
    const size_t c = e / (7 * 16) % 3 * 16 + e % 16;
    const double byte = std::nearbyint(double{scale[c]} * bytes[e] + shift[c]);  // exact before
    ASSERT_EQ(y[e], std::min(127.0, std::max(-128.0, byte)));
    ASSERT_EQ(y[e], affine_byte(bytes[e], scale[c], shift[c]));
    ASSERT_EQ(half_y[e], float_to_half(std::fma(half_to_float(halves[e]), scale[c], shift[c])));
  }
  EXPECT_EQ(y.back(), 55);
  EXPECT_EQ(half_y.back(), 55);
}

}  // namespace
}  // namespace rk::kernels

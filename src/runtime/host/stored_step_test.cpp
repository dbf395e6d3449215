// SPDX-License-Identifier: Apache-2.0
// Operators on stored tensors against their formulas, element by element, with numbers that fp16 holds exactly. A pooling
// of single pixels in front makes a tensor blocked; without it, it is plain. 20 channels are a block and a part of one.
#include <gtest/gtest.h>

#include "base/fixed_point.h"
#include "base/half.h"
#include "base/log.h"
#include "runtime/session/session.h"
#include "runtime/test_program.h"

namespace rk::runtime {
namespace {

using Floats = std::vector<float>;

constexpr int64_t kChannels = 20, kPixels = 15;
constexpr float kScale = 0.25f;
constexpr int32_t kZeroPoint = 3;

struct Storage {
  DType dtype;
  bool blocked;
  TestProgram::Type type(const Shape& shape) const {
    if (dtype == DType::kF16) return {dtype, shape};
    return {dtype, shape, kScale, kZeroPoint};
  }
  // What is left of a number that was stored.
  float stored(double x) const {
    const auto number = static_cast<float>(x);
    if (dtype == DType::kF16) return half_to_float(float_to_half(number));
    return static_cast<float>(quantize_f32(number, kScale, kZeroPoint) - kZeroPoint) * kScale;
  }
};

Floats numbers(int64_t count, int step, float offset) {
  Floats out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(static_cast<float>(i * step % 23) * 0.5f - offset);
  return out;
}

int32_t floats(TestProgram& p, const char* name, const Shape& shape, const Floats& values) {
  return p.constant(name, {DType::kF32, shape}, TestProgram::bytes_of(values));
}

class StoredStepTest : public testing::TestWithParam<Storage> {};

TEST_P(StoredStepTest, NormalizesGatesAndAddsRowsAsTheOperatorsDo) {
  const Storage storage = GetParam();
  const TestProgram::Type picture = storage.type({2, kChannels, 3, 5});
  TestProgram p;
  int32_t x = p.input("x", picture);
  const int32_t gate = p.input("gate", storage.type({2, kChannels, 1, 1}));
  if (storage.blocked) {
    program::PoolParams single;
    single.kernel = single.stride = {1, 1};
    const int32_t pooled = p.internal("pooled", picture);
    p.step("MaxPool", {x}, {pooled}, single);
    x = pooled;
  }
  const Shape per_channel = {kChannels};
  const Floats scale = numbers(kChannels, 3, 2), bias = numbers(kChannels, 5, 4),
               mean = numbers(kChannels, 7, 3), shift = numbers(kChannels, 9, 5),
               row = numbers(5, 4, 1);
  const int32_t normal = p.output("normal", picture), gated = p.output("gated", picture);
  const int32_t shifted = p.output("shifted", picture), rows = p.output("rows", picture);
  const int32_t both = p.output("both", picture), relu = p.output("relu", picture);
  p.step("BatchNormalization",
         {x, floats(p, "scale", per_channel, scale), floats(p, "bias", per_channel, bias),
          floats(p, "mean", per_channel, mean),
          floats(p, "var", per_channel, Floats(kChannels, 4.0f))},
         {normal}, program::OpParams{"BatchNormalization", {{"epsilon", 0.0f}}});
  p.step("Mul", {gate, normal}, {gated}, program::OpParams{"Mul", {}});
  p.step("Sub", {floats(p, "shift", {kChannels, 1, 1}, shift), normal}, {shifted},
         program::OpParams{"Sub", {}});
  p.step("Add", {normal, floats(p, "row", {5}, row)}, {rows}, program::OpParams{"Add", {}});
  p.step("Add", {normal, shifted}, {both}, program::OpParams{"Add", {}});
  p.step("Relu", {shifted}, {relu}, program::OpParams{"Relu", {}});

  auto model = LoadedModel::from_program(std::move(p.program), {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto opened = Session::create(model.value(), {});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  Session& session = *opened.value();
  const Floats values = numbers(2 * kChannels * kPixels, 11, 6),
               gates = numbers(2 * kChannels, 1, 2);
  const CallerFormat plain{.dtype = DType::kF32, .format = TensorFormat::kNchw};
  ASSERT_TRUE(session.set_input(0, plain, values.data(), values.size() * 4).ok());
  ASSERT_TRUE(session.set_input(1, plain, gates.data(), gates.size() * 4).ok());
  ASSERT_TRUE(session.run().ok());
  std::vector<Floats> got;
  for (size_t i = 0; i < 6; ++i) {
    got.emplace_back(values.size());
    ASSERT_TRUE(session.get_output(i, plain, got.back().data(), values.size() * 4).ok());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t c = i / kPixels % kChannels, n = i / kPixels / kChannels;
    const double in = storage.stored(values[i]);
    const float want = storage.stored((in - mean[c]) * (scale[c] / 2) + bias[c]);
    ASSERT_EQ(got[0][i], want) << i;
    ASSERT_EQ(got[1][i], storage.stored(storage.stored(gates[n * kChannels + c]) * want)) << i;
    const float minus = storage.stored(shift[c] - want);
    ASSERT_EQ(got[2][i], minus) << i;
    ASSERT_EQ(got[3][i], storage.stored(want + row[i % 5])) << i;
    ASSERT_EQ(got[4][i], storage.stored(want + minus)) << i;
    ASSERT_EQ(got[5][i], storage.stored(minus < 0 ? 0.0f : minus)) << i;
  }
}

TEST_P(StoredStepTest, PadsWithAValueByReflectionAndByCutting) {
  const Storage storage = GetParam();
  TestProgram p;
  int32_t x = p.input("x", storage.type({2, kChannels, 3, 5}));
  if (storage.blocked) {
    program::PoolParams single;
    single.kernel = single.stride = {1, 1};
    const int32_t pooled = p.internal("pooled", storage.type({2, kChannels, 3, 5}));
    p.step("MaxPool", {x}, {pooled}, single);
    x = pooled;
  }
  const auto pads = [&](const char* name, const std::vector<int64_t>& values) {
    return p.constant(name, {DType::kI64, {8}}, TestProgram::bytes_of(values));
  };
  const int32_t around = p.output("around", storage.type({2, kChannels, 6, 8}));
  const int32_t mirrored = p.output("mirrored", storage.type({2, kChannels, 5, 6}));
  const int32_t batch = p.output("batch", storage.type({3, kChannels, 3, 5}));
  p.step("Pad", {x, pads("a", {0, 0, 1, 2, 0, 0, 2, 1}), floats(p, "v", {}, {1.5f})}, {around},
         program::OpParams{"Pad", {{"mode", "constant"}}});
  p.step("Pad", {x, pads("m", {0, 0, 2, 0, 0, 0, 0, 1})}, {mirrored},
         program::OpParams{"Pad", {{"mode", "reflect"}}});
  p.step("Pad", {x, pads("b", {1, 0, 0, 0, 0, 0, 0, 0})}, {batch},
         program::OpParams{"Pad", {{"mode", "constant"}}});
  auto model = LoadedModel::from_program(std::move(p.program), {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto opened = Session::create(model.value(), {});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  Session& session = *opened.value();
  const Floats values = numbers(2 * kChannels * kPixels, 11, 6);
  const CallerFormat plain{.dtype = DType::kF32, .format = TensorFormat::kNchw};
  ASSERT_TRUE(session.set_input(0, plain, values.data(), values.size() * 4).ok());
  ASSERT_TRUE(session.run().ok());
  const auto output = [&](size_t i, size_t count) {
    Floats out(count);
    EXPECT_TRUE(session.get_output(i, plain, out.data(), count * 4).ok());
    return out;
  };
  const Floats a = output(0, 2 * kChannels * 48), m = output(1, 2 * kChannels * 30),
               b = output(2, 3 * kChannels * 15);
  for (int plane = 0; plane < 2 * kChannels; ++plane) {
    const auto at = [&](int y, int x_) {
      return storage.stored(values[static_cast<size_t>(plane * kPixels + y * 5 + x_)]);
    };
    for (int y = 0; y < 6; ++y) {
      for (int column = 0; column < 8; ++column) {
        const bool inside = y >= 1 && y < 4 && column >= 2 && column < 7;
        ASSERT_EQ(a[static_cast<size_t>(plane * 48 + y * 8 + column)],
                  inside ? at(y - 1, column - 2) : storage.stored(1.5));
      }
    }
    for (int y = 0; y < 5; ++y) {
      for (int column = 0; column < 6; ++column) {
        ASSERT_EQ(m[static_cast<size_t>(plane * 30 + y * 6 + column)],
                  at(y < 2 ? 2 - y : y - 2, column == 5 ? 3 : column));
      }
    }
    for (int i = 0; i < kPixels; ++i) {
      ASSERT_EQ(b[static_cast<size_t>((plane + kChannels) * kPixels + i)], at(i / 5, i % 5));
      const float front = b[static_cast<size_t>((plane % kChannels) * kPixels + i)];
      ASSERT_EQ(front, 0);
    }
  }
}

// Whole pictures of a batch, the second of another scale where they are int8.
TEST_P(StoredStepTest, SplitsABatchWhosePartsHaveScalesOfTheirOwn) {
  const Storage storage = GetParam();
  TestProgram p;
  const TestProgram::Type batch = storage.type({2, kChannels, 3, 5});
  const TestProgram::Type part = storage.type({1, kChannels, 3, 5});
  constexpr float kOther = 0.4f;
  constexpr int32_t kOtherZero = -4;
  const bool bytes = storage.dtype == DType::kI8;
  TestProgram::Type other = part;
  if (bytes) other = {part.dtype, part.shape, kOther, kOtherZero};
  program::PoolParams single;
  single.kernel = single.stride = {1, 1};
  int32_t x = p.input("x", batch);
  if (storage.blocked) {
    const int32_t pooled = p.internal("pooled", batch);
    p.step("MaxPool", {x}, {pooled}, single);
    x = pooled;
  }
  const int32_t a = p.internal("a", part), b = p.internal("b", other);
  p.step("Split", {x}, {a, b}, program::OpParams{"Split", {{"axis", int64_t{0}}}});
  p.step("MaxPool", {a}, {p.output("first", part)}, single);
  p.step("MaxPool", {b}, {p.output("second", other)}, single);
  auto model = LoadedModel::from_program(std::move(p.program), {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto opened = Session::create(model.value(), {});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const Floats values = numbers(2 * kChannels * kPixels, 11, 6);
  const CallerFormat plain{.dtype = DType::kF32, .format = TensorFormat::kNchw};
  ASSERT_TRUE((*opened)->set_input(0, plain, values.data(), values.size() * 4).ok());
  ASSERT_TRUE((*opened)->run().ok());
  Floats first(values.size() / 2), second(values.size() / 2);
  ASSERT_TRUE((*opened)->get_output(0, plain, first.data(), first.size() * 4).ok());
  ASSERT_TRUE((*opened)->get_output(1, plain, second.data(), second.size() * 4).ok());
  for (size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i], storage.stored(values[i])) << i;
    const float kept = storage.stored(values[first.size() + i]);
    const float again =
        static_cast<float>(quantize_f32(kept, kOther, kOtherZero) - kOtherZero) * kOther;
    ASSERT_FLOAT_EQ(second[i], bytes ? again : kept) << i;
  }
}

// Log level 4 names the way that runs each step, and why the ways before it do not.
TEST(StepExplanation, NamesTheWayAndWhyOthersDoNotTakeTheStep) {
  TestProgram p;
  const TestProgram::Type picture{DType::kF16, {1, kChannels, 3, 5}};
  const int32_t x = p.input("x", picture), scaled = p.internal("scaled", picture);
  p.step("Mul", {x, floats(p, "two", {}, {2})}, {scaled}, program::OpParams{"Mul", {}});
  const int32_t flat = p.internal("flat", {DType::kF16, {1, kChannels * kPixels}});
  p.step("Flatten", {scaled}, {flat}, program::OpParams{"Flatten", {{"axis", int64_t{1}}}});
  p.step("Softmax", {flat}, {p.output("y", {DType::kF16, {1, kChannels * kPixels}})},
         program::OpParams{"Softmax", {{"axis", int64_t{1}}}});
  const int level = log_level();
  std::vector<std::string> lines;
  set_log_level(4);
  set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  auto model = LoadedModel::from_program(std::move(p.program), {});
  const auto session = model.ok() ? Session::create(model.value(), {}) : model.status();
  set_log_sink({});
  set_log_level(level);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const auto line_of = [&](std::string_view step) {
    for (const std::string& line : lines) {
      if (line.find(str("step '", step)) != std::string::npos) return line;
    }
    return std::string();
  };
  EXPECT_NE(line_of("Mul").find("(Mul): on stored elements; f16 [1,20,3,5] plain -> f16"),
            std::string::npos)
      << line_of("Mul");
  EXPECT_NE(line_of("Flatten").find("(Flatten): as view;"), std::string::npos)
      << line_of("Flatten");
  EXPECT_NE(line_of("Softmax").find("(Softmax): by definition, in float32;"), std::string::npos)
      << line_of("Softmax");
  EXPECT_NE(line_of("Softmax").find("; not by loops: not a move of elements"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Storages, StoredStepTest,
                         testing::Values(Storage{DType::kF16, true}, Storage{DType::kF16, false},
                                         Storage{DType::kI8, true}, Storage{DType::kI8, false}));

}  // namespace
}  // namespace rk::runtime

// SPDX-License-Identifier: Apache-2.0
// Whole sessions on Programs whose numbers are worked out by hand.
#include "runtime/session/session.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/fixed_point.h"
#include "base/half.h"
#include "runtime/test_program.h"

namespace rk::runtime {
namespace {

using Floats = std::vector<float>;

std::unique_ptr<Session> open(program::Program program, const SessionOptions& options = {},
                              bool strict = false) {
  LoadOptions load;
  load.device.strict = strict;
  auto model = LoadedModel::from_program(std::move(program), load);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return nullptr;
  auto session = Session::create(model.value(), options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  return session.ok() ? std::move(session).value() : nullptr;
}

template <typename T>
Status set(Session& session, size_t i, DType dtype, TensorFormat format,
           const std::vector<T>& values) {
  return session.set_input(i, {.dtype = dtype, .format = format}, values.data(),
                           values.size() * sizeof(T));
}

template <typename T>
std::vector<T> get(const Session& session, size_t i, DType dtype,
                   TensorFormat format = TensorFormat::kUndefined) {
  const CallerFormat wanted{.dtype = dtype, .format = format};
  std::vector<T> out(session.output_bytes(i, wanted).value() / sizeof(T));
  const Status status = session.get_output(i, wanted, out.data(), out.size() * sizeof(T));
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

// NHWC of three channels to NCHW.
template <typename T>
std::vector<T> to_nchw(const std::vector<T>& nhwc, size_t channels = 3) {
  std::vector<T> out;
  for (size_t c = 0; c < channels; ++c) {
    for (size_t i = c; i < nhwc.size(); i += channels) out.push_back(nhwc[i]);
  }
  return out;
}

void run(Session& session) {
  const Status status = session.run();
  ASSERT_TRUE(status.ok()) << status.message();
}

TEST(SessionTest, PictureThroughOneConvolutionGivesHandComputedScores) {
  const auto session = open(picture_program());
  ASSERT_TRUE(set(*session, 0, DType::kU8, TensorFormat::kNhwc, picture_pixels()).ok());
  run(*session);
  EXPECT_EQ(get<int8_t>(*session, 0, DType::kI8), picture_scores());
  Floats expected;
  for (const int8_t q : picture_scores()) expected.push_back(static_cast<float>(q + 10) * 0.5f);
  EXPECT_EQ(get<float>(*session, 0, DType::kF32), expected);
}

TEST(SessionTest, EveryInputTypeAndOrderGivesTheSameScores) {
  const auto session = open(picture_program());
  const std::vector<uint8_t> bytes = picture_pixels();
  const auto check = [&](const Status& status, const char* what) {
    ASSERT_TRUE(status.ok()) << what << ": " << status.message();
    run(*session);
    EXPECT_EQ(get<int8_t>(*session, 0, DType::kI8), picture_scores()) << what;
  };
  std::vector<uint16_t> halves;
  for (const uint8_t b : bytes) halves.push_back(float_to_half(b));
  const Floats floats(bytes.begin(), bytes.end());
  check(set(*session, 0, DType::kU8, TensorFormat::kNchw, to_nchw(bytes)), "u8 NCHW");
  check(set(*session, 0, DType::kU8, TensorFormat::kUndefined, to_nchw(bytes)), "u8 model order");
  check(set(*session, 0, DType::kF32, TensorFormat::kNhwc, floats), "f32 NHWC");
  check(set(*session, 0, DType::kF32, TensorFormat::kNchw, to_nchw(floats)), "f32 NCHW");
  check(set(*session, 0, DType::kF16, TensorFormat::kNhwc, halves), "f16 NHWC");
  check(set(*session, 0, DType::kI16, TensorFormat::kNhwc,
            std::vector<int16_t>(bytes.begin(), bytes.end())),
        "i16");
  check(set(*session, 0, DType::kI32, TensorFormat::kNhwc,
            std::vector<int32_t>(bytes.begin(), bytes.end())),
        "i32");
  check(set(*session, 0, DType::kI64, TensorFormat::kNchw,
            to_nchw(std::vector<int64_t>(bytes.begin(), bytes.end()))),
        "i64");
}

TEST(SessionTest, MeanAndStdAreAppliedPerChannelBeforeQuantizing) {
  program::InputInfo info;
  info.mean = {10, 20, 30};
  info.std = {2, 4, 8};
  const auto session = open(picture_program(info));
  // (12-10)/2 = 1, (60-20)/4 = 10, (286-30)/8 = 32: sum 1 + 20 + 96 = 117 -> 4 (3.66), and -1 + 32 = 31 -> 1
  Floats pixels(24);
  for (size_t i = 0; i < 24; i += 3) {
    pixels[i] = 12;
    pixels[i + 1] = 60;
    pixels[i + 2] = 286;
  }
  ASSERT_TRUE(set(*session, 0, DType::kF32, TensorFormat::kNhwc, pixels).ok());
  run(*session);
  const Floats out = get<float>(*session, 0, DType::kF32);
  EXPECT_EQ(out.front(), 2.0f);
  EXPECT_EQ(out.back(), 0.5f);
}

TEST(SessionTest, PassThroughTakesNativeBytesUnchanged) {
  const auto session = open(picture_program());
  std::vector<int8_t> raw;
  for (const uint8_t b : picture_pixels()) raw.push_back(static_cast<int8_t>(b - 128));
  ASSERT_TRUE(
      session->set_input(0, {.dtype = DType::kF32, .pass_through = true}, raw.data(), raw.size())
          .ok());
  run(*session);
  EXPECT_EQ(get<int8_t>(*session, 0, DType::kI8), picture_scores());

  // With the chip's row stride of 16 pixels.
  std::vector<int8_t> padded(2 * 16 * 3, 77);
  for (size_t row = 0; row < 2; ++row)
    std::memcpy(padded.data() + row * 48, raw.data() + row * 12, 12);
  ASSERT_TRUE(session->set_input(0, {.pass_through = true}, padded.data(), padded.size()).ok());
  run(*session);
  EXPECT_EQ(get<int8_t>(*session, 0, DType::kI8), picture_scores());
}

TEST(SessionTest, TooSmallInputSaysBothNumbers) {
  const auto session = open(picture_program());
  const Status status = set(*session, 0, DType::kF32, TensorFormat::kNhwc, Floats(6));
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("param input size(24) < model input size(96)"), std::string::npos)
      << status.message();
}

TEST(SessionTest, OutputsBeforeTheFirstRunAreRefused) {
  const auto session = open(picture_program());
  float out[16];
  EXPECT_EQ(session->get_output(0, {}, out, sizeof out).code(), Code::kInvalidOutput);
}

TEST(SessionTest, InputsThatWereNeverSetFailOnAStrictDeviceOnly) {
  EXPECT_TRUE(open(picture_program())->run().ok());
  EXPECT_EQ(open(picture_program(), {}, true)->run().code(), Code::kInvalidInput);
}

TEST(SessionTest, OutputCanBeReadInEveryOrder) {
  const auto session = open(picture_program());
  ASSERT_TRUE(set(*session, 0, DType::kU8, TensorFormat::kNhwc, picture_pixels()).ok());
  run(*session);
  const std::vector<int8_t> nhwc = get<int8_t>(*session, 0, DType::kI8, TensorFormat::kNhwc);
  EXPECT_EQ(to_nchw(nhwc, 2), picture_scores());
  const std::vector<uint16_t> halves = get<uint16_t>(*session, 0, DType::kF16);
  EXPECT_EQ(half_to_float(halves[1]), 24.0f);
  float unused[16];
  EXPECT_EQ(session->get_output(0, {.dtype = DType::kI32}, unused, sizeof unused).code(),
            Code::kInvalidOutput);
}

TEST(SessionTest, BoundMemoryIsReadWithRowStrideAndWrittenAfterEveryRun) {
  const auto session = open(picture_program());
  const auto in = DeviceMemory::allocate(96).value();
  const auto out = DeviceMemory::allocate(64).value();
  ASSERT_TRUE(
      session->bind_input(0, {.dtype = DType::kU8, .format = TensorFormat::kNhwc}, in, 0, 96).ok());
  ASSERT_TRUE(
      session->bind_output(0, {.dtype = DType::kF32, .format = TensorFormat::kNchw}, out, 0, 64)
          .ok());
  const std::vector<uint8_t> pixels = picture_pixels();
  for (size_t row = 0; row < 2; ++row)
    std::memcpy(in->data() + row * 48, pixels.data() + row * 12, 12);
  run(*session);
  const auto* const floats = reinterpret_cast<const float*>(out->data());
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(floats[i], static_cast<float>(picture_scores()[i] + 10) * 0.5f) << i;

  std::memset(in->data(), 0, 96);
  run(*session);
  EXPECT_EQ(floats[1], 0.0f);

  in->release();
  EXPECT_EQ(session->run().code(), Code::kInvalidInput);
}

TEST(SessionTest, BoundInt8MemoryHoldsQuantizedValues) {
  const auto session = open(picture_program());
  const auto in = DeviceMemory::allocate(24).value();  // too small for padded rows: dense
  ASSERT_TRUE(
      session->bind_input(0, {.dtype = DType::kI8, .format = TensorFormat::kNhwc}, in, 0, 24).ok());
  const std::vector<uint8_t> pixels = picture_pixels();
  for (size_t i = 0; i < pixels.size(); ++i) in->data()[i] = static_cast<uint8_t>(pixels[i] - 128);
  run(*session);
  EXPECT_EQ(get<int8_t>(*session, 0, DType::kI8), picture_scores());
}

TEST(SessionTest, SmallMemoryCannotBeBound) {
  const auto session = open(picture_program());
  const auto memory = DeviceMemory::allocate(23).value();
  EXPECT_EQ(
      session->bind_input(0, {.dtype = DType::kU8, .format = TensorFormat::kNhwc}, memory, 0, 23)
          .code(),
      Code::kInvalidArgument);
  EXPECT_EQ(session->bind_input(0, {.dtype = DType::kU8}, memory, 20, 24).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(session->bind_output(0, {.dtype = DType::kF32}, memory, 0, 23).code(),
            Code::kInvalidArgument);
}

// The convolution writes 32 channels, two blocks of 16: every lane of the last pixel is written, whatever the type.
TEST(SessionTest, BlockedOutputsNeedRoomForWholeBlocks) {
  const auto session = open(picture_program());
  constexpr uint64_t kBytes = 2 * (2 * 4) * 16 * sizeof(float);
  const auto memory = DeviceMemory::allocate(kBytes).value();
  const CallerFormat format{.dtype = DType::kF32, .format = TensorFormat::kNc1hwc2};
  EXPECT_EQ(session->output_bytes(0, format).value(), kBytes);
  EXPECT_EQ(session->bind_output(0, format, memory, 0, kBytes - 1).code(), Code::kInvalidArgument);
  ASSERT_TRUE(session->bind_output(0, format, memory, 0, kBytes).ok());
  run(*session);
}

TEST(SessionTest, ObserverSeesInputsAndResultsInPlainOrder) {
  const auto session = open(picture_program());
  ASSERT_TRUE(set(*session, 0, DType::kU8, TensorFormat::kNhwc, picture_pixels()).ok());
  std::vector<std::string> names;
  std::vector<int8_t> last;
  session->set_observer([&](int32_t index, const Tensor& stored) {
    const program::ProgramTensor& tensor =
        session->model().variant().tensors[static_cast<size_t>(index)];
    names.push_back(tensor.name);
    last.assign(stored.span<int8_t>().begin(), stored.span<int8_t>().end());
    EXPECT_EQ(to_f32(tensor, stored).data<float>()[0], tensor.name == "image" ? 10.0f : 2.0f);
    return ok_status();
  });
  run(*session);
  EXPECT_EQ(names, (std::vector<std::string>{"image", "scores"}));
  EXPECT_EQ(last, picture_scores());
}

// 17 -> 33 -> 33 channels, 3x3, a residual, odd extents.
program::Program wide_program() {
  TestProgram p;
  const int32_t in = p.input("x", {DType::kI8, {2, 17, 9, 7}, 0.1f, 3});
  const int32_t mid = p.internal("mid", {DType::kI8, {2, 33, 9, 7}, 0.2f, -5});
  const int32_t out = p.output("y", {DType::kI8, {2, 33, 9, 7}, 0.3f, 7});
  const auto weights = [](int64_t count) {
    std::vector<int8_t> w(static_cast<size_t>(count));
    for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<int8_t>(i * 37 % 255 - 127);
    return w;
  };
  TestProgram::IntegerConv first;
  first.weights = weights(33 * 17 * 9);
  first.params.pads = {1, 1, 1, 1};
  first.params.activation = program::Activation::kRelu;
  first.params.output.scale = {20000, 23};
  p.conv(in, mid, {33, 17, 3, 3}, first);
  TestProgram::IntegerConv second;
  second.weights = weights(33 * 33 * 9);
  second.params.pads = {1, 1, 1, 1};
  second.params.addend = {5, {16384, 4}};
  second.params.output.scale = {30000, 24};
  p.conv(mid, out, {33, 33, 3, 3}, second, mid);
  return std::move(p.program);
}

TEST(SessionTest, AnyNumberOfThreadsGivesTheSameBytes) {
  std::vector<int8_t> input(2 * 17 * 9 * 7);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<int8_t>(i * 71 % 256 - 128);
  std::vector<int8_t> first;
  for (const int threads : {1, 2, 4, 4}) {
    const auto session = open(wide_program(), {.threads = threads});
    ASSERT_TRUE(set(*session, 0, DType::kI8, TensorFormat::kNchw, input).ok());
    run(*session);
    const std::vector<int8_t> out = get<int8_t>(*session, 0, DType::kI8);
    if (first.empty()) first = out;
    EXPECT_EQ(out, first) << threads << " threads";
  }
  int distinct = 0;
  for (int v = -128; v < 128; ++v) distinct += std::count(first.begin(), first.end(), v) > 0;
  EXPECT_GT(distinct, 20);
}

TEST(SessionTest, SessionsOnOneModelDoNotShareState) {
  auto model = LoadedModel::from_program(picture_program(), {}).value();
  const auto a = Session::create(model).value();
  const auto b = Session::create(model).value();
  model.reset();
  ASSERT_TRUE(set(*a, 0, DType::kU8, TensorFormat::kNhwc, picture_pixels()).ok());
  ASSERT_TRUE(set(*b, 0, DType::kU8, TensorFormat::kNhwc, std::vector<uint8_t>(24, 0)).ok());
  run(*a);
  run(*b);
  EXPECT_EQ(get<int8_t>(*a, 0, DType::kI8), picture_scores());
  EXPECT_EQ(get<int8_t>(*b, 0, DType::kI8), std::vector<int8_t>(16, -10));
}

TEST(SessionTest, ConcatRescalesEachInputIntoChannelsOfItsOwn) {
  TestProgram p;
  const int32_t a = p.input("a", {DType::kI8, {1, 3, 1, 2}, 1.0f, 0});
  const int32_t b = p.input("b", {DType::kI8, {1, 17, 1, 2}, 2.0f, 10});
  const int32_t y = p.output("y", {DType::kI8, {1, 20, 1, 2}, 2.0f, 10});
  program::ConcatParams concat;
  // To a unit 2^10 finer than the output's scale 2: x1 goes by 512, x2 by 1024; back by 1/1024.
  concat.inputs = {{0, {16384, 5}}, {-10, {16384, 4}}};
  concat.output = {{16384, 24}, 10};
  p.step("Concat", {a, b}, {y}, concat);
  const auto session = open(std::move(p.program));
  std::vector<int8_t> left = {0, 1, 2, 3, 4, 100}, right(34);
  for (size_t i = 0; i < right.size(); ++i) right[i] = static_cast<int8_t>(i * 3 - 50);
  ASSERT_TRUE(session->set_input(0, {.pass_through = true}, left.data(), left.size()).ok());
  std::vector<int8_t> right_native(32 * 2);
  for (size_t c = 0; c < 17; ++c) {
    for (size_t w = 0; w < 2; ++w) right_native[(c / 16 * 2 + w) * 16 + c % 16] = right[c * 2 + w];
  }
  ASSERT_TRUE(
      session->set_input(1, {.pass_through = true}, right_native.data(), right_native.size()).ok());
  run(*session);
  const std::vector<int8_t> out = get<int8_t>(*session, 0, DType::kI8);
  // a was given NHWC: [w][c]. x / 2 to even, plus 10.
  EXPECT_EQ(std::vector<int8_t>(out.begin(), out.begin() + 6),
            (std::vector<int8_t>{10, 12, 10, 12, 11, 60}));
  EXPECT_EQ(std::vector<int8_t>(out.begin() + 6, out.end()), right);
}

// x -> a (16 channels) -> b (16) -> join [a, b, a] -> y. With `watched`, a and b are outputs too and must be copied.
program::Program joined_program(bool watched) {
  TestProgram p;
  const TestProgram::Type half{DType::kI8, {1, 16, 3, 5}, 0.1f, 2};
  const auto make = [&](const char* name) {
    return watched ? p.output(name, half) : p.internal(name, half);
  };
  const int32_t x = p.input("x", half);
  const int32_t a = make("a"), b = make("b");
  const int32_t join = p.internal("join", {DType::kI8, {1, 48, 3, 5}, 0.1f, 2});
  const int32_t y = p.output("y", half);
  TestProgram::IntegerConv conv;
  for (int i = 0; i < 16 * 16; ++i) conv.weights.push_back(static_cast<int8_t>(i * 29 % 255 - 127));
  conv.params.output.scale = {20000, 21};
  p.conv(x, a, {16, 16, 1, 1}, conv);
  p.conv(a, b, {16, 16, 1, 1}, conv);
  program::ConcatParams concat;
  concat.identity = true;
  p.step("Concat", {a, b, a}, {join}, concat);
  conv.weights.clear();
  for (int i = 0; i < 16 * 48; ++i) conv.weights.push_back(static_cast<int8_t>(i * 31 % 255 - 127));
  p.conv(join, y, {16, 48, 1, 1}, conv);
  return std::move(p.program);
}

TEST(SessionTest, ConcatWithoutCopyingGivesTheSameBytes) {
  std::vector<int8_t> input(16 * 15);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<int8_t>(i * 53);
  const auto copied = open(joined_program(true)), joined = open(joined_program(false));
  EXPECT_LT(joined->model().plan(0).value()->arena_bytes,
            copied->model().plan(0).value()->arena_bytes);
  for (Session* session : {copied.get(), joined.get()}) {
    ASSERT_TRUE(set(*session, 0, DType::kI8, TensorFormat::kNchw, input).ok());
    run(*session);
  }
  EXPECT_EQ(get<int8_t>(*joined, 0, DType::kI8), get<int8_t>(*copied, 2, DType::kI8));
}

TEST(SessionTest, ElementwiseOperatorsRunByTableInAnyLayout) {
  TestProgram p;
  const TestProgram::Type type{DType::kF16, {1, 20, 32, 32}};
  const int32_t x = p.input("x", type), added = p.internal("added", type);
  const int32_t flat = p.input("flat", {DType::kI8, {1, 5}, 0.5f, 0});
  const int32_t y = p.output("y", type),
                flat_y = p.output("flat_y", {DType::kI8, {1, 5}, 0.25f, -8});
  p.step("Add", {x, x}, {added}, program::SumParams{});
  p.step("Relu", {added}, {y}, program::OpParams{"Relu", {}});
  p.step("Relu", {flat}, {flat_y}, program::OpParams{"Relu", {}});
  const auto session = open(std::move(p.program));
  Floats values(20 * 32 * 32), expected;
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 400) - 200.0f;
  for (const float v : values) expected.push_back(v > 0 ? 2 * v : 0);
  ASSERT_TRUE(set(*session, 0, DType::kF32, TensorFormat::kNchw, values).ok());
  ASSERT_TRUE(
      set(*session, 1, DType::kF32, TensorFormat::kUndefined, Floats{-3, 0, 0.5f, 3, 60}).ok());
  run(*session);
  EXPECT_EQ(get<float>(*session, 0, DType::kF32), expected);
  EXPECT_EQ(get<int8_t>(*session, 1, DType::kI8), (std::vector<int8_t>{-8, -8, -6, 4, 127}));
}

TEST(SessionTest, OperatorsRunOnRawElementsAndOnNumbers) {
  TestProgram p;
  const int32_t x = p.input("x", {DType::kI8, {1, 2, 2, 3}, 0.5f, 4});
  const int32_t t = p.internal("t", {DType::kI8, {1, 2, 3, 2}, 0.5f, 4});
  const int32_t flat = p.output("flat", {DType::kI8, {1, 12}, 0.5f, 4});
  const int32_t clipped = p.output("clipped", {DType::kF16, {1, 12}});
  program::OpParams transpose{"Transpose", {{"perm", std::vector<int64_t>{0, 1, 3, 2}}}};
  p.step("Transpose", {x}, {t}, transpose);
  program::OpParams flatten{"Flatten", {{"axis", int64_t{1}}}};
  p.step("Flatten", {t}, {flat}, flatten);
  p.step("Relu", {flat}, {clipped}, program::OpParams{"Relu", {}});
  const auto session = open(std::move(p.program));
  ASSERT_NE(session, nullptr);
  const Floats values = {-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(set(*session, 0, DType::kF32, TensorFormat::kNchw, values).ok());
  run(*session);
  EXPECT_EQ(get<float>(*session, 0, DType::kF32), (Floats{-3, 0, -2, 1, -1, 2, 3, 6, 4, 7, 5, 8}));
  EXPECT_EQ(get<float>(*session, 1, DType::kF32), (Floats{0, 0, 0, 1, 0, 2, 3, 6, 4, 7, 5, 8}));
}

TEST(SessionTest, MovesBetweenPlainAndBlockedTensorsKeepEveryElement) {
  TestProgram p;
  const TestProgram::Type picture{DType::kF16, {1, 32, 3, 5}};
  const int32_t x = p.input("x", picture), sum = p.internal("sum", picture);
  const int32_t turned = p.output("turned", {DType::kF16, {1, 3, 5, 32}});
  const int32_t half = p.internal("half", {DType::kF16, {1, 16, 3, 5}});
  const int32_t twice = p.output("twice", {DType::kF16, {1, 16, 3, 5}});
  p.step("Add", {x, x}, {sum}, program::SumParams{});
  p.step("Transpose", {sum}, {turned},
         program::OpParams{"Transpose", {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}});
  const auto constant = [&](const char* name, int64_t value) {
    return p.constant(name, {DType::kI64, {1}}, TestProgram::bytes_of(std::vector<int64_t>{value}));
  };
  p.step("Slice", {sum, constant("start", 8), constant("end", 24), constant("axis", 1)}, {half},
         program::OpParams{"Slice", {}});
  p.step("Add", {half, half}, {twice}, program::SumParams{});
  const auto session = open(std::move(p.program));
  ASSERT_NE(session, nullptr);
  Floats values(32 * 15), expected_turned, expected_half;
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  for (size_t i = 0; i < 15; ++i) {
    for (size_t c = 0; c < 32; ++c) expected_turned.push_back(2 * values[c * 15 + i]);
  }
  for (size_t i = 0; i < size_t{16} * 15; ++i) expected_half.push_back(4 * values[8 * 15 + i]);
  ASSERT_TRUE(set(*session, 0, DType::kF32, TensorFormat::kNchw, values).ok());
  run(*session);
  EXPECT_EQ(get<float>(*session, 0, DType::kF32), expected_turned);
  EXPECT_EQ(get<float>(*session, 1, DType::kF32), expected_half);
}

TEST(SessionTest, MovesThatConvertGiveWhatConvertingAfterwardsWould) {
  TestProgram p;
  const int32_t x = p.input("x", {DType::kF16, {1, 2, 3, 5}});
  const int32_t y = p.output("y", {DType::kI8, {1, 5, 2, 3}, 0.5f, 4});
  p.step("Transpose", {x}, {y},
         program::OpParams{"Transpose", {{"perm", std::vector<int64_t>{0, 3, 1, 2}}}});
  const auto session = open(std::move(p.program));
  ASSERT_NE(session, nullptr);
  Floats values;
  std::vector<int8_t> expected;
  for (int i = 0; i < 30; ++i) values.push_back(static_cast<float>(i) * 1.3f - 9);
  for (size_t w = 0; w < 5; ++w) {
    for (size_t i = 0; i < 6; ++i) {
      const float stored = half_to_float(float_to_half(values[i * 5 + w]));
      expected.push_back(quantize_f32(stored, 0.5f, 4));
    }
  }
  ASSERT_TRUE(set(*session, 0, DType::kF32, TensorFormat::kNchw, values).ok());
  run(*session);
  EXPECT_EQ(get<int8_t>(*session, 0, DType::kI8), expected);
}

// Channels of whole blocks share slices, others do not; the generic volume is the operator's own.
TEST(SessionTest, VolumesOfHalvesAgreeWithTheSumsByHand) {
  for (const int64_t channels : {16, 3}) {
    TestProgram p;
    const int32_t x = p.input("x", {DType::kF16, {2, channels, 4, 3, 5}});
    const int32_t y = p.output("y", {DType::kF16, {2, 2, 2, 3, 4}});
    Floats weights, values, expected;
    for (int64_t i = 0; i < 2 * channels * 3 * 3 * 2; ++i)
      weights.push_back(static_cast<float>(i % 5) - 2);
    for (int64_t i = 0; i < 2 * channels * 60; ++i) values.push_back(static_cast<float>(i % 7) - 3);
    const auto at = [&](int64_t n, int64_t c, int64_t d, int64_t h, int64_t w) {
      if (d < 0 || d >= 4 || h < 0 || h >= 3 || w < 0 || w >= 5) return 0.0f;
      return values[static_cast<size_t>((((n * channels + c) * 4 + d) * 3 + h) * 5 + w)];
    };
    for (int64_t i = 0; i < 2 * 2 * 2 * 3 * 4; ++i) {
      const int64_t n = i / 48, o = i / 24 % 2, d = i / 12 % 2, h = i / 4 % 3, w = i % 4;
      float sum = o == 0 ? 1.0f : -1.0f;
      for (int64_t k = 0; k < channels * 18; ++k) {
        const int64_t c = k / 18, kd = k / 6 % 3, kh = k / 2 % 3, kw = k % 2;
        sum += weights[static_cast<size_t>(o * channels * 18 + k)] *
               at(n, c, 2 * d - 1 + kd, h - 1 + kh, w + kw);
      }
      expected.push_back(sum);
    }
    const int32_t w =
        p.constant("w", {DType::kF32, {2, channels, 3, 3, 2}}, TestProgram::bytes_of(weights));
    const int32_t b = p.constant("b", {DType::kF32, {2}}, TestProgram::bytes_of(Floats{1, -1}));
    p.step("Conv", {x, w, b}, {y},
           program::OpParams{"Conv",
                             {{"strides", std::vector<int64_t>{2, 1, 1}},
                              {"pads", std::vector<int64_t>{1, 1, 0, 1, 1, 0}}}});
    const auto session = open(std::move(p.program));
    ASSERT_NE(session, nullptr);
    ASSERT_TRUE(set(*session, 0, DType::kF32, TensorFormat::kUndefined, values).ok());
    run(*session);
    EXPECT_EQ(get<float>(*session, 0, DType::kF32), expected) << channels;
  }
}

// Widths of whole blocks go to the convolution kernel, others to the operator's definition.
TEST(SessionTest, ProductsOfRowsAgreeWhateverTheirWidth) {
  for (const auto& [depth, columns] : {std::pair{16, 32}, {16, 30}, {18, 32}}) {
    TestProgram p;
    const int32_t x = p.input("x", {DType::kF16, {5, depth}});
    const int32_t viewed = p.internal("viewed", {DType::kF16, {1, 5, depth}});
    const int32_t made = p.internal("made", {DType::kF16, {5, columns}});
    const int32_t y = p.output("y", {DType::kF16, {1, 5, columns}});
    const int32_t z = p.output("z", {DType::kF16, {5, columns}});
    Floats weights, bias, values, expected_y, expected_z;
    for (int i = 0; i < depth * columns; ++i) weights.push_back(static_cast<float>(i % 7) - 3);
    for (int i = 0; i < columns; ++i) bias.push_back(static_cast<float>(i));
    for (int i = 0; i < 5 * depth; ++i) values.push_back(static_cast<float>(i % 5) - 2);
    for (int row = 0; row < 5; ++row) {
      for (int n = 0; n < columns; ++n) {
        float straight = 0, turned = bias[static_cast<size_t>(n)];
        for (int k = 0; k < depth; ++k) {
          const float v = values[static_cast<size_t>(row * depth + k)];
          straight += v * weights[static_cast<size_t>(k * columns + n)];
          turned += v * weights[static_cast<size_t>(n * depth + k)];
        }
        expected_y.push_back(straight);
        expected_z.push_back(turned);
      }
    }
    const auto w = [&](const char* name, const Shape& shape) {
      return p.constant(name, {DType::kF32, shape}, TestProgram::bytes_of(weights));
    };
    const int32_t b = p.constant("b", {DType::kF32, {columns}}, TestProgram::bytes_of(bias));
    const auto shape = [&](const char* name, const std::vector<int64_t>& dims) {
      return p.constant(name, {DType::kI64, {std::ssize(dims)}}, TestProgram::bytes_of(dims));
    };
    p.step("Reshape", {x, shape("in_shape", {1, 5, depth})}, {viewed},
           program::OpParams{"Reshape", {}});
    p.step("MatMul", {viewed, w("w", {depth, columns})}, {y}, program::OpParams{"MatMul", {}});
    p.step("Gemm", {x, w("wt", {columns, depth}), b}, {made},
           program::OpParams{"Gemm", {{"transB", int64_t{1}}}});
    p.step("Identity", {made}, {z}, program::OpParams{"Identity", {}});
    const auto session = open(std::move(p.program));
    ASSERT_NE(session, nullptr);
    ASSERT_TRUE(set(*session, 0, DType::kF32, TensorFormat::kUndefined, values).ok());
    for (int again = 0; again < 2; ++again) {  // the input is still there
      run(*session);
      EXPECT_EQ(get<float>(*session, 0, DType::kF32), expected_y) << depth << " " << columns;
      EXPECT_EQ(get<float>(*session, 1, DType::kF32), expected_z) << depth << " " << columns;
    }
  }
}

TEST(SessionTest, FloatConvolutionAddsItsResidualInHalfPrecision) {
  TestProgram p;
  const int32_t x = p.input("x", {DType::kF16, {1, 2, 1, 2}});
  const int32_t y = p.output("y", {DType::kF16, {1, 2, 1, 2}});
  const int32_t w =
      p.constant("w", {DType::kF32, {2, 2, 1, 1}}, TestProgram::bytes_of(Floats{1, 2, 3, -4}));
  const int32_t b = p.constant("b", {DType::kF32, {2}}, TestProgram::bytes_of(Floats{0.5f, 0.25f}));
  program::ConvParams conv;
  conv.post_activation = program::Activation::kRelu;
  p.step("ConvAddRelu", {x, w, b, x}, {y}, conv);
  const auto session = open(std::move(p.program));
  ASSERT_TRUE(set(*session, 0, DType::kF32, TensorFormat::kNchw, Floats{1, 2, 3, 4}).ok());
  run(*session);
  // channel 0: 1*1+2*3+.5+1 = 8.5, 2+8+.5+2 = 12.5; channel 1: 3-12+.25+3 < 0, 6-16+.25+4 < 0
  EXPECT_EQ(get<float>(*session, 0, DType::kF32), (Floats{8.5f, 12.5f, 0, 0}));
}

TEST(SessionTest, PoolSumResizeAndTableFollowTheIntegerRules) {
  TestProgram p;
  const TestProgram::Type small{DType::kI8, {1, 1, 1, 2}, 1.0f, 0};
  const int32_t x = p.input("x", {DType::kI8, {1, 1, 2, 4}, 1.0f, 0});
  const int32_t largest = p.internal("largest", small);
  const int32_t mean = p.internal("mean", small);
  const int32_t sum = p.output("sum", small);
  const int32_t wide = p.output("wide", {DType::kI8, {1, 1, 1, 4}, 1.0f, 0});
  const int32_t negated = p.output("negated", small);
  program::PoolParams pool;
  pool.kernel = pool.stride = {2, 2};
  p.step("MaxPool", {x}, {largest}, pool);
  pool.kind = program::PoolKind::kAverage;
  // 1024 / n per unit of x, for windows of 1 to 4.
  for (int n = 1; n <= 4; ++n) pool.by_count.push_back({0, to_scale_shift(1024.0 / n).value()});
  pool.output = {{16384, 24}, 0};
  p.step("AveragePool", {x}, {mean}, pool);
  program::SumParams add;
  add.inputs = {{0, {16384, 4}}, {0, {16384, 4}}};
  add.output = {{16384, 24}, 0};
  p.step("Add", {largest, mean}, {sum}, add);
  program::ResizeParams resize;
  resize.scale_w = 2;
  resize.coordinates = program::CoordinateMode::kAsymmetric;
  resize.nearest = program::NearestMode::kFloor;
  resize.identity = true;
  p.step("Resize", {sum}, {wide}, resize);
  program::TableParams table{"Neg", {}};
  for (int v = -128; v < 128; ++v) table.table.push_back(saturate_i8(-v));
  p.step("Neg", {sum}, {negated}, table);
  const auto session = open(std::move(p.program));
  ASSERT_NE(session, nullptr);
  ASSERT_TRUE(
      set(*session, 0, DType::kF32, TensorFormat::kNchw, Floats{1, 2, 100, 50, 3, 5, -100, 90})
          .ok());
  run(*session);
  // maxima 5, 100; means 2.75 -> 3, 35; sums 8, 127 (135 saturates)
  EXPECT_EQ(get<int8_t>(*session, 0, DType::kI8), (std::vector<int8_t>{8, 127}));
  EXPECT_EQ(get<int8_t>(*session, 1, DType::kI8), (std::vector<int8_t>{8, 8, 127, 127}));
  EXPECT_EQ(get<int8_t>(*session, 2, DType::kI8), (std::vector<int8_t>{-8, -127}));
}

TEST(SessionTest, UnknownOperatorLoadsAndFailsTheRunNamingTheStep) {
  TestProgram p;
  const int32_t x = p.input("x", {DType::kF32, {2}});
  const int32_t y = p.output("y", {DType::kF32, {2}});
  p.step("cstFrobnicate", {x}, {y}, program::OpParams{"cstFrobnicate", {}});
  const auto session = open(std::move(p.program));
  const Status status = session->run();
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("step 'cstFrobnicate:node0'"), std::string::npos)
      << status.message();
}

TEST(SessionTest, OperatorThatDoesNotFitItsTensorsFailsTheLoadNamingTheStep) {
  TestProgram p;
  const int32_t x = p.input("x", {DType::kF32, {2}});
  const int32_t y = p.output("y", {DType::kF32, {3}});
  p.step("Relu", {x}, {y}, program::OpParams{"Relu", {}});
  const auto model = LoadedModel::from_program(std::move(p.program), {});
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("step 'Relu:node0'"), std::string::npos)
      << model.status().message();
}

TEST(SessionTest, InfoOnlyModelsAnswerAndDoNotRun) {
  LoadOptions options;
  options.info_only = true;
  const auto model = LoadedModel::from_program(picture_program(), options).value();
  const auto session = Session::create(model).value();
  EXPECT_GT(model->weight_bytes(), 0u);
  EXPECT_EQ(model->weight_bytes() % 64, 0u);
  EXPECT_EQ(session->run().code(), Code::kInvalidArgument);
}

TEST(SessionTest, StepTimesAreCollectedOnRequest) {
  const auto session = open(picture_program(), {.collect_perf = true});
  run(*session);
  EXPECT_EQ(session->step_durations_us().size(), 1u);
  EXPECT_GE(session->run_duration_us(), 1);
}

}  // namespace
}  // namespace rk::runtime

// SPDX-License-Identifier: Apache-2.0
// Sizes are the "Total Internal Memory Size" that the vendor's compiler (2.3.2) prints for these networks in int8.
#include "compiler/chip_steps.h"

#include <gtest/gtest.h>

#include "compiler/layout.h"
#include "compiler/memory_plan.h"

namespace rk::compiler {
namespace {

using program::Activation;
using program::ConvParams;

constexpr double kKilobyte = 1024;

struct Printed {
  const char* chip;
  double kilobytes;
};

// A network of convolutions over [1, 3, 24, 40].
class Net {
 public:
  Net() {
    variant_.tensors.resize(1);
    variant_.inputs = {add({1, 3, 24, 40}, program::TensorKind::kInput)};
    weight_ = add({1}, program::TensorKind::kNpuConstant);
    variant_.tensors.back().weight = 1;
  }

  int32_t input() const { return variant_.inputs[0]; }

  int32_t conv(int32_t in, int64_t channels, ConvParams params = {}, int32_t addend = 0) {
    const Shape from = variant_.tensors[static_cast<size_t>(in)].shape;
    const int64_t s = params.stride.h;
    const Shape to = params.transposed ? Shape{1, channels, from[2] * s, from[3] * s}
                                       : Shape{1, channels, from[2] / s, from[3] / s};
    std::vector<int32_t> inputs = {in, weight_, weight_};
    if (addend != 0) inputs.push_back(addend);
    return step("Conv", std::move(inputs), to, params);
  }

  int32_t resize(int32_t in, const Shape& to, program::ResizeMode mode,
                 program::CoordinateMode coordinates) {
    return step("Resize", {in}, to,
                program::ResizeParams{.mode = mode, .coordinates = coordinates});
  }

  int32_t step(const char* type, std::vector<int32_t> inputs, const Shape& to,
               program::StepParams params) {
    const int32_t out = add(to, program::TensorKind::kInternal);
    variant_.steps.push_back(
        {.type = type, .inputs = std::move(inputs), .outputs = {out}, .params = std::move(params)});
    return out;
  }

  // The plan's size for a chip when `last` is the model's output.
  double kilobytes(const char* chip, int32_t last) const {
    program::Variant variant = variant_;
    variant.outputs = {last};
    variant.tensors[static_cast<size_t>(last)].kind = program::TensorKind::kOutput;
    const target::Target& target = *target::find_target(chip).value();
    EXPECT_TRUE(assign_layouts(target, variant).ok());
    EXPECT_TRUE(assign_memory(target, variant).ok());
    return static_cast<double>(variant.arena_bytes) / kKilobyte;
  }

 private:
  int32_t add(const Shape& shape, program::TensorKind kind) {
    variant_.tensors.push_back({.dtype = DType::kI8, .kind = kind, .shape = shape});
    return static_cast<int32_t>(variant_.tensors.size()) - 1;
  }

  program::Variant variant_;
  int32_t weight_ = 0;
};

ConvParams relu() { return {.activation = Activation::kRelu}; }

TEST(ChipStepsTest, AnAddBehindADepthwiseConvolutionIsAStep) {
  for (const Printed& p : {Printed{"rk3588", 183.375}, Printed{"rk3576", 183.375},
                           Printed{"rk3562", 153.375}, Printed{"rk3566", 152.8125}}) {
    Net net;
    const int32_t x = net.conv(net.input(), 48, relu());
    const int32_t y = net.conv(net.conv(x, 48, relu()), 48, {.group = 48}, x);
    EXPECT_EQ(net.kilobytes(p.chip, net.conv(y, 16)), p.kilobytes) << p.chip;
  }
}

TEST(ChipStepsTest, TheConvolutionNearerToTheInputsTakesTheAdd) {
  for (const Printed& p : {Printed{"rk3588", 123.375}, Printed{"rk3576", 153.375},
                           Printed{"rk3562", 93.375}, Printed{"rk3566", 92.8125}}) {
    Net net;
    const int32_t x = net.conv(net.input(), 64, relu());
    const int32_t near = net.conv(x, 16);
    ConvParams half = relu();
    half.stride = {2, 2};
    const int32_t low = net.conv(net.conv(x, 64, half), 64, relu());
    const int32_t far = net.conv(
        low, 16, {.kernel = {4, 4}, .stride = {2, 2}, .pads = {1, 1, 1, 1}, .transposed = true});
    const int32_t sum = net.conv(far, 16, {.post_activation = Activation::kRelu}, near);
    EXPECT_EQ(net.kilobytes(p.chip, net.conv(sum, 16)), p.kilobytes) << p.chip;
  }
}

TEST(ChipStepsTest, GroupsOfFullBlocksLieBetweenSplitAndConcat) {
  for (const Printed& p : {Printed{"rk3588", 213.375}, Printed{"rk3576", 213.375},
                           Printed{"rk3562", 123.375}, Printed{"rk3566", 122.8125}}) {
    Net net;
    const int32_t x = net.conv(net.input(), 64, relu());
    const int32_t y = net.conv(x, 64, {.group = 4, .activation = Activation::kRelu});
    EXPECT_EQ(net.kilobytes(p.chip, net.conv(y, 16)), p.kilobytes) << p.chip;
  }
}

TEST(ChipStepsTest, ARepeatedPictureHasNoMoreChannelsThanItsBlocks) {
  for (const Printed& p : {Printed{"rk3588", 363.375}, Printed{"rk3562", 288.375}}) {
    Net net;
    const int32_t x = net.conv(net.input(), 48, relu());
    const int32_t y =
        net.conv(x, 48, {.kernel = {2, 2}, .stride = {2, 2}, .group = 48, .transposed = true});
    EXPECT_EQ(net.kilobytes(p.chip, net.conv(y, 8)), p.kilobytes) << p.chip;
  }
}

TEST(ChipStepsTest, OtherResizesWriteAsDepthwiseConvolutionsDo) {
  using enum program::ResizeMode;
  using enum program::CoordinateMode;
  struct Case {
    const char* chip;
    int64_t channels, h, w;
    program::ResizeMode mode;
    program::CoordinateMode coordinates;
    double kilobytes;
  };
  for (const Case& c : {Case{"rk3588", 32, 36, 60, kNearest, kAsymmetric, 235.875},
                        Case{"rk3588", 32, 48, 80, kLinear, kHalfPixel, 427.5},
                        Case{"rk3588", 40, 72, 120, kLinear, kHalfPixel, 924.5625},
                        Case{"rk3588", 32, 48, 80, kLinear, kAlignCorners, 273.375},
                        Case{"rk3562", 32, 48, 80, kLinear, kAlignCorners, 213.375},
                        Case{"rk3562", 40, 72, 120, kLinear, kHalfPixel, 774.5625},
                        Case{"rk3562", 32, 48, 80, kLinear, kHalfPixel, 187.5}}) {
    Net net;
    const int32_t x = net.conv(net.input(), c.channels, relu());
    const int32_t y = net.resize(x, {1, c.channels, c.h, c.w}, c.mode, c.coordinates);
    EXPECT_EQ(net.kilobytes(c.chip, net.conv(y, 8)), c.kilobytes) << c.chip << " " << c.h;
  }
}

TEST(ChipStepsTest, AnActivationThatJoinsNoConvolutionHasItsOwnPlace) {
  for (const Printed& p : {Printed{"rk3588", 363.375}, Printed{"rk3576", 183.375}}) {
    Net net;
    const int32_t x = net.conv(net.input(), 48, relu());
    const int32_t sum = net.conv(net.conv(x, 48, relu()), 48, {}, x);
    const int32_t y =
        net.step("exSwish", {sum}, {1, 48, 24, 40}, program::OpParams{.op = "exSwish"});
    EXPECT_EQ(net.kilobytes(p.chip, net.conv(y, 16)), p.kilobytes) << p.chip;
  }
}

}  // namespace
}  // namespace rk::compiler

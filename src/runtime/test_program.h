// SPDX-License-Identifier: Apache-2.0
// Small Programs for tests of the runtime and the C interface, put together step by step as the compiler would.
#pragma once

#include <string>
#include <vector>

#include "base/checked_math.h"
#include "program/core_split.h"
#include "program/native_layout.h"
#include "program/program.h"

namespace rk::runtime {

class TestProgram {
 public:
  explicit TestProgram(std::string target = "rk3588") {
    program.target = std::move(target);
    program.toolkit_version = "0.1.0";
    program.compiler_version = "0.1.0";
    program.weights.emplace_back();
    program.variants.emplace_back();
    variant().tensors.emplace_back();
  }

  program::Variant& variant() { return program.variants.front(); }
  program::ProgramTensor& tensor(int32_t i) { return variant().tensors[static_cast<size_t>(i)]; }

  struct Type {
    DType dtype = DType::kI8;
    Shape shape;
    float scale = 0;
    int32_t zero_point = 0;
  };

  int32_t input(std::string name, const Type& type, program::InputInfo info = {}) {
    const int32_t index = feature(std::move(name), type, program::TensorKind::kInput);
    variant().inputs.push_back(index);
    program.inputs.push_back(std::move(info));
    return index;
  }
  int32_t internal(std::string name, const Type& type) {
    return feature(std::move(name), type, program::TensorKind::kInternal);
  }
  int32_t output(std::string name, const Type& type) {
    const int32_t index = feature(std::move(name), type, program::TensorKind::kOutput);
    variant().outputs.push_back(index);
    return index;
  }
  int32_t constant(std::string name, const Type& type, std::vector<uint8_t> bytes) {
    program::ProgramTensor t = describe(std::move(name), type, program::TensorKind::kNpuConstant);
    t.size_bytes = bytes.size();
    t.weight = static_cast<int32_t>(program.weights.size());
    program.weights.push_back(program::make_blob(std::move(bytes)));
    return add(std::move(t));
  }
  template <typename T>
  static std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
    const auto* from = reinterpret_cast<const uint8_t*>(values.data());
    return {from, from + values.size() * sizeof(T)};
  }

  program::Step& step(std::string type, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                      program::StepParams params) {
    program::Step s;
    s.type = type;
    s.name = type + ":node" + std::to_string(variant().steps.size());
    s.inputs = std::move(inputs);
    s.outputs = std::move(outputs);
    s.params = std::move(params);
    variant().steps.push_back(std::move(s));
    return variant().steps.back();
  }

  // Weights plain OIHW, all multipliers 1, o = 0; `bias` is in the accumulator's unit, the zero-point part is added.
  struct IntegerConv {
    std::vector<int8_t> weights;
    std::vector<int32_t> bias;  // empty: 0
    program::ConvParams params;
  };
  program::Step& conv(int32_t in, int32_t out, const Shape& weight_shape, IntegerConv conv,
                      int32_t addend = program::kNone) {
    const int64_t channels = tensor(out).shape[1];
    const int64_t taps = weight_shape.elements() / channels;
    program::BiasBlock block;
    for (int64_t c = 0; c < channels; ++c) {
      int32_t sum = 0;
      for (int64_t k = 0; k < taps; ++k) sum += conv.weights[static_cast<size_t>(c * taps + k)];
      block.bias.push_back((conv.bias.empty() ? 0 : conv.bias[static_cast<size_t>(c)]) -
                           tensor(in).zero_point * sum);
      block.offset.push_back(0);
      block.multiplier.push_back(16384);
    }
    const auto* target = target::find_target(program.target).value();
    const int group = target->weights_i8.bias_group;
    std::vector<uint8_t> bias =
        program::pack_bias(block, group, std::max(group, target->weights_i8.bias_channel_align));
    const std::string stem = tensor(out).name;
    const int32_t weight =
        constant(stem + ".weight", {DType::kI8, weight_shape}, bytes_of(conv.weights));
    const auto words = static_cast<int64_t>(bias.size() / 4);
    const int32_t bias_tensor = constant(stem + ".bias", {DType::kI32, {words}}, std::move(bias));
    conv.params.kernel = {static_cast<int32_t>(weight_shape[2]),
                          static_cast<int32_t>(weight_shape[3])};
    conv.params.pad_value = tensor(in).zero_point;
    conv.params.output.zero_point = tensor(out).zero_point;
    std::vector<int32_t> inputs = {in, weight, bias_tensor};
    if (addend != program::kNone) inputs.push_back(addend);
    return step("Conv", std::move(inputs), {out}, conv.params);
  }

  program::Program program;

 private:
  program::ProgramTensor describe(std::string name, const Type& type, program::TensorKind kind) {
    program::ProgramTensor t;
    t.name = std::move(name);
    t.dtype = type.dtype;
    t.kind = kind;
    t.shape = type.shape;
    t.scale = type.scale;
    t.zero_point = type.zero_point;
    for (const int64_t extent : type.shape.dims())
      t.native_shape.push_back(static_cast<int32_t>(extent));
    return t;
  }
  int32_t feature(std::string name, const Type& type, program::TensorKind kind) {
    program::ProgramTensor t = describe(std::move(name), type, kind);
    const auto use = kind == program::TensorKind::kInput ? program::FeatureUse::kInput
                                                         : program::FeatureUse::kConvOutput;
    const program::NativeFeature native =
        program::native_feature(*target::find_target(program.target).value(), type.dtype,
                                type.shape, use, kind == program::TensorKind::kOutput)
            .value();
    t.layout = native.layout;
    t.native_shape = native.native_shape;
    t.size_bytes = native.size_bytes;
    t.plane_align = native.plane_align;
    t.width_align = native.width_align;
    t.offset_in_arena = variant().arena_bytes;
    variant().arena_bytes = align_up<uint64_t>(t.offset_in_arena + t.size_bytes, 64);
    return add(std::move(t));
  }
  int32_t add(program::ProgramTensor t) {
    variant().tensors.push_back(std::move(t));
    return static_cast<int32_t>(variant().tensors.size()) - 1;
  }
};

// image uint8-like [1,3,2,4] (scale 1, zero point -128) through a 1x1 convolution with weights {1,2,3}, {-1,0,1} of
// scale 1/64 to scale 1/2, zero point -10: q = sat8(rne(sum / 32) - 10), real value rne(sum / 32) / 2.
inline program::Program picture_program(program::InputInfo info = {},
                                        const std::string& target = "rk3588", int64_t height = 2,
                                        int64_t width = 4) {
  TestProgram p(target);
  const int32_t in =
      p.input("image", {DType::kI8, {1, 3, height, width}, 1.0f, -128}, std::move(info));
  const int32_t out = p.output("scores", {DType::kI8, {1, 2, height, width}, 0.5f, -10});
  TestProgram::IntegerConv conv;
  conv.weights = {1, 2, 3, -1, 0, 1};
  conv.params.output.scale = {16384, 19};  // 1/32
  p.conv(in, out, {2, 3, 1, 1}, conv);
  p.program.custom_string = "made by hand";
  program::split_over_cores(*target::find_target(target).value(), p.variant());
  return std::move(p.program);
}

// The same at 3x3, 2x4 and 1x2 pixels.
inline program::Program dynamic_picture_program() {
  program::Program out = picture_program({}, "rk3588", 3, 3);
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{2, 4}, {1, 2}})
    out.variants.push_back(picture_program({}, "rk3588", height, width).variants.front());
  return out;
}

// 64 channels to 32 by 1x1: enough weights to be left out of a file.
inline program::Program heavy_program(int64_t side = 1) {
  TestProgram p;
  const int32_t in = p.input("x", {DType::kI8, {1, 64, side, side}, 1.0f, 0});
  const int32_t out = p.output("y", {DType::kI8, {1, 32, side, side}, 1.0f, 0});
  TestProgram::IntegerConv conv;
  for (int i = 0; i < 64 * 32; ++i) conv.weights.push_back(static_cast<int8_t>(i * 7 % 5 - 2));
  conv.params.output.scale = {16384, 18};
  p.conv(in, out, {32, 64, 1, 1}, conv);
  return std::move(p.program);
}

// Eight pixels, NHWC, and what picture_program makes of them, NCHW.
inline std::vector<uint8_t> picture_pixels() {
  return {10, 20, 30, 255, 255, 255, 16, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0, 200, 200, 0, 0, 1, 2, 3};
}
inline std::vector<int8_t> picture_scores() {
  // channel 0: sums 140, 1530, 16, 48, 0, 600, 200, 14; channel 1: 20, 0, -16, -48, 0, 200, -200, 2
  return {-6, 38, -10, -8, -10, 9, -4, -10, -9, -10, -10, -12, -10, -4, -16, -10};
}

// The first `pixels` of them, from the start again after the eighth, and their scores.
inline std::vector<uint8_t> picture_pixels(size_t pixels) {
  const std::vector<uint8_t> all = picture_pixels();
  std::vector<uint8_t> out;
  for (size_t i = 0; i < 3 * pixels; ++i) out.push_back(all[i % all.size()]);
  return out;
}
inline std::vector<int8_t> picture_scores(size_t pixels) {
  const std::vector<int8_t> all = picture_scores();
  std::vector<int8_t> out;
  for (const size_t channel : {size_t{0}, size_t{8}}) {
    for (size_t i = 0; i < pixels; ++i) out.push_back(all[channel + i % 8]);
  }
  return out;
}

}  // namespace rk::runtime

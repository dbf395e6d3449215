// SPDX-License-Identifier: Apache-2.0
// Speed of the convolutions on layers of well-known networks, one thread: every int8 variant this CPU has, with and
// without weight offsets, fp16 and float32. The rate that is printed counts multiply-accumulates.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/conv/conv_f16.h"
#include "kernels/conv/conv_f32.h"
#include "kernels/layout/blocked.h"

namespace rk::kernels {
namespace {

struct Layer {
  int32_t in_channels, size, out_channels, kernel, stride, groups;

  int32_t pad() const { return kernel / 2; }
  int32_t out_size() const { return (size + 2 * pad() - kernel) / stride + 1; }
  ConvFilter filter() const {
    return {in_channels, out_channels, groups, {kernel, kernel}, {stride, stride}};
  }
  ConvExtents extents() const {
    return {1, {size, size}, {out_size(), out_size()}, {pad(), pad()}};
  }
  size_t weights() const {
    return size_t(out_channels) * size_t(filter().in_per_group() * kernel * kernel);
  }
  size_t inputs() const { return size_t(blocked_elements({1, in_channels, {size, size}})); }
  size_t outputs() const {
    return size_t(blocked_elements({1, out_channels, {out_size(), out_size()}}));
  }
  double macs() const { return double(weights()) * out_size() * out_size(); }
  std::string name() const {
    return std::to_string(in_channels) + "x" + std::to_string(size) + "->" +
           std::to_string(out_channels) + "/k" + std::to_string(kernel) + "s" +
           std::to_string(stride) + (groups > 1 ? "dw" : "");
  }
};

constexpr Layer kLayers[] = {
    {3, 224, 32, 3, 2, 1},     {3, 224, 64, 7, 2, 1},    {3, 640, 32, 6, 2, 1},
    {64, 56, 64, 3, 1, 1},     {128, 28, 128, 3, 1, 1},  {256, 14, 256, 3, 1, 1},
    {512, 7, 512, 3, 1, 1},    {32, 160, 32, 3, 1, 1},   {32, 320, 64, 3, 2, 1},
    {128, 80, 256, 3, 2, 1},   {16, 112, 96, 1, 1, 1},   {32, 112, 16, 1, 1, 1},
    {96, 56, 24, 1, 1, 1},     {24, 56, 144, 1, 1, 1},   {32, 28, 192, 1, 1, 1},
    {64, 14, 384, 1, 1, 1},    {64, 56, 256, 1, 1, 1},   {256, 56, 64, 1, 1, 1},
    {1024, 14, 256, 1, 1, 1},  {144, 28, 32, 1, 1, 1},   {960, 7, 320, 1, 1, 1},
    {32, 112, 32, 3, 1, 32},   {96, 112, 96, 3, 2, 96},  {144, 56, 144, 3, 1, 144},
    {384, 14, 384, 3, 1, 384}, {960, 7, 960, 3, 1, 960}, {2048, 1, 1000, 1, 1, 1},
    {32, 320, 64, 3, 2, 1},    {64, 160, 32, 1, 1, 1},
};

// Weights as trained networks have them: most of them small.
std::vector<int8_t> bell(size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> draw(0.0f, 30.0f);
  std::vector<int8_t> out(count);
  for (int8_t& v : out) v = static_cast<int8_t>(std::clamp(draw(random), -127.0f, 127.0f));
  return out;
}

template <typename T>
std::vector<T> noise(size_t count) {
  std::mt19937 random(1);
  std::vector<T> out(count);
  for (T& v : out) v = static_cast<T>(static_cast<int8_t>(random()));
  return out;
}

void count_work(benchmark::State& state, const Layer& layer) {
  state.counters["MAC/s"] = benchmark::Counter(
      layer.macs() * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void bench_i8(benchmark::State& state, const Layer& layer, const ConvI8Kernel& kernel,
              int16_t weight_offset) {
  const auto weights = bell(layer.weights()), input = noise<int8_t>(layer.inputs());
  std::vector<int8_t> output(layer.outputs());
  const std::vector<int16_t> multiplier(size_t(layer.out_channels), 16384);
  const std::vector<int16_t> offset(size_t(layer.out_channels), weight_offset);
  const auto packed = pack_conv_i8({.filter = layer.filter(),
                                    .weights = weights.data(),
                                    .weight_offset = offset.data(),
                                    .multiplier = multiplier.data(),
                                    .input_zero_point = -5,
                                    .activation = Activation::kRelu,
                                    .output = {{16384, 26}, -5},
                                    .spare_bytes = int64_t{1} << 40},
                                   kernel);
  if (!packed.ok()) {
    state.SkipWithError("the variant does not accept this layer");
    return;
  }
  const ConvI8Args args = {&*packed, layer.extents(), input.data(), nullptr, output.data()};
  for (auto _ : state) conv_i8(args, {0, conv_i8_units(args)});
  count_work(state, layer);
}

void bench_f16(benchmark::State& state, const Layer& layer) {
  const auto weights = noise<float>(layer.weights());
  std::vector<uint16_t> input(layer.inputs(), 0x3c00), output(layer.outputs());
  const auto packed = pack_conv_f16({.filter = layer.filter(), .weights_f32 = weights.data()});
  if (!packed.ok()) {
    state.SkipWithError("the layer cannot be packed");
    return;
  }
  const ConvF16Args args = {&*packed, layer.extents(), input.data(), nullptr, output.data()};
  for (auto _ : state) conv_f16(args, {0, conv_f16_units(args)});
  count_work(state, layer);
}

void bench_f32(benchmark::State& state, const Layer& layer) {
  const auto weights = noise<float>(layer.weights());
  const std::vector<float> input(layer.inputs(), 1.0f);
  std::vector<float> output(layer.outputs());
  const ConvF32Args args = {layer.filter(), layer.extents(), WeightOrder::kOihw, input.data(),
                            weights.data(), nullptr,         output.data()};
  for (auto _ : state) conv_f32(args, {0, conv_f32_units(args)});
  count_work(state, layer);
}

const bool kRegistered = [] {
  for (const Layer& layer : kLayers) {
    const auto add = [&](const std::string& kernel, auto... arguments) {
      benchmark::RegisterBenchmark((kernel + "/" + layer.name()).c_str(), arguments...)
          ->Unit(benchmark::kMicrosecond);
    };
    for (const ConvI8Variant& variant : conv_i8_variants()) {
      const ConvI8Kernel* const kernel = variant.kernel;
      for (const int16_t offset : {int16_t{0}, int16_t{9}}) {
        add(std::string(kernel->name) + (offset != 0 ? "/asymmetric" : ""),
            [=](benchmark::State& state) { bench_i8(state, layer, *kernel, offset); });
      }
    }
    add("conv_f16", [=](benchmark::State& state) { bench_f16(state, layer); });
    add("conv_f32", [=](benchmark::State& state) { bench_f32(state, layer); });
  }
  return true;
}();

}  // namespace
}  // namespace rk::kernels

// SPDX-License-Identifier: Apache-2.0
// Speed of the convolutions on layers of well-known networks, one thread: every int8 variant this CPU has, fp16 and
// float32. Prints microseconds and GMAC/s, best of the runs within half a second.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/conv/conv_f16.h"
#include "kernels/conv/conv_f32.h"
#include "kernels/layout/blocked.h"

namespace rk::kernels {
namespace {

struct Layer {
  int32_t in_channels, size, out_channels, kernel, stride, groups;
};

constexpr Layer kLayers[] = {
    {3, 224, 32, 3, 2, 1},    {3, 224, 64, 7, 2, 1},   {64, 56, 64, 3, 1, 1},
    {128, 28, 128, 3, 1, 1},  {512, 7, 512, 3, 1, 1},  {16, 112, 96, 1, 1, 1},
    {64, 56, 256, 1, 1, 1},   {256, 56, 64, 1, 1, 1},  {1024, 14, 256, 1, 1, 1},
    {32, 112, 32, 3, 1, 32},  {96, 112, 96, 3, 2, 96}, {960, 7, 960, 3, 1, 960},
    {2048, 1, 1000, 1, 1, 1},
};

double best_seconds(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  const auto end = Clock::now() + std::chrono::milliseconds(500);
  do {
    const auto start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  } while (Clock::now() < end);
  return best;
}

void bench(const Layer& layer) {
  const ConvFilter filter = {layer.in_channels,
                             layer.out_channels,
                             layer.groups,
                             {layer.kernel, layer.kernel},
                             {layer.stride, layer.stride}};
  const int32_t pad = layer.kernel / 2;
  const int32_t out = (layer.size + 2 * pad - layer.kernel) / layer.stride + 1;
  const ConvExtents extents = {1, {layer.size, layer.size}, {out, out}, {pad, pad}};
  const size_t weight_count =
      size_t(layer.out_channels) * filter.in_per_group() * layer.kernel * layer.kernel;
  const double gmac = double(weight_count) * out * out * 1e-9;
  const size_t in_count = size_t(blocked_elements({1, layer.in_channels, extents.in}));
  const size_t out_count = size_t(blocked_elements({1, layer.out_channels, extents.out}));
  std::mt19937 random(1);
  std::vector<int8_t> weights(weight_count), input(in_count), output(out_count);
  for (int8_t& v : weights) v = static_cast<int8_t>(random());
  for (int8_t& v : input) v = static_cast<int8_t>(random());
  const std::vector<int16_t> multiplier(size_t(layer.out_channels), 16384);
  std::vector<int16_t> offset(size_t(layer.out_channels), 0);
  auto report = [&](const char* name, double seconds) {
    std::printf("  %-28s %10.1f us %8.2f GMAC/s\n", name, seconds * 1e6, gmac / seconds);
    std::fflush(stdout);
  };
  std::printf("%d -> %d, %dx%d, kernel %d, stride %d, groups %d\n", layer.in_channels,
              layer.out_channels, layer.size, layer.size, layer.kernel, layer.stride, layer.groups);
  for (const bool asymmetric : {false, true}) {
    if (asymmetric) offset.assign(offset.size(), 9);
    for (const ConvI8Variant& variant : conv_i8_variants()) {
      const auto packed = pack_conv_i8({.filter = filter,
                                        .weights = weights.data(),
                                        .weight_offset = offset.data(),
                                        .multiplier = multiplier.data(),
                                        .input_zero_point = -5,
                                        .activation = Activation::kRelu,
                                        .output = {{16384, 26}, -5}},
                                       *variant.kernel);
      if (!packed.ok()) continue;
      const ConvI8Args args = {&*packed, extents, input.data(), nullptr, output.data()};
      const std::string name = std::string(variant.kernel->name) + (asymmetric ? " (w + o)" : "");
      report(name.c_str(), best_seconds([&] { conv_i8(args, {0, conv_i8_units(args)}); }));
    }
  }
  const std::vector<float> weights_f32(weights.begin(), weights.end());
  std::vector<uint16_t> input_f16(in_count, 0x3c00), output_f16(out_count);
  const auto packed_f16 = pack_conv_f16({.filter = filter, .weights_f32 = weights_f32.data()});
  if (packed_f16.ok()) {
    const ConvF16Args args = {&*packed_f16, extents, input_f16.data(), nullptr, output_f16.data()};
    report("conv_f16", best_seconds([&] { conv_f16(args, {0, conv_f16_units(args)}); }));
  }
  std::vector<float> input_f32(in_count, 1.0f), output_f32(out_count);
  const ConvF32Args args = {
      filter,  extents,          WeightOrder::kOihw, input_f32.data(), weights_f32.data(),
      nullptr, output_f32.data()};
  report("conv_f32", best_seconds([&] { conv_f32(args, {0, conv_f32_units(args)}); }));
}

}  // namespace
}  // namespace rk::kernels

int main() {
  for (const rk::kernels::Layer& layer : rk::kernels::kLayers) rk::kernels::bench(layer);
  return 0;
}

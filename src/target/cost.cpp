// SPDX-License-Identifier: Apache-2.0
#include "target/cost.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "target/conv_traffic.h"
#include "target/memory_rules.h"
#include "target/target.h"

namespace rk::target {
namespace {

// Pixels are multiplied in groups of this many.
constexpr int64_t kPixelGroup = 16;

int64_t blocks(int64_t count, int64_t width) { return (count + width - 1) / width; }

// Saturates: extents of a hostile file may be anything, and a count is not worth an error. Exact below 2^53.
uint64_t product(std::initializer_list<int64_t> factors) {
  double result = 1;
  for (const int64_t factor : factors) result *= static_cast<double>(factor);
  return static_cast<uint64_t>(std::clamp(result, 0.0, 9007199254740992.0));
}

int64_t element_bytes(DType dtype) { return dtype == DType::kI8 ? 1 : 2; }

int64_t pixel_groups(uint64_t pixels) {
  return blocks(static_cast<int64_t>(pixels), kPixelGroup) * kPixelGroup;
}

struct Lanes {
  int64_t output, input, min_cycles;
};

Lanes lanes_of(const CostModel& model, DType dtype) {
  if (dtype == DType::kI8) {
    return {std::max(1, model.output_lanes_i8), std::max(1, model.input_lanes_i8),
            model.min_cycles_i8};
  }
  return {std::max(1, model.output_lanes_f16), std::max(1, model.input_lanes_f16),
          model.min_cycles_f16};
}

uint64_t ddr_cycles(const CostModel& model, uint64_t bytes) {
  if (model.ddr_bytes_per_cycle <= 0) return 0;
  return static_cast<uint64_t>(std::ceil(static_cast<double>(bytes) / model.ddr_bytes_per_cycle));
}

// `count` in full blocks; the rest in the smallest of least, 2 * least, ... that holds it.
int64_t in_blocks(int64_t count, int64_t block, int64_t least) {
  const int64_t rest = count % block;
  if (rest == 0) return count;
  int64_t width = least;
  while (width < rest) width *= 2;
  return count - rest + std::min(width, block);
}

int64_t picture_lane(const Target& target, DType dtype, int64_t channels) {
  const int gray = memory_rules(target).gray_lane_i8;
  if (dtype == DType::kI8 && gray != 0 && channels == 1) return gray;
  return dtype == DType::kI8 ? target.memory.picture_lane_i8 : target.memory.picture_lane_f16;
}

// Groups that do not run by themselves are one dense convolution, with zeros between them.
ConvGeometry as_computed(const Target& target, const ConvGeometry& given) {
  ConvGeometry g = given;
  const bool depthwise = g.group == g.in_channels;
  if (g.group > 1 && !depthwise && !runs_by_group(target, g)) g.group = 1;
  return g;
}

// Output channels that the array computes together.
int64_t output_block(const Target& target, DType dtype) {
  return std::max(1, dtype == DType::kI8 ? target.conv_output_channel_align_i8
                                         : target.conv_output_channel_align_f16);
}

// Weight and bias as they are read. Input channels are padded where output channels fill blocks, or are less than one.
uint64_t read_constants(const Target& target, const ConvGeometry& g, bool depthwise, int skip) {
  constexpr int64_t kLeast = 8;
  const bool i8 = g.dtype == DType::kI8;
  const MemoryModel& memory = target.memory;
  int64_t out = g.out_channels, in = g.in_channels / g.group;
  int64_t bias_block = output_block(target, g.dtype);
  int64_t bias_bytes = i8 ? 8 : 4;
  const bool padded_inputs = out % bias_block == 0 || out < bias_block;
  if (g.picture) {
    if (padded_inputs) in = std::max(in, picture_lane(target, g.dtype, in));
  } else if (depthwise) {
    out = in_blocks(out, i8 ? 64 : 32, kLeast);
    bias_block = std::max(1, i8 ? memory.depthwise_align_i8 : memory.depthwise_align_f16);
    if (i8) bias_bytes = target.cost.depthwise_bias_bytes_i8;
  } else if (padded_inputs) {
    in = in_blocks(in, i8 ? memory.weight_block_i8 : memory.weight_block_f16, kLeast);
    if (i8) in = std::max<int64_t>(in, 16);
  }
  const uint64_t weight = product({out, in, g.kernel_h, g.kernel_w, element_bytes(g.dtype)}) /
                          static_cast<uint64_t>(std::max(1, skip));
  const int64_t padded = blocks(g.out_channels, bias_block) * bias_block;
  return weight + (g.has_bias ? product({padded, bias_bytes}) : 0);
}

// A model's output has the channels that the array computes.
uint64_t stored_output_bytes(const Target& target, DType dtype, const Shape& shape) {
  const int64_t align = output_block(target, dtype);
  return product(
      {shape[0], blocks(shape[1], align) * align, shape[2], shape[3], element_bytes(dtype)});
}

}  // namespace

uint64_t counted_feature_bytes(const Target& target, DType dtype, const Shape& shape) {
  const int64_t block = dtype == DType::kI8 ? target.c2_i8 : target.c2_f16;
  uint64_t elements = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t extent = axis == 1 ? blocks(shape[axis], block) * block : shape[axis];
    elements = product({static_cast<int64_t>(elements), extent});
  }
  return product({static_cast<int64_t>(elements), static_cast<int64_t>(byte_size(dtype))});
}

NpuCost conv_cost(const Target& target, const ConvGeometry& g) { return conv_cost(target, g, {}); }

NpuCost conv_cost(const Target& target, const ConvGeometry& given, const ConvTraffic& traffic) {
  const ConvGeometry g = as_computed(target, given);
  const CostModel& model = target.cost;
  const int64_t pixels = pixel_groups(product({g.out_h, g.out_w}));
  const auto taps = static_cast<int64_t>(product({g.kernel_h, g.kernel_w}));
  NpuCost cost;
  // A convolution with as many groups as input channels is depthwise, one input channel included.
  const bool depthwise = g.group == g.in_channels;
  if (depthwise) {
    cost.npu_cycles = product(
        {g.batch, pixels, blocks(g.out_channels, std::max(1, model.depthwise_lanes)), taps});
  } else {
    const Lanes lanes = lanes_of(model, g.dtype);
    const int64_t per_block = std::max(
        lanes.min_cycles,
        static_cast<int64_t>(product({taps, blocks(g.in_channels / g.group, lanes.input)})));
    cost.npu_cycles = product(
        {g.batch, pixels, g.group, blocks(g.out_channels / g.group, lanes.output), per_block});
  }
  const int64_t bytes = element_bytes(g.dtype);
  const Shape in = {g.batch, g.in_channels, g.in_h, g.in_w};
  const Shape out = {g.batch, g.out_channels, g.out_h, g.out_w};
  cost.read_bytes = g.picture ? product({g.batch, g.in_channels, g.in_h, g.in_w, bytes})
                              : counted_feature_bytes(target, g.dtype, in);
  if (traffic.reads_output && !g.picture) {
    cost.read_bytes = stored_output_bytes(target, g.dtype, in) *
                      static_cast<uint64_t>(std::max(1, traffic.read_copies));
  }
  cost.read_bytes += read_constants(target, g, depthwise, traffic.skip);
  if (g.has_addend) cost.read_bytes += counted_feature_bytes(target, g.dtype, out);
  cost.written_bytes = counted_feature_bytes(target, g.dtype, out);
  if (traffic.writes_output && !depthwise) {
    cost.written_bytes = stored_output_bytes(target, g.dtype, out) *
                         static_cast<uint64_t>(std::max(1, traffic.written_copies));
  }
  cost.ddr_cycles = ddr_cycles(model, cost.read_bytes + cost.written_bytes);
  return cost;
}

namespace {

uint64_t to_64(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

bool runs_as_halves(const Target& target, const ConvGeometry& g) {
  constexpr int64_t kOneCore = 32, kBothCores = 64;
  const int most = memory_rules(target).deep_kernel_bytes_i8;
  if (most == 0 || g.dtype != DType::kI8 || g.group != 1 || g.out_channels <= kOneCore)
    return false;
  const MemoryModel& memory = target.memory;
  return product({std::min(g.out_channels, kBothCores),
                  in_blocks(g.in_channels, memory.weight_block_i8, memory.weight_least_i8),
                  g.kernel_h, g.kernel_w}) > static_cast<uint64_t>(most);
}

bool runs_by_group(const Target& target, const ConvGeometry& g) {
  if (g.group <= 1 || g.group == g.in_channels) return false;
  const int64_t block = std::max(1, g.dtype == DType::kI8 ? target.c2_i8 : target.c2_f16);
  return g.in_channels / g.group % block == 0;
}

double counted_us(const Target& target, const NpuCost& cost, double share, int mhz) {
  const TimeModel& time = target.time;
  const double highest = std::max(time.npu_mhz, 1);
  return time.us_per_step +
         time.npu_factor * share * static_cast<double>(cost.npu_cycles) /
             (mhz > 0 ? mhz : highest) +
         time.ddr_factor * static_cast<double>(cost.ddr_cycles) / highest;
}

int64_t depthwise_channels(const Target& target, DType dtype, int64_t channels) {
  const MemoryModel& memory = target.memory;
  const bool i8 = dtype == DType::kI8;
  const int64_t rest = i8 ? memory.depthwise_rest_i8 : memory.depthwise_rest_f16;
  if (rest != 0 && channels > 64 && channels % 64 != 0) return channels / 64 * 64 + rest;
  const int64_t align = std::max(1, i8 ? memory.depthwise_align_i8 : memory.depthwise_align_f16);
  const int64_t spare = i8 ? memory.depthwise_spare_i8 : memory.depthwise_spare_f16;
  return blocks(channels, align) * align + (channels > align && channels % 64 != 0 ? spare : 0);
}

uint64_t weight_bytes(const Target& target, const ConvGeometry& given) {
  const ConvGeometry g = as_computed(target, given);
  const MemoryModel& memory = target.memory;
  const bool i8 = g.dtype == DType::kI8;
  const auto taps = static_cast<int64_t>(product({g.kernel_h, g.kernel_w, element_bytes(g.dtype)}));
  uint64_t bytes = 0;
  int64_t bias_align =
      i8 ? target.conv_output_channel_align_i8 : target.conv_output_channel_align_f16;
  int64_t bias_bytes = i8 ? memory.bias_bytes_i8 : 4;
  const bool depthwise = g.group > 1 && g.group == g.in_channels && g.out_channels == g.in_channels;
  if (depthwise) {
    const int64_t least = i8 ? memory.depthwise_least_i8 : memory.depthwise_least_f16;
    bytes = product({in_blocks(g.out_channels, i8 ? 64 : 32, least), taps,
                     i8 ? memory.depthwise_copies : memory.depthwise_copies_f16});
    bias_align = i8 ? memory.depthwise_align_i8 : memory.depthwise_align_f16;
    if (i8) bias_bytes = target.cost.depthwise_bias_bytes_i8;
  } else {
    const int64_t channels = g.in_channels / std::max<int64_t>(1, g.group);
    const int64_t in = g.picture ? std::max(channels, picture_lane(target, g.dtype, channels))
                       : i8 ? in_blocks(channels, memory.weight_block_i8, memory.weight_least_i8)
                            : in_blocks(channels, memory.weight_block_f16, memory.weight_least_f16);
    const int64_t out = g.out_channels + (i8 && memory.even_outputs ? g.out_channels % 2 : 0);
    bytes = product({out, in, taps});
    if (runs_as_halves(target, g)) bytes *= 2;
  }
  // A single channel has half a block.
  bias_align = std::max<int64_t>(1, g.out_channels == 1 ? bias_align / 2 : bias_align);
  const uint64_t bias =
      g.has_bias ? product({blocks(g.out_channels, bias_align) * bias_align, bias_bytes}) : 0;
  return to_64(bytes) + to_64(bias);
}

NpuCost matmul_cost(const Target& target, DType dtype, int64_t batch, int64_t m, int64_t k,
                    int64_t n) {
  const Lanes lanes = lanes_of(target.cost, dtype);
  NpuCost cost;
  const int64_t bytes = element_bytes(dtype);
  cost.npu_cycles = product({batch, pixel_groups(product({m})), blocks(n, lanes.output),
                             std::max(lanes.min_cycles, blocks(k, lanes.input))});
  cost.read_bytes = product({batch, m, k, bytes}) + product({batch, k, n, bytes});
  cost.written_bytes = product({batch, m, n, bytes});
  cost.ddr_cycles = ddr_cycles(target.cost, cost.read_bytes + cost.written_bytes);
  return cost;
}

}  // namespace rk::target

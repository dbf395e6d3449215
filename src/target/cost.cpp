// SPDX-License-Identifier: Apache-2.0
#include "target/cost.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

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

// Input channels of a weight as they are read: few channels are padded to a block.
int64_t weight_channels(const Target& target, const ConvGeometry& g, bool depthwise) {
  const int64_t channels = g.in_channels / g.group;
  if (depthwise && !g.picture) return channels;
  const int64_t first_layer = target.weights_i8.first_layer_ic;
  if (g.picture && first_layer != 0)
    return std::max(channels, g.dtype == DType::kI8 ? first_layer : 4);
  if (g.dtype == DType::kI8) return std::max<int64_t>(channels, 16);
  const int64_t align = target.cost.weight_align_f16;
  return channels <= align / 2 ? align / 2 : blocks(channels, align) * align;
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

NpuCost conv_cost(const Target& target, const ConvGeometry& g) {
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
  cost.read_bytes += product({g.out_channels, weight_channels(target, g, depthwise), taps, bytes});
  if (g.has_bias) {
    // int8: bias, offset and multiplier; the depthwise form of some chips has no offset.
    const int64_t i8_bytes = depthwise ? model.depthwise_bias_bytes_i8 : 8;
    const int64_t per_channel = g.dtype == DType::kI8 ? i8_bytes : 4;
    cost.read_bytes += product({g.out_channels, per_channel});
  }
  if (g.has_addend) cost.read_bytes += counted_feature_bytes(target, g.dtype, out);
  cost.written_bytes = counted_feature_bytes(target, g.dtype, out);
  cost.ddr_cycles = ddr_cycles(model, cost.read_bytes + cost.written_bytes);
  return cost;
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

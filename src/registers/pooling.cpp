// SPDX-License-Identifier: Apache-2.0
#include "registers/pooling.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/half.h"
#include "registers/layer.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;

constexpr uint32_t kUnits = 0x60;  // PPU, PPU_RDMA
// Wider features are cut: one of 176 pixels into halves. Where others are cut is not known.
constexpr int64_t kWidest = 160;
constexpr int64_t kLargestKernel = 8, kLargestStride = 8, kLargestPad = 7;

// Registers of a list, in its order.
constexpr uint16_t kOrder[] = {0x6004, 0x7004, 0x600c, 0x6010, 0x6014, 0x6018, 0x601c,
                               0x6020, 0x6024, 0x6034, 0x6038, 0x603c, 0x6040, 0x6044,
                               0x6048, 0x6070, 0x607c, 0x6084, 0x60dc, 0x700c, 0x7010,
                               0x7014, 0x701c, 0x7024, 0x7028, 0x7030};

bool is_within(int32_t value, int64_t least, int64_t most) {
  return value >= least && value <= most;
}

// float16: the half of 65536 / extent; that of an extent of one has the bits of infinity.
uint32_t reciprocal(int32_t extent) {
  constexpr float kUnit = 65536;
  constexpr uint32_t kOne = 0x7c00;
  return extent == 1 ? kOne : float_to_half(kUnit / static_cast<float>(extent));
}

}  // namespace

Result<PoolLayer> pool_layer(const program::Program& program, const program::Variant& variant,
                             const program::Step& step) {
  const auto* params = std::get_if<program::PoolParams>(&step.params);
  if (params == nullptr) return no_form(step, "a step that is not a pooling");
  if (find_chip(program.target) == nullptr) return no_form(step, str("the chip ", program.target));
  const program::ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const program::ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  const bool is_float = is_half_feature(in) && is_half_feature(out);
  if (!is_float && (!is_feature(in) || !is_feature(out)))
    return no_form(step, "features that are not of one type in blocks of channels, one sample");
  if (params->kind == program::PoolKind::kAverage && !is_float)
    return no_form(step, "an int8 average in the pooling unit");
  PoolLayer layer{*params, feature_of(program, in), feature_of(program, out)};
  if (layer.in.is_picture) return no_form(step, "a pooling of a picture");
  const program::PoolParams& p = layer.params;
  const bool good =
      is_within(p.kernel.h, 1, kLargestKernel) && is_within(p.kernel.w, 1, kLargestKernel) &&
      is_within(p.stride.h, 1, kLargestStride) && is_within(p.stride.w, 1, kLargestStride) &&
      is_within(p.pads.top, 0, kLargestPad) && is_within(p.pads.left, 0, kLargestPad) &&
      is_within(p.pads.bottom, 0, kLargestPad) && is_within(p.pads.right, 0, kLargestPad);
  if (!good) return no_form(step, "windows beyond the registers' fields");
  if (p.pads.top >= p.kernel.h || p.pads.left >= p.kernel.w)
    return no_form(step, "a border as wide as the window");
  if (!is_float && (in.scale != out.scale || in.zero_point != out.zero_point))
    return no_form(step, "a MaxPool between different scales");
  return layer;
}

std::vector<PoolPart> cut_pool(const PoolLayer& layer) {
  const int64_t parts = std::min(ceil_div(layer.in.width, kWidest), layer.out.width);
  const int64_t columns = ceil_div(layer.out.width, parts);
  std::vector<PoolPart> cut;
  for (int64_t first = 0; first < layer.out.width; first += columns)
    cut.push_back({first, std::min(columns, layer.out.width - first)});
  return cut;
}

RegisterTask write_pool(const PoolLayer& layer, const PoolPart& part) {
  const program::PoolParams& p = layer.params;
  // Windows end where the output does, before the input's end or in the border.
  const int64_t before = part.first_column * p.stride.w - p.pads.left;
  const int64_t first = std::max<int64_t>(before, 0), left = first - before;
  const int64_t reach_w = (part.columns - 1) * p.stride.w + p.kernel.w - left;
  const int64_t reach_h = (layer.out.height - 1) * p.stride.h + p.kernel.h - p.pads.top;
  const int64_t width = std::min(reach_w, layer.in.width - first);
  const int64_t height = std::min(reach_h, layer.in.height);
  RegisterImage image;
  constexpr uint32_t kPingPong = 0xe;
  image.set(reg::PPU_S_POINTER, kPingPong);
  image.set(reg::PPU_RDMA_RDMA_S_POINTER, kPingPong);
  const int64_t channels = align_up<int64_t>(layer.in.channels, layer.in.lanes());
  image.set(reg::PPU_DATA_CUBE_IN_WIDTH, static_cast<uint32_t>(width - 1));
  image.set(reg::PPU_DATA_CUBE_IN_HEIGHT, static_cast<uint32_t>(height - 1));
  image.set(reg::PPU_DATA_CUBE_IN_CHANNEL, static_cast<uint32_t>(channels - 1));
  image.set(reg::PPU_DATA_CUBE_OUT_WIDTH, static_cast<uint32_t>(part.columns - 1));
  image.set(reg::PPU_DATA_CUBE_OUT_HEIGHT, static_cast<uint32_t>(layer.out.height - 1));
  image.set(reg::PPU_DATA_CUBE_OUT_CHANNEL, static_cast<uint32_t>(channels - 1));
  const bool average = p.kind == program::PoolKind::kAverage;
  image.set(reg::PPU_OPERATION_MODE_CFG__POOLING_METHOD, average ? 0 : 1);
  if (average) {
    image.set(reg::PPU_RECIP_KERNEL_WIDTH, reciprocal(p.kernel.w));
    image.set(reg::PPU_RECIP_KERNEL_HEIGHT, reciprocal(p.kernel.h));
  }
  image.set(reg::PPU_OPERATION_MODE_CFG__FLYING_MODE, 1);
  image.set(reg::PPU_OPERATION_MODE_CFG__NOTCH_ADDR, layer.out.width - part.columns);
  image.set(reg::PPU_POOLING_KERNEL_CFG__KERNEL_WIDTH, p.kernel.w - 1);
  image.set(reg::PPU_POOLING_KERNEL_CFG__KERNEL_HEIGHT, p.kernel.h - 1);
  image.set(reg::PPU_POOLING_KERNEL_CFG__KERNEL_STRIDE_WIDTH, p.stride.w - 1);
  image.set(reg::PPU_POOLING_KERNEL_CFG__KERNEL_STRIDE_HEIGHT, p.stride.h - 1);
  image.set(reg::PPU_POOLING_PADDING_CFG__PAD_LEFT, left);
  image.set(reg::PPU_POOLING_PADDING_CFG__PAD_TOP, p.pads.top);
  image.set(reg::PPU_POOLING_PADDING_CFG__PAD_RIGHT, reach_w - width);
  image.set(reg::PPU_POOLING_PADDING_CFG__PAD_BOTTOM, reach_h - height);
  const int64_t plane = layer.out.plane_pixels();
  image.set_address(reg::PPU_DST_BASE_ADDR, Operand::kOutput,
                    static_cast<uint64_t>(part.first_column * layer.in.chip->atom_bytes));
  image.set(reg::PPU_DST_SURF_STRIDE__DST_SURF_STRIDE, plane);
  image.set(reg::PPU_DATA_FORMAT__INDEX_ADD, plane);
  constexpr int64_t kHalf = 2, kInt8 = 1;  // the reader counts types from one
  image.set(reg::PPU_DATA_FORMAT__PROC_PRECISION, layer.in.is_float ? kHalf : 0);
  image.set(reg::PPU_MISC_CTRL__BURST_LEN, 3);
  image.set(reg::PPU_RDMA_RDMA_CUBE_IN_WIDTH, static_cast<uint32_t>(width - 1));
  image.set(reg::PPU_RDMA_RDMA_CUBE_IN_HEIGHT, static_cast<uint32_t>(height - 1));
  image.set(reg::PPU_RDMA_RDMA_CUBE_IN_CHANNEL, static_cast<uint32_t>(channels - 1));
  image.set_address(reg::PPU_RDMA_RDMA_SRC_BASE_ADDR, Operand::kFeature,
                    static_cast<uint64_t>(first * layer.in.chip->atom_bytes));
  image.set(reg::PPU_RDMA_RDMA_SRC_LINE_STRIDE__SRC_LINE_STRIDE, layer.in.width);
  image.set(reg::PPU_RDMA_RDMA_SRC_SURF_STRIDE__SRC_SURF_STRIDE, layer.in.plane_pixels());
  image.set(reg::PPU_RDMA_RDMA_DATA_FORMAT,
            static_cast<uint32_t>(layer.in.is_float ? kHalf : kInt8));
  RegisterTask task;
  task.units = kUnits;
  for (const uint16_t offset : kOrder) task.commands.push_back(image.get(offset));
  return task;
}

}  // namespace rk::registers

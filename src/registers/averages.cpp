// SPDX-License-Identifier: Apache-2.0
// AveragePool as a depthwise convolution with weights of one: the sum of a window, its zero points in the bias, and the
// step's own two scales as multiplier and output stage. In float16 the pooling unit averages, as in vendor files; windows
// beyond its limits, and all on RK3562, are a depthwise convolution with weights of one over the count.
#include "base/checked_math.h"
#include "base/half.h"
#include "program/native_layout.h"
#include "registers/half_weights.h"
#include "registers/int8_constants.h"
#include "registers/layer.h"
#include "registers/layer_tasks.h"
#include "target/target.h"

namespace rk::registers {
namespace {

// Every window counts all of its taps.
bool counts_all(const program::PoolParams& p, const Feature& in, const Feature& out) {
  const bool padded =
      p.pads.top != 0 || p.pads.left != 0 || p.pads.bottom != 0 || p.pads.right != 0;
  const int64_t reach_h = (out.height - 1) * p.stride.h + p.kernel.h;
  const int64_t reach_w = (out.width - 1) * p.stride.w + p.kernel.w;
  return (p.count_include_pad || !padded) && reach_h <= in.height + p.pads.top + p.pads.bottom &&
         reach_w <= in.width + p.pads.left + p.pads.right;
}

Result<LayerTasks> half_average_tasks(const program::Program& program,
                                      const program::Variant& variant, const program::Step& step) {
  const auto& p = std::get<program::PoolParams>(step.params);
  const program::ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const program::ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  ConvLayer layer{.params = {}, .in = feature_of(program, in), .out = feature_of(program, out)};
  if (layer.in.is_picture) return no_form(step, "an AveragePool of a picture");
  if (!counts_all(p, layer.in, layer.out))
    return no_form(step, "an AveragePool whose windows count different numbers of pixels");
  // RK3562 averages in the array, as in vendor files.
  if (auto tasks = pool_unit_tasks(program, variant, step);
      !layer.in.chip->is_rk3562 && (tasks.ok() || tasks.status().code() != Code::kUnsupported))
    return tasks;
  layer.is_depthwise = true;
  layer.params.kernel = p.kernel;
  layer.params.stride = p.stride;
  layer.params.pads = p.pads;
  layer.params.group = static_cast<int32_t>(layer.in.channels);
  LayerTasks tasks;
  const float share = 1.0f / static_cast<float>(p.kernel.h * p.kernel.w);
  RK_TRY(add_half_sums(std::move(layer), share, in.name, out.name, tasks));
  return tasks;
}

}  // namespace

Result<LayerTasks> average_pool_tasks(const program::Program& program,
                                      const program::Variant& variant, const program::Step& step) {
  const auto& p = std::get<program::PoolParams>(step.params);
  const program::ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const program::ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  if (is_half_feature(in) && is_half_feature(out))
    return half_average_tasks(program, variant, step);
  if (!is_feature(in) || !is_feature(out))
    return no_form(step, "features that are not int8 in blocks of channels, one sample");
  const size_t taps = static_cast<size_t>(int64_t{p.kernel.h} * p.kernel.w);
  ConvLayer layer{.params = {}, .in = feature_of(program, in), .out = feature_of(program, out)};
  layer.is_depthwise = true;
  if (layer.in.is_picture) return no_form(step, "an AveragePool of a picture");
  if (!counts_all(p, layer.in, layer.out) || p.by_count.size() < taps)
    return no_form(step, "an AveragePool whose windows count different numbers of pixels");
  const program::InputStage& stage = p.by_count[taps - 1];
  layer.params.kernel = p.kernel;
  layer.params.stride = p.stride;
  layer.params.pads = p.pads;
  layer.params.group = static_cast<int32_t>(layer.in.channels);
  layer.params.pad_value = -stage.offset;
  layer.params.multiplier_shift = stage.scale.shift;
  layer.params.output = p.output;
  constexpr int32_t kMostShift = 63;
  if (stage.scale.shift < 0 || stage.scale.shift > kMostShift || stage.scale.scale > INT16_MAX)
    return no_form(step, "a scale beyond the registers' fields");
  LayerTasks tasks;
  RK_TRY(add_sums(program, std::move(layer), stage, in.name, out.name, tasks));
  return tasks;
}

Status add_half_sums(ConvLayer layer, float weight, const std::string& from, const std::string& to,
                     LayerTasks& tasks) {
  layer.has_bias = false;
  const Shape shape{1, layer.in.channels, layer.params.kernel.h, layer.params.kernel.w};
  const uint16_t half = float_to_half(weight);
  RK_ASSIGN(HelperConstant weights,
            half_blocks(*layer.in.chip, shape, program::WeightUse::kDepthwise,
                        [&](int64_t) { return half; }));
  weights.name = to + "_pool_weight";
  layer.weight_bytes = weights.bytes.size();
  RK_ASSIGN(const std::vector<ConvTile> tiles, tile_convolution(layer));
  for (const ConvTile& tile : tiles) {
    RK_ASSIGN(RegisterTask task, write_convolution(layer, tile));
    BoundTask bound{std::move(task), {}};
    bound.tensors[static_cast<size_t>(Operand::kFeature)] = from;
    bound.tensors[static_cast<size_t>(Operand::kWeight)] = weights.name;
    bound.tensors[static_cast<size_t>(Operand::kOutput)] = to;
    tasks.tasks.push_back(std::move(bound));
  }
  tasks.helpers.push_back(std::move(weights));
  return ok_status();
}

Status add_sums(const program::Program& program, ConvLayer layer, const program::InputStage& stage,
                const std::string& from, const std::string& to, LayerTasks& tasks) {
  RK_ASSIGN(const target::Target* target, target::find_target(program.target));
  const program::ConvParams& p = layer.params;
  const auto channels = static_cast<size_t>(layer.in.channels);
  const size_t taps = static_cast<size_t>(int64_t{p.kernel.h} * p.kernel.w);
  const std::vector<int8_t> ones(channels * taps, 1);
  const std::vector<int16_t> zeros(channels, 0);
  HelperConstant weights =
      int8_weights(*target, *layer.in.chip, Shape{1, layer.in.channels, p.kernel.h, p.kernel.w},
                   program::WeightUse::kDepthwise, ones, zeros);
  weights.name = to + "_pool_weight";
  layer.weight_bytes = weights.bytes.size();
  program::BiasBlock block;
  block.bias.assign(channels, static_cast<int32_t>(taps) * stage.offset);
  block.offset = zeros;
  block.multiplier.assign(channels, static_cast<int16_t>(stage.scale.scale));
  HelperConstant bias = int8_bias(*target, *layer.in.chip, block, true);
  bias.name = to + "_pool_weight_bias";

  RK_ASSIGN(const std::vector<ConvTile> tiles, tile_convolution(layer));
  for (const ConvTile& tile : tiles) {
    RK_ASSIGN(RegisterTask task, write_convolution(layer, tile));
    BoundTask bound{std::move(task), {}};
    bound.tensors[static_cast<size_t>(Operand::kFeature)] = from;
    bound.tensors[static_cast<size_t>(Operand::kWeight)] = weights.name;
    bound.tensors[static_cast<size_t>(Operand::kBias)] = bias.name;
    bound.tensors[static_cast<size_t>(Operand::kOutput)] = to;
    tasks.tasks.push_back(std::move(bound));
  }
  tasks.helpers.push_back(std::move(weights));
  tasks.helpers.push_back(std::move(bias));
  return ok_status();
}

}  // namespace rk::registers

// SPDX-License-Identifier: Apache-2.0
#include "program/cost.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "program/core_split.h"
#include "target/conv_traffic.h"
#include "target/memory_rules.h"
#include "target/target.h"

namespace rk::program {
namespace {

// The average of a larger plane is that of tiles of this edge, then of the tiles.
constexpr int64_t kAverageEdge = 7;
constexpr double kMegabyte = 1024.0 * 1024.0;

const ProgramTensor& tensor(const Variant& variant, int32_t index) {
  return variant.tensors[static_cast<size_t>(index)];
}

bool is_model_input(const Variant& variant, int32_t index) {
  return std::ranges::find(variant.inputs, index) != variant.inputs.end();
}

// Other types than int8 are counted as float16: that is what the NPU stores them as.
DType counted_type(DType dtype) { return dtype == DType::kI8 ? DType::kI8 : DType::kF16; }

// What a step's pictures say of it as a convolution; empty when they are none.
std::optional<target::ConvGeometry> picture_geometry(const Variant& variant, const Step& step) {
  const ProgramTensor& in = tensor(variant, step.inputs[0]);
  const ProgramTensor& out = tensor(variant, step.outputs[0]);
  if (in.shape.rank() != 4 || out.shape.rank() != 4) return std::nullopt;
  return target::ConvGeometry{.dtype = counted_type(in.dtype),
                              .batch = in.shape[0],
                              .in_channels = in.shape[1],
                              .in_h = in.shape[2],
                              .in_w = in.shape[3],
                              .out_channels = out.shape[1],
                              .out_h = out.shape[2],
                              .out_w = out.shape[3]};
}

// A step whose zero weights are skipped stands for half or a quarter of its multiplications.
int skip_of(const Step& step, const target::ConvGeometry& g) {
  const auto* conv = std::get_if<ConvParams>(&step.params);
  if (conv == nullptr || conv->transposed || g.group != 1 || step.macs == 0) return 1;
  double dense = 1;
  for (const int64_t extent :
       {g.batch, g.out_channels, g.out_h, g.out_w, g.kernel_h, g.kernel_w, g.in_channels})
    dense *= static_cast<double>(extent);
  for (const int skip : {4, 2})
    if (static_cast<double>(step.macs) * skip <= dense) return skip;
  return 1;
}

target::NpuCost matmul_step_cost(const target::Target& target, const Variant& variant,
                                 const Step& step) {
  const ProgramTensor& a = tensor(variant, step.inputs[0]);
  const ProgramTensor& out = tensor(variant, step.outputs[0]);
  const int rank = out.shape.rank();
  if (rank < 2 || a.shape.rank() < 2) return {};
  const int64_t m = out.shape[rank - 2], n = out.shape[rank - 1], k = a.shape[a.shape.rank() - 1];
  const int64_t batch = m * n == 0 ? 0 : out.shape.elements() / (m * n);
  return target::matmul_cost(target, counted_type(a.dtype), batch, m, k, n);
}

// Steps that only move, add or look up: what they read, no cycles.
target::NpuCost move_cost(const target::Target& target, const Variant& variant, const Step& step) {
  target::NpuCost cost;
  for (const int32_t index : step.inputs) {
    if (index == kNone) continue;
    const ProgramTensor& in = tensor(variant, index);
    cost.read_bytes += in.is_constant() ? in.size_bytes
                                        : target::counted_feature_bytes(target, in.dtype, in.shape);
  }
  for (const int32_t index : step.outputs) {
    const ProgramTensor& out = tensor(variant, index);
    cost.written_bytes += target::counted_feature_bytes(target, out.dtype, out.shape);
  }
  return cost;
}

int copies_of(const target::Target& target, const Step& activation) {
  const ActivationForm form = activation_form(activation);
  if (form == ActivationForm::kTable) return target::memory_rules(target).table_copies_f16;
  return form == ActivationForm::kGate ? target::memory_rules(target).gate_copies_f16 : 1;
}

// The activation that joins the step which writes a tensor, when it is its only reader.
const Step* joined(const Variant& variant, int32_t written) {
  const Step* found = nullptr;
  for (const Step& step : variant.steps) {
    if (std::ranges::find(step.inputs, written) == step.inputs.end()) continue;
    if (found != nullptr || !joins_step_before(step)) return nullptr;
    found = &step;
  }
  return found;
}

bool is_model_output(const Variant& variant, int32_t index) {
  return std::ranges::find(variant.outputs, index) != variant.outputs.end();
}

target::ConvTraffic traffic_of(const target::Target& target, const Variant& variant,
                               const Step& step, const target::ConvGeometry& geometry) {
  target::ConvTraffic traffic{.skip = skip_of(step, geometry)};
  const bool f16 = geometry.dtype == DType::kF16;
  const Step* const activation = joined(variant, step.outputs[0]);
  const Step& last = activation == nullptr ? step : *activation;
  traffic.writes_output = is_model_output(variant, last.outputs[0]);
  if (f16) traffic.written_copies = copies_of(target, last);
  traffic.reads_output = is_model_output(variant, step.inputs[0]);
  if (!traffic.reads_output || !f16) return traffic;
  const auto writer = std::ranges::find_if(variant.steps, [&](const Step& other) {
    return std::ranges::find(other.outputs, step.inputs[0]) != other.outputs.end();
  });
  if (writer != variant.steps.end()) traffic.read_copies = copies_of(target, *writer);
  return traffic;
}

void add(target::NpuCost& cost, const target::NpuCost& more) {
  cost.npu_cycles += more.npu_cycles;
  cost.ddr_cycles += more.ddr_cycles;
  cost.read_bytes += more.read_bytes;
  cost.written_bytes += more.written_bytes;
}

target::NpuCost counted(const target::Target& target, const Variant& variant, const Step& step) {
  if (step.processor == Processor::kNpu) {
    auto geometry = conv_geometry(variant, step);
    if (geometry && !repeats_pixels(variant, step)) {
      // An Add behind a depthwise convolution is a step of its own, which reads what that one wrote.
      const bool depthwise = geometry->group == geometry->in_channels;
      const bool adds = geometry->has_addend && depthwise && step.inputs[3] != step.inputs[0] &&
                        !target::memory_rules(target).depthwise_add;
      if (adds) geometry->has_addend = false;
      const bool halves = target::runs_as_halves(target, *geometry);
      if (halves) {
        geometry->dtype = DType::kF16;
        geometry->in_channels /= 2;
      }
      target::NpuCost cost =
          target::conv_cost(target, *geometry, traffic_of(target, variant, step, *geometry));
      if (halves) add(cost, target::conv_cost(target, *geometry));
      const uint64_t sum = adds ? cost.written_bytes : 0;
      add(cost, {.read_bytes = 2 * sum, .written_bytes = sum});
      if (const auto rest = average_of_tiles(variant, step))
        add(cost, target::conv_cost(target, *rest));
      if (cost.total_cycles() != 0) return cost;
    }
    if (const auto made = made_convolution(target, variant, step))
      return target::conv_cost(target, *made);
    const auto* op = std::get_if<OpParams>(&step.params);
    const bool reads = !step.inputs.empty() && step.inputs[0] != kNone;
    if (op != nullptr && op->op == "MatMul" && reads)
      return matmul_step_cost(target, variant, step);
  }
  return move_cost(target, variant, step);
}

// The largest part of a step that one of `cores` computes.
double largest_share(const Step& step, int cores) {
  const std::span<const int32_t> rows = rows_by_core(step.core_rows, cores);
  int64_t all = 0, most = 0;
  for (const int32_t count : rows) {
    all += count;
    most = std::max<int64_t>(most, count);
  }
  return all == 0 ? 1 : static_cast<double>(most) / static_cast<double>(all);
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

double step_us(const target::Target& target, const Step& step, const StepCost& cost,
               const CostOptions& options) {
  const target::TimeModel& time = target.time;
  const double read = static_cast<double>(cost.counted.read_bytes) / kMegabyte;
  const double written = static_cast<double>(cost.counted.written_bytes) / kMegabyte;
  if (step.processor != Processor::kNpu) return 1000 * time.cpu_ms_per_mb * (read + written);
  const bool counted = cost.counted.npu_cycles != 0;
  if (joins_step_before(step) && !counted) return 1000 * time.activate_ms_per_mb * written;
  if (is_one_of(step.type, {"exSDPAttention", "Softmax", "exSoftmax13", "MatMul", "exMatMul"}))
    return time.us_per_step + 1000 * time.attention_ms_per_mb * (read + written);
  if (counted) {
    // Cores share the multiplications, not the memory; those with skipped weights are not computed.
    const double share = largest_share(step, options.cores) / cost.skip;
    return target::counted_us(target, cost.counted, share, options.npu_mhz) +
           (activation_form(step) != ActivationForm::kNone
                ? 1000 * time.activate_ms_per_mb * written
                : 0);
  }
  const bool product =
      is_one_of(step.type, {"Gemm", "LayerNormalization", "exLayerNorm", "exNorm"});
  return time.us_per_step + 1000 * (product ? time.product_ms_per_mb : time.move_ms_per_mb) * read;
}

double mac_usage(const target::Target& target, const Step& step, const StepCost& cost,
                 DType dtype) {
  const target::CostModel& model = target.cost;
  const int64_t lanes = dtype == DType::kI8
                            ? int64_t{model.output_lanes_i8} * model.input_lanes_i8
                            : int64_t{model.output_lanes_f16} * model.input_lanes_f16;
  const auto possible =
      static_cast<double>(cost.counted.total_cycles()) * static_cast<double>(lanes);
  return possible == 0 ? 0 : std::min(1.0, static_cast<double>(step.macs) / possible);
}

}  // namespace

ActivationForm activation_form(const Step& step) {
  std::string_view type = step.type;
  for (const std::string_view prefix : {"ConvTranspose", "Conv"}) {
    if (!type.starts_with(prefix)) continue;
    type.remove_prefix(prefix.size());
    break;
  }
  if (type.ends_with("Add")) type.remove_suffix(3);
  if (is_one_of(type, {"Sigmoid", "Tanh", "HardSigmoid", "Softplus"}))
    return ActivationForm::kTable;
  if (is_one_of(type,
                {"exSwish", "ExSwish", "HardSwish", "exGelu", "ExGelu", "exMish", "ExMish", "Elu"}))
    return ActivationForm::kGate;
  if (is_one_of(type, {"LeakyRelu", "PRelu"})) return ActivationForm::kSlope;
  return ActivationForm::kNone;
}

bool joins_step_before(const Step& step) {
  return step.processor == Processor::kNpu &&
         is_one_of(step.type, {"exSwish", "Sigmoid", "Relu", "LeakyRelu", "Clip", "HardSwish",
                               "HardSigmoid", "exGelu", "Tanh", "PRelu", "Elu", "exMish"});
}

std::optional<target::ConvGeometry> conv_geometry(const Variant& variant, const Step& step) {
  const auto* conv = std::get_if<ConvParams>(&step.params);
  const auto* pool = std::get_if<PoolParams>(&step.params);
  if (conv == nullptr && pool == nullptr) return std::nullopt;
  const auto pictures = picture_geometry(variant, step);
  if (!pictures) return std::nullopt;
  target::ConvGeometry geometry = *pictures;
  if (pool != nullptr) {
    const bool whole = pool->kernel.h == geometry.in_h && pool->kernel.w == geometry.in_w;
    if (pool->kind != PoolKind::kAverage || !whole) return std::nullopt;
    geometry.kernel_h = std::min<int64_t>(pool->kernel.h, kAverageEdge);
    geometry.kernel_w = std::min<int64_t>(pool->kernel.w, kAverageEdge);
    geometry.out_h = (geometry.in_h + kAverageEdge - 1) / kAverageEdge;
    geometry.out_w = (geometry.in_w + kAverageEdge - 1) / kAverageEdge;
    geometry.group = geometry.in_channels;
    return geometry;
  }
  const int64_t channels = geometry.in_channels;
  geometry.kernel_h = conv->kernel.h;
  geometry.kernel_w = conv->kernel.w;
  geometry.group = std::max(conv->group, 1);
  geometry.has_bias = step.inputs.size() > 2 && step.inputs[2] != kNone;
  geometry.has_addend = step.inputs.size() > 3 && step.inputs[3] != kNone;
  geometry.picture =
      is_model_input(variant, step.inputs[0]) && (channels == 1 || channels == 3 || channels == 4);
  return geometry;
}

std::optional<target::ConvGeometry> made_convolution(const target::Target& target,
                                                     const Variant& variant, const Step& step) {
  const auto* op = std::get_if<OpParams>(&step.params);
  if (op == nullptr || step.inputs.empty() || step.inputs[0] == kNone) return std::nullopt;
  auto geometry = picture_geometry(variant, step);
  const ProgramTensor& in = tensor(variant, step.inputs[0]);
  if (!geometry || in.is_constant()) return std::nullopt;
  const auto number = [&](const char* name) -> int64_t {
    const auto found = op->attrs.find(name);
    const auto* value = found == op->attrs.end() ? nullptr : std::get_if<int64_t>(&found->second);
    return value == nullptr ? 0 : *value;
  };
  geometry->has_bias = in.dtype == DType::kI8;
  if (op->op == "Gather") {
    const bool channels = number("axis") == 1 && step.inputs.size() > 1 &&
                          step.inputs[1] != kNone && tensor(variant, step.inputs[1]).is_constant();
    return channels ? geometry : std::nullopt;
  }
  const int64_t block = number("blocksize");
  const bool chip =
      block == 2 || block == 4 || block == 8 || target::memory_rules(target).depth_to_space_any;
  if (op->op != "DepthToSpace" || block < 1 || !chip) return std::nullopt;
  geometry->kernel_h = geometry->kernel_w = block;
  return geometry;
}

bool repeats_pixels(const Variant& variant, const Step& step) {
  const auto* conv = std::get_if<ConvParams>(&step.params);
  if (conv == nullptr || !conv->transposed || step.processor != Processor::kNpu) return false;
  const auto geometry = picture_geometry(variant, step);
  return geometry && conv->group > 1 && conv->group == geometry->in_channels &&
         conv->group == geometry->out_channels && conv->kernel == conv->stride &&
         conv->pads == Pads2{} && conv->activation == Activation::kNone && !conv->lookup &&
         !conv->slope && step.inputs.size() <= 3;
}

std::optional<target::ConvGeometry> average_of_tiles(const Variant& variant, const Step& step) {
  auto geometry = conv_geometry(variant, step);
  if (!geometry || !std::holds_alternative<PoolParams>(step.params)) return std::nullopt;
  if (geometry->out_h == 1 && geometry->out_w == 1) return std::nullopt;
  geometry->in_h = geometry->kernel_h = geometry->out_h;
  geometry->in_w = geometry->kernel_w = geometry->out_w;
  geometry->out_h = geometry->out_w = 1;
  return geometry;
}

ProgramCost cost_of(const target::Target& target, const Variant& variant,
                    const CostOptions& options) {
  ProgramCost result;
  bool several = false;
  for (const Step& step : variant.steps) {
    StepCost cost{.counted = counted(target, variant, step)};
    cost.several_cores = options.cores > 1 && !rows_by_core(step.core_rows, options.cores).empty();
    if (const auto geometry = conv_geometry(variant, step)) cost.skip = skip_of(step, *geometry);
    cost.us = step_us(target, step, cost, options);
    const bool reads = !step.inputs.empty() && step.inputs[0] != kNone;
    const DType dtype = tensor(variant, reads ? step.inputs[0] : step.outputs[0]).dtype;
    cost.mac_usage = mac_usage(target, step, cost, counted_type(dtype));
    if (step.processor == Processor::kNpu && cost.several_cores != several) {
      cost.us += target.time.us_per_core_switch;
      several = cost.several_cores;
    }
    result.us += cost.us;
    result.read_bytes += cost.counted.read_bytes;
    result.cycles += cost.counted.total_cycles();
    result.steps.push_back(cost);
  }
  return result;
}

}  // namespace rk::program

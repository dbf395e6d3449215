// SPDX-License-Identifier: Apache-2.0
#include "registers/layer_tasks.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/half.h"
#include "program/native_layout.h"
#include "registers/dpu.h"
#include "registers/half_weights.h"
#include "registers/int8_constants.h"
#include "registers/layer.h"
#include "registers/pooling.h"
#include "registers/rk3562.h"
#include "registers/rk3566.h"
#include "registers/rk3576.h"
#include "registers/rv1106.h"
#include "target/rk3576_registers.h"
#include "target/target.h"

namespace rk::registers {
namespace {

using program::ProgramTensor;
using program::Step;

const ProgramTensor& tensor_of(const program::Variant& variant, int32_t index) {
  return variant.tensors[static_cast<size_t>(index)];
}

// Kernels in the chip's blocks, in place of those that the Program has otherwise: of a transposed convolution, where input
// and output change places and rows and columns run backwards, and of RK3566.
Result<HelperConstant> packed_weights(const program::Program& program,
                                      const program::Variant& variant, const Step& step,
                                      const ConvLayer& layer) {
  const bool is_depthwise = layer.is_depthwise, turns = layer.params.transposed;
  const ProgramTensor& weight = tensor_of(variant, step.inputs[1]);
  RK_ASSIGN(const target::Target* target, target::find_target(program.target));
  RK_ASSIGN(const program::ConvConstants constants,
            program::unpack_conv_constants(program, variant, step));
  // OIHW, IOHW of a transposed one; C 1 H W, or 1 C H W as it lies in blocks.
  const Shape& plain = weight.shape;
  const int64_t channels = std::max(plain[0], plain[1]);
  const int64_t inputs = is_depthwise ? 1 : turns ? plain[0] : plain[1];
  const int64_t outputs = is_depthwise ? channels : turns ? plain[1] : plain[0];
  const int64_t taps = plain[2] * plain[3];
  std::vector<int8_t> turned(constants.weights.size());
  for (int64_t i = 0; i < inputs; ++i) {
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t from =
            turns ? (i * outputs + o) * taps + taps - 1 - tap : (o * inputs + i) * taps + tap;
        turned[static_cast<size_t>((o * inputs + i) * taps + tap)] =
            constants.weights[static_cast<size_t>(from)];
      }
    }
  }
  Shape native = is_depthwise ? Shape{1, outputs, plain[2], plain[3]}
                              : Shape{outputs, inputs, plain[2], plain[3]};
  const auto use = is_depthwise          ? program::WeightUse::kDepthwise
                   : layer.in.is_picture ? program::WeightUse::kPicture
                                         : program::WeightUse::kDense;
  std::vector<int16_t> offset = constants.channels.offset;
  if (layer.in.chip->is_rk3576 && layer.in.is_picture && !has_weights_in_rows(layer)) {
    // Kernels of a picture fill groups of 16.
    constexpr int64_t kKernels = 16;
    native = Shape{align_up(outputs, kKernels), inputs, plain[2], plain[3]};
    turned.resize(static_cast<size_t>(native.elements()));
    offset.resize(static_cast<size_t>(native[0]));
  }
  HelperConstant out = has_weights_in_rows(layer)
                           ? int8_picture_rows(*target, native, turned, offset)
                           : int8_weights(*target, *layer.in.chip, native, use, turned, offset);
  out.name = weight.name;
  // A depthwise weight of RK3562 has one output channel in the file.
  if (!has_paired_offsets(layer)) out.shape = plain;
  return out;
}

// RK3562: constants of the channels of a depthwise layer without offsets, and the multiplier of
// channel 0.
Status add_rk3562_constants(const program::Program& program, const program::Variant& variant,
                            const Step& step, ConvLayer& layer, LayerTasks& tasks) {
  RK_ASSIGN(const target::Target* target, target::find_target(program.target));
  RK_ASSIGN(const program::ConvConstants constants,
            program::unpack_conv_constants(program, variant, step));
  layer.first_multiplier = constants.channels.multiplier[0];
  // Programs for RV1106 have blocks of RK3588.
  if (!layer.is_depthwise && !layer.in.chip->is_rv1106) return ok_status();
  HelperConstant bias = int8_bias(*target, *layer.in.chip, constants.channels, layer.is_depthwise);
  bias.name = tensor_of(variant, step.inputs[2]).name;
  tasks.helpers.push_back(std::move(bias));
  return ok_status();
}

uint16_t half_at(const ProgramTensor& tensor, ByteSpan bytes, size_t i) {
  return tensor.dtype == DType::kF32 ? float_to_half(load<float>(bytes.data() + i * sizeof(float)))
                                     : load<uint16_t>(bytes.data() + i * sizeof(uint16_t));
}

// Weights of a float16 convolution in the chip's blocks, and its bias. They take the places of the plain ones.
Status add_float_constants(const program::Program& program, const program::Variant& variant,
                           const Step& step, const ConvLayer& layer, LayerTasks& tasks) {
  const ProgramTensor& weight = tensor_of(variant, step.inputs[1]);
  if (weight.dtype != DType::kF16 && weight.dtype != DType::kF32)
    return no_form(step, "float16 features with narrow weights");
  const ByteSpan bytes = program.weights[static_cast<size_t>(weight.weight)].bytes;
  const Shape& plain = weight.shape;  // OIHW; IOHW where the convolution is transposed; C 1 H W
  const bool turned = layer.params.transposed && !layer.is_depthwise;
  const int64_t outputs = turned ? plain[1] : plain[0], inputs = turned ? plain[0] : plain[1];
  const Shape shape = layer.is_depthwise ? Shape{1, plain[0], plain[2], plain[3]}
                                         : Shape{outputs, inputs, plain[2], plain[3]};
  const int64_t taps = plain[2] * plain[3];
  const auto use = layer.is_depthwise    ? program::WeightUse::kDepthwise
                   : layer.in.is_picture ? program::WeightUse::kPicture
                                         : program::WeightUse::kDense;
  // Input and output change places, rows and columns run backwards.
  const auto given_place = [&](int64_t i) {
    if (!layer.params.transposed) return i;
    const int64_t tap = taps - 1 - i % taps, kernel = i / taps;
    return (turned ? kernel % inputs * outputs + kernel / inputs : kernel) * taps + tap;
  };
  RK_ASSIGN(HelperConstant blocks, half_blocks(*layer.in.chip, shape, use, [&](int64_t i) {
              return half_at(weight, bytes, static_cast<size_t>(given_place(i)));
            }));
  blocks.name = weight.name;
  tasks.helpers.push_back(std::move(blocks));
  if (!layer.has_bias) return ok_status();
  // The reader takes whole groups of channels.
  const ProgramTensor& given = tensor_of(variant, step.inputs[2]);
  if (given.dtype != DType::kF32 || !given.is_constant())
    return no_form(step, "a bias that is not constant float32");
  const int64_t padded = align_up<int64_t>(layer.out.channels, 32);
  HelperConstant bias{.name = given.name, .dtype = DType::kF32};
  bias.bytes.resize(static_cast<size_t>(padded) * sizeof(float));
  const ByteSpan from = program.weights[static_cast<size_t>(given.weight)].bytes;
  if (from.size() > bias.bytes.size()) return no_form(step, "a bias of more than its channels");
  std::copy(from.begin(), from.end(), bias.bytes.begin());
  bias.shape = Shape{layer.out.channels};
  bias.native_shape = {static_cast<int32_t>(padded)};
  tasks.helpers.push_back(std::move(bias));
  return ok_status();
}

}  // namespace

Result<LayerTasks> pool_unit_tasks(const program::Program& program, const program::Variant& variant,
                                   const Step& step) {
  RK_ASSIGN(const PoolLayer layer, pool_layer(program, variant, step));
  LayerTasks tasks;
  tasks.form = LayerForm::kIdentical;
  for (const PoolPart& part : cut_pool(layer)) {
    BoundTask bound{write_pool(layer, part), {}};
    bound.tensors[static_cast<size_t>(Operand::kFeature)] = tensor_of(variant, step.inputs[0]).name;
    bound.tensors[static_cast<size_t>(Operand::kOutput)] = tensor_of(variant, step.outputs[0]).name;
    tasks.tasks.push_back(std::move(bound));
  }
  return tasks;
}

Result<LayerTasks> convolution_tasks(const program::Program& program,
                                     const program::Variant& variant, const Step& step) {
  RK_ASSIGN(ConvLayer layer, conv_layer(program, variant, step));
  const int64_t row_align = layer.in.chip->atom_bytes;
  if (layer.in.is_picture && layer.in.width % row_align != 0 && !layer.in.chip->is_rk3562)
    return no_form(step, str("a picture of ", layer.in.width, " pixels a row; ", row_align,
                             " divides those it has"));
  LayerTasks tasks;
  // No vendor file has a transposed depthwise convolution.
  tasks.form =
      layer.params.transposed && layer.is_depthwise ? LayerForm::kEmulated : LayerForm::kIdentical;
  const bool is_other_chip = layer.in.chip->is_rk3566 || layer.in.chip->is_rk3562;
  if ((layer.params.transposed || is_other_chip) && !layer.in.is_float) {
    RK_ASSIGN(HelperConstant weights, packed_weights(program, variant, step, layer));
    layer.weight_bytes = weights.bytes.size() / (has_weights_in_rows(layer) ? 2 : 1);
    tasks.helpers.push_back(std::move(weights));
  }
  if (layer.in.chip->is_rk3562 && !layer.in.is_float)
    RK_TRY(add_rk3562_constants(program, variant, step, layer, tasks));
  if (layer.in.is_float) {
    RK_TRY(add_float_constants(program, variant, step, layer, tasks));
    layer.weight_bytes = tasks.helpers[0].bytes.size();
    tasks.form = LayerForm::kEmulated;
  }
  if (const auto& lookup = layer.params.lookup) {
    RK_ASSIGN(RegisterTask load, write_table_load(lookup->low, lookup->high));
    add_table_load(std::move(load), tensor_of(variant, step.outputs[0]).name + "_table", tasks);
  }
  const auto bind = [&](const ConvTile& tile) -> Result<BoundTask> {
    BoundTask bound{.first_row = static_cast<uint32_t>(tile.first_in_row)};
    RK_ASSIGN(bound.task, write_convolution(layer, tile));
    const auto name = [&](Operand operand, int32_t tensor) {
      bound.tensors[static_cast<size_t>(operand)] = tensor_of(variant, tensor).name;
    };
    name(Operand::kFeature, step.inputs[0]);
    name(Operand::kWeight, step.inputs[1]);
    if (layer.has_bias) name(Operand::kBias, step.inputs[2]);
    if (layer.has_addend) name(Operand::kAddend, step.inputs[3]);
    name(Operand::kOutput, step.outputs[0]);
    return bound;
  };
  // Files of the vendor for these chips let the chip convert pictures; none for RK3562 has one of
  // four channels.
  constexpr size_t kMostChannels = 3;
  const bool converts = !layer.picture.empty() && layer.picture.size() <= kMostChannels;
  if (is_other_chip && layer.in.is_picture && !converts) tasks.form = LayerForm::kEmulated;
  RK_ASSIGN(const std::vector<ConvTile> tiles, tile_convolution(layer));
  for (const ConvTile& tile : tiles) {
    RK_ASSIGN(BoundTask bound, bind(tile));
    tasks.tasks.push_back(std::move(bound));
    if (!has_known_fetch(layer, tile)) tasks.form = LayerForm::kEmulated;
  }
  constexpr std::ptrdiff_t kWrittenTwice = 4;  // words that only lists of one core begin with
  // Tables are the first core's, as in vendor files; on RK3576 both cores load them.
  const bool looks_up = layer.params.lookup.has_value();
  const bool splits =
      !program.single_core && layer.in.chip->cores > 1 && (!looks_up || layer.in.chip->is_rk3576);
  for (size_t i = 0; i + 1 < layer.in.chip->cores && splits; ++i) {
    RK_ASSIGN(const auto of_core, split_convolution(layer, static_cast<int>(i) + 2));
    // No vendor file seen has a table on cores with banks of their own.
    if (looks_up && !of_core.empty() && of_core.front().front().cores == 1) continue;
    for (const std::vector<ConvTile>& core : of_core) {
      std::vector<BoundTask>& to = tasks.split[i].emplace_back();
      if (looks_up) to.push_back(tasks.tasks.front());
      for (const ConvTile& tile : core) {
        RK_ASSIGN(BoundTask bound, bind(tile));
        bound.use = tile.cores > 1 ? CoreUse::kTogether : CoreUse::kApart;
        bound.task.commands.erase(bound.task.commands.begin(),
                                  bound.task.commands.begin() + kWrittenTwice);
        to.push_back(std::move(bound));
      }
    }
  }
  return tasks;
}

namespace {

Result<LayerTasks> tasks_of(const program::Program& program, const program::Variant& variant,
                            const Step& step) {
  if (const auto* pool = std::get_if<program::PoolParams>(&step.params)) {
    if (pool->kind == program::PoolKind::kAverage)
      return average_pool_tasks(program, variant, step);
    return pool_unit_tasks(program, variant, step);
  }
  if (std::holds_alternative<program::ResizeParams>(step.params))
    return resize_tasks(program, variant, step);
  if (std::holds_alternative<program::ConcatParams>(step.params))
    return concat_tasks(program, variant, step);
  if (std::holds_alternative<program::SumParams>(step.params))
    return sum_tasks(program, variant, step);
  if (std::holds_alternative<program::ConvParams>(step.params))
    return convolution_tasks(program, variant, step);
  if (const auto* op = std::get_if<program::OpParams>(&step.params)) {
    if (op->op == "Sigmoid" || op->op == "Tanh" || op->op == "HardSigmoid")
      return half_table_tasks(program, variant, step);
    if (op->op == "Softmax" || op->op == "exTableSoftmax")
      return softmax_tasks(program, variant, step);
    if (step.type == "exDataConvert") return conversion_tasks(program, variant, step);
    return move_tasks(program, variant, step);
  }
  return table_tasks(program, variant, step);
}

// Rows of numbers that a stage reads, in a constant of the file. Equal ones of a step are one.
std::string add_numbers(const std::vector<uint8_t>& rows, const std::string& name,
                        std::vector<HelperConstant>& helpers) {
  // As vendor files have them: 512 bytes for each row, which follow each other at the start.
  constexpr size_t kBytesOfRow = 512;
  constexpr int32_t kWordsOfRow = 8;
  const size_t count = rows.size() / target::kStageRowBytes;
  HelperConstant numbers{.dtype = DType::kI16, .layout = program::Layout::kNc1hwc2};
  numbers.kind = program::TensorKind::kNpuConstant;
  numbers.bytes = rows;
  numbers.bytes.resize(count * kBytesOfRow);
  const auto words = kWordsOfRow * static_cast<int32_t>(count);
  numbers.shape = Shape{1, words, 1, 1};
  numbers.native_shape = {1, 1, 1, 1, words};
  for (size_t i = 0;; ++i) {
    numbers.name = i == 0 ? name : str(name, "_", i);
    const auto known = std::ranges::find(helpers, numbers.name, &HelperConstant::name);
    if (known == helpers.end()) break;
    if (known->bytes == numbers.bytes) return numbers.name;
  }
  helpers.push_back(numbers);
  return numbers.name;
}

// Of the stages of a list that writes `output`.
void name_numbers(const Rk3576List& list, const std::string& output, BoundTask& bound,
                  std::vector<HelperConstant>& helpers) {
  const auto name = [&](Operand operand, const std::vector<uint8_t>& rows, const char* suffix) {
    if (!rows.empty())
      bound.tensors[static_cast<size_t>(operand)] = add_numbers(rows, output + suffix, helpers);
  };
  name(Operand::kBiasNumbers, list.bias_numbers, "_BScfgTensor");
  name(Operand::kNormNumbers, list.norm_numbers, "_BNcfgTensor");
}

Status add_rk3576_lists(const Chip& chip, const std::string& output, BoundTask& bound,
                        std::vector<HelperConstant>& helpers) {
  RK_ASSIGN(Rk3576List list, for_rk3576(chip, bound.task));
  bound.listed = std::move(list.task);
  if (chip.cores > 1) {
    RK_ASSIGN(Rk3576List second, for_rk3576(chip, bound.task, 1));
    bound.second = std::move(second.task);
  }
  name_numbers(list, output, bound, helpers);
  return ok_status();
}

// What two cores share, and behind what they compute apart the fence of each.
Status add_rk3576_split(const Chip& chip, const std::string& output, LayerTasks& tasks) {
  for (size_t core = 0; core < tasks.split[0].size(); ++core) {
    for (BoundTask& bound : tasks.split[0][core]) {
      RK_ASSIGN(Rk3576List list,
                for_rk3576(chip, bound.task, static_cast<uint32_t>(core), bound.use));
      bound.listed = std::move(list.task);
      name_numbers(list, output, bound, tasks.helpers);
    }
    if (tasks.split[0][core].front().use != CoreUse::kApart) continue;
    RK_ASSIGN(Rk3576Fence made, fence_of_rk3576(chip));
    BoundTask fence{.task = std::move(made.task), .listed = std::move(made.list.task)};
    fence.use = CoreUse::kTogether;
    fence.tensors[static_cast<size_t>(Operand::kFeature)] = kFenceInput;
    fence.tensors[static_cast<size_t>(Operand::kWeight)] = kFenceWeight;
    fence.tensors[static_cast<size_t>(Operand::kOutput)] = kFenceOutput;
    name_numbers(made.list, kFenceOutput, fence, tasks.helpers);
    tasks.split[0][core].push_back(std::move(fence));
  }
  return ok_status();
}

// What has no form, of "no register form for ...".
std::string form_of(const Status& status) {
  constexpr std::string_view kStart = "no register form for ";
  const std::string& text = status.message();
  return text.starts_with(kStart) ? text.substr(kStart.size()) : text;
}

}  // namespace

Result<LayerTasks> layer_tasks(const program::Program& program, const program::Variant& variant,
                               const Step& step) {
  const Chip* const chip = find_chip(program.target);
  if (chip == nullptr) return no_form(step, str("the chip ", program.target));
  RK_ASSIGN(LayerTasks tasks, tasks_of(program, variant, step));
  std::vector<BoundTask> listed;
  for (BoundTask& bound : tasks.tasks) {
    if (chip->is_rk3576) {
      const Status status =
          add_rk3576_lists(*chip, tensor_of(variant, step.outputs[0]).name, bound, tasks.helpers);
      if (!status.ok()) return no_form(step, form_of(status));
      listed.push_back(std::move(bound));
      continue;
    }
    if (chip->is_rk3562) {
      auto list = chip->is_rv1106 ? for_rv1106(bound.task) : for_rk3562(bound.task);
      if (!list.ok()) return no_form(step, form_of(list.status()));
      bound.listed = *std::move(list);
      listed.push_back(std::move(bound));
      continue;
    }
    if (!chip->is_rk3566) {
      bound.listed = bound.task;
      listed.push_back(std::move(bound));
      continue;
    }
    const bool loads = loads_tables(bound.task);
    auto lists = loads ? table_loads_for_rk3566(bound.task)
                       : std::vector<RegisterTask>{for_rk3566(bound.task)};
    tasks.loads += loads ? lists.size() - 1 : 0;
    for (RegisterTask& list : lists) {
      listed.push_back(bound);
      listed.back().listed = std::move(list);
    }
  }
  tasks.tasks = std::move(listed);
  if (chip->is_rk3576) {
    const Status status = add_rk3576_split(*chip, tensor_of(variant, step.outputs[0]).name, tasks);
    return status.ok() ? Result<LayerTasks>(std::move(tasks)) : no_form(step, form_of(status));
  }
  for (auto& of_cores : tasks.split)
    for (auto& core : of_cores)
      for (BoundTask& bound : core) bound.listed = bound.task;
  return tasks;
}

}  // namespace rk::registers

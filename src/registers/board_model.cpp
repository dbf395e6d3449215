// SPDX-License-Identifier: Apache-2.0
#include "registers/board_model.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/checked_math.h"
#include "format/container.h"
#include "format/program_codec.h"
#include "format/small_writer.h"
#include "format/trailer.h"
#include "format/vendor/tasks.h"
#include "format/writer.h"
#include "registers/coded_weights.h"
#include "registers/layer_tasks.h"
#include "registers/places.h"
#include "registers/pooling.h"
#include "registers/rk3562.h"
#include "registers/rv1106.h"
#include "registers/softmax.h"
#include "target/weight_code_registers.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
using format::FileTensor;

constexpr size_t kListAlign = 8;  // words; lists start at 64 bytes
constexpr uint32_t kTailWords = 4;
constexpr int kWaitShift = 16;  // in PC_REGISTER_AMOUNTS
constexpr std::array<uint8_t, 1024> kMeetingBytes{};
// Ones, as in vendor files.
template <size_t kCount, size_t kOnes>
constexpr std::array<uint8_t, kCount> kBytesOfOnes = [] {
  std::array<uint8_t, kCount> bytes{};
  for (size_t i = 0; i < kOnes; ++i) bytes[i] = 1;
  return bytes;
}();
constexpr const auto& kFencePixel = kBytesOfOnes<512, kFenceChannels>;
constexpr const auto& kFenceKernels = kBytesOfOnes<256, 256>;
constexpr uint64_t kMeets = uint64_t{1} << 40;  // in the word that starts the units
constexpr uint64_t kPlaceAlign = 64;            // of tensors in memory
constexpr uint64_t kPrepare = uint64_t{0x0041} << 48, kEnable = uint64_t{0x0081} << 48 | 0x0008;
constexpr uint32_t kDpuInterrupts = 0x300, kPpuInterrupts = 0xc00, kAllInterrupts = 0x1ffff;
constexpr auto kU64 = static_cast<DType>(13);  // as the file numbers it

constexpr size_t kMostCores = 3;

struct PlacedList {
  uint32_t node = 0;
  size_t first_word = 0;
  BoundTask bound;
  uint32_t waits_for = 0;   // other cores, before the next list begins
  bool ends_chain = false;  // the next list waits for the CPU, or there is none
};

// What a step is to several cores, by core count: tasks of each core, or none where the first core does it alone.
struct SplitStep {
  bool has_lists = false;
  size_t first_list = 0, end_list = 0;  // of one core
  decltype(LayerTasks::split) of_core;
};

uint32_t field_of(const RegisterTask& task, const target::RegisterField& field) {
  const Command* const command = task.find(field.offset);
  return command == nullptr ? 0U : field.get(command->value);
}

// The end of what the DPU writes, in bytes from the start of the output: whole blocks of channels, which can be more
// than a tensor of fewer channels has.
uint64_t written_end(const Chip& chip, const RegisterTask& task) {
  const Command* const to = task.find(reg::DPU_DST_BASE_ADDR);
  if ((task.units & format::kUnitDpu) == 0 || to == nullptr) return 0;
  const auto atom_bytes = static_cast<uint64_t>(chip.atom_bytes);
  if (field_of(task, reg::DPU_FEATURE_MODE_CFG__NONALIGN) != 0)
    return to->value + field_of(task, reg::DPU_FEATURE_MODE_CFG__SURF_LEN) * atom_bytes;
  const uint64_t element = field_of(task, reg::DPU_DATA_FORMAT__OUT_PRECISION) == 0 ? 1 : 2;
  const uint64_t channels = field_of(task, reg::DPU_WDMA_SIZE_0__CHANNEL_WDMA) + 1;
  const uint64_t width = field_of(task, reg::DPU_WDMA_SIZE_1__WIDTH_WDMA) + 1;
  const uint64_t row = width + field_of(task, reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0);
  const uint64_t pixels = field_of(task, reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA) * row + width;
  const uint64_t plane = field_of(task, reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE);
  return to->value + ((ceil_div(channels * element, atom_bytes) - 1) * plane + pixels) * atom_bytes;
}

// Bytes that a list writes as vendor files count them: of pooling 19 times what it is, or 24.
uint32_t written_bytes(const Chip& chip, const RegisterTask& task) {
  const auto field = [&](const target::RegisterField& field) { return field_of(task, field); };
  if ((task.units & format::kUnitPpu) == 0) {
    const uint32_t pixels = (field(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA) + 1) *
                            (field(reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA) + 1);
    return pixels * (field(chip.is_rk3576 ? reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL
                                          : reg::DPU_WDMA_SIZE_0__CHANNEL_WDMA) +
                     1);
  }
  const uint32_t counted = chip.is_rk3576 ? 24 : 19;
  return counted * (field(reg::PPU_DATA_CUBE_OUT_WIDTH__CUBE_OUT_WIDTH) + 1) *
         (field(reg::PPU_DATA_CUBE_OUT_HEIGHT__CUBE_OUT_HEIGHT) + 1) *
         (field(reg::PPU_DATA_CUBE_OUT_CHANNEL__CUBE_OUT_CHANNEL) + 1);
}

template <typename T>
void append(std::vector<uint8_t>& bytes, T value) {
  const auto* from = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

class BoardBuilder {
 public:
  BoardBuilder(const program::Program& program, const BoardOptions& options)
      : program_(program),
        options_(options),
        variant_(program.main_variant()),
        chip_(*find_chip(program.target)) {}

  Result<BoardModel> build() {
    RK_ASSIGN(out_.model, format::to_file_model(program_));
    if (chip_.is_rv1106) out_.model.npu_generation = "RKNPU t3";
    for (size_t i = 0; i < graph().tensors.size(); ++i) {
      FileTensor& tensor = graph().tensors[i];
      by_name_[tensor.name] = i;
      // Planes of one pixel are not padded.
      const bool is_feature =
          tensor.layout == program::Layout::kNc1hwc2 && tensor.shape.size() == 4;
      if (is_feature && tensor.shape[2] == 1 && tensor.shape[3] == 1) tensor.plane_align = 0;
    }
    for (size_t i = 0; i < variant_.steps.size(); ++i) RK_TRY(add_step(i));
    end_chain();
    for (size_t i = 0; i < placed_.size(); ++i) tasks_.push_back(i);
    if (chip_.is_rk3576) {
      add_rk3576_schedules();
    } else if (chip_.cores > 1) {
      starts_ = {0, 0, 0};  // files for RK3566 and RK3562 have no table of schedules
    }
    for (size_t cores = 2; cores <= chip_.cores && !chip_.is_rk3576; ++cores) {
      starts_.push_back(static_cast<uint32_t>(tasks_.size()));
      for (size_t core = 0; core < cores && !program_.single_core; ++core) add_lane(cores, core);
    }
    RK_TRY(make_room());
    RK_TRY(place_features(variant_, scratch_, out_.model));
    RK_TRY(code_weights());
    write_lists();
    write_tasks();
    RK_TRY(add_tables());
    return std::move(out_);
  }

 private:
  format::FileGraph& graph() { return out_.model.graphs.front(); }
  const program::ProgramTensor& tensor(int32_t i) const {
    return variant_.tensors[static_cast<size_t>(i)];
  }

  Status add_step(size_t index) {
    const program::Step& step = variant_.steps[index];
    LayerReport report{.name = step.name, .type = step.type, .why = {}};
    const size_t node = variant_.inputs.size() + index;
    format::FileNode& file_node = graph().nodes[node];
    auto layer = layer_tasks(program_, variant_, step);
    if (!layer.ok()) {
      if (layer.status().code() != Code::kUnsupported) return layer.status();
      report.why = layer.status().message();
      file_node.processor = program::Processor::kCpu;
      end_chain();
      steps_.emplace_back();
    } else {
      report.form = layer->form;
      report.tasks = layer->tasks.size();
      file_node.processor = program::Processor::kNpu;
      if (chip_.cores == 1) file_node.task_counts.resize(1);
      SplitStep& split = steps_.emplace_back();
      split.has_lists = true;
      split.first_list = placed_.size();
      for (BoundTask& task : layer->tasks) place(node, std::move(task));
      split.end_list = placed_.size();
      split.of_core = std::move(layer->split);
      RK_TRY(add_scratch(layer->scratch, index, file_node));
      RK_TRY(add_helpers(std::move(layer->helpers), file_node));
      // Files for RV1106 count lists that load tables, too.
      const size_t loads = chip_.is_rv1106 ? 0 : layer->loads;
      file_node.task_counts.front() = static_cast<uint32_t>(report.tasks - loads);
      // Files for a chip of one core do not say what cores write.
      const bool shares = chip_.cores > 1;
      const bool convolves = std::holds_alternative<program::ConvParams>(step.params);
      file_node.split_over_cores = shares && convolves ? 1 : 0;
      if (shares) file_node.core_bytes.assign(kMostCores * kMostCores, 0);
      for (size_t i = split.first_list; i < split.end_list && shares; ++i)
        file_node.core_bytes.front() += written_bytes(chip_, placed_[i].bound.task);
      if (chip_.is_rk3576) count_rk3576(split, convolves, layer->loads, file_node);
    }
    // A result is ready when the tasks of its node are done.
    for (const int32_t output : step.outputs) {
      for (format::OutputReady& ready : graph().outputs_ready) {
        if (ready.output == tensor(output).name)
          ready.task_count = static_cast<int32_t>(placed_.size());
      }
    }
    out_.layers.push_back(std::move(report));
    return ok_status();
  }

  // Features have room for all that the lists write.
  Status make_room() {
    for (const PlacedList& placed : placed_) {
      const auto found = by_name_.find(placed.bound.tensor(Operand::kOutput));
      if (found == by_name_.end()) continue;
      FileTensor& tensor = graph().tensors[found->second];
      const uint64_t end = written_end(chip_, placed.bound.task);
      if (end > UINT32_MAX)
        return out_of_memory(str("a list of node ", placed.node, " writes beyond 4 GiB"));
      tensor.size_bytes = std::max(tensor.size_bytes, static_cast<uint32_t>(end));
    }
    return ok_status();
  }

  // Weights in coded form where that is shorter.
  Status code_weights() {
    RK_ASSIGN(const target::Target* const chip, target::find_target(program_.target));
    const auto* const registers = target::weight_code_registers(chip->weight_code);
    if (!options_.compress_weight || registers == nullptr) return ok_status();
    WeightUsers users;
    for (PlacedList& placed : placed_) users.add(placed.bound);
    for (size_t i = 1; i < out_.model.buffers.size(); ++i) {
      const ByteSpan blocks = out_.model.buffers[i].data;
      const auto buffer = static_cast<uint32_t>(i);
      // Blocks that the chip does not know are our section's alone.
      constexpr size_t kLeastOfOurs = 1024;
      const bool is_ours = blocks.size() >= kLeastOfOurs &&
                           std::ranges::none_of(graph().tensors, [&](const FileTensor& tensor) {
                             return tensor.buffer == buffer;
                           });
      const auto tensors = users.codable_tensors(graph(), buffer, blocks.size());
      if (tensors.empty() && !is_ours) continue;
      auto code = program::encode_weights(chip->weight_code, blocks);
      if (!code.ok() || code->bytes.size() >= blocks.size()) continue;
      for (const size_t index : tensors) set_coded(users, *registers, *code, index);
      if (i < program_.weights.size())
        out_.coded.push_back({static_cast<int32_t>(i), blocks.size()});
      out_.helpers.push_back(std::move(code->bytes));
      out_.model.buffers[i].data = ByteSpan(out_.helpers.back());
    }
    return ok_status();
  }

  void set_coded(const WeightUsers& users, const target::WeightCodeRegisters& registers,
                 const program::CodedWeights& code, size_t index) {
    FileTensor& tensor = graph().tensors[index];
    for (RegisterTask* const list : users.lists(tensor.name)) code_list(registers, code, *list);
    out_.model.memory.weight_bytes -= align_up<uint64_t>(tensor.size_bytes, kPlaceAlign);
    code_tensor(code, tensor);
    out_.model.memory.weight_bytes += tensor.size_bytes;
  }

  // RK3576: the lists once more for the second core, which has other banks, and those of two cores.
  void add_rk3576_schedules() {
    starts_ = {0};
    if (chip_.cores == 1) return;
    const size_t count = placed_.size();
    starts_.push_back(static_cast<uint32_t>(tasks_.size()));
    for (size_t i = 0; i < count; ++i) {
      BoundTask bound = placed_[i].bound;
      bound.listed = bound.second;
      place(placed_[i].node, std::move(bound));
      placed_.back().ends_chain = placed_[i].ends_chain;
      tasks_.push_back(count + i);
    }
    starts_.push_back(static_cast<uint32_t>(tasks_.size()));
    for (size_t core = 0; core < chip_.cores; ++core) add_lane(chip_.cores, core);
  }

  // Columns of the table of tasks and of the bytes that cores write.
  void count_rk3576(const SplitStep& step, bool convolves, size_t loads, format::FileNode& node) {
    const auto tasks = static_cast<uint32_t>(step.end_list - step.first_list);
    uint32_t bytes = 0;
    for (size_t i = step.first_list; i < step.end_list; ++i) {
      const RegisterTask& task = placed_[i].bound.task;
      // Selections behind copies are not counted.
      if (convolves || (task.units & format::kUnitCna) == 0) bytes += written_bytes(chip_, task);
    }
    const auto own = tasks - static_cast<uint32_t>(loads);
    const bool pairs = chip_.cores > 1;
    node.task_counts =
        pairs ? std::vector<uint32_t>{own, 0, 0} : std::vector<uint32_t>{own, 0, 0, 0, 0};
    node.core_bytes = pairs ? std::vector<uint32_t>{bytes, bytes, 0, 0}
                            : std::vector<uint32_t>{bytes, 0, 0, 0, bytes, 0, 0, 0};
    node.split_over_cores = pairs && convolves ? 1 : 0;
  }

  void end_chain() {
    if (!placed_.empty()) placed_.back().ends_chain = true;
  }

  // Tasks of one of several cores. Cores go through split steps together: each list waits for the other cores before
  // the next one begins. Behind the last of such steps comes a list of the pooling unit that changes nothing, which ends
  // what is given to all cores at once; lists of RK3576 end it themselves. Other steps are the first core's, with the lists
  // that one core has for them.
  void add_lane(size_t cores, size_t core) {
    const size_t column = cores * (cores - 1) / 2 + core;
    size_t last_split = 0;
    bool together = false;  // since last_split
    const auto add = [&](size_t step, size_t list) {
      const size_t node = variant_.inputs.size() + step;
      ++graph().nodes[node].task_counts[column];
      tasks_.push_back(list);
    };
    const auto add_new = [&](size_t step, BoundTask bound, uint32_t waits_for) {
      const size_t node = variant_.inputs.size() + step;
      // Loads of tables are not counted where both cores of RK3576 do them.
      if (chip_.is_rk3576 && bound.use == CoreUse::kAlone) {
        place(node, std::move(bound));
        placed_.back().waits_for = waits_for;
        tasks_.push_back(placed_.size() - 1);
        return;
      }
      graph().nodes[node].core_bytes[(chip_.is_rk3576 ? cores : (cores - 1) * kMostCores) + core] +=
          written_bytes(chip_, bound.task);
      place(node, std::move(bound));
      placed_.back().waits_for = waits_for;
      add(step, placed_.size() - 1);
    };
    const auto part = [&] {
      if (together) add_new(last_split, meeting(), 0);
      together = false;
    };
    for (size_t s = 0; s < steps_.size(); ++s) {
      auto& split = steps_[s].of_core[cores - 2];
      if (split.empty()) {
        part();
        for (size_t i = steps_[s].first_list; i < steps_[s].end_list && core == 0; ++i) add(s, i);
        if (!steps_[s].has_lists) end_chain();
        continue;
      }
      for (BoundTask& task : split[core]) {
        const bool ends = task.tensor(Operand::kOutput) == kFenceOutput;
        if (ends) add_fence_tensors();
        const bool waits = !chip_.is_rk3576 || (task.use != CoreUse::kApart && !ends);
        add_new(s, std::move(task), waits ? static_cast<uint32_t>(cores - 1) : 0);
      }
      last_split = s;
      together = !chip_.is_rk3576;
    }
    part();
    end_chain();
  }

  // One pixel that lists of several cores read or write, or its weights.
  void add_pixel(const char* name, int32_t channels, ByteSpan bytes) {
    FileTensor tensor;
    tensor.dtype = DType::kI8;
    tensor.layout = program::Layout::kNc1hwc2;
    tensor.kind = program::TensorKind::kNpuConstant;
    tensor.name = name;
    tensor.shape = {1, channels, 1, 1};
    constexpr int32_t kLanes = 16;
    tensor.native_shape = {1, channels / kLanes, 1, 1, kLanes};
    tensor.size_bytes = static_cast<uint32_t>(bytes.size());
    tensor.buffer = static_cast<uint32_t>(out_.model.buffers.size());
    out_.model.buffers.push_back({bytes});
    out_.model.memory.weight_bytes += bytes.size();
    add_tensor(std::move(tensor));
  }

  void add_fence_tensors() {
    if (by_name_.contains(kFenceInput)) return;
    constexpr auto kChannels = static_cast<int32_t>(kFenceChannels);
    add_pixel(kFenceInput, kChannels, ByteSpan(kFencePixel));
    add_pixel(kFenceOutput, kChannels, ByteSpan(kFencePixel));
    add_pixel(kFenceWeight, kChannels, ByteSpan(kFenceKernels));
    FileTensor& weight = graph().tensors.back();
    weight.layout = program::Layout::kWeight;
    weight.shape = {kChannels, kChannels, 1, 1};
    weight.native_shape = {1, 1, 1, 1, kChannels, kChannels};
  }

  BoundTask meeting() {
    constexpr const char* kFrom = "tempMC11_input";
    constexpr const char* kTo = "tempMC11_output";
    constexpr int64_t kChannels = 32;
    if (!by_name_.contains(kFrom))
      for (const char* const name : {kFrom, kTo})
        add_pixel(name, kChannels, ByteSpan(kMeetingBytes));
    PoolLayer nothing;
    nothing.in = nothing.out = {.channels = kChannels, .height = 1, .width = 1};
    nothing.params.kernel = nothing.params.stride = {1, 1};
    BoundTask bound{.task = write_pool(nothing, {0, 1})};
    bound.listed = bound.task;
    bound.tensors[static_cast<size_t>(Operand::kFeature)] = kFrom;
    bound.tensors[static_cast<size_t>(Operand::kOutput)] = kTo;
    return bound;
  }

  int32_t add_tensor(FileTensor tensor) {
    by_name_[tensor.name] = graph().tensors.size();
    graph().tensors.push_back(std::move(tensor));
    return static_cast<int32_t>(graph().tensors.size() - 1);
  }

  Status add_scratch(const std::vector<ScratchFeature>& features, size_t step,
                     format::FileNode& node) {
    for (const ScratchFeature& feature : features) {
      FileTensor tensor;
      tensor.dtype = feature.is_float ? DType::kF16 : DType::kI8;
      tensor.layout = program::Layout::kNc1hwc2;
      tensor.kind = program::TensorKind::kInternal;
      tensor.name = feature.name;
      for (const int64_t extent : feature.shape.dims())
        tensor.shape.push_back(static_cast<int32_t>(extent));
      const auto lanes = static_cast<int32_t>(chip_.atom_bytes / (feature.is_float ? 2 : 1));
      tensor.native_shape = {1, ceil_div(tensor.shape[1], lanes), tensor.shape[2], tensor.shape[3],
                             lanes};
      if (!feature.is_float) {
        tensor.quant_method = "layer";
        tensor.quant_type = "int8";
        tensor.scale = {feature.scale};
        tensor.zero_point = {feature.zero_point};
      }
      tensor.plane_align = feature.plane_align;
      if (feature.size_bytes > UINT32_MAX)
        return out_of_memory(str("scratch '", feature.name, "' takes more than 4 GiB"));
      tensor.size_bytes = static_cast<uint32_t>(feature.size_bytes);
      const int32_t index = add_tensor(std::move(tensor));
      node.inputs.push_back(index);
      scratch_.push_back({static_cast<size_t>(index), step});
    }
    return ok_status();
  }

  // Equal constants share their bytes.
  Status add_helpers(std::vector<HelperConstant> constants, format::FileNode& node) {
    for (HelperConstant& constant : constants) {
      auto [known, is_new] =
          buffers_.try_emplace(constant.bytes, static_cast<uint32_t>(out_.model.buffers.size()));
      const auto size = static_cast<uint32_t>(constant.bytes.size());
      if (is_new) {
        out_.helpers.push_back(std::move(constant.bytes));
        out_.model.buffers.push_back({ByteSpan(out_.helpers.back())});
      }
      const auto found = by_name_.find(constant.name);
      FileTensor tensor;
      if (found != by_name_.end()) tensor = graph().tensors[found->second];
      tensor.dtype = constant.dtype;
      tensor.layout = constant.layout;
      tensor.shape.clear();
      for (const int64_t extent : constant.shape.dims())
        tensor.shape.push_back(static_cast<int32_t>(extent));
      tensor.native_shape = std::move(constant.native_shape);
      tensor.size_bytes = size;
      tensor.buffer = known->second;
      if (found != by_name_.end()) {
        graph().tensors[found->second] = std::move(tensor);
        continue;
      }
      tensor.name = constant.name;
      tensor.kind = constant.kind;
      (constant.kind == program::TensorKind::kNpuConstant ? out_.model.memory.weight_bytes
                                                          : out_.model.memory.helper_bytes) +=
          align_up<uint64_t>(size, kPlaceAlign);
      const int32_t index = add_tensor(std::move(tensor));
      if (constant.layout == program::Layout::kWeight) node.inputs.push_back(index);
    }
    return ok_status();
  }

  void place(size_t node, BoundTask bound) {
    const size_t words =
        placed_.empty()
            ? 0
            : placed_.back().first_word + placed_.back().bound.listed.commands.size() + kTailWords;
    placed_.push_back({static_cast<uint32_t>(node), align_up(words, kListAlign), std::move(bound)});
  }

  void write_lists() {
    for (size_t i = 0; i < placed_.size(); ++i) {
      const PlacedList& placed = placed_[i];
      out_.words.resize(placed.first_word * sizeof(uint64_t));
      for (const Command& command : placed.bound.listed.commands)
        append(out_.words, encode(command));
      Command next{reg::PC_BASE_ADDRESS, 0}, amount{reg::PC_REGISTER_AMOUNTS, 0};
      if (!placed.ends_chain) {
        const PlacedList& following = placed_[i + 1];
        next.value = static_cast<uint32_t>(following.first_word * sizeof(uint64_t));
        // RK3588 fetches words in pairs.
        const size_t words = following.bound.listed.commands.size() + kTailWords;
        const size_t fetches = chip_.is_rk3566 ? words : (words + 1) / 2;
        amount.value = static_cast<uint32_t>(fetches - 1);
      }
      amount.value |= placed.waits_for << kWaitShift;
      append(out_.words, placed.ends_chain ? uint64_t{0} : encode(next));
      append(out_.words, encode(amount));
      append(out_.words, kPrepare);
      const bool meets = placed.bound.use == CoreUse::kTogether;
      append(out_.words,
             kEnable | uint64_t{placed.bound.listed.units} << 16 | (meets ? kMeets : 0));
    }
    out_.words.resize(align_up(out_.words.size(), kListAlign * sizeof(uint64_t)));
  }

  // The struct that the kernel driver takes (docs/facts/container.md, section 3.2).
  void write_tasks() {
    for (const size_t task : tasks_) {
      const PlacedList& placed = placed_[task];
      append(out_.tasks, uint32_t{0});
      append(out_.tasks, placed.node);
      append(out_.tasks, placed.bound.listed.units);
      append(out_.tasks,
             (placed.bound.listed.units & format::kUnitPpu) != 0 ? kPpuInterrupts : kDpuInterrupts);
      append(out_.tasks, kAllInterrupts);
      append(out_.tasks, uint32_t{0});
      append(out_.tasks, static_cast<uint32_t>(placed.bound.listed.commands.size()));
      append(out_.tasks, uint32_t{0});
      append(out_.tasks, static_cast<uint64_t>(placed.first_word * sizeof(uint64_t)));
    }
  }

  Status add_tables() {
    std::map<std::string, format::TensorReloc> relocs;  // by name, as vendor files order them
    for (const PlacedList& placed : placed_) {
      for (size_t i = 0; i < placed.bound.listed.commands.size(); ++i) {
        const Command& command = placed.bound.listed.commands[i];
        if (command.operand == Operand::kNone) continue;
        const std::string& name = placed.bound.tensor(command.operand);
        format::TensorReloc& reloc = relocs[name];
        reloc.tensor = name;
        reloc.entries.push_back({command.value, static_cast<uint32_t>(placed.first_word + i)});
        reloc.flags.push_back(1);
      }
    }
    for (auto& [name, reloc] : relocs) graph().relocs.push_back(std::move(reloc));
    for (const int32_t input : variant_.inputs) RK_TRY(add_input_tables(input));
    graph().schedule_starts = starts_;
    add_buffer("regcmd", format::kRegisterCommandsKind, out_.words);
    add_buffer("task", format::kTasksKind, out_.tasks);
    return ok_status();
  }

  // The last place that writes a register; some are written twice.
  static Result<format::RegisterWrite> last_write(const PlacedList& placed, uint16_t offset) {
    const auto& commands = placed.bound.listed.commands;
    for (size_t i = commands.size(); i-- > 0;) {
      if (commands[i].offset == offset)
        return format::RegisterWrite{commands[i].value,
                                     static_cast<uint32_t>(placed.first_word + i)};
    }
    return invalid_model(str("the list of node ", placed.node, " does not write register ", offset,
                             ", which the loader of a file changes"));
  }

  // Words that the loader rewrites when an application chooses another stride or type for an input.
  Status add_input_tables(int32_t input) {
    const std::string& name = tensor(input).name;
    format::InputGeometry geometry{name, {}};
    format::InputConversion conversion{name, {}};
    static constexpr PatchedWord kGeometry[] = {
        {0, reg::CNA_DATA_SIZE0}, {1, reg::CNA_CONV_CON1},         {3, reg::CNA_DMA_CON1},
        {4, reg::CNA_DMA_CON2},   {5, reg::CNA_FEATURE_DATA_ADDR}, {6, reg::CNA_CBUF_CON1}};
    static constexpr PatchedWord kConversion[] = {
        {0, reg::CNA_CVT_CON0},       {1, reg::CNA_CVT_CON1},     {2, reg::CNA_CVT_CON2},
        {3, reg::CNA_CVT_CON3},       {4, reg::CNA_CVT_CON4},     {5, reg::CNA_CVT_CON5},
        {9, reg::CORE_CLIP_TRUNCATE}, {10, reg::CNA_WEIGHT_SIZE2}};
    const std::span<const PatchedWord> shape_words = chip_.is_rv1106 ? rv1106_geometry_words()
                                                     : chip_.is_rk3562
                                                         ? rk3562_geometry_words()
                                                         : std::span<const PatchedWord>(kGeometry);
    const std::span<const PatchedWord> conversion_words =
        chip_.is_rv1106   ? rv1106_conversion_words()
        : chip_.is_rk3562 ? rk3562_conversion_words()
                          : std::span<const PatchedWord>(kConversion);
    for (const PlacedList& placed : placed_) {
      if (placed.bound.tensor(Operand::kFeature) != name ||
          (placed.bound.task.units & format::kUnitCna) == 0)
        continue;
      format::GeometryPatch shape;
      for (const auto& [slot, offset] : shape_words) {
        RK_ASSIGN(shape.writes[slot], last_write(placed, offset));
      }
      if (!shape.writes[2]) shape.writes[2] = format::RegisterWrite{0, 0};
      shape.first_row = placed.bound.first_row;
      geometry.patches.push_back(shape);
      format::ConversionPatch patch;
      for (const auto& [slot, offset] : conversion_words) {
        // RK3566 has no such register, or has it elsewhere; RK3576 has stray bytes in the last two.
        if (chip_.is_rk3566 && placed.bound.listed.find(offset) == nullptr) continue;
        if (chip_.is_rk3576 && (offset == 0x1100 || offset == 0x1020)) continue;
        RK_ASSIGN(patch.writes[slot], last_write(placed, offset));
      }
      conversion.patches.push_back(patch);
    }
    graph().input_geometry.push_back(std::move(geometry));
    graph().input_conversion.push_back(std::move(conversion));
    return ok_status();
  }

  void add_buffer(const char* name, program::TensorKind kind, const std::vector<uint8_t>& bytes) {
    FileTensor tensor;
    tensor.dtype = kU64;
    tensor.kind = kind;
    tensor.name = name;
    tensor.buffer = static_cast<uint32_t>(out_.model.buffers.size());
    graph().tensors.push_back(std::move(tensor));
    out_.model.buffers.push_back({ByteSpan(bytes)});
  }

  const program::Program& program_;
  const BoardOptions& options_;
  const program::Variant& variant_;
  const Chip& chip_;
  std::vector<PlacedList> placed_;
  std::vector<SplitStep> steps_;
  std::vector<size_t> tasks_;  // lists, in the order of schedules
  std::vector<uint32_t> starts_;
  std::vector<StepScratch> scratch_;
  std::map<std::string, size_t> by_name_;             // tensors of the file
  std::map<std::vector<uint8_t>, uint32_t> buffers_;  // of helper constants
  BoardModel out_;
};

}  // namespace

std::string_view form_name(LayerForm form) {
  switch (form) {
    case LayerForm::kIdentical:
      return "identical";
    case LayerForm::kEmulated:
      return "emulated";
    case LayerForm::kAbsent:
      return "absent";
  }
  return "";
}

bool BoardModel::complete() const {
  return std::none_of(layers.begin(), layers.end(),
                      [](const LayerReport& layer) { return layer.form == LayerForm::kAbsent; });
}

Result<BoardModel> make_board_model(const program::Program& program, const BoardOptions& options) {
  if (find_chip(program.target) == nullptr)
    return unsupported(str("no register form for the chip ", program.target));
  if (program.variants.size() != 1)
    return unsupported("no register form for a model of several input shapes");
  if (program.batch != 1) return unsupported("no register form for samples in batches");
  RK_TRY(program::verify(program));
  return BoardBuilder(program, options).build();
}

Result<std::vector<uint8_t>> write_board_file(const program::Program& given,
                                              std::vector<LayerReport>* layers,
                                              const BoardOptions& options) {
  RK_TRY(program::verify(given));
  program::Program program = with_numbers_of_lists(given);
  RK_ASSIGN(BoardModel board, make_board_model(program, options));
  // Our section has the same weights as the board.
  program.coded = board.coded;
  for (const program::CodedWeight& coded : board.coded) {
    const auto i = static_cast<size_t>(coded.weight);
    program.weights[i] = {nullptr, board.model.buffers[i].data};
  }
  if (layers != nullptr) *layers = board.layers;
  if (find_chip(program.target)->is_rv1106) {
    RK_ASSIGN(const std::vector<uint8_t> body, format::write_small_model(board.model));
    return format::join_container(body, format::make_trailer(board.model),
                                  format::encode_with_weights(program),
                                  format::kSmallContainerVersion);
  }
  RK_ASSIGN(const std::vector<uint8_t> region, format::write_model(board.model));
  return format::join_container(region, format::make_trailer(board.model),
                                format::encode_program(program));
}

}  // namespace rk::registers

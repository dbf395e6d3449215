// SPDX-License-Identifier: Apache-2.0
#include "registers/board_model.h"

#include <algorithm>
#include <map>

#include "base/checked_math.h"
#include "format/container.h"
#include "format/program_codec.h"
#include "format/trailer.h"
#include "format/vendor/tasks.h"
#include "format/writer.h"
#include "registers/layer_tasks.h"
#include "registers/places.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
using format::FileModel;
using format::FileTensor;

constexpr size_t kListAlign = 8;  // words; lists start at 64 bytes
constexpr uint32_t kTailWords = 4;
constexpr uint64_t kPlaceAlign = 64;  // of tensors in memory
constexpr uint64_t kPrepare = uint64_t{0x0041} << 48, kEnable = uint64_t{0x0081} << 48 | 0x0008;
constexpr uint32_t kDpuInterrupts = 0x300, kPpuInterrupts = 0xc00, kAllInterrupts = 0x1ffff;
constexpr auto kU64 = static_cast<DType>(13);  // as the file numbers it

struct PlacedTask {
  uint32_t node = 0;
  size_t first_word = 0;
  BoundTask bound;
  bool ends_chain = false;  // the next task waits for the CPU, or there is none
};

template <typename T>
void append(std::vector<uint8_t>& bytes, T value) {
  const auto* from = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

class BoardBuilder {
 public:
  explicit BoardBuilder(const program::Program& program)
      : program_(program), variant_(program.main_variant()) {}

  Result<BoardModel> build() {
    RK_ASSIGN(out_.model, format::to_file_model(program_));
    for (size_t i = 0; i < graph().tensors.size(); ++i) by_name_[graph().tensors[i].name] = i;
    for (size_t i = 0; i < variant_.steps.size(); ++i) RK_TRY(add_step(i));
    if (!placed_.empty()) placed_.back().ends_chain = true;
    RK_TRY(place_features(variant_, scratch_, out_.model));
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
      if (!placed_.empty()) placed_.back().ends_chain = true;
    } else {
      report.form = layer->form;
      report.tasks = layer->tasks.size();
      file_node.processor = program::Processor::kNpu;
      for (BoundTask& task : layer->tasks) place(node, std::move(task));
      RK_TRY(add_scratch(layer->scratch, index, file_node));
      RK_TRY(add_helpers(std::move(layer->helpers), file_node));
      file_node.task_counts.front() = static_cast<uint32_t>(report.tasks - layer->loads);
      file_node.split_over_cores = 1;
      constexpr size_t kCoreColumns = 9;  // three of each core count
      file_node.core_bytes.assign(kCoreColumns, 0);
      file_node.core_bytes.front() = static_cast<uint32_t>(tensor(step.outputs[0]).size_bytes);
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

  int32_t add_tensor(FileTensor tensor) {
    by_name_[tensor.name] = graph().tensors.size();
    graph().tensors.push_back(std::move(tensor));
    return static_cast<int32_t>(graph().tensors.size() - 1);
  }

  Status add_scratch(const std::vector<ScratchFeature>& features, size_t step,
                     format::FileNode& node) {
    for (const ScratchFeature& feature : features) {
      FileTensor tensor;
      tensor.dtype = DType::kI8;
      tensor.layout = program::Layout::kNc1hwc2;
      tensor.kind = program::TensorKind::kInternal;
      tensor.name = feature.name;
      for (const int64_t extent : feature.shape.dims())
        tensor.shape.push_back(static_cast<int32_t>(extent));
      constexpr int32_t kLanes = 16;
      tensor.native_shape = {1, ceil_div(tensor.shape[1], kLanes), tensor.shape[2], tensor.shape[3],
                             kLanes};
      tensor.quant_method = "layer";
      tensor.quant_type = "int8";
      tensor.scale = {feature.scale};
      tensor.zero_point = {feature.zero_point};
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
      out_.model.memory.helper_bytes += align_up<uint64_t>(size, kPlaceAlign);
      const int32_t index = add_tensor(std::move(tensor));
      if (constant.layout == program::Layout::kWeight) node.inputs.push_back(index);
    }
    return ok_status();
  }

  void place(size_t node, BoundTask bound) {
    const size_t words =
        placed_.empty()
            ? 0
            : placed_.back().first_word + placed_.back().bound.task.commands.size() + kTailWords;
    placed_.push_back({static_cast<uint32_t>(node), align_up(words, kListAlign), std::move(bound)});
  }

  void write_lists() {
    for (size_t i = 0; i < placed_.size(); ++i) {
      const PlacedTask& placed = placed_[i];
      out_.words.resize(placed.first_word * sizeof(uint64_t));
      for (const Command& command : placed.bound.task.commands) append(out_.words, encode(command));
      Command next{reg::PC_BASE_ADDRESS, 0}, amount{reg::PC_REGISTER_AMOUNTS, 0};
      if (!placed.ends_chain) {
        const PlacedTask& following = placed_[i + 1];
        next.value = static_cast<uint32_t>(following.first_word * sizeof(uint64_t));
        amount.value =
            static_cast<uint32_t>((following.bound.task.commands.size() + kTailWords + 1) / 2 - 1);
      }
      append(out_.words, placed.ends_chain ? uint64_t{0} : encode(next));
      append(out_.words, encode(amount));
      append(out_.words, kPrepare);
      append(out_.words, kEnable | uint64_t{placed.bound.task.units} << 16);
    }
    out_.words.resize(align_up(out_.words.size(), kListAlign * sizeof(uint64_t)));
  }

  // The struct that the kernel driver takes (docs/facts/container.md, section 3.2).
  void write_tasks() {
    for (const PlacedTask& placed : placed_) {
      append(out_.tasks, uint32_t{0});
      append(out_.tasks, placed.node);
      append(out_.tasks, placed.bound.task.units);
      append(out_.tasks,
             (placed.bound.task.units & format::kUnitPpu) != 0 ? kPpuInterrupts : kDpuInterrupts);
      append(out_.tasks, kAllInterrupts);
      append(out_.tasks, uint32_t{0});
      append(out_.tasks, static_cast<uint32_t>(placed.bound.task.commands.size()));
      append(out_.tasks, uint32_t{0});
      append(out_.tasks, static_cast<uint64_t>(placed.first_word * sizeof(uint64_t)));
    }
  }

  Status add_tables() {
    std::map<std::string, format::TensorReloc> relocs;  // by name, as vendor files order them
    for (const PlacedTask& placed : placed_) {
      for (size_t i = 0; i < placed.bound.task.commands.size(); ++i) {
        const Command& command = placed.bound.task.commands[i];
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
    const auto count = static_cast<uint32_t>(placed_.size());
    graph().schedule_starts = {0, 0, 0, count, count};
    add_buffer("regcmd", format::kRegisterCommandsKind, out_.words);
    add_buffer("task", format::kTasksKind, out_.tasks);
    return ok_status();
  }

  // The last place that writes a register; some are written twice.
  static Result<format::RegisterWrite> last_write(const PlacedTask& placed, uint16_t offset) {
    const auto& commands = placed.bound.task.commands;
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
    constexpr std::pair<size_t, uint16_t> kGeometry[] = {
        {0, reg::CNA_DATA_SIZE0}, {1, reg::CNA_CONV_CON1},         {3, reg::CNA_DMA_CON1},
        {4, reg::CNA_DMA_CON2},   {5, reg::CNA_FEATURE_DATA_ADDR}, {6, reg::CNA_CBUF_CON1}};
    constexpr std::pair<size_t, uint16_t> kConversion[] = {
        {0, reg::CNA_CVT_CON0},       {1, reg::CNA_CVT_CON1},     {2, reg::CNA_CVT_CON2},
        {3, reg::CNA_CVT_CON3},       {4, reg::CNA_CVT_CON4},     {5, reg::CNA_CVT_CON5},
        {9, reg::CORE_CLIP_TRUNCATE}, {10, reg::CNA_WEIGHT_SIZE2}};
    for (const PlacedTask& placed : placed_) {
      if (placed.bound.tensor(Operand::kFeature) != name ||
          (placed.bound.task.units & format::kUnitCna) == 0)
        continue;
      format::GeometryPatch shape;
      for (const auto& [slot, offset] : kGeometry) {
        RK_ASSIGN(shape.writes[slot], last_write(placed, offset));
      }
      shape.writes[2] = format::RegisterWrite{0, 0};
      geometry.patches.push_back(shape);
      format::ConversionPatch patch;
      for (const auto& [slot, offset] : kConversion) {
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
  const program::Variant& variant_;
  std::vector<PlacedTask> placed_;
  std::vector<StepScratch> scratch_;
  std::map<std::string, size_t> by_name_;             // tensors of the file
  std::map<std::vector<uint8_t>, uint32_t> buffers_;  // of helper constants
  BoardModel out_;
};

}  // namespace

bool BoardModel::complete() const {
  return std::none_of(layers.begin(), layers.end(),
                      [](const LayerReport& layer) { return layer.form == LayerForm::kAbsent; });
}

Result<BoardModel> make_board_model(const program::Program& program) {
  if (program.target != "rk3588")
    return unsupported(str("no register form for the chip ", program.target));
  if (program.variants.size() != 1)
    return unsupported("no register form for a model of several input shapes");
  if (program.batch != 1) return unsupported("no register form for samples in batches");
  RK_TRY(program::verify(program));
  return BoardBuilder(program).build();
}

Result<std::vector<uint8_t>> write_board_file(const program::Program& program,
                                              std::vector<LayerReport>* layers) {
  RK_ASSIGN(BoardModel board, make_board_model(program));
  if (layers != nullptr) *layers = board.layers;
  RK_ASSIGN(const std::vector<uint8_t> region, format::write_model(board.model));
  return format::join_container(region, format::make_trailer(board.model),
                                format::encode_program(program));
}

}  // namespace rk::registers

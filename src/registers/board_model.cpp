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
#include "registers/convolution.h"
#include "registers/pooling.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
using format::FileModel;
using format::FileTensor;

constexpr size_t kListAlign = 8;  // words; lists start at 64 bytes
constexpr uint32_t kTailWords = 4;
constexpr uint64_t kPrepare = uint64_t{0x0041} << 48, kEnable = uint64_t{0x0081} << 48 | 0x0008;
constexpr uint32_t kDpuInterrupts = 0x300, kPpuInterrupts = 0xc00, kAllInterrupts = 0x1ffff;
constexpr auto kU64 = static_cast<DType>(13);  // as the file numbers it

struct PlacedTask {
  uint32_t node = 0;
  size_t first_word = 0;
  RegisterTask task;
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
    for (size_t i = 0; i < variant_.steps.size(); ++i) add_step(i);
    if (!placed_.empty()) placed_.back().ends_chain = true;
    write_lists();
    write_tasks();
    add_tables();
    return std::move(out_);
  }

 private:
  format::FileGraph& graph() { return out_.model.graphs.front(); }
  const program::ProgramTensor& tensor(int32_t i) const {
    return variant_.tensors[static_cast<size_t>(i)];
  }

  void add_step(size_t index) {
    const program::Step& step = variant_.steps[index];
    LayerReport report{.name = step.name, .type = step.type, .why = {}};
    const size_t node = variant_.inputs.size() + index;
    const auto tasks = tasks_of(step, report);
    if (!tasks.ok()) {
      report.why = tasks.status().message();
      graph().nodes[node].processor = program::Processor::kCpu;
      if (!placed_.empty()) placed_.back().ends_chain = true;
    } else {
      report.tasks = tasks->size();
      for (const RegisterTask& task : *tasks) place(node, task);
      format::FileNode& file_node = graph().nodes[node];
      file_node.task_counts.front() = static_cast<uint32_t>(tasks->size());
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
  }

  Result<std::vector<RegisterTask>> tasks_of(const program::Step& step, LayerReport& report) const {
    if (std::holds_alternative<program::PoolParams>(step.params)) {
      RK_ASSIGN(const PoolLayer layer, pool_layer(program_, variant_, step));
      report.form = LayerForm::kIdentical;
      return std::vector<RegisterTask>{write_max_pool(layer)};
    }
    RK_ASSIGN(const ConvLayer layer, conv_layer(program_, variant_, step));
    constexpr int64_t kRowAlign = 16;
    if (layer.in.is_picture && layer.in.width % kRowAlign != 0)
      return unsupported(str("no register form for a picture of ", layer.in.width,
                             " pixels a row; 16 divides those it has"));
    if (layer.params.lookup) return unsupported("no register form for loading lookup tables");
    RK_ASSIGN(const std::vector<ConvTile> tiles, tile_convolution(layer));
    std::vector<RegisterTask> tasks;
    report.form = LayerForm::kIdentical;
    for (const ConvTile& tile : tiles) {
      RK_ASSIGN(RegisterTask task, write_convolution(layer, tile));
      tasks.push_back(std::move(task));
      if (!has_known_fetch(layer, tile)) report.form = LayerForm::kEmulated;
    }
    return tasks;
  }

  void place(size_t node, const RegisterTask& task) {
    const size_t words = placed_.empty() ? 0
                                         : placed_.back().first_word +
                                               placed_.back().task.commands.size() + kTailWords;
    placed_.push_back({static_cast<uint32_t>(node), align_up(words, kListAlign), task});
  }

  void write_lists() {
    for (size_t i = 0; i < placed_.size(); ++i) {
      const PlacedTask& placed = placed_[i];
      out_.words.resize(placed.first_word * sizeof(uint64_t));
      for (const Command& command : placed.task.commands) append(out_.words, encode(command));
      Command next{reg::PC_BASE_ADDRESS, 0}, amount{reg::PC_REGISTER_AMOUNTS, 0};
      if (!placed.ends_chain) {
        const PlacedTask& following = placed_[i + 1];
        next.value = static_cast<uint32_t>(following.first_word * sizeof(uint64_t));
        amount.value =
            static_cast<uint32_t>((following.task.commands.size() + kTailWords + 1) / 2 - 1);
      }
      append(out_.words, placed.ends_chain ? uint64_t{0} : encode(next));
      append(out_.words, encode(amount));
      append(out_.words, kPrepare);
      append(out_.words, kEnable | uint64_t{placed.task.units} << 16);
    }
    out_.words.resize(align_up(out_.words.size(), kListAlign * sizeof(uint64_t)));
  }

  // The struct that the kernel driver takes (docs/facts/container.md, section 3.2).
  void write_tasks() {
    for (const PlacedTask& placed : placed_) {
      append(out_.tasks, uint32_t{0});
      append(out_.tasks, placed.node);
      append(out_.tasks, placed.task.units);
      append(out_.tasks,
             (placed.task.units & format::kUnitPpu) != 0 ? kPpuInterrupts : kDpuInterrupts);
      append(out_.tasks, kAllInterrupts);
      append(out_.tasks, uint32_t{0});
      append(out_.tasks, static_cast<uint32_t>(placed.task.commands.size()));
      append(out_.tasks, uint32_t{0});
      append(out_.tasks, static_cast<uint64_t>(placed.first_word * sizeof(uint64_t)));
    }
  }

  int32_t operand_tensor(const PlacedTask& placed, Operand operand) const {
    const program::Step& step = variant_.steps[placed.node - variant_.inputs.size()];
    switch (operand) {
      case Operand::kFeature:
        return step.inputs[0];
      case Operand::kWeight:
        return step.inputs[1];
      case Operand::kBias:
        return step.inputs[2];
      case Operand::kAddend:
        return step.inputs[3];
      case Operand::kOutput:
        return step.outputs[0];
      case Operand::kNone:
        break;
    }
    return program::kNone;
  }

  void add_tables() {
    std::map<std::string, format::TensorReloc> relocs;  // by name, as vendor files order them
    for (const PlacedTask& placed : placed_) {
      for (size_t i = 0; i < placed.task.commands.size(); ++i) {
        const Command& command = placed.task.commands[i];
        if (command.operand == Operand::kNone) continue;
        const std::string& name = tensor(operand_tensor(placed, command.operand)).name;
        format::TensorReloc& reloc = relocs[name];
        reloc.tensor = name;
        reloc.entries.push_back({command.value, static_cast<uint32_t>(placed.first_word + i)});
        reloc.flags.push_back(1);
      }
    }
    for (auto& [name, reloc] : relocs) graph().relocs.push_back(std::move(reloc));
    for (const int32_t input : variant_.inputs) add_input_tables(input);
    const auto count = static_cast<uint32_t>(placed_.size());
    graph().schedule_starts = {0, 0, 0, count, count};
    add_buffer("regcmd", format::kRegisterCommandsKind, out_.words);
    add_buffer("task", format::kTasksKind, out_.tasks);
  }

  // Words that the loader rewrites when an application chooses another stride or type for an input.
  void add_input_tables(int32_t input) {
    const std::string& name = tensor(input).name;
    format::InputGeometry geometry{name, {}};
    format::InputConversion conversion{name, {}};
    for (const PlacedTask& placed : placed_) {
      if (operand_tensor(placed, Operand::kFeature) != input ||
          (placed.task.units & format::kUnitCna) == 0)
        continue;
      const auto write = [&](uint16_t offset) {
        // The last place that writes the register; some are written twice.
        const auto& commands = placed.task.commands;
        size_t at = commands.size();
        while (at > 0 && commands[at - 1].offset != offset) --at;
        return format::RegisterWrite{at == 0 ? 0 : commands[at - 1].value,
                                     static_cast<uint32_t>(placed.first_word + at - 1)};
      };
      format::GeometryPatch shape;
      shape.writes[0] = write(reg::CNA_DATA_SIZE0);
      shape.writes[1] = write(reg::CNA_CONV_CON1);
      shape.writes[2] = format::RegisterWrite{0, 0};
      shape.writes[3] = write(reg::CNA_DMA_CON1);
      shape.writes[4] = write(reg::CNA_DMA_CON2);
      shape.writes[5] = write(reg::CNA_FEATURE_DATA_ADDR);
      shape.writes[6] = write(reg::CNA_CBUF_CON1);
      geometry.patches.push_back(shape);
      format::ConversionPatch patch;
      patch.writes[0] = write(reg::CNA_CVT_CON0);
      patch.writes[1] = write(reg::CNA_CVT_CON1);
      patch.writes[2] = write(reg::CNA_CVT_CON2);
      patch.writes[3] = write(reg::CNA_CVT_CON3);
      patch.writes[4] = write(reg::CNA_CVT_CON4);
      patch.writes[5] = write(reg::CNA_CVT_CON5);
      patch.writes[9] = write(reg::CORE_CLIP_TRUNCATE);
      patch.writes[10] = write(reg::CNA_WEIGHT_SIZE2);
      conversion.patches.push_back(patch);
    }
    graph().input_geometry.push_back(std::move(geometry));
    graph().input_conversion.push_back(std::move(conversion));
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

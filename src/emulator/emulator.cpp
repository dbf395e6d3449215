// SPDX-License-Identifier: Apache-2.0
#include "emulator/emulator.h"

#include <algorithm>

#include "base/checked_math.h"
#include "emulator/units.h"
#include "target/rk3562_registers.h"
#include "target/rk3576_registers.h"
#include "target/rv1106_registers.h"

namespace rk::emulator {
namespace {

using format::FileTensor;
using program::TensorKind;

constexpr uint64_t kFirstAddress = 0x1000;  // so that a forgotten address is noticed
constexpr TensorKind kTableKind{6};         // a lookup table's loading list
constexpr uint64_t kGap = 0x1000;           // between tensors: overruns are noticed too

// Stored with the channels of a pixel together.
bool is_picture(const FileTensor& tensor) {
  return tensor.kind == TensorKind::kInput && tensor.shape.size() == 4 &&
         tensor.native_shape.size() == 5 && tensor.native_shape[4] <= 4;
}

const Chip& chip_of(const format::FileModel& model) {
  static constexpr Chip kRk3588;
  static constexpr Chip kRk3566{.atom_bytes = 8,
                                .bias_group = 4,
                                .kernel_group = 16,
                                .depthwise_group = 32,
                                .least_lanes = 8,
                                .input_block_bytes = 32,
                                .is_rk3566 = true};
  static constexpr Chip kRk3562{.bias_group = 4,
                                .kernel_group = 16,
                                .depthwise_group = 32,
                                .depthwise_least_lanes = 32,
                                .paired_least_lanes = 32,
                                .picture_lanes = 4,
                                .is_rk3562 = true};
  static constexpr Chip kRv1106{.bias_group = 4,
                                .kernel_group = 16,
                                .depthwise_group = 32,
                                .picture_lanes = 4,
                                .is_rk3562 = true,
                                .is_rv1106 = true};
  static constexpr Chip kRk3576{.picture_lanes = 4, .is_rk3562 = true, .is_rk3576 = true};
  if (model.platform == "rk3562") return kRk3562;
  if (model.platform == "rv1106" || model.platform == "rv1103") return kRv1106;
  if (model.platform == "rk3576" || model.platform == "rv1126b") return kRk3576;
  return model.platform == "rk3588" ? kRk3588 : kRk3566;
}

// In the positions of RK3588.
Result<target::RegisterFile> registers_on(const Chip& chip, const target::RegisterFile& raw,
                                          uint32_t units) {
  if (chip.is_rk3562) return target::rk3562_as_rk3588(raw, units);
  return chip.is_rk3566 ? registers_of_task(raw) : raw;
}

int64_t row_pixels(const FileTensor& picture) {
  return align_up<int64_t>(picture.shape[3], std::max<int64_t>(picture.width_align, 1));
}

}  // namespace

Result<Memory> Memory::make(uint64_t size_bytes) {
  if (size_bytes > kMaxObjectBytes) {
    return out_of_memory(str(size_bytes, " bytes of simulated memory; the limit is 1 GiB"));
  }
  Memory out;
  out.bytes_.resize(size_bytes);
  return out;
}

Result<std::span<uint8_t>> Memory::at(uint64_t address, uint64_t size_bytes) {
  const auto end = checked_add(address, size_bytes);
  if (address < kFirstAddress || !end || *end > bytes_.size()) {
    return invalid_model(str("access to ", size_bytes, " bytes at address ", address,
                             " outside the simulated memory of ", bytes_.size(), " bytes"));
  }
  return std::span<uint8_t>(bytes_).subspan(address, size_bytes);
}

bool knows_chip(std::string_view platform) {
  constexpr std::string_view kChips[] = {"rk3588", "rk3566",  "rk3568", "rk3562",
                                         "rk3576", "rv1126b", "rv1103", "rv1106"};
  return std::ranges::find(kChips, platform) != std::end(kChips);
}

Result<Emulator> Emulator::create(const format::FileModel& model, TieRule ties, Places places) {
  if (model.graphs.size() != 1 || !knows_chip(model.platform))
    return unsupported(str("the emulator does not know the registers of ", model.platform));
  Emulator out(model, ties);
  RK_ASSIGN(out.lists_, format::TaskLists::read(model, model.graphs.front()));
  RK_TRY(out.place_tensors(places));
  out.set_input_strides();
  return out;
}

Status Emulator::place_tensors(Places places) {
  const std::vector<FileTensor>& tensors = model_->graphs.front().tensors;
  const auto in_arena = [&](const FileTensor& tensor) {
    return places == Places::kOfFile &&
           (tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kOutput ||
            tensor.kind == TensorKind::kInternal);
  };
  uint64_t end = kFirstAddress;
  for (const FileTensor& tensor : tensors) {
    if (!in_arena(tensor)) continue;
    end = std::max(end, kFirstAddress + tensor.offset_in_internal + tensor.size_bytes);
  }
  for (const FileTensor& tensor : tensors) {
    const ByteSpan data = tensor.buffer == 0 ? ByteSpan() : model_->buffers[tensor.buffer].data;
    const uint64_t size = std::max<uint64_t>(tensor.size_bytes, data.size());
    size_bytes_.push_back(size);
    if (in_arena(tensor)) {
      address_.push_back(kFirstAddress + tensor.offset_in_internal);
      continue;
    }
    end = align_up<uint64_t>(end + kGap, 64);
    address_.push_back(end);
    end += size;
    if (end > kMaxObjectBytes) return out_of_memory("the tensors exceed 1 GiB");
  }
  RK_ASSIGN(memory_, Memory::make(end + kGap));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].kind == format::kRegisterCommandsKind) lists_tensor_ = static_cast<int32_t>(i);
    if (tensors[i].buffer == 0) continue;
    const ByteSpan data = model_->buffers[tensors[i].buffer].data;
    RK_ASSIGN(const std::span<uint8_t> to, memory_.at(address_[i], data.size()));
    std::copy(data.begin(), data.end(), to.begin());
  }
  return ok_status();
}

// The lists hold the width as line stride, but the addresses of row bands count rows of the aligned width: the loader
// writes the real stride into the words that the input geometry table names.
void Emulator::set_input_strides() {
  constexpr size_t kLineStride = 3;  // slot of the patch table
  const format::FileGraph& graph = model_->graphs.front();
  for (const format::InputGeometry& geometry : graph.input_geometry) {
    for (const int32_t input : graph.inputs) {
      const FileTensor& tensor = graph.tensors[static_cast<size_t>(input)];
      if (tensor.name != geometry.input || !is_picture(tensor)) continue;
      for (const format::GeometryPatch& patch : geometry.patches) {
        if (!patch.writes[kLineStride]) continue;
        line_strides_[patch.writes[kLineStride]->word] = static_cast<uint32_t>(row_pixels(tensor));
      }
    }
  }
}

void LookupTables::write(const target::RegisterCommand& command) {
  namespace reg = target::reg;
  if (command.offset == reg::DPU_LUT_ACCESS_CFG) {
    writing_ = reg::DPU_LUT_ACCESS_CFG__LUT_ACCESS_TYPE.get(command.value) == 1;
    table_ = reg::DPU_LUT_ACCESS_CFG__LUT_TABLE_ID.get(command.value);
    next_ = reg::DPU_LUT_ACCESS_CFG__LUT_ADDR.get(command.value);
  } else if (command.offset == reg::DPU_LUT_ACCESS_DATA && writing_ && next_ < kEntries) {
    entries[table_][next_++] = static_cast<int16_t>(command.value);
  }
}

// Words are fetched from memory, because tasks of recurrent nodes write the addresses of their next step into lists. What
// is stored is the place within the tensor that the loader's table names for the word; a destination without an entry
// lies in the lists themselves.
Status Emulator::apply(const format::Task& task, Core& core) {
  const uint64_t lists = address_[static_cast<size_t>(lists_tensor_)];
  RK_ASSIGN(const std::span<uint8_t> words,
            memory_.at(lists + task.first_word * 8, uint64_t{task.command_count} * 8));
  for (uint64_t i = 0; i < task.command_count; ++i) {
    target::RegisterCommand command =
        target::RegisterCommand::decode(rk::load<uint64_t>(words.data() + i * 8));
    const uint64_t word = task.first_word + i;
    if (const auto address = lists_.address(word)) {
      // Words of RK3562 can hold another number; no list of the chip writes into lists.
      if (chip_of(*model_).is_rk3562) command.value = address->addend;
      command.value += static_cast<uint32_t>(address_[static_cast<size_t>(address->tensor)]);
    } else if (command.offset == target::reg::DPU_DST_BASE_ADDR && !chip_of(*model_).is_rk3562) {
      command.value += static_cast<uint32_t>(lists);
    }
    const auto stride = line_strides_.find(word);
    if (stride != line_strides_.end() && command.offset == target::reg::CNA_DMA_CON1) {
      command.value = stride->second;
    }
    core.registers.write(command);
    core.tables.write(command);
  }
  return ok_status();
}

Result<TaskResult> Emulator::run(const format::Task& task, Core& core) {
  RK_TRY(apply(task, core));
  const auto result = execute(task, core);
  core.registers.finish_task(task.units);
  return result;
}

Result<TaskResult> Emulator::execute(const format::Task& task, Core& core) {
  const Chip& chip = chip_of(*model_);
  if (chip.is_rk3562 && loads_table(task)) return TaskResult::kTableLoad;
  target::RegisterFile raw = core.registers;
  if (chip.is_rk3576) {
    if ((task.units & format::kUnitCna) != 0 && raw.is_on(target::rk3576_reg::kEndsApart))
      return TaskResult::kBarrier;
    RK_ASSIGN(raw, registers_of_rk3576(core.registers, task.units, memory_));
  }
  if (chip.is_rv1106) {
    RK_ASSIGN(raw, target::rv1106_as_rk3562(core.registers, task.units));
  }
  RK_ASSIGN(const target::RegisterFile registers, registers_on(chip, raw, task.units));
  if (chip.is_rk3562 && (task.units & format::kUnitCna) != 0) RK_TRY(core.buffer.fetch(raw));
  Unit unit{registers, core.tables, memory_, ties_, chip};
  unit.weights_in_rows = chip.is_rk3576 && core.registers.is_on(target::rk3576_reg::kWeightsInRows);
  RK_ASSIGN(const target::Target* const described, target::find_target(model_->platform));
  unit.weight_code = described->weight_code;
  unit.listed = &core.registers;
  if ((task.units & format::kUnitPpu) != 0) {
    RK_TRY(pool(unit));
    return writes_output(task, target::reg::PPU_DST_BASE_ADDR) ? TaskResult::kDone
                                                               : TaskResult::kBarrier;
  }
  if (loads_table(task)) return TaskResult::kTableLoad;
  const bool convolves = (task.units & format::kUnitCna) != 0;
  if (!convolves && moves_atoms(registers)) {
    RK_TRY(move_atoms(unit));
    return TaskResult::kDone;
  }
  RK_ASSIGN(Cube cube, convolves ? convolve(unit) : read_source(unit));
  RK_TRY(process_and_write(unit, std::move(cube)));
  return TaskResult::kDone;
}

// The copy that such a task makes of one atom ends where it began.
bool Emulator::loads_table(const format::Task& task) const {
  const auto to = written_by(task);
  return to && model_->graphs.front().tensors[static_cast<size_t>(to->tensor)].kind == kTableKind;
}

std::optional<format::AddressWord> Emulator::written_by(const format::Task& task) const {
  const Chip& chip = chip_of(*model_);
  const bool elsewhere = chip.is_rk3562 && !chip.is_rv1106;
  return lists_.address_of(
      task, elsewhere ? target::rk3562_reg::kOutputAddress : target::reg::DPU_DST_BASE_ADDR);
}

bool Emulator::writes_output(const format::Task& task, uint16_t address) const {
  const auto to = lists_.address_of(task, address);
  const std::vector<int32_t>& outputs = model_->graphs.front().nodes[task.node].outputs;
  return to && std::find(outputs.begin(), outputs.end(), to->tensor) != outputs.end();
}

// Calls move(place in memory, place in plain) for every element.
template <typename Move>
Status Emulator::move_elements(int32_t index, size_t plain_bytes, const Move& move) {
  const FileTensor& tensor = model_->graphs.front().tensors[static_cast<size_t>(index)];
  const size_t element = byte_size(tensor.dtype);
  const bool blocked = tensor.layout == program::Layout::kNc1hwc2 && tensor.shape.size() == 4 &&
                       tensor.native_shape.size() == 5;
  if (element == 0 || element > 8 || (!blocked && tensor.layout == program::Layout::kNc1hwc2) ||
      tensor.layout == program::Layout::kWeight) {
    return unsupported(str("tensor '", tensor.name, "' is not a feature"));
  }
  const auto bytes = static_cast<int64_t>(element);
  std::vector<int64_t> extents(tensor.shape.begin(), tensor.shape.end());
  extents.push_back(bytes);
  const auto size = checked_product(extents);
  if (!size || *size != plain_bytes) {
    return invalid_argument(str("tensor '", tensor.name, "': ", plain_bytes, " bytes given"));
  }
  RK_ASSIGN(const std::span<uint8_t> memory, memory_.at(address_[static_cast<size_t>(index)],
                                                        size_bytes_[static_cast<size_t>(index)]));
  const auto step = [&](int64_t at, int64_t plain) -> Status {
    if (at + bytes > static_cast<int64_t>(memory.size())) {
      return invalid_model(
          str("tensor '", tensor.name, "' is larger than its ", memory.size(), " bytes"));
    }
    move(memory.data() + at, static_cast<size_t>(plain), element);
    return ok_status();
  };
  if (!blocked) {
    for (int64_t at = 0; at < static_cast<int64_t>(plain_bytes); at += bytes) RK_TRY(step(at, at));
    return ok_status();
  }
  const int64_t channels = tensor.shape[1], width = tensor.shape[3];
  const int64_t pixels = tensor.shape[2] * width;
  const bool picture = is_picture(tensor);
  const int64_t atom = chip_of(*model_).atom_bytes;
  const int64_t lanes = picture ? channels : atom / bytes;
  const int64_t row = picture ? row_pixels(tensor) : width;
  const int64_t plane =
      picture ? 0 : align_up<int64_t>(pixels, std::max<int64_t>(tensor.plane_align, 1)) * atom;
  const int64_t batch_bytes =
      picture ? tensor.shape[2] * row * channels * bytes : (channels + lanes - 1) / lanes * plane;
  for (int64_t n = 0; n < tensor.shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        const int64_t place = pixel / width * row + pixel % width;
        RK_TRY(step(n * batch_bytes + c / lanes * plane + (place * lanes + c % lanes) * bytes,
                    ((n * channels + c) * pixels + pixel) * bytes));
      }
    }
  }
  return ok_status();
}

Status Emulator::store(int32_t tensor, std::span<const uint8_t> plain) {
  return move_elements(tensor, plain.size(), [&](uint8_t* to, size_t at, size_t size) {
    std::memcpy(to, plain.data() + at, size);
  });
}

Result<std::vector<uint8_t>> Emulator::load(int32_t tensor) {
  const FileTensor& from = model_->graphs.front().tensors[static_cast<size_t>(tensor)];
  std::vector<int64_t> extents(from.shape.begin(), from.shape.end());
  extents.push_back(static_cast<int64_t>(byte_size(from.dtype)));
  const auto size = checked_product(extents);
  if (!size || *size > kMaxObjectBytes) return invalid_model("the tensor is too large");
  std::vector<uint8_t> plain(*size);
  RK_TRY(move_elements(tensor, plain.size(), [&](const uint8_t* at, size_t to, size_t bytes) {
    std::memcpy(plain.data() + to, at, bytes);
  }));
  return plain;
}

}  // namespace rk::emulator

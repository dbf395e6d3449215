// SPDX-License-Identifier: Apache-2.0
// Register lists of our writer beside those of vendor files (RK3588, RK3566 and RK3562, int8 and float16), register by
// register:
//
//   register_compare FOLDER ...      every model.rknn of rk3588/int8, rk3588/fp16, rk3566/int8, ... below the folders
//
// The layer's parameters come from the file's graph and its lifted step; the lists are ours. Addresses are not compared.
// Lists of the vendor that leave registers to an earlier list are compared by the values in effect.
//
// Note: output scale, addend scale, limit and slopes of a lifted step come from the same registers. That they follow from
// float weights and scales is the business of constant_compare.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "format/vendor/lift.h"
#include "format/vendor/tasks.h"
#include "format/vendor_model.h"
#include "registers/convolution.h"
#include "registers/layer_tasks.h"
#include "registers/rk3562.h"
#include "registers/rk3566.h"
#include "registers/rk3576.h"
#include "registers/rv1106.h"
#include "target/rk3562_registers.h"
#include "target/rk3576_registers.h"
#include "target/rv1106_registers.h"
#include "tests/interop/on_folders.h"

namespace rk::interop {
namespace {

namespace fs = std::filesystem;
using format::FileGraph;
using format::FileModel;
using format::FileNode;
using registers::ConvLayer;
using registers::ConvTile;
using registers::CoreUse;

struct Tally {
  size_t files = 0, layers = 0, written = 0, same_tiles = 0;
  size_t tasks = 0, compared = 0, equal = 0;
  size_t pools = 0, equal_pools = 0;
  size_t joins = 0, equal_joins = 0,
         other_joins = 0;                     // tasks of Concat and Add; nodes cut in another way
  size_t functions = 0, equal_functions = 0;  // tasks of exSoftmax13 and exDataConvert
  // Convolutions on two cores and on three, each counted: those that the vendor splits, as we do.
  size_t splits = 0, same_splits = 0, split_tasks = 0, equal_split_tasks = 0;
  std::map<std::string, std::vector<std::string>> other_splits;  // their layers
  std::map<uint16_t, size_t> different;                          // by register
  std::map<uint16_t, std::string> example;
  std::map<std::string, size_t> refused;
  std::map<std::string, size_t> other_tiles;
};

// The registers of one task of the vendor.
struct VendorTask {
  target::RegisterFile values;
  ByteSpan bias_numbers{}, norm_numbers{};  // RK3576: of stages, and what lies behind them
};

// A task whose list has been applied to `values`.
VendorTask vendor_task(const FileModel& model, const format::TaskLists& lists,
                       const target::RegisterFile& values, const format::Task& task) {
  VendorTask out{values};
  const registers::Chip* const chip = registers::find_chip(model.platform);
  if (chip == nullptr || !chip->is_rk3576) return out;
  const FileGraph& graph = model.graphs.front();
  const auto bytes_at = [&](uint16_t offset) {
    const auto at = lists.address_of(task, offset);
    if (!at) return ByteSpan();
    const ByteSpan all = model.buffers[graph.tensors[static_cast<size_t>(at->tensor)].buffer].data;
    return at->addend <= all.size() ? all.subspan(at->addend) : ByteSpan();
  };
  out.bias_numbers = bytes_at(target::rk3576_reg::kBiasNumbers);
  out.norm_numbers = bytes_at(target::rk3576_reg::kNormNumbers);
  return out;
}

// Convolving tasks of a node on several cores: by core.
using SplitTasks = std::vector<std::vector<VendorTask>>;

// Files for the small chips have no parameters of convolutions.
const FileNode* as_convolution(const FileModel& model, const FileNode& node) {
  const bool has_params =
      model.small || std::holds_alternative<format::FileConvParams>(node.params);
  const bool conv = node.type == "ConvTranspose" || (node.type.starts_with("Conv") && has_params);
  return conv && node.processor == program::Processor::kNpu ? &node : nullptr;
}

uint64_t constant_bytes(const FileModel& model, const FileGraph& graph, int32_t index) {
  return model.buffers[graph.tensors[static_cast<size_t>(index)].buffer].data.size();
}

// The node's own constants: weight bytes as they lie in the file, and the form of its bias block.
void take_constants(const FileModel& model, const FileGraph& graph, const FileNode& node,
                    const VendorTask& first, ConvLayer& layer) {
  layer.weight_bytes = constant_bytes(model, graph, node.inputs[1]);
  if (registers::has_weights_in_rows(layer)) layer.weight_bytes /= 2;  // zeros behind them
  if (layer.in.is_float) return;
  if (layer.in.chip->is_rk3562) {
    const target::ConvRegisters& places =
        *target::conv_registers(model.platform == "rv1103" ? "rv1106" : model.platform);
    const ByteSpan block =
        model.buffers[graph.tensors[static_cast<size_t>(node.inputs[2])].buffer].data;
    if (first.values.get(places.bias_form) == places.bias_form_alone) {
      layer.bias_form = registers::BiasForm::kAlone;
      layer.weight_offset = static_cast<int16_t>(first.values.get(places.layer_offset));
      if (layer.in.chip->is_rk3576 && first.bias_numbers.size() >= sizeof(int16_t))
        layer.weight_offset = load<int16_t>(first.bias_numbers.data());
      return;
    }
    const size_t at = static_cast<size_t>(places.bias_group) * (layer.is_depthwise ? 4 : 6);
    if (block.size() >= at + 2) layer.first_multiplier = load<int16_t>(block.data() + at);
    return;
  }
  constexpr uint64_t kBytesOfAll = 8;
  const auto channels = static_cast<uint64_t>(layer.out.channels);
  if (constant_bytes(model, graph, node.inputs[2]) < channels * kBytesOfAll || channels == 1) {
    layer.bias_form = registers::BiasForm::kAlone;
    layer.weight_offset = static_cast<int16_t>(first.values.get(target::reg::DPU_BS_OW_OP__OW_OP));
  }
}

ConvTile tile_of(const VendorTask& task, const registers::Chip& chip) {
  namespace reg = target::reg;
  ConvTile tile;
  if (chip.is_rv1106) {
    tile.in_rows = task.values.get({"HEIGHT", 0x1020, 0, 15});
    tile.out_rows = task.values.get(uint16_t{0x4034}) + 1;
    tile.pad_top = task.values.get(target::rv1106_reg::kPadTop);
    tile.channels = task.values.get(target::rv1106_reg::kChannels) + 1;
    return tile;
  }
  if (chip.is_rk3562) {
    tile.in_rows = task.values.get({"HEIGHT", 0x102c, 0, 15}) + (chip.is_rk3576 ? 1 : 0);
    tile.out_rows = task.values.get(uint16_t{0x4024}) + 1;
    tile.pad_top = task.values.get({"PAD_TOP", 0x1080, 0, 7});
    tile.channels = task.values.get(target::rk3562_reg::kChannels) + 1;
    return tile;
  }
  tile.in_rows = task.values.get(reg::CNA_DATA_SIZE0__DATAIN_HEIGHT);
  tile.out_rows = task.values.get(reg::DPU_DATA_CUBE_HEIGHT__HEIGHT) + 1;
  tile.pad_top = task.values.get(reg::CNA_PAD_CON0__PAD_TOP);
  tile.channels = task.values.get(reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL) + 1;
  tile.data_banks = static_cast<int32_t>(task.values.get(reg::CNA_CBUF_CON0__DATA_BANK));
  tile.weight_banks = static_cast<int32_t>(task.values.get(reg::CNA_CBUF_CON0__WEIGHT_BANK));
  return tile;
}

bool same_extents(const ConvTile& a, const ConvTile& b) {
  return a.in_rows == b.in_rows && a.out_rows == b.out_rows && a.pad_top == b.pad_top &&
         a.channels == b.channels;
}

std::string describe(const ConvLayer& layer) {
  const auto& p = layer.params;
  return str(layer.in.channels, "x", layer.in.height, "x", layer.in.width, " to ",
             layer.out.channels, "x", layer.out.height, "x", layer.out.width,
             layer.is_depthwise ? " depthwise" : "", " kernel ", p.kernel.h, " stride ", p.stride.h,
             " pad ", p.pads.top);
}

// The list in the chip's own form. Of most chips it has no numbers of stages.
Result<registers::Rk3576List> list_of(const ConvLayer& layer, const ConvTile& tile, size_t core = 0,
                                      CoreUse use = CoreUse::kAlone) {
  RK_ASSIGN(registers::RegisterTask task, registers::write_convolution(layer, tile));
  registers::Rk3576List out;
  const registers::Chip& chip = *layer.in.chip;
  if (chip.is_rk3576) return registers::for_rk3576(chip, task, static_cast<uint32_t>(core), use);
  if (chip.is_rk3562) {
    RK_ASSIGN(out.task, chip.is_rv1106 ? registers::for_rv1106(task) : registers::for_rk3562(task));
    return out;
  }
  out.task = chip.is_rk3566 ? registers::for_rk3566(task) : task;
  return out;
}

bool starts_with(ByteSpan bytes, const std::vector<uint8_t>& start) {
  return bytes.size() >= start.size() && std::equal(start.begin(), start.end(), bytes.begin());
}

// Words of our list that the vendor's task has otherwise.
size_t compare(const registers::RegisterTask& ours, const VendorTask& theirs,
               const std::string& what, Tally& tally) {
  size_t different = 0;
  std::set<uint16_t> seen;
  for (const registers::Command& command : ours.commands) {
    if (command.operand != registers::Operand::kNone || !seen.insert(command.offset).second)
      continue;
    const uint32_t written = ours.find(command.offset)->value;  // last
    const uint32_t found = theirs.values.get(command.offset);
    if (found == written) continue;
    ++different;
    ++tally.different[command.offset];
    char text[64];
    std::snprintf(text, sizeof text, "ours %x, theirs %x: ", written, found);
    tally.example.try_emplace(command.offset, text + what);
  }
  return different;
}

// All words, and the numbers of stages.
bool equals(const registers::Rk3576List& ours, const VendorTask& theirs, const std::string& what,
            Tally& tally) {
  const bool same_numbers = starts_with(theirs.bias_numbers, ours.bias_numbers) &&
                            starts_with(theirs.norm_numbers, ours.norm_numbers);
  if (!same_numbers) {
    ++tally.different[target::rk3576_reg::kBiasNumbers];
    tally.example.try_emplace(target::rk3576_reg::kBiasNumbers, "numbers of a stage: " + what);
  }
  return compare(ours.task, theirs, what, tally) == 0 && same_numbers;
}

void compare_layer(const std::string& name, const ConvLayer& layer,
                   const std::vector<VendorTask>& theirs, Tally& tally) {
  const auto tiles = registers::tile_convolution(layer);
  if (!tiles.ok()) {
    ++tally.refused[tiles.status().message()];
    return;
  }
  ++tally.written;
  bool same = tiles->size() == theirs.size();
  for (size_t i = 0; same && i < theirs.size(); ++i) {
    ConvTile tile = tile_of(theirs[i], *layer.in.chip);
    tile.channels = std::min(tile.channels, layer.out.channels);  // of pictures, padded
    same = same_extents((*tiles)[i], tile);
  }
  if (!same) {
    ++tally.other_tiles[str(name, ": ", describe(layer), ": ", tiles->size(), " tiles, theirs ",
                            theirs.size())];
    return;
  }
  ++tally.same_tiles;
  for (size_t i = 0; i < theirs.size(); ++i) {
    const auto task = list_of(layer, (*tiles)[i]);
    if (!task.ok()) {
      ++tally.refused[task.status().message()];
      return;
    }
    ++tally.compared;
    if (equals(*task, theirs[i], name + ": " + describe(layer), tally)) ++tally.equal;
  }
}

// How the vendor cuts a layer that several cores share.
std::string way_of(const ConvLayer& layer, const SplitTasks& theirs) {
  if (theirs.empty() || theirs.back().empty()) return "by nothing";
  return tile_of(theirs[0][0], *layer.in.chip).channels == layer.out.channels ? "by rows"
                                                                              : "by channels";
}

void compare_split(const std::string& name, const ConvLayer& layer, const SplitTasks& theirs,
                   Tally& tally) {
  const auto ours = registers::split_convolution(layer, static_cast<int>(theirs.size()));
  if (!ours.ok()) return;
  const std::string way = way_of(layer, theirs);
  tally.splits += way != "by nothing";
  bool same = (way == "by nothing") == ours->empty();
  for (size_t core = 0; same && core < ours->size(); ++core) {
    same = (*ours)[core].size() == theirs[core].size();
    for (size_t i = 0; same && i < theirs[core].size(); ++i)
      same = same_extents((*ours)[core][i], tile_of(theirs[core][i], *layer.in.chip));
  }
  if (!same) {
    const char* const our_way = ours->empty() ? ", ours by nothing" : ", ours by rows";
    tally.other_splits[str(theirs.size(), " cores, theirs ", way, our_way)].push_back(
        name + ": " + describe(layer));
    return;
  }
  if (ours->empty()) return;
  ++tally.same_splits;
  for (size_t core = 0; core < ours->size(); ++core) {
    for (size_t i = 0; i < theirs[core].size(); ++i) {
      const ConvTile& tile = (*ours)[core][i];
      const auto task =
          list_of(layer, tile, core, tile.cores > 1 ? CoreUse::kTogether : CoreUse::kApart);
      if (!task.ok()) continue;
      ++tally.split_tasks;
      tally.equal_split_tasks +=
          equals(*task, theirs[core][i], name + ": " + describe(layer), tally);
    }
  }
}

// Tasks of several cores by schedule and node, those that end what RK3576's cores do apart left out. Their lists are
// complete.
class SplitLists {
 public:
  SplitLists(const FileModel& model, const format::TaskLists& lists) {
    const registers::Chip* const chip = registers::find_chip(model.platform);
    const bool has_ends = chip != nullptr && chip->is_rk3576;
    for (const format::Schedule& schedule : lists.schedules()) {
      if (schedule.cores == 1) continue;
      auto& nodes = schedules_.emplace_back();
      cores_.push_back(schedule.lanes.size());
      for (size_t core = 0; core < schedule.lanes.size(); ++core) {
        const format::Lane& lane = schedule.lanes[core];
        for (size_t i = lane.first_task; i < lane.first_task + lane.task_count; ++i) {
          const format::Task& task = lists.tasks()[i];
          if ((task.units & format::kUnitCna) == 0) continue;
          SplitTasks& of = nodes[task.node];
          of.resize(schedule.lanes.size());
          target::RegisterFile values;
          lists.apply(task, values);
          if (has_ends && values.is_on(target::rk3576_reg::kEndsApart)) continue;
          of[core].push_back(vendor_task(model, lists, values, task));
        }
      }
    }
  }
  size_t size() const { return schedules_.size(); }
  SplitTasks of(size_t schedule, size_t node) const {
    const auto found = schedules_[schedule].find(node);
    return found == schedules_[schedule].end() ? SplitTasks(cores_[schedule]) : found->second;
  }

 private:
  std::vector<std::map<size_t, SplitTasks>> schedules_;
  std::vector<size_t> cores_;
};

// Without the name of the node, so that equal reasons count together.
std::string reason_of(const Status& status) {
  const std::string& text = status.message();
  const size_t at = text.find("no register form");
  return at == std::string::npos ? text.substr(0, 90) : text.substr(at);
}

bool is_function(const std::string& type) {
  return type == "exSoftmax13" || type == "exDataConvert";
}

constexpr uint16_t kNumbers = target::rk3576_reg::kBiasNumbers;

// Without the bytes behind them.
std::vector<uint8_t> rows_of(const registers::HelperConstant& numbers) {
  constexpr size_t kBytesOfRow = 512;
  const size_t rows = numbers.bytes.size() / kBytesOfRow;
  return {numbers.bytes.begin(),
          numbers.bytes.begin() + static_cast<std::ptrdiff_t>(rows * target::kStageRowBytes)};
}

// MaxPool, Concat, Add, Softmax and conversions: all lists of a node.
void compare_lists(const std::string& name, const FileModel& model, const format::TaskLists& lists,
                   const program::Program& program, const program::Step& step,
                   format::NodeTasks& tasks, Tally& tally) {
  const bool pools = step.type == "MaxPool";
  const auto layer = registers::layer_tasks(program, program.main_variant(), step);
  std::vector<VendorTask> theirs;
  while (const format::Task* const task =
             tasks.next_with(pools ? format::kUnitPpu : format::kUnitDpu))
    theirs.push_back(vendor_task(model, lists, tasks.registers(), *task));
  if (!layer.ok()) {
    ++tally.refused[reason_of(layer.status())];
    return;
  }
  if (theirs.size() != layer->tasks.size()) {
    ++tally.other_joins;
    return;
  }
  for (size_t i = 0; i < theirs.size(); ++i) {
    const auto numbers =
        std::ranges::find(layer->helpers, layer->tasks[i].tensor(registers::Operand::kBiasNumbers),
                          &registers::HelperConstant::name);
    // Rows follow each other at the start of the constant.
    const bool same_numbers = numbers == layer->helpers.end() ||
                              layer->tasks[i].listed.find(kNumbers) == nullptr ||
                              starts_with(theirs[i].bias_numbers, rows_of(*numbers));
    if (!same_numbers) {
      ++tally.different[kNumbers];
      tally.example.try_emplace(kNumbers, "numbers of a stage: " + name + ": " + step.name);
    }
    const bool equal =
        compare(layer->tasks[i].listed, theirs[i], name + ": " + step.name, tally) == 0 &&
        same_numbers;
    const bool joins = !pools && !is_function(step.type);
    ++(pools ? tally.pools : joins ? tally.joins : tally.functions);
    (pools ? tally.equal_pools : joins ? tally.equal_joins : tally.equal_functions) += equal;
  }
}

// Lifted, a Softmax may be several steps.
program::Step softmax_step(const FileNode& node) {
  program::Step step{.type = node.type, .name = node.name};
  step.inputs = {node.inputs[0]};
  step.outputs = {node.outputs[0]};
  program::OpParams params{.op = "Softmax", .attrs = {}};
  if (const auto* given = std::get_if<format::FileOperatorParams>(&node.params)) {
    for (const format::Attribute& attribute : given->attributes) {
      if (const auto* value = std::get_if<int64_t>(&attribute.value))
        params.attrs[attribute.name] = *value;
    }
  }
  step.params = std::move(params);
  return step;
}

Status compare_file(const std::string& name, const std::vector<uint8_t>& bytes, Tally& tally) {
  RK_ASSIGN(const FileModel model, format::read_model(ByteSpan(bytes)));
  const FileGraph& graph = model.graphs.front();
  RK_ASSIGN(const format::TaskLists lists, format::TaskLists::read(model, graph));
  if (lists.empty()) return unsupported("it has no register lists");
  RK_ASSIGN(const program::Program program,
            format::lift_model(model, nullptr, {.describe_only = true}));
  std::map<int32_t, const program::Step*> steps;
  for (const program::Step& step : program.main_variant().steps) {
    if (!step.outputs.empty()) steps[step.outputs[0]] = &step;
  }
  ++tally.files;
  format::NodeTasks tasks(lists);
  const SplitLists split(model, lists);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    tasks.seek(i);
    const std::string& type = graph.nodes[i].type;
    if (type == "MaxPool" || type == "Concat" || type == "Add" || type == "AddRelu" ||
        is_function(type)) {
      const auto step = steps.find(graph.nodes[i].outputs[0]);
      const bool on_npu = graph.nodes[i].processor == program::Processor::kNpu;
      if (step == steps.end() || !on_npu) continue;
      const bool is_softmax = type == "exSoftmax13";
      compare_lists(name, model, lists, program,
                    is_softmax ? softmax_step(graph.nodes[i]) : *step->second, tasks, tally);
      continue;
    }
    const FileNode* const node = as_convolution(model, graph.nodes[i]);
    if (node == nullptr) continue;
    ++tally.layers;
    std::vector<VendorTask> theirs;
    constexpr uint32_t kConvolves = format::kUnitCna | format::kUnitCore;
    while (const format::Task* const task = tasks.next_with(kConvolves))
      theirs.push_back(vendor_task(model, lists, tasks.registers(), *task));
    tally.tasks += theirs.size();
    const auto step = steps.find(node->outputs[0]);
    if (step == steps.end() || theirs.empty()) {
      ++tally.refused["no step or no task of the node"];
      continue;
    }
    auto layer = registers::conv_layer(program, program.main_variant(), *step->second);
    if (!layer.ok()) {
      ++tally.refused[reason_of(layer.status())];
      continue;
    }
    take_constants(model, graph, *node, theirs.front(), *layer);
    compare_layer(name, *layer, theirs, tally);
    const bool by_table = layer->params.lookup.has_value() && !layer->in.chip->is_rk3576;
    for (size_t s = 0; s < split.size() && !by_table; ++s)
      compare_split(name, *layer, split.of(s, i), tally);
  }
  return ok_status();
}

std::string percent(size_t part, size_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

void print(const Tally& tally) {
  const size_t tasks =
      tally.compared + tally.split_tasks + tally.pools + tally.joins + tally.functions;
  std::printf("%-34s %9s %8s  %s\n", "register", "different", "of tasks", "first one");
  for (const auto& [offset, count] : tally.different) {
    const target::Register* const known = target::find_register(offset);
    char name[64];
    std::snprintf(name, sizeof name, "%04x %s", offset,
                  known == nullptr ? "?" : str(known->unit, "_", known->name).c_str());
    std::printf("%-34s %9zu %8s  %s\n", name, count, percent(count, tasks).c_str(),
                tally.example.at(offset).c_str());
  }
  for (const auto& [reason, count] : tally.refused)
    std::printf("not written: %zu layers: %s\n", count, reason.c_str());
  for (const auto& [what, count] : tally.other_tiles)
    std::printf("other tiles: %s\n", what.c_str());
}

Tally compare_files(const std::vector<std::string>& folders, const std::string& kind) {
  std::set<fs::path> files;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (entry.path().filename() == "model.rknn" &&
          path.find("/" + kind + "/") != std::string::npos)
        files.insert(entry.path());
    }
  }
  Tally tally;
  for (const fs::path& path : files) {
    const auto bytes = read_file(path.string());
    if (!bytes.ok()) continue;
    const Status status = compare_file(path.parent_path().filename().string(), *bytes, tally);
    if (!status.ok()) ++tally.refused[status.message().substr(0, 90)];
  }
  return tally;
}

bool print_figure(const std::string& what, size_t equal, size_t all) {
  const bool good = all != 0 && equal * 10 >= all * 9;
  std::printf("FIGURE registers: tasks of %s, all words equal | %zu of %zu (%s) | >= 90 %% | %s\n",
              what.c_str(), equal, all, percent(equal, all).c_str(), good ? "ok" : "SHORT");
  return good;
}

void print_counts(const Tally& tally) {
  for (const auto& [what, layers] : tally.other_splits)
    std::printf("other split: %zu layers: %s; %s, %s\n", layers.size(), what.c_str(),
                layers.front().c_str(), layers.back().c_str());
  std::printf("COUNT layers on two and three cores that the vendor splits: %zu, as we do %zu\n",
              tally.splits, tally.same_splits);
  std::printf("COUNT nodes of Concat, Add, MaxPool and Softmax with another number of tasks: %zu\n",
              tally.other_joins);
  std::printf("COUNT convolutions: %zu, written %zu, with the vendor's tiles %zu\n", tally.layers,
              tally.written, tally.same_tiles);
}

int run(const std::vector<std::string>& folders) {
  const Tally tally = compare_files(folders, "rk3588/int8");
  print(tally);
  bool good = print_figure(
      str(tally.same_tiles, " convolutions of ", tally.files, " files with the vendor's tiles"),
      tally.equal, tally.compared);
  good = print_figure(str("two and three cores, of ", tally.same_splits, " of ", tally.splits,
                          " layers split as the vendor does"),
                      tally.equal_split_tasks, tally.split_tasks) &&
         good;
  good = print_figure("MaxPool", tally.equal_pools, tally.pools) && good;
  good = print_figure("Concat and Add", tally.equal_joins, tally.joins) && good;
  good = print_figure("Softmax and conversions", tally.equal_functions, tally.functions) && good;
  print_counts(tally);
  std::printf("float16\n");
  const Tally halves = compare_files(folders, "rk3588/fp16");
  print(halves);
  good = print_figure(str("two and three cores, of ", halves.same_splits, " of ", halves.splits,
                          " float16 layers split as the vendor does"),
                      halves.equal_split_tasks, halves.split_tasks) &&
         good;
  good = print_figure(str(halves.same_tiles, " float16 convolutions of ", halves.files,
                          " files with the vendor's tiles"),
                      halves.equal, halves.compared) &&
         good;
  good = print_figure("Softmax and conversions of float16 files", halves.equal_functions,
                      halves.functions) &&
         good;
  print_counts(halves);
  std::printf("RK3566\n");
  const Tally lite = compare_files(folders, "rk3566/int8");
  print(lite);
  good = print_figure(str(lite.same_tiles, " convolutions of ", lite.files,
                          " files for RK3566 with the vendor's tiles"),
                      lite.equal, lite.compared) &&
         good;
  good = print_figure("MaxPool on RK3566", lite.equal_pools, lite.pools) && good;
  good = print_figure("Concat and Add on RK3566", lite.equal_joins, lite.joins) && good;
  print_counts(lite);
  std::printf("RK3566, float16\n");
  const Tally lite_halves = compare_files(folders, "rk3566/fp16");
  print(lite_halves);
  good = print_figure(str(lite_halves.same_tiles, " float16 convolutions of ", lite_halves.files,
                          " files for RK3566 with the vendor's tiles"),
                      lite_halves.equal, lite_halves.compared) &&
         good;
  good = print_figure("MaxPool in float16 on RK3566", lite_halves.equal_pools, lite_halves.pools) &&
         good;
  good = print_figure("Concat and Add in float16 on RK3566", lite_halves.equal_joins,
                      lite_halves.joins) &&
         good;
  print_counts(lite_halves);
  std::printf("RK3562\n");
  const Tally small = compare_files(folders, "rk3562/int8");
  print(small);
  good = print_figure(str(small.same_tiles, " convolutions of ", small.files,
                          " files for RK3562 with the vendor's tiles"),
                      small.equal, small.compared) &&
         good;
  good = print_figure("MaxPool on RK3562", small.equal_pools, small.pools) && good;
  good = print_figure("Concat and Add on RK3562", small.equal_joins, small.joins) && good;
  print_counts(small);
  std::printf("RK3562, float16\n");
  const Tally small_halves = compare_files(folders, "rk3562/fp16");
  print(small_halves);
  good = print_figure(str(small_halves.same_tiles, " float16 convolutions of ", small_halves.files,
                          " files for RK3562 with the vendor's tiles"),
                      small_halves.equal, small_halves.compared) &&
         good;
  good =
      print_figure("MaxPool in float16 on RK3562", small_halves.equal_pools, small_halves.pools) &&
      good;
  good = print_figure("Concat and Add in float16 on RK3562", small_halves.equal_joins,
                      small_halves.joins) &&
         good;
  // The corpus alone has none that is cut as ours are.
  if (small_halves.functions != 0)
    good = print_figure("Softmax in float16 on RK3562", small_halves.equal_functions,
                        small_halves.functions) &&
           good;
  print_counts(small_halves);
  for (const auto& [folder, chip] : {std::pair("rk3576/int8", "RK3576"),
                                     {"rk3576/fp16", "RK3576 in float16"},
                                     {"rv1126b/int8", "RV1126B"},
                                     {"rv1126b/fp16", "RV1126B in float16"},
                                     {"rv1106/int8", "RV1106"},
                                     {"rv1103/int8", "RV1103"}}) {
    std::printf("%s\n", chip);
    const Tally last = compare_files(folders, folder);
    print(last);
    good = print_figure(str(last.same_tiles, " convolutions of ", last.files, " files for ", chip,
                            " with the vendor's tiles"),
                        last.equal, last.compared) &&
           good;
    if (last.splits != 0)
      good = print_figure(str("two cores, of ", last.same_splits, " of ", last.splits,
                              " layers split as the vendor does, ", chip),
                          last.equal_split_tasks, last.split_tasks) &&
             good;
    good = print_figure(str("MaxPool on ", chip), last.equal_pools, last.pools) && good;
    good = print_figure(str("Concat and Add on ", chip), last.equal_joins, last.joins) && good;
    print_counts(last);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace rk::interop

int main(int argc, char** argv) {
  return rk::interop::run_on_folders(argc, argv, rk::interop::run);
}

// SPDX-License-Identifier: Apache-2.0
// Functions of one value (Sigmoid, Tanh, ...): one task loads the DPU's tables, one looks results up. int8: the 256 results
// of the step. float16: entries between which the DPU draws lines; beyond the tables' ends the result stays as it is there.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/checked_math.h"
#include "base/half.h"
#include "registers/dpu.h"
#include "registers/layer.h"
#include "registers/layer_tasks.h"

namespace rk::registers {
namespace {

constexpr program::TensorKind kTableKind{6};   // what a list that loads tables reads and writes
constexpr auto kU64 = static_cast<DType>(13);  // as the file numbers it

// The tensor as a cube of atoms. Bytes in plain order are one row: what they mean does not matter here.
Result<DpuTask> cube_of(const program::Program& program, const program::Step& step,
                        const program::ProgramTensor& in, const program::ProgramTensor& out) {
  DpuTask task;
  const bool halves = is_half_feature(in) && is_half_feature(out);
  task.is_float = in.dtype == DType::kF16;
  task.chip = find_chip(program.target);
  const int64_t lanes = task.chip->atom_bytes / (task.is_float ? 2 : 1);
  if (halves || (is_feature(in) && is_feature(out))) {
    task.channels = align_up<int64_t>(in.shape[1], lanes);
    task.height = in.shape[2];
    task.width = in.shape[3];
    task.source_plane = feature_of(program, in).plane_pixels();
    task.out_plane = feature_of(program, out).plane_pixels();
    return task;
  }
  const auto is_plain = [&](const program::ProgramTensor& t) {
    return (t.dtype == DType::kI8 || t.dtype == DType::kF16) && t.dtype == in.dtype &&
           (t.layout == program::Layout::kPlain || t.layout == program::Layout::kNchw);
  };
  if (!is_plain(in) || !is_plain(out))
    return no_form(step, "a table between tensors of different types or layouts");
  task.channels = lanes;
  task.height = 1;
  task.width = ceil_div(in.shape.elements(), lanes);
  task.source_plane = task.out_plane = task.width;
  return task;
}

// A function with results between -1 and 1 and what its operand is multiplied by to reach the tables' index, from -16384
// to 16384 in steps of 32: wide enough that it changes by less than an entry's unit beyond.
struct HalfFunction {
  double factor = 0;
  double (*of)(double) = nullptr;
};

std::optional<HalfFunction> half_function(const program::OpParams& params) {
  const auto is = [&](const char* attr, float wanted) {
    const auto found = params.attrs.find(attr);
    const auto* value = found == params.attrs.end() ? nullptr : std::get_if<float>(&found->second);
    return value != nullptr && std::abs(*value - wanted) < 1e-6f;
  };
  if (params.op == "Sigmoid")
    return HalfFunction{1536, [](double x) { return 1 / (1 + std::exp(-x)); }};
  if (params.op == "Tanh") return HalfFunction{3072, [](double x) { return std::tanh(x); }};
  // The corners at -3 and 3 lie on entries.
  if (params.op == "HardSigmoid" && is("alpha", 1.0f / 6) && is("beta", 0.5f))
    return HalfFunction{4096, [](double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }};
  return std::nullopt;
}

std::vector<int16_t> entries_of(const HalfFunction& function, double first) {
  constexpr double kStep = 32, kUnit = 32768;
  std::vector<int16_t> entries;
  for (size_t i = 0; i < program::kLookupEntries; ++i) {
    const double x = (first + kStep * static_cast<double>(i)) / function.factor;
    const double entry = std::nearbyint(function.of(x) * kUnit);
    entries.push_back(static_cast<int16_t>(std::clamp(entry, -kUnit, kUnit - 1)));
  }
  return entries;
}

BoundTask looking_up(RegisterTask task, const program::ProgramTensor& in,
                     const program::ProgramTensor& out) {
  BoundTask bound{std::move(task), {}};
  bound.tensors[static_cast<size_t>(Operand::kFeature)] = in.name;
  bound.tensors[static_cast<size_t>(Operand::kOutput)] = out.name;
  return bound;
}

}  // namespace

Result<LayerTasks> half_table_tasks(const program::Program& program,
                                    const program::Variant& variant, const program::Step& step) {
  const auto& params = std::get<program::OpParams>(step.params);
  const program::ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const program::ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  const auto function = half_function(params);
  if (!function || in.dtype != DType::kF16 || out.dtype != DType::kF16 ||
      in.kind == program::TensorKind::kInput)
    return no_form(step, str("the operator ", params.op));
  RK_ASSIGN(DpuTask cube, cube_of(program, step, in, out));
  cube.lookup_factor = float_to_half(static_cast<float>(function->factor));
  LayerTasks tasks;
  constexpr double kLowest = -16384;
  RK_ASSIGN(RegisterTask load,
            write_table_load(entries_of(*function, kLowest), entries_of(*function, 0)));
  RK_ASSIGN(RegisterTask work, write_dpu(cube));
  work.first_table_entry = load.first_table_entry;
  work.last_table_entry = load.last_table_entry;
  add_table_load(std::move(load), out.name + "_table", tasks);
  tasks.tasks.push_back(looking_up(std::move(work), in, out));
  return tasks;
}

void add_table_load(RegisterTask load, const std::string& name, LayerTasks& tasks) {
  HelperConstant table{.name = name, .dtype = kU64};
  table.kind = kTableKind;
  constexpr size_t kTableBytes = 64;  // of the atom that the loading list moves to its own place
  table.bytes.assign(kTableBytes, 0);
  BoundTask loading{.task = std::move(load)};
  loading.tensors[static_cast<size_t>(Operand::kFeature)] = table.name;
  loading.tensors[static_cast<size_t>(Operand::kOutput)] = table.name;
  tasks.tasks.push_back(std::move(loading));
  tasks.helpers.push_back(std::move(table));
  ++tasks.loads;
}

Result<LayerTasks> table_tasks(const program::Program& program, const program::Variant& variant,
                               const program::Step& step) {
  const auto* params = std::get_if<program::TableParams>(&step.params);
  if (params == nullptr) return no_form(step, str("the operator ", step.type));
  const program::ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const program::ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  if (in.kind == program::TensorKind::kInput)
    return no_form(step, "a table on an input of the model");
  RK_ASSIGN(DpuTask cube, cube_of(program, step, in, out));
  cube.looks_up = true;
  LayerTasks tasks;
  RK_ASSIGN(RegisterTask load, write_table_load(params->table));
  RK_ASSIGN(RegisterTask work, write_dpu(cube));
  work.first_table_entry = load.first_table_entry;
  work.last_table_entry = load.last_table_entry;
  add_table_load(std::move(load), out.name + "_table", tasks);
  tasks.tasks.push_back(looking_up(std::move(work), in, out));
  return tasks;
}

}  // namespace rk::registers

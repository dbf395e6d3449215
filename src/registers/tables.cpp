// SPDX-License-Identifier: Apache-2.0
// Functions of one int8 value (Sigmoid, Tanh, ...): one task loads the 256 results into the DPU's tables, one looks them up.
#include "base/checked_math.h"
#include "registers/dpu.h"
#include "registers/layer.h"
#include "registers/layer_tasks.h"

namespace rk::registers {
namespace {

constexpr int64_t kLanes = 16;
constexpr program::TensorKind kTableKind{6};   // what a list that loads tables reads and writes
constexpr auto kU64 = static_cast<DType>(13);  // as the file numbers it

// The tensor as a cube of atoms. Bytes in plain order are one row: what they mean does not matter here.
Result<DpuTask> cube_of(const program::Step& step, const program::ProgramTensor& in,
                        const program::ProgramTensor& out) {
  DpuTask task;
  if (is_feature(in) && is_feature(out)) {
    task.channels = align_up<int64_t>(in.shape[1], kLanes);
    task.height = in.shape[2];
    task.width = in.shape[3];
    task.source_plane = feature_of(in).plane_pixels();
    task.out_plane = feature_of(out).plane_pixels();
    return task;
  }
  const auto is_plain = [](const program::ProgramTensor& t) {
    return t.dtype == DType::kI8 &&
           (t.layout == program::Layout::kPlain || t.layout == program::Layout::kNchw);
  };
  if (!is_plain(in) || !is_plain(out))
    return no_form(step, "a table between int8 tensors of different layouts");
  task.channels = kLanes;
  task.height = 1;
  task.width = ceil_div(in.shape.elements(), kLanes);
  task.source_plane = task.out_plane = task.width;
  return task;
}

}  // namespace

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

Result<LayerTasks> table_tasks(const program::Variant& variant, const program::Step& step) {
  const auto* params = std::get_if<program::TableParams>(&step.params);
  if (params == nullptr) return no_form(step, str("the operator ", step.type));
  const program::ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const program::ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  if (in.kind == program::TensorKind::kInput)
    return no_form(step, "a table on an input of the model");
  RK_ASSIGN(DpuTask cube, cube_of(step, in, out));
  cube.looks_up = true;
  LayerTasks tasks;
  RK_ASSIGN(RegisterTask load, write_table_load(params->table));
  add_table_load(std::move(load), out.name + "_table", tasks);
  RK_ASSIGN(RegisterTask work, write_dpu(cube));
  BoundTask working{std::move(work), {}};
  working.tensors[static_cast<size_t>(Operand::kFeature)] = in.name;
  working.tensors[static_cast<size_t>(Operand::kOutput)] = out.name;
  tasks.tasks.push_back(std::move(working));
  return tasks;
}

}  // namespace rk::registers

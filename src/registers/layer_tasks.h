// SPDX-License-Identifier: Apache-2.0
// What a step is to a board: its lists, bound to tensors, and what these need beside the step's own
// operands.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "program/program.h"
#include "registers/convolution.h"
#include "registers/rk3576.h"
#include "registers/task.h"

namespace rk::registers {

enum class LayerForm : uint8_t {
  kIdentical,  // every word follows a rule that vendor files confirm
  kEmulated,  // the emulator computes the same bytes; the vendor's compiler may do it in another way
  kAbsent,    // no list; the runtime of a board would have to compute the node itself
};

// A list and the tensors whose addresses its words take, by name.
struct BoundTask {
  RegisterTask task;                           // with the registers of RK3588, strides in atoms
  RegisterTask listed;                         // in the chip's own form; layer_tasks() makes it
  RegisterTask second;                         // RK3576: the same for the second core alone
  std::array<std::string, kOperands> tensors;  // by Operand
  uint32_t first_row = 0;                      // of the input that the list reads
  CoreUse use = CoreUse::kAlone;               // RK3576: on two cores

  const std::string& tensor(Operand operand) const { return tensors[static_cast<size_t>(operand)]; }
};

struct HelperConstant {
  std::string name;
  DType dtype = DType::kI8;
  program::Layout layout = program::Layout::kPlain;
  Shape shape;
  std::vector<int32_t> native_shape;
  std::vector<uint8_t> bytes;
  program::TensorKind kind = program::TensorKind::kHelperConstant;
};

// A feature that only the tasks of the step see.
struct ScratchFeature {
  std::string name;
  Shape shape;  // [1, C, H, W]
  uint32_t plane_align = 0;
  uint64_t size_bytes = 0;
  float scale = 0;
  int32_t zero_point = 0;
  bool is_float = false;
};

struct LayerTasks {
  std::vector<BoundTask> tasks;
  LayerForm form = LayerForm::kEmulated;
  std::vector<HelperConstant> helpers;
  std::vector<ScratchFeature> scratch;
  size_t loads = 0;  // tasks that only load a table
  // By core count, two and three: tasks of each core, as many for all of them. Empty where the
  // first core runs `tasks`.
  std::array<std::vector<std::vector<BoundTask>>, 2> split;
};

// The lists of a step; kUnsupported says what has none.
Result<LayerTasks> layer_tasks(const program::Program& program, const program::Variant& variant,
                               const program::Step& step);

// A list that fills the DPU's tables; those behind it in the step use them.
void add_table_load(RegisterTask load, const std::string& name, LayerTasks& tasks);

// An int8 feature as float16 elsewhere: two lists.
struct HalfCopy {
  const Chip* chip = nullptr;
  int64_t channels = 0, height = 0, width = 0;
  int64_t source_plane = 0, out_plane = 0;  // pixels
  float scale = 0;
  int32_t zero_point = 0;
  std::string from, to;
  uint16_t beyond = 0;  // what lanes beyond the channels become
};
Status add_halves(const HalfCopy& copy, LayerTasks& tasks);

// A depthwise convolution whose weights are one: sums of (x + offset) * scale / 2^shift.
// `layer.params` has kernel, steps, border and output.
Status add_sums(const program::Program& program, ConvLayer layer, const program::InputStage& stage,
                const std::string& from, const std::string& to, LayerTasks& tasks);

// The same of float16, with one weight for all.
Status add_half_sums(ConvLayer layer, float weight, const std::string& from, const std::string& to,
                     LayerTasks& tasks);

// By kind of step, each kUnsupported for what it has no form for.
Result<LayerTasks> convolution_tasks(const program::Program& program,
                                     const program::Variant& variant, const program::Step& step);
Result<LayerTasks> concat_tasks(const program::Program& program, const program::Variant& variant,
                                const program::Step& step);
Result<LayerTasks> sum_tasks(const program::Program& program, const program::Variant& variant,
                             const program::Step& step);
Result<LayerTasks> table_tasks(const program::Program& program, const program::Variant& variant,
                               const program::Step& step);
// MaxPool, and averages in float16 within the unit's limits.
Result<LayerTasks> pool_unit_tasks(const program::Program& program, const program::Variant& variant,
                                   const program::Step& step);
Result<LayerTasks> resize_tasks(const program::Program& program, const program::Variant& variant,
                                const program::Step& step);
Result<LayerTasks> half_table_tasks(const program::Program& program,
                                    const program::Variant& variant, const program::Step& step);
Result<LayerTasks> average_pool_tasks(const program::Program& program,
                                      const program::Variant& variant, const program::Step& step);
Result<LayerTasks> conversion_tasks(const program::Program& program,
                                    const program::Variant& variant, const program::Step& step);
Result<LayerTasks> softmax_tasks(const program::Program& program, const program::Variant& variant,
                                 const program::Step& step);
Result<LayerTasks> move_tasks(const program::Program& program, const program::Variant& variant,
                              const program::Step& step);

}  // namespace rk::registers

// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/plan.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/checked_math.h"
#include "ir/custom_op.h"
#include "kernels/layout/blocked.h"
#include "program/arena.h"
#include "program/core_split.h"
#include "runtime/host/aliases.h"
#include "runtime/host/select.h"

namespace rk::runtime::host {
namespace {

using program::ProgramTensor;
using program::Step;
using program::Variant;

bool can_be_blocked(const ProgramTensor& tensor) {
  return tensor.shape.rank() == 4 && tensor.shape.elements() > 0 &&
         (tensor.dtype == DType::kI8 || tensor.dtype == DType::kF16);
}

uint64_t host_bytes(const ProgramTensor& tensor, bool blocked) {
  const auto element = static_cast<uint64_t>(byte_size(tensor.dtype));
  if (!blocked) return static_cast<uint64_t>(tensor.shape.elements()) * element;
  const Shape& s = tensor.shape;
  const uint64_t channels = align_up<uint64_t>(static_cast<uint64_t>(s[1]), kernels::kHostBlock);
  return static_cast<uint64_t>(s[0]) * channels * static_cast<uint64_t>(s[2] * s[3]) * element;
}

// Chooses channels of pictures, which is quick where all are blocked.
bool chooses_channels(const Variant& variant, const Step& step) {
  const auto* const p = std::get_if<program::OpParams>(&step.params);
  const OpDef* const def = p == nullptr ? nullptr : ops::registry().find(p->op);
  if (def == nullptr || def->elements != Elements::kSelected) return false;
  if (step.inputs.empty() || step.inputs[0] == program::kNone) return false;
  const auto shape = [&](int32_t i) -> const Shape& {
    return variant.tensors[static_cast<size_t>(i)].shape;
  };
  const Shape& in = shape(step.inputs[0]);
  if (variant.tensors[static_cast<size_t>(step.inputs[0])].is_constant()) return false;
  return in.rank() == 4 && std::ranges::all_of(step.outputs, [&](int32_t output) {
           const Shape& out = shape(output);
           return out.rank() == 4 && out[0] == in[0] && out[2] == in[2] && out[3] == in[3];
         });
}

// A tensor that any blocked kernel touches is blocked everywhere; other users convert as they read or write.
void choose_layouts(const Variant& variant, std::vector<HostTensor>& tensors) {
  // Returns whether that is new.
  const auto mark = [&](int32_t index) {
    const auto i = static_cast<size_t>(index);
    const bool marked = !tensors[i].blocked && can_be_blocked(variant.tensors[i]);
    tensors[i].blocked |= marked;
    return marked;
  };
  const auto operands = [](const Step& step) {
    std::vector<int32_t> out = step.outputs;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i] != program::kNone && !is_packed_operand(step, i))
        out.push_back(step.inputs[i]);
    }
    return out;
  };
  for (const Step& step : variant.steps) {
    if (!wants_blocked(step)) continue;
    for (const int32_t tensor : operands(step)) mark(tensor);
  }
  // Where any layout will do, that of a neighbor saves a conversion. What one step decides may reach others, before and
  // behind it.
  std::vector<LayoutGroup> groups;
  for (const Step& step : variant.steps) {
    groups.push_back(layout_group(variant, step));
    if (!chooses_channels(variant, step)) continue;
    groups.back().partners = step.outputs;
    groups.back().partners.push_back(step.inputs[0]);
  }
  // Each group once, when the first of its partners is blocked.
  std::vector<std::vector<size_t>> groups_of(tensors.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const int32_t partner : groups[g].partners)
      groups_of[static_cast<size_t>(partner)].push_back(g);
  }
  std::vector<int32_t> blocked;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].blocked) blocked.push_back(static_cast<int32_t>(i));
  }
  std::vector<bool> done(groups.size());
  while (!blocked.empty()) {
    const auto tensor = static_cast<size_t>(blocked.back());
    blocked.pop_back();
    for (const size_t g : groups_of[tensor]) {
      if (done[g]) continue;
      done[g] = true;
      for (const auto* members : {&groups[g].partners, &groups[g].followers}) {
        for (const int32_t member : *members) {
          if (mark(member)) blocked.push_back(member);
        }
      }
    }
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].size_bytes = host_bytes(variant.tensors[i], tensors[i].blocked);
  }
}

// A model input that only convolutions read which take pictures as they are.
bool is_picture_alone(const StepContext& any, int32_t input) {
  const std::vector<int32_t>& outputs = any.variant.outputs;
  if (std::find(outputs.begin(), outputs.end(), input) != outputs.end()) return false;
  bool used = false;
  for (const Step& step : any.variant.steps) {
    const auto uses = std::count(step.inputs.begin(), step.inputs.end(), input);
    if (uses == 0) continue;
    const StepContext context{any.program, any.variant,   step,
                              any.tensors, any.operators, any.constants};
    if (uses != 1 || step.inputs[0] != input || !reads_interleaved(context)) return false;
    used = true;
  }
  return used;
}

void interleave_pictures(const StepContext& any, std::vector<HostTensor>& tensors) {
  for (const int32_t input : any.variant.inputs) {
    const auto i = static_cast<size_t>(input);
    if (!tensors[i].blocked || !is_picture_alone(any, input)) continue;
    tensors[i].blocked = false;
    tensors[i].interleaved = true;
    tensors[i].size_bytes = host_bytes(any.variant.tensors[i], false);
  }
}

Status place_constant(const program::Program& program, const ProgramTensor& tensor,
                      HostTensor& host) {
  if (host.constant.size() != 0 || host.size_bytes == 0) return ok_status();
  const ByteSpan bytes = program.weights[static_cast<size_t>(tensor.weight)].bytes;
  const uint64_t plain_bytes = host_bytes(tensor, false);
  if (bytes.size() < plain_bytes || tensor.layout == program::Layout::kWeight) {
    return invalid_model(str("constant '", tensor.name, "' has ", bytes.size(), " bytes, expected ",
                             plain_bytes, " in plain order"));
  }
  RK_ASSIGN(host.constant, Buffer::try_make(host.size_bytes, kMaxObjectBytes));
  const PictureExtents extents = picture_extents(tensor.shape);
  ElementView from{tensor.dtype, tensor.scale, tensor.zero_point, nchw_strides(extents),
                   const_cast<uint8_t*>(bytes.data())};
  convert(extents, from, host_view(tensor, host, host.constant.data()), {}, nullptr);
  return ok_status();
}

Status place_constants(const program::Program& program, const Variant& variant,
                       std::vector<HostTensor>& tensors) {
  const auto place = [&](int32_t index) {
    const auto i = static_cast<size_t>(index);
    if (index == program::kNone || !variant.tensors[i].is_constant()) return ok_status();
    return place_constant(program, variant.tensors[i], tensors[i]);
  };
  for (const Step& step : variant.steps) {
    // Operators by definition keep their constants in their own graph; those of custom ones are handed to the application.
    const auto* const by_definition = std::get_if<program::OpParams>(&step.params);
    if (by_definition != nullptr && !is_custom(by_definition->op)) continue;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (!is_packed_operand(step, i)) RK_TRY(place(step.inputs[i]));
    }
  }
  for (const int32_t output : variant.outputs) RK_TRY(place(output));
  return ok_status();
}

// What is placed, by tensor.
struct Lifetimes {
  std::vector<size_t> tensor;
  std::vector<program::Lifetime> life;
};

// Model inputs and outputs live for the whole run: a caller may run again without setting inputs, and reads outputs
// when the run is over.
Lifetimes lifetimes_of(const Variant& variant, std::vector<HostTensor>& tensors) {
  constexpr int64_t kNever = -1;
  const auto steps = static_cast<int64_t>(variant.steps.size());
  std::vector<program::Lifetime> all(tensors.size(), {0, kNever, kNever});
  for (int64_t s = 0; s < steps; ++s) {
    const Step& step = variant.steps[static_cast<size_t>(s)];
    for (const int32_t output : step.outputs) all[static_cast<size_t>(output)].first = s;
    for (const int32_t output : step.outputs) all[static_cast<size_t>(output)].last = s;
    for (const int32_t input : step.inputs) {
      if (input != program::kNone) all[static_cast<size_t>(input)].last = s;
    }
  }
  for (const auto* list : {&variant.inputs, &variant.outputs}) {
    for (const int32_t index : *list) {
      all[static_cast<size_t>(index)].first = 0;
      all[static_cast<size_t>(index)].last = steps;
    }
  }
  // A tensor that lies inside another is alive with it.
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].parent == program::kNone) continue;
    program::Lifetime& root = all[root_of(tensors, i).tensor];
    root.first = std::min(root.first, all[i].first);
    root.last = std::max(root.last, all[i].last);
  }
  Lifetimes out;
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (variant.tensors[i].is_constant() || all[i].first == kNever) continue;
    tensors[i].in_arena = true;
    if (tensors[i].parent != program::kNone) continue;
    all[i].size_bytes = align_up(tensors[i].size_bytes, program::kArenaAlignment);
    out.tensor.push_back(i);
    out.life.push_back(all[i]);
  }
  return out;
}

// The pool that packs the weights of a large model.
class PackingThreads {
 public:
  PackingThreads(const program::Program& program, PackedConstants& constants)
      : constants_(constants) {
    constexpr uint64_t kLarge = 1 << 20;  // some milliseconds of packing
    uint64_t weights = 0;
    for (const program::Blob& blob : program.weights) weights += blob.bytes.size();
    if (weights >= kLarge) constants_.pool = &pool_.emplace(default_thread_count());
  }
  ~PackingThreads() { constants_.pool = nullptr; }
  PackingThreads(const PackingThreads&) = delete;
  PackingThreads& operator=(const PackingThreads&) = delete;

 private:
  PackedConstants& constants_;
  std::optional<ThreadPool> pool_;
};

}  // namespace

int64_t split_grain(int64_t units, int64_t cost, int64_t together, int threads) {
  constexpr int64_t kHandOver = 1 << 13;  // about two microseconds
  constexpr int64_t kShort = 1 << 18;     // some tens of microseconds
  const int64_t total = checked_mul(units, cost).value_or(INT64_MAX);
  if (threads < 2 || total < 2 * kHandOver) return units;
  if (total < kShort) return ceil_div<int64_t>(units, threads);
  const int64_t least = std::max(together, ceil_div(kHandOver, std::min(cost, kHandOver)));
  // Few pieces may leave threads idle while the last one is done: then larger ones that all threads have as many of.
  constexpr int64_t kManyRounds = 16, kWorth = 20;  // a twentieth
  const int64_t rounds = units / threads / least;
  if (rounds > kManyRounds) return least;
  int64_t grain = least, longest = ceil_div(ceil_div(units, least), int64_t{threads}) * least;
  longest -= longest / kWorth;
  for (int64_t i = rounds; i > rounds / 2; --i) {
    const int64_t even = ceil_div(units, i * threads);
    if (i * even >= longest) continue;
    longest = i * even;
    grain = even;
  }
  return grain;
}

void StepCall::parallel(int64_t units, int64_t cost, const std::function<void(IndexRange)>& work,
                        int64_t together) const {
  if (units <= 0) return;
  if (pool == nullptr) {
    work({0, units});
  } else {
    const int64_t grain = split_grain(units, std::max<int64_t>(1, cost), together, pool->threads());
    pool->parallel_for(units, grain, work);
  }
}

void StepCall::parallel_rows(const Rows& shape, std::span<const int32_t> core_rows,
                             const std::function<void(IndexRange)>& work) const {
  const std::span<const int32_t> shares = program::rows_by_core(core_rows, cores);
  // Units that are not rows of the output cannot be shared out by rows.
  const auto together = [&](int64_t units) {
    return shape.one_part ? ceil_div<int64_t>(units, threads()) : shape.together;
  };
  if (std::accumulate(shares.begin(), shares.end(), int64_t{0}) != shape.rows) {
    const int64_t units = shape.tiles * shape.rows;
    return parallel(units, shape.cost, work, together(units));
  }
  int64_t first = 0;
  for (const int32_t share : shares) {
    // The core's units one after the other: `share` rows of the first tile, then of the next.
    parallel(
        shape.tiles * share, shape.cost,
        [&](IndexRange units) {
          for (int64_t unit = units.begin; unit < units.end;) {
            const int64_t row = unit % share;
            const int64_t count = std::min(units.end - unit, share - row);
            const int64_t at = unit / share * shape.rows + first + row;
            work({at, at + count});
            unit += count;
          }
        },
        together(shape.tiles * share));
    first += share;
  }
}

ElementView host_view(const ProgramTensor& tensor, const HostTensor& host, uint8_t* data) {
  const PictureExtents extents = picture_extents(tensor.shape);
  return {tensor.dtype, tensor.scale, tensor.zero_point,
          host.blocked       ? blocked_strides(extents, kernels::kHostBlock)
          : host.interleaved ? nhwc_strides(extents)
                             : nchw_strides(extents),
          data};
}

Result<HostPlan> make_plan(const program::Program& program, const Variant& variant,
                           PackedConstants& constants, const OpRegistry& operators) {
  constants.open_budget(program);
  const PackingThreads threads(program, constants);
  HostPlan plan;
  plan.tensors.resize(variant.tensors.size());
  choose_layouts(variant, plan.tensors);
  if (!variant.steps.empty()) {
    const Step& any = variant.steps.front();
    interleave_pictures({program, variant, any, plan.tensors, operators, constants}, plan.tensors);
  }
  RK_TRY(place_constants(program, variant, plan.tensors));
  alias_concat_inputs(variant, plan.tensors);
  alias_views(variant, plan.tensors);
  const Lifetimes lifetimes = lifetimes_of(variant, plan.tensors);
  const auto arena = program::plan_arena(lifetimes.life, program::ArenaOrder::kLargestFirst);
  plan.arena_bytes = arena.size_bytes;
  for (size_t i = 0; i < lifetimes.tensor.size(); ++i)
    plan.tensors[lifetimes.tensor[i]].offset_in_arena = arena.offset[i];
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    if (plan.tensors[i].parent == program::kNone) continue;
    const Root root = root_of(plan.tensors, i);
    plan.tensors[i].offset_in_arena = plan.tensors[root.tensor].offset_in_arena + root.offset_bytes;
  }
  for (const Step& step : variant.steps) {
    auto function = select_kernel({program, variant, step, plan.tensors, operators, constants});
    if (!function.ok())
      return function.status().with_context(str("step '", step.name, "' (", step.type, ")"));
    plan.steps.push_back(std::move(function).value());
  }
  return plan;
}

}  // namespace rk::runtime::host

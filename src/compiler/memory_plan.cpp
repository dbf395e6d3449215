// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory_plan.h"

#include <algorithm>
#include <deque>
#include <numeric>

#include "base/checked_math.h"
#include "compiler/chip_steps.h"
#include "compiler/scratch.h"
#include "program/arena.h"
#include "program/cost.h"
#include "target/memory_rules.h"

namespace rk::compiler {
namespace {

struct Homes {
  std::vector<size_t> of;          // tensor -> the tensor whose place it has, itself for most
  std::vector<bool> joins_before;  // step -> it is part of the step before it
};

// Pixels and channels of blocks that lie one behind the other: the same bytes in both shapes.
bool same_bytes(const program::ProgramTensor& from, const program::ProgramTensor& to) {
  const auto blocked = [](const program::ProgramTensor& t) {
    return t.layout == program::Layout::kNc1hwc2;
  };
  if (from.dtype != to.dtype) return false;
  if (!blocked(from) && !blocked(to)) return true;
  const auto full = [](const program::ProgramTensor& t) {
    return t.shape[1] % t.native_shape.back() == 0;
  };
  const auto pixels = [](const Shape& shape) { return shape[2] * shape[3]; };
  if (blocked(from) && blocked(to))
    return full(from) && full(to) && pixels(from.shape) == pixels(to.shape);
  const program::ProgramTensor& picture = blocked(from) ? from : to;
  return full(picture) && pixels(picture.shape) == 1;
}

// An activation has the place of what it reads when nobody else does, and a Reshape that moves no byte. Behind other steps
// than convolutions only Relu and Clip do.
Homes homes(const target::Target& target, const program::Variant& variant) {
  Homes homes{.of = std::vector<size_t>(variant.tensors.size()),
              .joins_before = std::vector<bool>(variant.steps.size(), false)};
  std::vector<size_t> readers(variant.tensors.size(), 0);
  std::iota(homes.of.begin(), homes.of.end(), size_t{0});
  for (const program::Step& step : variant.steps)
    for (const int32_t in : step.inputs)
      if (in != program::kNone) ++readers[static_cast<size_t>(in)];
  const std::vector<bool> alone = activations_alone(target, variant);
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    const program::Step& step = variant.steps[s];
    const auto* op = std::get_if<program::OpParams>(&step.params);
    const bool joins = program::joins_step_before(step) && !alone[s];
    const bool reshapes = op != nullptr && op->op == "Reshape" && step.inputs[0] != program::kNone;
    if ((!joins && !reshapes) || step.outputs.size() != 1) continue;
    const auto in = static_cast<size_t>(step.inputs[0]), out = static_cast<size_t>(step.outputs[0]);
    const program::ProgramTensor& from = variant.tensors[in];
    const program::ProgramTensor& to = variant.tensors[out];
    // The step before writes an output itself; a Reshape of one is a copy.
    const bool goes = to.kind == program::TensorKind::kInternal ||
                      (joins && to.kind == program::TensorKind::kOutput);
    if (from.kind != program::TensorKind::kInternal || !goes || readers[in] != 1 ||
        to.size_bytes > from.size_bytes || (reshapes && !same_bytes(from, to)))
      continue;
    homes.of[out] = homes.of[in];
    homes.joins_before[s] = joins;
  }
  return homes;
}

bool ends_with_activation(const program::Step& step) {
  using program::Activation;
  if (program::activation_form(step) != program::ActivationForm::kNone) return true;
  if (const auto* conv = std::get_if<program::ConvParams>(&step.params))
    return conv->activation != Activation::kNone || conv->post_activation != Activation::kNone;
  const auto* sum = std::get_if<program::SumParams>(&step.params);
  return program::joins_step_before(step) ||
         (sum != nullptr && sum->activation != Activation::kNone);
}

// Where the NPU makes channels the last axis it does so when nothing else can run, and a Softmax comes behind all that.
std::vector<bool> waiting(const target::Target& target, const program::Variant& variant) {
  std::vector<bool> waits(variant.steps.size(), false);
  if (target::memory_rules(target).nhwc == target::NhwcScratch::kNone) return waits;
  for (size_t s = 0; s < waits.size(); ++s) {
    const auto* op = std::get_if<program::OpParams>(&variant.steps[s].params);
    waits[s] = (op != nullptr && op->op == "Softmax") ||
               makes_channels_last(target, variant, variant.steps[s]);
  }
  return waits;
}

// When each step runs on the chip. One that ends with an activation waits until all that became ready before it ran, so
// branches advance side by side; any other runs as soon as its operands are there; those of `waits` come after all. The
// host finishes one branch before it begins the next, which its caches like better; places in the arena are the chip's.
std::vector<int64_t> turns(const program::Variant& variant, const std::vector<bool>& joins_before,
                           const std::vector<bool>& waits) {
  const size_t count = variant.steps.size();
  std::vector<std::vector<size_t>> readers(count);
  std::vector<int64_t> writer(variant.tensors.size(), -1), turn(count, 0);
  for (size_t s = 0; s < count; ++s)
    for (const int32_t out : variant.steps[s].outputs)
      writer[static_cast<size_t>(out)] = static_cast<int64_t>(s);
  std::vector<size_t> missing(count, 0);
  std::vector<bool> activates(count, false);
  for (size_t s = 0; s < count; ++s) {
    activates[s] = activates[s] || ends_with_activation(variant.steps[s]);
    for (const int32_t in : variant.steps[s].inputs) {
      const int64_t from = in == program::kNone ? -1 : writer[static_cast<size_t>(in)];
      if (from < 0) continue;
      readers[static_cast<size_t>(from)].push_back(s);
      ++missing[s];
      if (joins_before[s]) activates[static_cast<size_t>(from)] = true;
    }
  }
  int64_t next = 0;
  std::deque<size_t> queue, moves;
  std::vector<size_t> informed;  // readers of what ran, the next one last
  const auto run = [&](size_t step) {
    // What is part of the step before it has its turn.
    turn[step] = joins_before[step] ? next - 1 : next++;
    informed.insert(informed.end(), readers[step].rbegin(), readers[step].rend());
  };
  const auto become_ready = [&](size_t step) {
    if (waits[step]) {
      moves.push_back(step);
    } else if (activates[step] && !joins_before[step]) {
      queue.push_back(step);
    } else {
      run(step);
    }
  };
  const auto inform = [&] {
    while (!informed.empty()) {
      const size_t step = informed.back();
      informed.pop_back();
      if (--missing[step] == 0) become_ready(step);
    }
  };
  std::vector<size_t> first;
  for (size_t s = 0; s < count; ++s)
    if (missing[s] == 0) first.push_back(s);
  for (const size_t step : first) {
    become_ready(step);
    inform();
  }
  while (!queue.empty() || !moves.empty()) {
    std::deque<size_t>& from = queue.empty() ? moves : queue;
    const size_t step = from.front();
    from.pop_front();
    run(step);
    inform();
  }
  return turn;
}

// Tensors, of those that begin together the first to be placed first. Of a picture's parts the last comes first.
// Note: with the vendor's compiler names decide it, in a way that we do not know; this is the order seen most.
std::vector<size_t> placing_order(const program::Variant& variant) {
  std::vector<size_t> order(variant.tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (const program::Step& step : variant.steps) {
    std::vector<size_t> parts(step.outputs.begin(), step.outputs.end());
    const bool pictures = std::ranges::all_of(parts, [&](size_t part) {
      return variant.tensors[part].layout == program::Layout::kNc1hwc2;
    });
    if (parts.size() < 2 || !pictures) continue;
    std::ranges::sort(parts);
    for (size_t i = 0; i < parts.size(); ++i) order[parts[i]] = parts[parts.size() - 1 - i];
  }
  order.erase(order.begin());  // the dummy of the file format
  return order;
}

}  // namespace

Status assign_memory(const target::Target& target, program::Variant& planned) {
  RK_ASSIGN(program::Variant variant, chip_steps(target, planned));
  const auto steps = static_cast<int64_t>(variant.steps.size());
  std::vector<int64_t> first(variant.tensors.size(), steps), last(variant.tensors.size(), -1);
  const auto [home, joins_before] = homes(target, variant);
  const std::vector<int64_t> turn = turns(variant, joins_before, waiting(target, variant));
  for (size_t i = 0; i < variant.steps.size(); ++i) {
    const program::Step& step = variant.steps[i];
    const int64_t s = turn[i];
    for (const auto* tensors : {&step.inputs, &step.outputs}) {
      for (const int32_t i : *tensors) {
        if (i == program::kNone) continue;
        const auto index = static_cast<size_t>(i);
        first[index] = std::min(first[index], s);
        last[index] = std::max(last[index], s);
      }
    }
  }
  for (const int32_t i : variant.inputs) {
    first[static_cast<size_t>(i)] = -1;
    last[static_cast<size_t>(i)] = std::max<int64_t>(last[static_cast<size_t>(i)], -1);
  }
  for (const int32_t i : variant.outputs) last[static_cast<size_t>(i)] = steps;

  // Scratch goes before the tensors: it begins with a step and is placed before the step's result.
  for (size_t i = 1; i < variant.tensors.size(); ++i) {
    first[home[i]] = std::min(first[home[i]], first[i]);
    last[home[i]] = std::max(last[home[i]], last[i]);
  }
  std::vector<uint64_t> stored = stored_bytes(target, variant);
  std::vector<program::Lifetime> lifetimes;
  std::vector<bool> in_region(variant.steps.size(), false);
  for (const AttentionRegion& region : attention_regions(target, variant)) {
    for (const int32_t inner : region.inner) stored[static_cast<size_t>(inner)] = 0;
    for (const size_t s : region.steps) in_region[s] = true;
    lifetimes.push_back(
        {region.scratch_bytes, turn[region.steps.front()], turn[region.steps.back()]});
  }
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    const uint64_t bytes = in_region[s] ? 0 : scratch_bytes(target, variant, variant.steps[s]);
    if (bytes != 0) lifetimes.push_back({bytes, turn[s], turn[s]});
  }
  for (const int32_t index : variant.outputs)
    for (const uint64_t bytes : output_copies(target, variant.tensors[static_cast<size_t>(index)]))
      lifetimes.push_back({bytes, steps, steps});
  const size_t of_steps = lifetimes.size();
  std::vector<size_t> tensors;
  for (const size_t i : placing_order(variant)) {
    if (variant.tensors[i].is_constant() || home[i] != i) continue;
    variant.tensors[i].size_bytes = stored[i];
    lifetimes.push_back({stored[i], first[i], last[i]});
    tensors.push_back(i);
  }
  const auto plan = program::plan_arena(lifetimes, program::ArenaOrder::kAsTheyBegin);
  for (size_t i = 0; i < tensors.size(); ++i) {
    variant.tensors[tensors[i]].offset_in_arena = plan.offset[of_steps + i];
  }
  for (size_t i = 1; i < planned.tensors.size(); ++i) {
    planned.tensors[i].size_bytes = variant.tensors[i].size_bytes;
    planned.tensors[i].native_shape = variant.tensors[i].native_shape;
    planned.tensors[i].offset_in_arena = variant.tensors[home[i]].offset_in_arena;
  }
  planned.arena_bytes = plan.size_bytes;
  return ok_status();
}

}  // namespace rk::compiler

// SPDX-License-Identifier: Apache-2.0
#include "runtime/backends/cpu/aliases.h"

#include <algorithm>

#include "kernels/layout/blocked.h"

namespace rk::runtime::cpu {
namespace {

using program::ConcatParams;
using program::Step;
using program::Variant;

// Tensors that only steps see: neither constants nor inputs nor outputs of the model.
std::vector<bool> internal_tensors(const Variant& variant) {
  std::vector<bool> internal(variant.tensors.size(), false);
  for (const Step& step : variant.steps) {
    for (const int32_t output : step.outputs) internal[static_cast<size_t>(output)] = true;
  }
  for (const int32_t output : variant.outputs) internal[static_cast<size_t>(output)] = false;
  return internal;
}

bool joins_whole_blocks(const Variant& variant, const Step& step,
                        const std::vector<HostTensor>& tensors) {
  const auto* const p = std::get_if<ConcatParams>(&step.params);
  if (p == nullptr || !p->identity || p->axis != 1) return false;
  const auto output = static_cast<size_t>(step.outputs[0]);
  if (!tensors[output].blocked || variant.tensors[output].shape[0] != 1) return false;
  for (size_t i = 0; i + 1 < step.inputs.size(); ++i) {
    if (variant.tensors[static_cast<size_t>(step.inputs[i])].shape[1] % kernels::kHostBlock != 0)
      return false;
  }
  return true;
}

}  // namespace

void alias_concat_inputs(const Variant& variant, std::vector<HostTensor>& tensors) {
  const std::vector<bool> internal = internal_tensors(variant);
  for (const Step& step : variant.steps) {
    if (!joins_whole_blocks(variant, step, tensors)) continue;
    uint64_t offset = 0;
    for (const int32_t index : step.inputs) {
      const auto input = static_cast<size_t>(index);
      HostTensor& host = tensors[input];
      const uint64_t begin = offset;
      offset += host.size_bytes;
      // A tensor that is joined twice can lie in one place only; the other place is copied.
      if (!internal[input] || host.parent != program::kNone || host.size_bytes == 0) continue;
      host.parent = step.outputs[0];
      host.offset_in_parent = begin;
    }
  }
}

Root root_of(std::span<const HostTensor> tensors, size_t tensor) {
  Root root{tensor, 0};
  // Ends: a parent is written by a later step than its child.
  while (tensors[root.tensor].parent != program::kNone) {
    root.offset_bytes += tensors[root.tensor].offset_in_parent;
    root.tensor = static_cast<size_t>(tensors[root.tensor].parent);
  }
  return root;
}

}  // namespace rk::runtime::cpu

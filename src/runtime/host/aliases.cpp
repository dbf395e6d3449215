// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/aliases.h"

#include <algorithm>

#include "kernels/layout/blocked.h"
#include "runtime/host/select.h"

namespace rk::runtime::host {
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

// Memory holds the elements in plain order: pictures of one pixel do even where they are blocked, if blocks are full.
bool lies_plain(const program::ProgramTensor& tensor, const HostTensor& host) {
  if (host.interleaved) return false;
  const Shape& s = tensor.shape;
  return !host.blocked || (s[1] % kernels::kHostBlock == 0 && s[2] == 1 && s[3] == 1);
}

bool same_memory(const Variant& variant, const std::vector<HostTensor>& tensors, size_t a,
                 size_t b) {
  const program::ProgramTensor &x = variant.tensors[a], &y = variant.tensors[b];
  if (tensors[a].size_bytes != tensors[b].size_bytes || tensors[a].size_bytes == 0) return false;
  const bool both_blocked = tensors[a].blocked && tensors[b].blocked && x.shape == y.shape;
  return both_blocked || (lies_plain(x, tensors[a]) && lies_plain(y, tensors[b]));
}

}  // namespace

void alias_views(const Variant& variant, std::vector<HostTensor>& tensors) {
  const std::vector<bool> internal = internal_tensors(variant);
  for (const Step& step : variant.steps) {
    if (!is_view(variant, step)) continue;
    const auto input = static_cast<size_t>(step.inputs[0]);
    const auto output = static_cast<size_t>(step.outputs[0]);
    if (!same_memory(variant, tensors, input, output)) continue;
    if (root_of(tensors, input).tensor == root_of(tensors, output).tensor) continue;
    const auto is_free = [&](size_t i) {
      return internal[i] && tensors[i].parent == program::kNone;
    };
    if (is_free(output)) {
      // The end of the chain at once: a file may have a very long one.
      const Root root = root_of(tensors, input);
      tensors[output].parent = static_cast<int32_t>(root.tensor);
      tensors[output].offset_in_parent = root.offset_bytes;
    } else if (is_free(input)) {
      tensors[input].parent = step.outputs[0];
    }
  }
}

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
  // Ends: only a tensor without a parent gets one, and never one that lies inside itself.
  while (tensors[root.tensor].parent != program::kNone) {
    root.offset_bytes += tensors[root.tensor].offset_in_parent;
    root.tensor = static_cast<size_t>(tensors[root.tensor].parent);
  }
  return root;
}

}  // namespace rk::runtime::host

// SPDX-License-Identifier: Apache-2.0
// Steps that need no copying: where the parts of a concatenation are whole channel blocks, their producers write straight
// into the result; where a reshape leaves every byte in its place, both its tensors are one.
#pragma once

#include "runtime/host/plan.h"

namespace rk::runtime::host {

// Sets HostTensor::parent and offset_in_parent. Layouts and sizes must be decided.
void alias_concat_inputs(const program::Variant& variant, std::vector<HostTensor>& tensors);

// The same for steps whose output has the bytes of their input; after the concatenations.
void alias_views(const program::Variant& variant, std::vector<HostTensor>& tensors);

// The tensor at the end of a chain of parents, and how far into it `tensor` lies.
struct Root {
  size_t tensor = 0;
  uint64_t offset_bytes = 0;
};
Root root_of(std::span<const HostTensor> tensors, size_t tensor);

}  // namespace rk::runtime::host

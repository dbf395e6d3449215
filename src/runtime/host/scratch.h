// SPDX-License-Identifier: Apache-2.0
// Tensors that operators run on in float are made once per type and session and used again: allocating and zeroing
// them in every run would cost more than many operators do.
#pragma once

#include <new>
#include <vector>

#include "ir/tensor.h"

namespace rk::runtime::host {

class ScratchTensors {
 public:
  // Bytes are what the last user left. kOutOfMemory when there is no such block.
  Result<Tensor> take(const TensorType& type) {
    for (size_t i = 0; i < free_.size(); ++i) {
      if (free_[i].type() != type) continue;
      Tensor out = std::move(free_[i]);
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      return out;
    }
    return Tensor::try_make(type);
  }
  // Nobody else may hold the tensor's bytes. Called by destructors: where the list cannot grow, the tensor goes.
  void give(Tensor tensor) noexcept {
    try {
      free_.push_back(std::move(tensor));
    } catch (const std::bad_alloc&) {
      return;
    }
  }

 private:
  std::vector<Tensor> free_;
};

}  // namespace rk::runtime::host

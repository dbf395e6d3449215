// SPDX-License-Identifier: Apache-2.0
// Tells whether calibration samples are all nearly the same. For observe.cpp.
#pragma once

#include <vector>

#include "ir/tensor.h"

namespace rk::quant {

// Means over equal parts of the first input and single values of it: enough to tell pictures apart, and noise from noise,
// whose means agree; cheap enough for every sample.
class Likeness {
 public:
  void add(const std::vector<Tensor>& inputs);
  // Two samples may be alike by chance.
  bool all_alike() const { return count_ > 2 && alike_; }

 private:
  std::vector<double> first_;
  std::vector<float> first_singles_;
  double tolerance_ = 0;
  size_t count_ = 0;
  bool alike_ = true;
};

}  // namespace rk::quant

// SPDX-License-Identifier: Apache-2.0
// How far one tensor is from another, in the numbers that users compare.
#pragma once

#include <span>

namespace rk::analysis {

struct Errors {
  double cosine = 1;
  double euclidean = 0;
  double max_abs = 0;
  double sqnr_db = 0;  // 10 log10(sum golden^2 / sum (found - golden)^2); 200 when equal
};
// Two zero vectors have cosine 1, a zero and another one 0. Elements that are not finite on either side make it 0.
Errors compare(std::span<const float> golden, std::span<const float> found);

}  // namespace rk::analysis

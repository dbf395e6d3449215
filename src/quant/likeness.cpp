// SPDX-License-Identifier: Apache-2.0
#include "quant/likeness.h"

#include <algorithm>
#include <cmath>

#include "quant/scan.h"

namespace rk::quant {
namespace {

constexpr size_t kParts = 64;
// Of the span of the first sample's values; single values of a camera's pictures have noise.
constexpr double kNear = 0.01, kNearSingles = 0.05;

}  // namespace

void Likeness::add(const std::vector<Tensor>& inputs) {
  if (inputs.empty() || inputs[0].dtype() != DType::kF32) return;
  const auto values = inputs[0].span<float>();
  if (values.size() < kParts) return;
  std::vector<double> means(kParts);
  const size_t part = values.size() / kParts;
  for (size_t p = 0; p < kParts; ++p) {
    for (size_t i = 0; i < part; ++i) means[p] += values[p * part + i];
    means[p] /= static_cast<double>(part);
  }
  std::vector<float> singles;
  for (size_t i = 0; i < values.size(); i += values.size() / kParts + 1)
    singles.push_back(values[i]);
  if (count_++ == 0) {
    first_ = std::move(means);
    first_singles_ = std::move(singles);
    const Extremes seen = find_extremes(values, nullptr);
    tolerance_ = kNear * (double{seen.high} - seen.low);
    return;
  }
  for (size_t p = 0; p < kParts; ++p) alike_ &= std::fabs(means[p] - first_[p]) <= tolerance_;
  double apart = 0;
  const size_t seen = std::min(singles.size(), first_singles_.size());
  for (size_t i = 0; i < seen; ++i) apart += std::fabs(double{singles[i]} - first_singles_[i]);
  alike_ &= apart <= kNearSingles / kNear * tolerance_ * static_cast<double>(seen);
}

}  // namespace rk::quant

// SPDX-License-Identifier: Apache-2.0
#include "quant/observe.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "evaluator/evaluate.h"
#include "quant/scan.h"

namespace rk::quant {
namespace {

// Means over equal parts of the first input and single values of it: enough to tell pictures apart, and noise from noise,
// whose means agree; cheap enough for every sample.
class Likeness {
 public:
  void add(const std::vector<Tensor>& inputs) {
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
  // Two samples may be alike by chance.
  bool all_alike() const { return count_ > 2 && alike_; }

 private:
  static constexpr size_t kParts = 64;
  // Of the span of the first sample's values; single values of a camera's pictures have noise.
  static constexpr double kNear = 0.01, kNearSingles = 0.05;
  std::vector<double> first_;
  std::vector<float> first_singles_;
  double tolerance_ = 0;
  size_t count_ = 0;
  bool alike_ = true;
};

}  // namespace

Extremes extremes(const Tensor& tensor, const FiniteRange& range, ThreadPool* pool) {
  if (range.known) return {range.low, range.high, true, false};
  return find_extremes(tensor.span<float>(), pool);
}

Status run_samples(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                   const Progress& progress, const SampleObserver& observer, size_t limit) {
  const auto only_float = [&](const Value& value, const Tensor& tensor,
                              const FiniteRange& range) -> Status {
    if (tensor.dtype() != DType::kF32 || tensor.elements() == 0) return ok_status();
    return observer(value, tensor, range);
  };
  const size_t count = std::min(samples.count(), limit);
  Likeness likeness;
  for (size_t i = 0; i < count; ++i) {
    RK_ASSIGN(const std::vector<Tensor> inputs, samples.load(i));
    likeness.add(inputs);
    RK_TRY(evaluator::evaluate(graph, inputs, {pool, only_float})
               .status()
               .with_context(str("calibration sample ", i)));
    if (progress && !progress(i + 1, count))
      return Status(Code::kCancelled, "calibration was cancelled");
  }
  if (count == samples.count() && likeness.all_alike()) {
    log(LogLevel::kWarning,
        str("all ", count,
            " calibration samples are nearly the same; take samples as different as the pictures "
            "that the model will see"));
  }
  return ok_status();
}

Result<Ranges> observe(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                       const Progress& progress) {
  Ranges ranges;
  std::map<std::string, size_t> not_finite;
  const auto observer = [&](const Value& value, const Tensor& tensor,
                            const FiniteRange& range) -> Status {
    const Extremes seen = extremes(tensor, range, pool);
    if (seen.any_other) ++not_finite[value.name()];
    if (!seen.any_finite) {
      return invalid_argument(str("value '", value.name(),
                                  "' holds no finite number on a calibration sample; "
                                  "check mean, std and the dataset"));
    }
    const auto [it, is_new] = ranges.emplace(value.name(), Range{seen.low, seen.high});
    if (!is_new) {
      it->second.min = std::min(it->second.min, seen.low);
      it->second.max = std::max(it->second.max, seen.high);
    }
    return ok_status();
  };
  RK_TRY(run_samples(graph, samples, pool, progress, observer));
  for (const auto& [name, count] : not_finite) {
    log(LogLevel::kWarning,
        str("value '", name, "' held NaN or infinity on ", count, " of ", samples.count(),
            " calibration samples; its range covers the finite values"));
  }
  return ranges;
}

}  // namespace rk::quant

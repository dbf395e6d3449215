// SPDX-License-Identifier: Apache-2.0
#include "quant/observe.h"

#include <algorithm>

#include "base/log.h"
#include "evaluator/evaluate.h"

namespace rk::quant {

Extremes extremes(const Tensor& tensor, const FiniteRange& range, ThreadPool* pool) {
  if (range.known) return {range.low, range.high, true, false};
  return find_extremes(tensor.span<float>(), pool);
}

Status run_samples(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                   const Progress& progress, const SampleObserver& observer, SampleRun run) {
  const auto only_float = [&](const Value& value, const Tensor& tensor,
                              const FiniteRange& range) -> Status {
    if (tensor.dtype() != DType::kF32 || tensor.elements() == 0) return ok_status();
    return observer(value, tensor, range);
  };
  const size_t end = std::min(samples.count(), run.end);
  Likeness own;
  Likeness& likeness = run.likeness != nullptr ? *run.likeness : own;
  for (size_t i = run.first; i < end; ++i) {
    RK_ASSIGN(const std::vector<Tensor> inputs, samples.load(i));
    likeness.add(inputs);
    RK_TRY(evaluator::evaluate(graph, inputs, {pool, only_float})
               .status()
               .with_context(str("calibration sample ", i)));
    if (progress && !progress(i + 1, samples.count()))
      return Status(Code::kCancelled, "calibration was cancelled");
  }
  if (end == samples.count() && likeness.all_alike()) {
    log(LogLevel::kWarning,
        str("all ", end,
            " calibration samples are nearly the same; take samples as different as the pictures "
            "that the model will see"));
  }
  return ok_status();
}

Status SeenSamples::add(const Value& value, const Tensor& tensor, const FiniteRange& range,
                        ThreadPool* pool) {
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
}

Result<Ranges> observe(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                       const Progress& progress, SeenSamples seen) {
  const auto observer = [&](const Value& value, const Tensor& tensor, const FiniteRange& range) {
    return seen.add(value, tensor, range, pool);
  };
  RK_TRY(run_samples(graph, samples, pool, progress, observer,
                     {.first = seen.count, .likeness = &seen.likeness}));
  for (const auto& [name, count] : seen.not_finite) {
    log(LogLevel::kWarning,
        str("value '", name, "' held NaN or infinity on ", count, " of ", samples.count(),
            " calibration samples; its range covers the finite values"));
  }
  return std::move(seen.ranges);
}

}  // namespace rk::quant

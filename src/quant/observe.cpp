// SPDX-License-Identifier: Apache-2.0
#include "quant/observe.h"

#include <cmath>

#include "base/log.h"
#include "exec/evaluate.h"

namespace rk::quant {
namespace {

struct Span {
  Range range;
  bool any_finite = false;
  bool any_other = false;  // NaN or infinite
};

Span span_of(const Tensor& tensor) {
  Span out;
  float low = INFINITY, high = -INFINITY;
  for (const float x : tensor.span<float>()) {
    if (std::isfinite(x)) {
      low = x < low ? x : low;
      high = x > high ? x : high;
    } else {
      out.any_other = true;
    }
  }
  out.any_finite = low <= high;
  if (out.any_finite) out.range = {low, high};
  return out;
}

}  // namespace

Result<Ranges> observe(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                       const Progress& progress) {
  Ranges ranges;
  std::map<std::string, size_t> not_finite;
  const auto observer = [&](const Value& value, const Tensor& tensor) -> Status {
    if (tensor.dtype() != DType::kF32 || tensor.elements() == 0) return ok_status();
    const Span seen = span_of(tensor);
    if (seen.any_other) ++not_finite[value.name()];
    if (!seen.any_finite) {
      return invalid_argument(str("value '", value.name(),
                                  "' holds no finite number on a calibration sample; "
                                  "check mean, std and the dataset"));
    }
    const auto [it, is_new] = ranges.emplace(value.name(), seen.range);
    if (!is_new) {
      it->second.min = std::min(it->second.min, seen.range.min);
      it->second.max = std::max(it->second.max, seen.range.max);
    }
    return ok_status();
  };
  for (size_t i = 0; i < samples.count(); ++i) {
    RK_ASSIGN(const std::vector<Tensor> inputs, samples.load(i));
    RK_TRY(exec::evaluate(graph, inputs, {pool, observer})
               .status()
               .with_context(str("calibration sample ", i)));
    if (progress && !progress(i + 1, samples.count()))
      return Status(Code::kCancelled, "calibration was cancelled");
  }
  for (const auto& [name, count] : not_finite) {
    log(LogLevel::kWarning,
        str("value '", name, "' held NaN or infinity on ", count, " of ", samples.count(),
            " calibration samples; its range covers the finite values"));
  }
  return ranges;
}

}  // namespace rk::quant

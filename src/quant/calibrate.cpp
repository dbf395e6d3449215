// SPDX-License-Identifier: Apache-2.0
#include "quant/calibrate.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "exec/evaluate.h"
#include "quant/quantize.h"

namespace rk::quant {
namespace {

struct Row {
  Algorithm algorithm;
  std::string_view name;
  size_t least, most;  // samples
};

constexpr Row kRows[] = {
    {Algorithm::kNormal, "normal", 20, 200},
    {Algorithm::kPercentile, "percentile", 20, 200},
    {Algorithm::kKlDivergence, "kl_divergence", 20, 200},
    {Algorithm::kMmse, "mmse", 20, 50},
};

// 0.9^40: the narrowest clipping tried is about 1/68 of what was seen.
constexpr int kShrinkSteps = 40;
constexpr double kShrink = 0.9;
constexpr double kFineShrink[] = {1.08, 1.02, 0.98, 0.92};
constexpr int kRefinements = 6;
constexpr double kPercentileShare = 1e-4;  // left out on each side

Range with_zero(Range range) { return {std::min(range.min, 0.0f), std::max(range.max, 0.0f)}; }

Range clipped(Range seen, double low, double high) {
  return {std::max(seen.min, static_cast<float>(low)),
          std::min(seen.max, static_cast<float>(high))};
}

// Shrinks both sides towards 0 together, then moves each side on its own while that helps.
template <typename Loss>
Range search(Range seen, const Loss& loss) {
  const double reach = std::max(-double{seen.min}, double{seen.max});
  Range best = seen;
  double least = loss(best);
  double threshold = reach;
  for (int i = 0; i < kShrinkSteps; ++i) {
    threshold *= kShrink;
    const Range candidate = clipped(seen, -threshold, threshold);
    const double found = loss(candidate);
    if (found < least) best = candidate, least = found;
  }
  for (int round = 0; round < kRefinements; ++round) {
    bool improved = false;
    for (const bool upper : {false, true}) {
      for (const double factor : kFineShrink) {
        const Range candidate = upper ? clipped(seen, best.min, double{best.max} * factor)
                                      : clipped(seen, double{best.min} * factor, best.max);
        const double found = loss(candidate);
        if (found < least) best = candidate, least = found, improved = true;
      }
    }
    if (!improved) break;
  }
  return best;
}

Range percentile(const Histogram& histogram, Range seen) {
  const auto leave_out =
      static_cast<uint64_t>(static_cast<double>(histogram.total()) * kPercentileShare);
  Range out = seen;
  uint64_t left = 0;
  for (int bin = -Histogram::kHalf; bin < 0; ++bin) {
    left += histogram.at(bin);
    if (left > leave_out) {
      out.min = std::max(seen.min, static_cast<float>(bin * histogram.width()));
      break;
    }
    out.min = 0;
  }
  left = 0;
  for (int bin = Histogram::kHalf - 1; bin >= 0; --bin) {
    left += histogram.at(bin);
    if (left > leave_out) {
      out.max = std::min(seen.max, static_cast<float>((bin + 1) * histogram.width()));
      break;
    }
    out.max = 0;
  }
  return out;
}

}  // namespace

std::optional<Algorithm> parse_algorithm(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &Row::name);
  if (row == std::end(kRows)) return std::nullopt;
  return row->algorithm;
}

std::string_view to_string(Algorithm algorithm) {
  return std::ranges::find(kRows, algorithm, &Row::algorithm)->name;
}

std::pair<size_t, size_t> recommended_samples(Algorithm algorithm) {
  const auto* row = std::ranges::find(kRows, algorithm, &Row::algorithm);
  return {row->least, row->most};
}

double quantisation_error(const Histogram& histogram, Range range) {
  if (histogram.total() == 0 || histogram.width() == 0) return 0;
  const QuantParams params = activation_params(range);
  const double scale = params.scale[0], zero_point = params.zero_point[0];
  double sum = 0;
  for (int bin = -Histogram::kHalf; bin < Histogram::kHalf; ++bin) {
    const uint64_t count = histogram.at(bin);
    if (count == 0) continue;
    const double x = (bin + 0.5) * histogram.width();
    const double q = std::clamp(std::nearbyint(x / scale) + zero_point, -128.0, 127.0);
    const double error = (q - zero_point) * scale - x;
    sum += static_cast<double>(count) * error * error;
  }
  return sum / static_cast<double>(histogram.total());
}

// P is the distribution with what lies outside counted at the ends; Q spreads what one level holds evenly over the
// bins of that level that hold anything.
double information_loss(const Histogram& histogram, Range range) {
  if (histogram.width() == 0) return 0;
  const QuantParams params = activation_params(range);
  const double scale = params.scale[0], zero_point = params.zero_point[0];
  const int first = static_cast<int>(std::floor(range.min / histogram.width()));
  const int last =
      std::min(static_cast<int>(std::ceil(range.max / histogram.width())), Histogram::kHalf);
  if (last <= first) return INFINITY;
  std::vector<double> p(static_cast<size_t>(last - first), 0.0);
  std::vector<int> level(p.size());
  double inside[256] = {};
  int filled[256] = {};
  double total = 0;
  for (int bin = -Histogram::kHalf; bin < Histogram::kHalf; ++bin) {
    const auto count = static_cast<double>(histogram.at(bin));
    if (count == 0) continue;
    total += count;
    const bool is_inside = bin >= first && bin < last;
    const auto i = static_cast<size_t>(std::clamp(bin, first, last - 1) - first);
    p[i] += count;
    const double x = (bin + 0.5) * histogram.width();
    const double q = std::clamp(std::nearbyint(x / scale) + zero_point, -128.0, 127.0);
    level[i] = static_cast<int>(q) + 128;
    if (!is_inside) continue;
    inside[level[i]] += count;
    ++filled[level[i]];
  }
  double held = 0;
  for (const double count : inside) held += count;
  if (held == 0) return INFINITY;
  double loss = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0) continue;
    const int l = level[i];
    const double q = filled[l] > 0 ? inside[l] / filled[l] / held : 1e-9;
    loss += p[i] / total * std::log(p[i] / total / q);
  }
  return loss;
}

Range choose_range(const Histogram& histogram, Algorithm algorithm) {
  const Range seen = with_zero(histogram.range());
  if (histogram.width() == 0) return seen;
  switch (algorithm) {
    case Algorithm::kNormal:
      return seen;
    case Algorithm::kPercentile:
      return percentile(histogram, seen);
    case Algorithm::kKlDivergence: {
      // Narrower than one bin per level nothing can be told apart.
      const double narrowest = 256 * histogram.width();
      return search(seen, [&](Range range) {
        if (double{range.max} - range.min < narrowest) return double{INFINITY};
        return information_loss(histogram, range);
      });
    }
    case Algorithm::kMmse:
      return search(seen, [&](Range range) { return quantisation_error(histogram, range); });
  }
  return seen;
}

Ranges choose_ranges(const Histograms& histograms, Algorithm algorithm) {
  Ranges out;
  for (const auto& [name, histogram] : histograms) out[name] = choose_range(histogram, algorithm);
  return out;
}

Result<Histograms> observe_histograms(const Graph& graph, const SampleSource& samples,
                                      ThreadPool* pool, const Progress& progress) {
  Histograms out;
  const auto observer = [&](const Value& value, const Tensor& tensor) -> Status {
    if (tensor.dtype() == DType::kF32 && tensor.elements() > 0) {
      out[value.name()].add(tensor.span<float>());
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
  for (const auto& [name, histogram] : out) {
    if (histogram.total() > 0) continue;
    return invalid_argument(str("value '", name,
                                "' holds no finite number on any calibration sample; "
                                "check mean, std and the dataset"));
  }
  return out;
}

Result<Ranges> calibrate(const Graph& graph, const SampleSource& samples, Algorithm algorithm,
                         ThreadPool* pool, const Progress& progress) {
  const auto [least, most] = recommended_samples(algorithm);
  if (samples.count() < least || samples.count() > most) {
    log(LogLevel::kInfo, str("the calibration set has ", samples.count(), " sample(s); ", least,
                             " to ", most, " are recommended for ", to_string(algorithm)));
  }
  if (algorithm == Algorithm::kNormal) return observe(graph, samples, pool, progress);
  RK_ASSIGN(const Histograms histograms, observe_histograms(graph, samples, pool, progress));
  return choose_ranges(histograms, algorithm);
}

}  // namespace rk::quant

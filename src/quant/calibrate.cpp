// SPDX-License-Identifier: Apache-2.0
#include "quant/calibrate.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "quant/quantize.h"
#include "quant/rounding.h"

namespace rk::quant {
namespace {

struct Row {
  Algorithm algorithm;
  std::string_view name;
  size_t least, most;  // samples
};

constexpr Row kRows[] = {
    {Algorithm::kNormal, "normal", 20, 100},
    {Algorithm::kMmse, "mmse", 20, 50},
    {Algorithm::kKlDivergence, "kl_divergence", 20, 100},
    {Algorithm::kPercentile, "percentile", 20, 100},
};

// 0.9^40: the narrowest clipping tried is about 1/68 of what was seen.
constexpr int kShrinkSteps = 40;
constexpr double kShrink = 0.9;
constexpr double kFineShrink[] = {1.08, 1.02, 0.98, 0.92};
constexpr int kRefinements = 6;
constexpr double kPercentileShare = 1e-4;  // left out on each side
// Left out of the squared error on each side: one value in 100,000 must not cost all others their resolution, however
// far away it is.
constexpr double kMmseShare = 1e-5;

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

// What is left when a share of all values is left out at each end; 0 ends either side.
struct Inner {
  int first = 0, last = 0;                 // bins, like Histogram's
  uint64_t less_first = 0, less_last = 0;  // left out of the outermost bins that remain
  uint64_t count(const Histogram& histogram, int bin) const {
    return histogram.at(bin) - (bin == first ? less_first : 0) - (bin == last - 1 ? less_last : 0);
  }
};

Inner without_tails(const Histogram& histogram, double share) {
  const auto tail = static_cast<uint64_t>(static_cast<double>(histogram.total()) * share);
  Inner out{histogram.first(), histogram.last(), tail, tail};
  while (out.first < std::min(0, out.last) && histogram.at(out.first) <= out.less_first)
    out.less_first -= histogram.at(out.first++);
  while (out.last > std::max(0, out.first) && histogram.at(out.last - 1) <= out.less_last)
    out.less_last -= histogram.at(--out.last);
  if (out.first >= 0) out.less_first = 0;
  if (out.last <= 0) out.less_last = 0;
  return out;
}

Range percentile(const Histogram& histogram, Range seen) {
  const Inner inner = without_tails(histogram, kPercentileShare);
  return {std::max(seen.min, static_cast<float>(std::min(inner.first, 0) * histogram.width())),
          std::min(seen.max, static_cast<float>(std::max(inner.last, 0) * histogram.width()))};
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

std::vector<std::string> algorithm_names() {
  std::vector<std::string> out;
  for (const Row& row : kRows) out.emplace_back(row.name);
  return out;
}

std::pair<size_t, size_t> recommended_samples(Algorithm algorithm) {
  const auto* row = std::ranges::find(kRows, algorithm, &Row::algorithm);
  return {row->least, row->most};
}

double quantization_error(const Histogram& histogram, Range range) {
  if (histogram.total() == 0 || histogram.width() == 0) return 0;
  const QuantParams params = activation_params(range);
  const double scale = params.scale[0], zero_point = params.zero_point[0], per_step = 1 / scale;
  double sum = 0;
  const Inner inner = without_tails(histogram, kMmseShare);
  for (int bin = inner.first; bin < inner.last; ++bin) {
    const uint64_t count = inner.count(histogram, bin);
    if (count == 0) continue;
    const double x = (bin + 0.5) * histogram.width();
    const double q = std::clamp(rounded(x * per_step) + zero_point, -128.0, 127.0);
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
  const double per_step = 1 / double{params.scale[0]}, zero_point = params.zero_point[0];
  const int first = static_cast<int>(std::floor(range.min / histogram.width()));
  const int last =
      std::min(static_cast<int>(std::ceil(range.max / histogram.width())), Histogram::kHalf);
  if (last <= first) return INFINITY;
  std::vector<double> p(static_cast<size_t>(last - first), 0.0);
  std::vector<int> level(p.size());
  double inside[256] = {};
  int filled[256] = {};
  double total = 0;
  const int last_held = histogram.last();
  for (int bin = histogram.first(); bin < last_held; ++bin) {
    const auto count = static_cast<double>(histogram.at(bin));
    if (count == 0) continue;
    total += count;
    const bool is_inside = bin >= first && bin < last;
    const auto i = static_cast<size_t>(std::clamp(bin, first, last - 1) - first);
    p[i] += count;
    const double x = (bin + 0.5) * histogram.width();
    const double q = std::clamp(rounded(x * per_step) + zero_point, -128.0, 127.0);
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
      return search(seen, [&](Range range) { return quantization_error(histogram, range); });
  }
  return seen;
}

Ranges choose_ranges(const Histograms& histograms, Algorithm algorithm, ThreadPool* pool) {
  std::vector<const Histogram*> from;
  std::vector<Range*> to;
  Ranges out;
  for (const auto& [name, histogram] : histograms) {
    from.push_back(&histogram);
    to.push_back(&out[name]);
  }
  const auto choose = [&](IndexRange range) {
    for (auto i = static_cast<size_t>(range.begin); i < static_cast<size_t>(range.end); ++i)
      *to[i] = choose_range(*from[i], algorithm);
  };
  const auto count = static_cast<int64_t>(from.size());
  if (pool != nullptr) {
    pool->parallel_for(count, 1, choose);
  } else {
    choose({0, count});
  }
  return out;
}

Result<Histograms> observe_histograms(const Graph& graph, const SampleSource& samples,
                                      ThreadPool* pool, const Progress& progress) {
  Histograms out;
  RK_TRY(run_samples(
      graph, samples, pool, progress,
      [&](const Value& value, const Tensor& tensor, const FiniteRange& range) -> Status {
        out[value.name()].add(tensor.span<float>(), extremes(tensor, range, pool), pool);
        return ok_status();
      }));
  for (const auto& [name, histogram] : out) {
    if (histogram.total() > 0) continue;
    return invalid_argument(str("value '", name,
                                "' holds no finite number on any calibration sample; "
                                "check mean, std and the dataset"));
  }
  return out;
}

Result<Ranges> calibrate(const Graph& graph, const SampleSource& samples, Algorithm algorithm,
                         ThreadPool* pool, const Progress& progress, SeenSamples seen) {
  const auto [least, most] = recommended_samples(algorithm);
  if (samples.count() < least || samples.count() > most) {
    log(LogLevel::kWarning, str("the calibration set has ", samples.count(), " sample(s); ", least,
                                " to ", most, " are recommended for ", to_string(algorithm)));
  }
  if (algorithm == Algorithm::kNormal)
    return observe(graph, samples, pool, progress, std::move(seen));
  RK_ASSIGN(const Histograms histograms, observe_histograms(graph, samples, pool, progress));
  return choose_ranges(histograms, algorithm, pool);
}

}  // namespace rk::quant

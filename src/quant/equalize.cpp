// SPDX-License-Identifier: Apache-2.0
#include "quant/equalize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "quant/linear.h"

namespace rk::quant {
namespace {

constexpr double kSteps = 255;
constexpr double kMaxScaleRatio = 512;  // see weight_params()
constexpr double kWorthIt = 0.7;        // of the noise may be left, or nothing is done
constexpr int kMaxExponent = 14;        // 2^14: float16 layers stay in range too
constexpr size_t kMaxPairs = 1 << 24;   // of channels; the estimate keeps extremes for each
constexpr int kSweeps = 2;              // a changed layer changes what its neighbors want
// How much of the difference between channels goes into the weights; 0.5 shares it evenly.
constexpr std::array kShares = {0.25, 0.5, 0.75, 1.0};

using Factors = std::vector<double>;  // s, one per channel of the value

// A value between layers: who computes it, what it passes through, who multiplies it.
struct Link {
  Node* from = nullptr;
  std::vector<const Value*>
      values;  // from's output and what Relu and the like made of it; the last is read
  std::vector<Node*> to;
};

bool keeps_factors(const Node& node) {
  if (!Linear::of(node)) return false;
  if (node.op() != "FusedConv") return true;
  const auto plain = [&](std::string_view attr) {
    return node.text(attr).empty() || node.text(attr) == "Relu";
  };
  return !node.has_input(3) && plain("activation") && plain("post_activation");
}

std::optional<Link> link_of(const Graph& graph, Node* from) {
  if (!keeps_factors(*from)) return std::nullopt;
  Link out{from, {}, {}};
  const Value* value = &from->output();
  for (;;) {
    if (graph.is_output(*value) || value->uses().empty()) return std::nullopt;
    out.values.push_back(value);
    const Node* reader = value->uses().front().node;
    if (value->uses().size() != 1 || !reader->def().homogeneous) break;
    value = &reader->output();
  }
  for (const Use& use : value->uses()) {
    const auto linear = Linear::of(*use.node);
    if (!linear || use.index != 0 || linear->in_channels() * linear->out_channels() > kMaxPairs)
      return std::nullopt;
    out.to.push_back(use.node);
  }
  return out;
}

// Everything the estimate needs of one reading layer, per input channel and output channel.
struct Reader {
  Linear linear;
  std::vector<float> low, high;    // [out][in] extremes of the taps, with 0
  std::vector<double> importance;  // [out] 1 / power of the result
  std::vector<double> gain;        // [in] sum of importance * w^2
  std::vector<float> widest;       // [in] largest |w|
  double taps = 1;                 // per pair of channels

  Reader(const Linear& of, const std::vector<ChannelStats>& input) : linear(of) {
    const size_t outs = linear.out_channels(), ins = linear.in_channels();
    low.assign(outs * ins, 0);
    high.assign(outs * ins, 0);
    widest.assign(ins, 0);
    gain.assign(ins, 0);
    importance.assign(outs, 0);
    const auto weights = linear.weights().span<float>();
    taps = static_cast<double>(weights.size()) / static_cast<double>(outs * ins);
    linear.each_place([&](size_t i, Linear::Place place) {
      const auto [o, c] = place;
      low[o * ins + c] = std::min(low[o * ins + c], weights[i]);
      high[o * ins + c] = std::max(high[o * ins + c], weights[i]);
      widest[c] = std::max(widest[c], std::fabs(weights[i]));
      importance[o] += double{weights[i]} * weights[i] * input[c].power;
    });
    double mean = 0;
    for (const double power : importance) mean += power / static_cast<double>(outs);
    // A channel that hardly says anything must not count a thousand times.
    for (double& power : importance) power = mean > 0 ? 1 / (power + 0.01 * mean) : 1;
    linear.each_place([&](size_t i, Linear::Place place) {
      gain[place.in] += importance[place.out] * double{weights[i]} * weights[i];
    });
  }

  // Of rounding this layer's own weights.
  double weight_noise(const std::vector<ChannelStats>& input, const Factors& s) const {
    const size_t outs = linear.out_channels(), ins = linear.in_channels();
    std::vector<double> width(outs);
    double power = 0;
    for (size_t c = 0; c < ins; ++c) power += input[c].power / (s[c] * s[c]);
    for (size_t o = 0; o < outs; ++o) {
      double least = 0, most = 0;
      for (size_t c = 0; c < ins; ++c) {
        least = std::min(least, low[o * ins + c] * s[c]);
        most = std::max(most, high[o * ins + c] * s[c]);
      }
      width[o] = most - least;
    }
    const double floor = *std::ranges::max_element(width) / kMaxScaleRatio;
    double noise = 0;
    for (size_t o = 0; o < outs; ++o) {
      const double step = std::max(width[o], floor) / kSteps;
      noise += importance[o] * step * step / 12 * taps * power;
    }
    return noise;
  }
};

class Estimate {
 public:
  Estimate(const Link& link, const ValueStats& stats)
      : input_(stats.find(link.values.back()->name())->second) {
    for (const Node* node : link.to) readers_.emplace_back(*Linear::of(*node), input_);
    const Linear from = *Linear::of(*link.from);
    const auto fed = stats.find(link.from->input(0).name());
    double power = 0;  // of one tap's input, on average
    for (const ChannelStats& c : fed->second) power += c.power;
    power /= static_cast<double>(std::max<size_t>(fed->second.size(), 1));
    row_power_ = power * from.taps_per_output();
    std::vector<float> low(from.out_channels()), high(from.out_channels());
    const auto weights = from.weights().span<float>();
    from.each_place([&](size_t i, Linear::Place place) {
      low[place.out] = std::min(low[place.out], weights[i]);
      high[place.out] = std::max(high[place.out], weights[i]);
    });
    for (size_t c = 0; c < low.size(); ++c) rows_.push_back(double{high[c]} - low[c]);
  }

  // Noise on the readers' results, in units of their power: from rounding the value, the weights behind it and the
  // weights before it.
  double noise(const Factors& s) const {
    double least = 0, most = 0, widest_row = 0;
    for (size_t c = 0; c < s.size(); ++c) {
      least = std::min(least, input_[c].min / s[c]);
      most = std::max(most, input_[c].max / s[c]);
      widest_row = std::max(widest_row, rows_[c] / s[c]);
    }
    const double step = (most - least) / kSteps;
    double total = 0;
    for (const Reader& reader : readers_) {
      for (size_t c = 0; c < s.size(); ++c) {
        const double row = std::max(rows_[c] / s[c], widest_row / kMaxScaleRatio) / kSteps;
        const double before = step * step / 12 + row * row / 12 * row_power_;
        total += reader.gain[c] * s[c] * s[c] * before;
      }
      total += reader.weight_noise(input_, s);
    }
    return total;
  }

  // Powers of two that move `share` of the channels' differences from the value into the readers' weights.
  Factors factors(double share) const {
    Factors out(input_.size(), 1.0);
    std::vector<double> wish(input_.size(), 0);  // log2
    double sum = 0, count = 0;
    std::vector<bool> alive(input_.size());
    for (size_t c = 0; c < input_.size(); ++c) {
      const double reach = std::max(std::fabs(input_[c].min), std::fabs(input_[c].max));
      double weight = 0;
      for (const Reader& reader : readers_) weight = std::max(weight, double{reader.widest[c]});
      alive[c] = reach > 0 && weight > 0 && rows_[c] > 0;
      if (!alive[c]) continue;
      wish[c] = share * std::log2(reach) - (1 - share) * std::log2(weight);
      sum += wish[c];
      count += 1;
    }
    for (size_t c = 0; c < out.size(); ++c) {
      if (!alive[c]) continue;  // dead: whatever it holds, it stays as it is
      const double exponent =
          std::clamp<double>(std::nearbyint(wish[c] - sum / count), -kMaxExponent, kMaxExponent);
      out[c] = std::exp2(exponent);
    }
    return out;
  }

 private:
  std::vector<ChannelStats> input_;
  std::vector<Reader> readers_;
  std::vector<double> rows_;  // width of each row of the weights before the value
  double row_power_ = 0;
};

void apply(Graph& graph, const Link& link, const Factors& s, ValueStats& stats) {
  const auto scaled = [&](Node& node, bool reads) {
    const Linear linear = *Linear::of(node);
    Tensor weights = linear.weights().clone();
    float* const w = weights.mutable_data<float>();
    linear.each_place([&](size_t i, Linear::Place place) {
      w[i] = static_cast<float>(reads ? w[i] * s[place.in] : w[i] / s[place.out]);
    });
    std::vector<float> bias = linear.bias();
    replace_weights(graph, node, std::move(weights));
    if (reads || !node.has_input(2)) return;
    for (size_t c = 0; c < bias.size(); ++c) bias[c] = static_cast<float>(bias[c] / s[c]);
    replace_bias(graph, node, bias);
  };
  scaled(*link.from, false);
  for (Node* node : link.to) scaled(*node, true);
  for (const Value* value : link.values) {
    const auto found = stats.find(value->name());
    if (found == stats.end()) continue;
    for (size_t c = 0; c < s.size(); ++c) {
      ChannelStats& channel = found->second[c];
      channel.min = static_cast<float>(channel.min / s[c]);
      channel.max = static_cast<float>(channel.max / s[c]);
      channel.mean /= s[c];
      channel.power /= s[c] * s[c];
    }
  }
}

bool has_stats(const Link& link, const ValueStats& stats) {
  const auto of = [&](const Value& value, size_t channels) {
    const auto found = stats.find(value.name());
    return found != stats.end() && found->second.size() == channels;
  };
  const Linear from = *Linear::of(*link.from);
  return of(link.from->input(0), from.in_channels()) &&
         of(*link.values.back(), from.out_channels());
}

}  // namespace

std::vector<Equalized> equalize(Graph& graph, ValueStats& stats) {
  std::vector<Equalized> out;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (Node* node : graph.nodes()) {
      const auto link = link_of(graph, node);
      if (!link || !has_stats(*link, stats)) continue;
      const Estimate estimate(*link, stats);
      Factors best(stats.find(link->values.back()->name())->second.size(), 1.0);
      const double before = estimate.noise(best);
      double least = kWorthIt * before;
      bool found = false;
      for (const double share : kShares) {
        Factors candidate = estimate.factors(share);
        const double noise = estimate.noise(candidate);
        if (!(noise < least)) continue;
        least = noise;
        best = std::move(candidate);
        found = true;
      }
      if (!found) continue;
      apply(graph, *link, best, stats);
      out.push_back({link->values.back()->name(), node->output().name(), best, before, least});
    }
  }
  graph.remove_unused();
  return out;
}

std::set<std::string, std::less<>> fittable_weights(const Graph& graph) {
  std::set<std::string, std::less<>> out;
  for (Node* node : graph.nodes()) {
    const auto link = link_of(graph, node);
    if (!link) continue;
    out.insert(link->from->input(1).name());
    for (const Node* reader : link->to) out.insert(reader->input(1).name());
  }
  return out;
}

void follow_equalized(const Graph& graph, const std::vector<Equalized>& factors,
                      const ValueStats& stats, SeenSamples& seen) {
  for (const Equalized& entry : factors) {
    const auto link = link_of(graph, graph.find(entry.computed)->producer());
    for (const Value* value : link->values) {
      const auto found = stats.find(value->name());
      Range range;
      if (found != stats.end()) {
        for (const ChannelStats& channel : found->second) {
          range.min = std::min(range.min, channel.min);
          range.max = std::max(range.max, channel.max);
        }
      }
      if (found == stats.end() || !std::isfinite(range.min) || !std::isfinite(range.max)) {
        seen = {};
        return;
      }
      seen.ranges[value->name()] = range;
    }
  }
}

void equalize_alike(Graph& graph, const std::vector<Equalized>& factors) {
  ValueStats none;
  for (const Equalized& entry : factors) {
    const Value* const value = graph.find(entry.computed);
    if (value == nullptr || value->producer() == nullptr) continue;
    const auto link = link_of(graph, value->producer());
    const bool fits = link && link->values.back()->name() == entry.value &&
                      Linear::of(*link->from)->out_channels() == entry.factors.size();
    if (fits) apply(graph, *link, entry.factors, none);
  }
  graph.remove_unused();
}

}  // namespace rk::quant

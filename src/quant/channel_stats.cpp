// SPDX-License-Identifier: Apache-2.0
#include "quant/channel_stats.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "base/thread_pool.h"
#include "quant/linear.h"

namespace rk::quant {
namespace {

using Floats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(32)));
constexpr size_t kLanes = sizeof(Floats) / sizeof(float);

// Adds one picture's plane of a channel; `mean` and `power` hold sums until the end.
void add_plane(const float* x, size_t count, ChannelStats& channel) {
  // Two sums in turn, so that an addition need not wait for the one before.
  Floats low = Floats{} + channel.min, high = Floats{} + channel.max;
  Doubles sum[2] = {}, squares[2] = {};
  size_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    for (size_t half = 0; half < 2; ++half) {
      Floats v;
      std::memcpy(&v, x + i + half * kLanes, sizeof v);
      low = v < low ? v : low;
      high = v > high ? v : high;
      const Doubles wide = __builtin_convertvector(v, Doubles);
      sum[half] += wide;
      squares[half] += wide * wide;
    }
  }
  double total = 0, power = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    channel.min = std::min(channel.min, low[lane]);
    channel.max = std::max(channel.max, high[lane]);
    total += sum[0][lane] + sum[1][lane];
    power += squares[0][lane] + squares[1][lane];
  }
  for (; i < count; ++i) {
    channel.min = std::min(channel.min, x[i]);
    channel.max = std::max(channel.max, x[i]);
    total += x[i];
    power += double{x[i]} * x[i];
  }
  channel.mean += total / static_cast<double>(count);
  channel.power += power / static_cast<double>(count);
}

// The same for channels that have one number per picture: `rows` rows of numbers, one per channel and `step` apart.
void add_rows(const float* x, int64_t rows, int64_t step, std::span<ChannelStats> channels) {
  constexpr size_t kBlock = 64;
  for (size_t begin = 0; begin < channels.size(); begin += kBlock) {
    const std::span<ChannelStats> part =
        channels.subspan(begin, std::min(kBlock, channels.size() - begin));
    float low[kBlock], high[kBlock];
    double sum[kBlock] = {}, squares[kBlock] = {};
    for (size_t c = 0; c < part.size(); ++c) {
      low[c] = part[c].min;
      high[c] = part[c].max;
    }
    for (int64_t row = 0; row < rows; ++row) {
      const float* const v = x + row * step + begin;
      for (size_t c = 0; c < part.size(); ++c) {
        low[c] = v[c] < low[c] ? v[c] : low[c];
        high[c] = v[c] > high[c] ? v[c] : high[c];
        const double wide = v[c];
        sum[c] += wide;
        squares[c] += wide * wide;
      }
    }
    for (size_t c = 0; c < part.size(); ++c) {
      part[c].min = low[c];
      part[c].max = high[c];
      part[c].mean += sum[c];
      part[c].power += squares[c];
    }
  }
}

void add(const Tensor& tensor, ThreadPool* pool, std::vector<ChannelStats>& stats) {
  constexpr int64_t kWorthSplitting = 1 << 15;  // values
  const Shape& shape = tensor.shape();
  const int64_t inner = shape.elements() / (shape[0] * shape[1]);
  stats.resize(static_cast<size_t>(shape[1]));
  const float* const x = tensor.data<float>();
  const auto work = [&](IndexRange channels) {
    if (inner == 1) {
      const auto size = static_cast<size_t>(channels.end - channels.begin);
      return add_rows(x + channels.begin, shape[0], shape[1],
                      std::span(stats).subspan(static_cast<size_t>(channels.begin), size));
    }
    for (int64_t c = channels.begin; c < channels.end; ++c) {
      for (int64_t n = 0; n < shape[0]; ++n) {
        add_plane(x + (n * shape[1] + c) * inner, static_cast<size_t>(inner),
                  stats[static_cast<size_t>(c)]);
      }
    }
  };
  if (pool == nullptr) return work({0, shape[1]});
  pool->parallel_for(shape[1], std::max<int64_t>(1, kWorthSplitting / (inner * shape[0])), work);
}

}  // namespace

Result<ValueStats> observe_channels(const Graph& graph, const SampleSource& samples,
                                    ThreadPool* pool, const Progress& progress, SeenSamples* seen) {
  std::set<std::string, std::less<>> wanted;
  for (const Node* node : graph.nodes()) {
    if (node->def().homogeneous && wanted.contains(node->input(0).name()))
      wanted.insert(node->output().name());
    if (!Linear::of(*node)) continue;
    wanted.insert(node->input(0).name());
    wanted.insert(node->output().name());
  }
  ValueStats out;
  if (wanted.empty()) return out;
  std::map<std::string, double, std::less<>> rows;  // pictures seen
  const auto observer = [&](const Value& value, const Tensor& tensor,
                            const FiniteRange& range) -> Status {
    if (seen != nullptr) RK_TRY(seen->add(value, tensor, range, pool));
    if (!wanted.contains(value.name()) || tensor.shape().rank() < 2) return ok_status();
    add(tensor, pool, out[value.name()]);
    rows[value.name()] += static_cast<double>(tensor.shape()[0]);
    return ok_status();
  };
  RK_TRY(run_samples(graph, samples, pool, progress, observer,
                     {.end = kStatsSamples, .likeness = seen ? &seen->likeness : nullptr}));
  if (seen != nullptr) seen->count = std::min(samples.count(), kStatsSamples);
  for (auto& [name, stats] : out) {
    for (ChannelStats& channel : stats) {
      channel.mean /= rows[name];
      channel.power /= rows[name];
    }
  }
  return out;
}

}  // namespace rk::quant

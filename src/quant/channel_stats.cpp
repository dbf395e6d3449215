// SPDX-License-Identifier: Apache-2.0
#include "quant/channel_stats.h"

#include <algorithm>
#include <set>

#include "quant/linear.h"

namespace rk::quant {
namespace {

// Sums while samples come in; `mean` and `power` hold sums until the end.
void add(const Tensor& tensor, std::vector<ChannelStats>& stats) {
  const Shape& shape = tensor.shape();
  const auto channels = static_cast<size_t>(shape[1]);
  const size_t inner = static_cast<size_t>(shape.elements() / (shape[0] * shape[1]));
  stats.resize(channels);
  const float* x = tensor.data<float>();
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (ChannelStats& channel : stats) {
      double sum = 0, squares = 0;
      for (size_t i = 0; i < inner; ++i, ++x) {
        channel.min = std::min(channel.min, *x);
        channel.max = std::max(channel.max, *x);
        sum += *x;
        squares += double{*x} * *x;
      }
      channel.mean += sum / static_cast<double>(inner);
      channel.power += squares / static_cast<double>(inner);
    }
  }
}

}  // namespace

Result<ValueStats> observe_channels(const Graph& graph, const SampleSource& samples,
                                    ThreadPool* pool) {
  std::set<std::string, std::less<>> wanted;
  for (const Node* node : graph.nodes()) {
    if (!Linear::of(*node)) continue;
    wanted.insert(node->input(0).name());
    wanted.insert(node->output().name());
  }
  ValueStats out;
  if (wanted.empty()) return out;
  std::map<std::string, double, std::less<>> rows;  // pictures seen
  const auto observer = [&](const Value& value, const Tensor& tensor) -> Status {
    if (!wanted.contains(value.name()) || tensor.shape().rank() < 2) return ok_status();
    add(tensor, out[value.name()]);
    rows[value.name()] += static_cast<double>(tensor.shape()[0]);
    return ok_status();
  };
  RK_TRY(run_samples(graph, samples, pool, {}, observer, kStatsSamples));
  for (auto& [name, stats] : out) {
    for (ChannelStats& channel : stats) {
      channel.mean /= rows[name];
      channel.power /= rows[name];
    }
  }
  return out;
}

}  // namespace rk::quant

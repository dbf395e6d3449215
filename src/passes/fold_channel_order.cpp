// SPDX-License-Identifier: Apache-2.0
// A Gather of channels beside a convolution is an order of its weights: of their output channels behind it, of their
// input channels before it. A channel shuffle so costs nothing.
#include "ir/rewrite.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// The channels that a Gather takes, each once; empty for any other Gather.
std::vector<int64_t> order_of(const Node& gather) {
  const Value& indices = gather.input(1);
  const Shape& in = gather.input(0).shape();
  const int64_t axis = gather.i64("axis") < 0 ? gather.i64("axis") + in.rank() : gather.i64("axis");
  if (axis != 1 || !indices.is_constant() || indices.shape().rank() != 1 || in.rank() < 3)
    return {};
  std::vector<int64_t> order = indices.constant().to_i64();
  std::vector<bool> seen(static_cast<size_t>(in[1]), false);
  if (order.size() != seen.size()) return {};
  for (int64_t& channel : order) {
    channel += channel < 0 ? in[1] : 0;
    if (channel < 0 || channel >= in[1] || seen[static_cast<size_t>(channel)]) return {};
    seen[static_cast<size_t>(channel)] = true;
  }
  return order;
}

bool takes(const Node& conv) {
  for (size_t i = 1; i < conv.input_count(); ++i)
    if (conv.has_input(i) && !conv.input(i).is_constant()) return false;
  return conv.i64("group") == 1 && conv.input(1).dtype() == DType::kF32;
}

// `data` as [outer, channels, inner]: channel order[i] of the result is channel i where `back`, else the other way.
Tensor reordered(const Tensor& data, int64_t outer, const std::vector<int64_t>& order, bool back) {
  Tensor out = data.clone();
  const auto channels = static_cast<int64_t>(order.size());
  const int64_t inner = data.elements() / std::max<int64_t>(1, outer * channels);
  const float* from = data.span<float>().data();
  float* const to = out.mutable_data<float>();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t other = order[static_cast<size_t>(c)];
      const int64_t source = o * channels + (back ? c : other);
      const int64_t place = o * channels + (back ? other : c);
      std::copy_n(from + source * inner, inner, to + place * inner);
    }
  }
  return out;
}

NodeSpec with_weights(Match& m, const Node& conv, Value* x, Tensor weight, Tensor bias) {
  Graph& graph = m.graph();
  std::vector<Value*> inputs = {x, graph.add_constant(conv.name() + "_ordered", std::move(weight))};
  if (conv.has_input(2))
    inputs.push_back(graph.add_constant(conv.name() + "_bias", std::move(bias)));
  return {"Conv", conv.name(), std::move(inputs), {""}, conv.attrs()};
}

Result<Rewrite> into_conv_before(Match& m) {
  const std::vector<int64_t> order = order_of(m[1]);
  if (order.empty() || !takes(m[0])) return Rewrite::kSkip;
  Tensor bias;
  if (m[0].has_input(2)) bias = reordered(m[0].input(2).constant(), 1, order, false);
  return m.replace_with(with_weights(m, m[0], &m[0].input(0),
                                     reordered(m[0].input(1).constant(), 1, order, false),
                                     std::move(bias)));
}

Result<Rewrite> into_conv_behind(Match& m) {
  const std::vector<int64_t> order = order_of(m[0]);
  if (order.empty() || !takes(m[1])) return Rewrite::kSkip;
  const Tensor& weight = m[1].input(1).constant();
  return m.replace_with(with_weights(m, m[1], &m[0].input(0),
                                     reordered(weight, weight.shape()[0], order, true),
                                     m[1].has_input(2) ? m[1].input(2).constant() : Tensor()));
}

}  // namespace

Result<size_t> fold_channel_order(Graph& graph) {
  RK_ASSIGN(const size_t before,
            rewrite(graph, chain("Conv", "Gather").only_use(), into_conv_before));
  RK_ASSIGN(const size_t behind,
            rewrite(graph, chain("Gather", "Conv").only_use(), into_conv_behind));
  return before + behind;
}

}  // namespace rk::passes

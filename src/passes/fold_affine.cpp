// SPDX-License-Identifier: Apache-2.0
// Add, Sub, Mul and Div with one constant per channel behind a convolution become part of its
// weights and bias.
#include "passes/conv_channels.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// The operand as one value per channel of an N,C,... tensor; nothing where it varies over other
// axes.
std::optional<std::vector<float>> per_channel(const Value& operand, const Shape& result,
                                              int64_t channels) {
  if (!operand.is_constant()) return std::nullopt;
  const Shape& shape = operand.shape();
  if (shape.elements() == 1) {
    return std::vector<float>(static_cast<size_t>(channels),
                              static_cast<float>(operand.constant().at_f64(0)));
  }
  if (shape.elements() != channels || shape.rank() > result.rank()) return std::nullopt;
  const int channel_axis = 1 - (result.rank() - shape.rank());
  if (channel_axis < 0 || shape[channel_axis] != channels) return std::nullopt;
  return operand.constant().to_f32();
}

std::optional<ChannelAffine> affine_of(std::string_view op, const std::vector<float>& operand,
                                       bool operand_first) {
  ChannelAffine out;
  for (const float v : operand) {
    float scale = 1, shift = 0;
    if (op == "Add") {
      shift = v;
    } else if (op == "Sub") {
      scale = operand_first ? -1.0f : 1.0f;
      shift = operand_first ? v : -v;
    } else if (op == "Mul") {
      scale = v;
    } else if (op == "Div" && !operand_first && v != 0) {
      scale = 1 / v;
    } else {
      return std::nullopt;
    }
    out.scale.push_back(scale);
    out.shift.push_back(shift);
  }
  return out;
}

}  // namespace

Result<size_t> fold_affine(Graph& graph) {
  size_t total = 0;
  for (const std::string_view conv : {"Conv", "ConvTranspose"}) {
    for (const std::string_view op : {"Mul", "Div", "Add", "Sub"}) {
      RK_ASSIGN(
          const size_t changed,
          rewrite(graph, chain(conv, op).only_use().any_input(), [](Match& m) -> Result<Rewrite> {
            const auto channels = foldable_channels(m[0]);
            if (!channels || m[1].output().shape() != m[0].output().shape()) return Rewrite::kSkip;
            const size_t other = 1 - m.link(1);
            const auto operand = per_channel(m[1].input(other), m[1].output().shape(), *channels);
            if (!operand) return Rewrite::kSkip;
            const auto affine = affine_of(m[1].op(), *operand, other == 0);
            if (!affine) return Rewrite::kSkip;
            return fold_into_conv(m, *affine);
          }));
      total += changed;
    }
  }
  return total;
}

}  // namespace rk::passes

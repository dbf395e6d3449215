// SPDX-License-Identifier: Apache-2.0
// BatchNormalization behind a convolution becomes part of its weights and bias.
#include <cmath>

#include "passes/conv_channels.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// scale = gamma / sqrt(var + epsilon), shift = beta - mean * scale; in double, stored once as
// float.
std::optional<ChannelAffine> affine_of(const Node& norm) {
  if (norm.output_count() != 1) return std::nullopt;
  for (size_t i = 1; i <= 4; ++i) {
    if (!norm.input(i).is_constant()) return std::nullopt;
  }
  ChannelAffine out;
  const int64_t channels = norm.input(1).shape().elements();
  for (int64_t c = 0; c < channels; ++c) {
    const auto at = [&](size_t input) { return norm.input(input).constant().at_f64(c); };
    const double scale = at(1) / std::sqrt(at(4) + static_cast<double>(norm.f32("epsilon")));
    out.scale.push_back(static_cast<float>(scale));
    out.shift.push_back(static_cast<float>(at(2) - at(3) * scale));
  }
  return out;
}

}  // namespace

Result<size_t> fold_batch_norm(Graph& graph) {
  size_t total = 0;
  for (const std::string_view conv : {"Conv", "ConvTranspose"}) {
    RK_ASSIGN(const size_t changed, rewrite(graph, chain(conv, "BatchNormalization").only_use(),
                                            [](Match& m) -> Result<Rewrite> {
                                              const auto affine = affine_of(m[1]);
                                              if (!affine || !foldable_channels(m[0]))
                                                return Rewrite::kSkip;
                                              return fold_into_conv(m, *affine);
                                            }));
    total += changed;
  }
  return total;
}

}  // namespace rk::passes

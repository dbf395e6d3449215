// SPDX-License-Identifier: Apache-2.0
// Folding y = scale[c] * conv(x) + shift[c] into a convolution's constants.
#pragma once

#include <optional>
#include <vector>

#include "ir/rewrite.h"

namespace rk::passes {

struct ChannelAffine {
  std::vector<float> scale;  // one per output channel
  std::vector<float> shift;
};

// Output channels of a Conv or ConvTranspose whose weights (and bias, if any) are constant; nothing
// where they are computed at run time, or where a transposed group convolution spreads a channel's
// weights.
std::optional<int64_t> foldable_channels(const Node& conv);

// Replaces the match's last node by its first, a convolution with the affine folded in.
Result<Rewrite> fold_into_conv(Match& match, const ChannelAffine& affine);

}  // namespace rk::passes

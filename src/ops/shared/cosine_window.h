// SPDX-License-Identifier: Apache-2.0
// What HannWindow, HammingWindow and BlackmanWindow share: windows that are sums of cosines.
#pragma once

#include <array>

#include "ops/shared/shape_util.h"

namespace rk::ops {

// The schema of a window, but for its reference.
OpDef cosine_window_def(std::string_view name, std::string_view doc,
                        Status (*reference)(const EvalCall& call));

// y[n] = a[0] - a[1] cos(2 pi n / N) + a[2] cos(4 pi n / N), where N is the size, or one less when
// the window is not periodic.
Status fill_cosine_window(const EvalCall& call, const std::array<double, 3>& a);

}  // namespace rk::ops

// SPDX-License-Identifier: Apache-2.0
#include "analysis/errors.h"

#include <algorithm>
#include <cmath>

namespace rk::analysis {
namespace {

constexpr double kEqualDb = 200;

}  // namespace

Errors compare(std::span<const float> golden, std::span<const float> found) {
  Errors out;
  double dot = 0, g2 = 0, f2 = 0, e2 = 0;
  for (size_t i = 0; i < std::min(golden.size(), found.size()); ++i) {
    const double g = golden[i], f = found[i];
    dot += g * f;
    g2 += g * g;
    f2 += f * f;
    e2 += (f - g) * (f - g);
    out.max_abs = std::max(out.max_abs, std::fabs(f - g));
  }
  out.euclidean = std::sqrt(e2);
  out.cosine = g2 == 0 && f2 == 0 ? 1 : g2 == 0 || f2 == 0 ? 0 : dot / std::sqrt(g2 * f2);
  if (!std::isfinite(out.cosine)) out.cosine = 0;
  out.sqnr_db = e2 == 0 ? kEqualDb : g2 == 0 ? -kEqualDb : 10 * std::log10(g2 / e2);
  return out;
}

}  // namespace rk::analysis

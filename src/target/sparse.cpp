// SPDX-License-Identifier: Apache-2.0
#include "target/sparse.h"

#include <algorithm>

namespace rk::target {
namespace {

// Toolkit API reference 2.3: sparse_infer.
constexpr std::string_view kChips[] = {"rk3576", "rv1126b"};

}  // namespace

std::string_view to_string(Sparsity sparsity) {
  switch (sparsity) {
    case Sparsity::kNone:
      return "0%";
    case Sparsity::kInputs:
      return "50%(IC)";
    case Sparsity::kOutputs:
      return "50%(OC)";
    case Sparsity::kBoth:
      return "75%";
  }
  return "?";
}

int divisor(Sparsity sparsity) {
  return sparsity == Sparsity::kNone ? 1 : sparsity == Sparsity::kBoth ? 4 : 2;
}

bool has_sparse_weights(const Target& target) {
  return std::ranges::find(kChips, target.name) != std::end(kChips);
}

std::string sparse_chips() {
  std::string out;
  for (const std::string_view chip : kChips) out += str(out.empty() ? "" : ", ", chip);
  return out;
}

}  // namespace rk::target

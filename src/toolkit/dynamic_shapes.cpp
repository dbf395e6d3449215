// SPDX-License-Identifier: Apache-2.0
#include "toolkit/dynamic_shapes.h"

#include <algorithm>
#include <optional>

#include "base/checked_math.h"

namespace rk::toolkit {
namespace {

// Elements of all inputs together; nothing when there are too many for any model.
std::optional<uint64_t> elements(const ShapeSet& set) {
  uint64_t sum = 0;
  for (const std::vector<int64_t>& shape : set) {
    uint64_t product = 1;
    for (const int64_t extent : shape) {
      const auto next = checked_mul(product, static_cast<uint64_t>(std::max<int64_t>(0, extent)));
      if (!next) return std::nullopt;
      product = *next;
    }
    const auto next = checked_add(sum, product);
    if (!next) return std::nullopt;
    sum = *next;
  }
  return sum;
}

}  // namespace

Status check_dynamic_input(const std::vector<ShapeSet>& sets) {
  if (sets.size() > kMaxShapeSets) {
    return invalid_argument(
        str("dynamic_input has ", sets.size(), " sets of shapes, at most ", kMaxShapeSets, "!"));
  }
  for (size_t i = 0; i < sets.size(); ++i) {
    const ShapeSet& set = sets[i];
    if (set.empty() || set.size() != sets.front().size()) {
      return invalid_argument(str("dynamic_input[", i, "] has ", set.size(),
                                  " shape(s), expect one per input as in dynamic_input[0]!"));
    }
    for (const std::vector<int64_t>& shape : set) {
      if (shape.empty() || std::ranges::any_of(shape, [](int64_t d) { return d < 1; })) {
        return invalid_argument(
            str("dynamic_input[", i, "] = ", to_string(set), ", expect extents of 1 or more!"));
      }
    }
    if (!elements(set))
      return invalid_argument(str("dynamic_input[", i, "] has too many elements!"));
  }
  return ok_status();
}

size_t max_shape(const std::vector<ShapeSet>& sets) {
  size_t best = 0;
  for (size_t i = 1; i < sets.size(); ++i) {
    if (elements(sets[i]) > elements(sets[best])) best = i;
  }
  return best;
}

std::string to_string(const ShapeSet& set) {
  std::string out = "[";
  for (const std::vector<int64_t>& shape : set) {
    out += out.size() > 1 ? ", [" : "[";
    for (size_t i = 0; i < shape.size(); ++i) out += str(i == 0 ? "" : ", ", shape[i]);
    out += "]";
  }
  return out + "]";
}

std::vector<ShapeSet> max_shape_first(std::vector<ShapeSet> sets) {
  const auto largest = static_cast<std::ptrdiff_t>(max_shape(sets));
  std::rotate(sets.begin(), sets.begin() + largest, sets.begin() + largest + 1);
  return sets;
}

}  // namespace rk::toolkit

// SPDX-License-Identifier: Apache-2.0
#include "ir/attr.h"

#include <algorithm>
#include <cstring>

namespace rk {

std::string_view attr_kind(const Attr& value) {
  constexpr std::string_view kKinds[] = {"int",    "float",   "string", "ints",
                                         "floats", "strings", "tensor"};
  return kKinds[value.index()];
}

bool attr_equal(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  if (const auto* tensor = std::get_if<Tensor>(&a)) {
    const auto& other = std::get<Tensor>(b);
    return tensor->type() == other.type() && std::ranges::equal(tensor->bytes(), other.bytes());
  }
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          return false;  // handled above
        } else {
          return value == std::get<T>(b);
        }
      },
      a);
}

bool attrs_equal(const AttrMap& a, const AttrMap& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && attr_equal(x.second, y.second);
  });
}

}  // namespace rk

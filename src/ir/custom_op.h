// SPDX-License-Identifier: Apache-2.0
// How operators that the user brings along (ops/shared/custom.h) are named and described.
//
// Note: in a Graph and in a Program such an operator is called "custom.<type>", never by its type alone,
// so that no pass and no kernel takes it for the standard operator it may replace.
#pragma once

#include <string>
#include <string_view>

namespace rk {

inline constexpr std::string_view kCustomPrefix = "custom.";

inline std::string custom_name(std::string_view type) {
  return std::string(kCustomPrefix).append(type);
}
inline bool is_custom(std::string_view op) { return op.starts_with(kCustomPrefix); }
// The name a user knows: without the prefix.
inline std::string_view user_name(std::string_view op) {
  return is_custom(op) ? op.substr(kCustomPrefix.size()) : op;
}

// A schema that lists an attribute of this name takes any others too, of any kind, and inputs may be absent.
inline constexpr std::string_view kAnyAttribute = "*";

}  // namespace rk

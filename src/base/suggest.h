// SPDX-License-Identifier: Apache-2.0
// "Did you mean": names close to a mistyped one, for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rk {

// At most three names, closest first, quoted and joined: "'conv1', 'conv2'". Empty when nothing is close.
std::string close_names(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace rk

// SPDX-License-Identifier: Apache-2.0
// Where a server may listen, and who may call it.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace rk::server {

// 127.0.0.0/8, ::1, localhost, and sockets of this machine (unix:PATH).
bool is_local_address(std::string_view host);

// The time depends on the lengths only, never on where the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// The first line of a file that only its owner may read. At least 16 characters.
Result<std::string> read_token(const std::string& path);

}  // namespace rk::server

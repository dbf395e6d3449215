// SPDX-License-Identifier: Apache-2.0
#include "server/engine/guard.h"

#include <arpa/inet.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"

namespace rk::server {
namespace {

constexpr size_t kShortestToken = 16;
constexpr uint64_t kLongestTokenFile = 4096;

}  // namespace

bool is_local_address(std::string_view host) {
  if (host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("unix:"))
    return true;
  in_addr address{};
  if (inet_pton(AF_INET, std::string(host).c_str(), &address) != 1) return false;
  return (ntohl(address.s_addr) >> 24) == 127;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  // volatile: an optimizer that may look inside could leave the loop early.
  volatile unsigned differs = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    const unsigned other = b.empty() ? 0u : static_cast<unsigned char>(b[i % b.size()]);
    differs = differs | (static_cast<unsigned char>(a[i]) ^ other);
  }
  return differs == 0;
}

Result<std::string> read_token(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && (about.st_mode & 037) != 0) {
    return invalid_argument(str("token file '", path,
                                "' can be read by others or written by its group: chmod 600 '",
                                path, "'"));
  }
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file(path, kLongestTokenFile));
  std::string token(bytes.begin(), std::ranges::find(bytes, '\n'));
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (token.size() < kShortestToken) {
    return invalid_argument(str("token file '", path, "' has ", token.size(),
                                " characters in its first line; give at least ", kShortestToken,
                                ", for example from `openssl rand -hex 32`"));
  }
  return token;
}

}  // namespace rk::server

// SPDX-License-Identifier: Apache-2.0
// A small HTTP server for this machine's own browser, on Boost.Beast: reads only, from 127.0.0.1 only. The rest of the
// program sees plain texts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"

namespace rk::tools {

struct HttpAnswer {
  int status = 200;
  std::string body;
  std::string_view type = "text/html; charset=utf-8";
};

// `path` begins with '/', both are as they came, %-signs included; several threads call at once.
using HttpHandler = std::function<HttpAnswer(const std::string& path, const std::string& query)>;

// Answers GET and HEAD until the process ends. What has another Host than this server (a page elsewhere that was led
// here), a body, more than 8 KB of headers, or takes over five seconds is refused or dropped. `port` 0 takes a free one;
// `ready` is told which.
Status serve_http(uint16_t port, const std::function<void(uint16_t port)>& ready,
                  const HttpHandler& handler);

// "a%20b" -> "a b"; an error for what is not such a text.
Result<std::string> decode_url(std::string_view text);
std::string encode_url(std::string_view text);
std::string escape_html(std::string_view text);

}  // namespace rk::tools

// SPDX-License-Identifier: Apache-2.0
#include "capi/fault.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/status.h"

namespace rk::capi {
namespace {

constexpr long kLowestCode = -99;

struct Fault {
  long nth = 0;  // 0: every call
  long code = 0;
};

// What one entry "call[:nth]=code" says about `function`; nothing when it is about another or is not well formed.
std::optional<Fault> parse(std::string_view entry, std::string_view function) {
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  std::string_view call = entry.substr(0, equals);
  Fault out;
  if (const size_t colon = call.find(':'); colon != std::string_view::npos) {
    out.nth = std::strtol(std::string(call.substr(colon + 1)).c_str(), nullptr, 10);
    call = call.substr(0, colon);
  }
  out.code = std::strtol(std::string(entry.substr(equals + 1)).c_str(), nullptr, 10);
  if (call != function || out.nth < 0 || out.code >= 0 || out.code < kLowestCode)
    return std::nullopt;
  return out;
}

// Calls so far, by function, since the text of the variable changed.
class Counter {
 public:
  long next(std::string_view text, std::string_view function) {
    const std::lock_guard lock(mutex_);
    if (text != text_) {
      text_ = text;
      calls_.clear();
    }
    return ++calls_[std::string(function)];
  }

 private:
  std::mutex mutex_;
  std::string text_;
  std::map<std::string, long> calls_;
};

// Leaked on purpose, like the table of contexts.
Counter& counter() {
  static auto* const counter = new Counter;
  return *counter;
}

int find_fault(std::string_view text, std::string_view function) {
  const long call = counter().next(text, function);
  for (std::string_view rest = text; !rest.empty();) {
    const size_t comma = rest.find(',');
    const auto fault = parse(rest.substr(0, comma), function);
    if (fault && (fault->nth == 0 || fault->nth == call)) {
      log(LogLevel::kWarning, str(function, " fails with ", fault->code, " as RKNN_FAULT asks"));
      return static_cast<int>(fault->code);
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return 0;
}

}  // namespace

int injected_fault(const char* function) noexcept {
  const char* const text = secure_getenv("RKNN_FAULT");
  if (text == nullptr || *text == '\0') return 0;
  try {
    return find_fault(text, function);
  } catch (...) {
    return 0;  // out of memory: the call itself will say so
  }
}

}  // namespace rk::capi

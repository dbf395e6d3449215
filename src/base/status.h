// SPDX-License-Identifier: Apache-2.0
// Status and Result<T>: how every failure travels. A message names the user's own node or argument,
// what was found, what was expected and what to do. A Status is returned, never logged on the way;
// the boundary that swallows it logs it once.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace rk {

// What kind of thing went wrong. capi/ maps each to one RKNN_ERR_* value, in a single place.
enum class Code {
  kOk,
  kInvalidArgument,  // the caller's argument is wrong
  kInvalidModel,     // the bytes of a model or container are wrong
  kInvalidContext,   // a handle that was never made, or is gone
  kInvalidInput,     // an rknn_input that cannot be used
  kInvalidOutput,    // an rknn_output that cannot be used
  kUnsupported,      // legal, but not offered by this build or target
  kTargetMismatch,   // the model is for another chip
  kOutOfMemory,      // an allocation failed or would exceed the limit
  kIo,               // a file cannot be read or written
  kTimeout,
  kUnavailable,  // a device, server or optional library is not there
  kCancelled,
};

std::string_view to_string(Code code);

// Joins its arguments with operator<<: str("node '", name, "': found ", n).
template <typename... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with what this layer knows put in front: "node 'conv1' (Conv): <message>".
  Status with_context(std::string_view context) const {
    return ok() ? *this : Status(code_, str(context, ": ", message_));
  }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

inline Status ok_status() { return {}; }
inline Status invalid_argument(std::string m) { return {Code::kInvalidArgument, std::move(m)}; }
inline Status invalid_model(std::string m) { return {Code::kInvalidModel, std::move(m)}; }
inline Status unsupported(std::string m) { return {Code::kUnsupported, std::move(m)}; }
inline Status out_of_memory(std::string m) { return {Code::kOutOfMemory, std::move(m)}; }
inline Status io_error(std::string m) { return {Code::kIo, std::move(m)}; }

// A value or the Status that explains why there is none. value() on a failure is a bug of ours and
// aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { return require(), *value_; }
  const T& value() const& { return require(), *value_; }
  T&& value() && { return require(), std::move(*value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void require() const;
  std::optional<T> value_;
  Status status_;
};

// Prints "file:line: what must hold" and aborts. Only for our own bugs: no user input may reach it.
[[noreturn]] void assert_failed(const char* file, int line, const char* what);

template <typename T>
void Result<T>::require() const {
  if (!value_) assert_failed(__FILE__, __LINE__, status_.message().c_str());
}

}  // namespace rk

#define RK_ASSERT(condition, what) \
  ((condition) ? (void)0 : ::rk::assert_failed(__FILE__, __LINE__, what))

#define RK_CONCAT_INNER(a, b) a##b
#define RK_CONCAT(a, b) RK_CONCAT_INNER(a, b)

// Returns the Status of a failed expression to the caller.
#define RK_TRY(...)                                                                \
  do {                                                                             \
    if (::rk::Status rk_status = (__VA_ARGS__); !rk_status.ok()) return rk_status; \
  } while (0)

// RK_ASSIGN(const Pads pads, parse_pads(proto)); declares or assigns, or returns the Status.
#define RK_ASSIGN(target, ...) RK_ASSIGN_INNER(RK_CONCAT(rk_result_, __LINE__), target, __VA_ARGS__)
#define RK_ASSIGN_INNER(result, target, ...) \
  auto result = (__VA_ARGS__);               \
  if (!result.ok()) return result.status();  \
  target = std::move(result).value()

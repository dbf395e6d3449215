// SPDX-License-Identifier: Apache-2.0
// A JSON value, its parser and its writer. Objects keep the order in which members were added.
// Integers stay integers: 1 is not 1.0, as_int() refuses the second and the writer keeps them
// apart, so a file that is read and written again does not change its numbers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"

namespace rk {

// A value was read as a kind that it is not. Thrown where a check was forgotten, and turned into a Status at every
// boundary (the C functions, the command): no text of a file leads to a read through a null pointer.
class JsonKindError : public std::runtime_error {
 public:
  JsonKindError()
      : std::runtime_error("a JSON value is missing or of another kind than expected") {}
};

// What an accessor found, or nothing: compares and converts like a pointer.
template <typename T>
class JsonFound {
 public:
  JsonFound(const T* found) : found_(found) {}
  operator const T*() const { return found_; }
  const T& operator*() const { return *checked(); }
  const T* operator->() const { return checked(); }

 private:
  const T* checked() const {
    if (found_ == nullptr) throw JsonKindError();
    return found_;
  }
  const T* found_;
};

// A number or a truth value, or nothing: an optional that checks.
template <typename T>
class JsonScalar : public std::optional<T> {
 public:
  using std::optional<T>::optional;
  const T& operator*() const {
    if (!this->has_value()) throw JsonKindError();
    return std::optional<T>::operator*();
  }
};

class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t);
  Json(std::string text);
  Json(std::string_view text);
  Json(const char* text);
  Json(double number);
  // Any integer type and bool. An unsigned value above INT64_MAX becomes the nearest double.
  template <std::integral T>
  Json(T value);

  static Json array(std::initializer_list<Json> elements = {});
  static Json object(std::initializer_list<Member> members = {});
  static Json object_of(Object members);
  // An array of anything a Json can be made of: Json::array_of(std::vector<int64_t>{1, 224, 224,
  // 3}).
  template <typename Range>
  static Json array_of(const Range& values);

  bool is_null() const { return std::holds_alternative<Null>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  // Nothing, or null, when the value is of another kind. as_double() takes integers too.
  JsonScalar<bool> as_bool() const;
  JsonScalar<int64_t> as_int() const;
  JsonScalar<double> as_double() const;
  JsonFound<std::string> as_string() const { return std::get_if<std::string>(&value_); }
  JsonFound<Array> as_array() const { return std::get_if<Array>(&value_); }
  JsonFound<Object> as_object() const { return std::get_if<Object>(&value_); }

  // The member with this key, the last one if a text repeated it; null when there is none or this
  // is not an object.
  JsonFound<Json> find(std::string_view key) const;
  // The element, null when the index is out of range or this is not an array.
  JsonFound<Json> at(size_t index) const;
  // Elements of an array, 0 for everything else: at(i) has something for each i below it.
  size_t size() const;

  // Appends to an array; a null becomes an array first. Calling it on anything else is a bug of the
  // caller.
  Json& push(Json element);
  // Adds or replaces a member; a null becomes an object first. Likewise.
  Json& set(std::string_view key, Json value);

  bool operator==(const Json& other) const;

 private:
  // Not trivial to copy, on purpose: where all alternatives are known to stay valid, libstdc++ 12 ends a variant whose
  // copy ran out of memory by an index that it does not have.
  struct Null {
    Null() = default;
    Null(const Null&) noexcept {}
    Null& operator=(const Null&) noexcept { return *this; }
    bool operator==(const Null&) const { return true; }
  };
  std::variant<Null, bool, int64_t, double, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string key;
  Json value;
  bool operator==(const Member&) const = default;
};

// Here, where Member is complete.
inline Json::Json(std::nullptr_t) {}
inline Json::Json(std::string text) : value_(std::move(text)) {}
inline Json::Json(std::string_view text) : value_(std::string(text)) {}
inline Json::Json(const char* text) : value_(std::string(text)) {}
inline Json::Json(double number) : value_(number) {}

template <std::integral T>
Json::Json(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    value_ = value;
  } else if (std::is_signed_v<T> ||
             static_cast<uint64_t>(value) <=
                 static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    value_ = static_cast<int64_t>(value);
  } else {
    value_ = static_cast<double>(value);
  }
}

template <typename Range>
Json Json::array_of(const Range& values) {
  Json out = array();
  for (const auto& value : values) out.push(Json(value));
  return out;
}

inline constexpr int kMaxJsonDepth = 64;
inline constexpr size_t kMaxJsonBytes = size_t{64} << 20;

// RFC 8259 to the letter: no comments, no trailing commas, nothing after the value. Bytes of a
// string that are not UTF-8 are kept as they are, since names in models come in any encoding; an
// unpaired surrogate escape becomes U+FFFD. A failure is kInvalidArgument and says line, column and
// what was expected; a caller that reads a model adds its own context.
Result<Json> parse_json(std::string_view text);

// indent 0 is compact, on one line; otherwise members stand on lines of their own, indented by so
// many spaces, and arrays of plain numbers stay on one line. Doubles are written with the fewest
// digits that read back to the same value; NaN and infinities, which JSON cannot say, become null.
std::string write_json(const Json& value, int indent = 0);

}  // namespace rk

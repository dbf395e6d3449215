// SPDX-License-Identifier: Apache-2.0
// The parser is a plain recursive descent whose depth is limited, so hostile text cannot exhaust
// the stack; the writer recurses as deep as the value it is given, which the program itself has
// built.
#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rk {

Json Json::array(std::initializer_list<Json> elements) {
  Json out;
  out.value_ = Array(elements);
  return out;
}

Json Json::object(std::initializer_list<Member> members) {
  Json out;
  out.value_ = Object(members);
  return out;
}

Json Json::object_of(Object members) {
  Json out;
  out.value_ = std::move(members);
  return out;
}

JsonScalar<bool> Json::as_bool() const {
  const bool* value = std::get_if<bool>(&value_);
  return value != nullptr ? JsonScalar<bool>(*value) : std::nullopt;
}

JsonScalar<int64_t> Json::as_int() const {
  const int64_t* value = std::get_if<int64_t>(&value_);
  return value != nullptr ? JsonScalar<int64_t>(*value) : std::nullopt;
}

JsonScalar<double> Json::as_double() const {
  if (const double* value = std::get_if<double>(&value_)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

JsonFound<Json> Json::find(std::string_view key) const {
  const Object* members = as_object();
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->rbegin(), members->rend(),
                                  [&](const Member& member) { return member.key == key; });
  return found != members->rend() ? &found->value : nullptr;
}

JsonFound<Json> Json::at(size_t index) const {
  const Array* elements = as_array();
  return elements != nullptr && index < elements->size() ? &(*elements)[index] : nullptr;
}

size_t Json::size() const {
  if (const Array* elements = as_array()) return elements->size();
  return 0;
}

Json& Json::push(Json element) {
  if (is_null()) value_ = Array();
  RK_ASSERT(is_array(), "push() is called on an array");
  std::get<Array>(value_).push_back(std::move(element));
  return *this;
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = Object();
  RK_ASSERT(is_object(), "set() is called on an object");
  Object& members = std::get<Object>(value_);
  for (Member& member : members) {
    if (member.key == key) {
      member.value = std::move(value);
      return *this;
    }
  }
  members.push_back({std::string(key), std::move(value)});
  return *this;
}

bool Json::operator==(const Json& other) const { return value_ == other.value_; }

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, uint32_t code_point) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | code_point >> 6);
    put(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    put(0xe0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3f));
    put(0x80 | (code_point & 0x3f));
  } else {
    put(0xf0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3f));
    put(0x80 | (code_point >> 6 & 0x3f));
    put(0x80 | (code_point & 0x3f));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Json> parse_document() {
    skip_blanks();
    RK_ASSIGN(Json value, parse_value(1));
    skip_blanks();
    if (offset_ != text_.size()) return expected("the end of the text");
    return value;
  }

 private:
  // What is next; 0 at the end, which no rule of the grammar accepts either.
  char peek() const { return offset_ < text_.size() ? text_[offset_] : '\0'; }

  bool accept(char c) {
    if (offset_ >= text_.size() || text_[offset_] != c) return false;
    ++offset_;
    return true;
  }

  bool accept_word(std::string_view word) {
    if (text_.substr(offset_, word.size()) != word) return false;
    offset_ += word.size();
    return true;
  }

  void skip_blanks() {
    while (offset_ < text_.size() &&
           (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) {
      ++offset_;
    }
  }

  Status fail(std::string_view message) const {
    const std::string_view before = text_.substr(0, offset_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t newline = before.rfind('\n');
    const size_t column = newline == std::string_view::npos ? offset_ + 1 : offset_ - newline;
    return invalid_argument(str("JSON line ", line, ", column ", column, ": ", message));
  }

  Status expected(std::string_view what) const {
    if (offset_ >= text_.size()) return fail(str(what, " expected, the text ends"));
    const unsigned char c = static_cast<unsigned char>(text_[offset_]);
    if (c >= 0x20 && c < 0x7f) return fail(str(what, " expected, found '", text_[offset_], "'"));
    return fail(str(what, " expected, found byte ", static_cast<int>(c)));
  }

  Result<Json> parse_value(int depth) {
    switch (peek()) {
      case '{':
        return parse_object(depth);
      case '[':
        return parse_array(depth);
      case '"': {
        RK_ASSIGN(std::string text, parse_string());
        return Json(std::move(text));
      }
      case 't':
        if (accept_word("true")) return Json(true);
        break;
      case 'f':
        if (accept_word("false")) return Json(false);
        break;
      case 'n':
        if (accept_word("null")) return Json();
        break;
      default:
        if (peek() == '-' || is_digit(peek())) return parse_number();
        break;
    }
    return expected("a value");
  }

  Status check_depth(int depth) const {
    if (depth <= kMaxJsonDepth) return ok_status();
    return fail(str("nested deeper than ", kMaxJsonDepth, " levels"));
  }

  Result<Json> parse_array(int depth) {
    RK_TRY(check_depth(depth));
    ++offset_;
    Json out = Json::array();
    skip_blanks();
    if (accept(']')) return out;
    for (;;) {
      skip_blanks();
      RK_ASSIGN(Json element, parse_value(depth + 1));
      out.push(std::move(element));
      skip_blanks();
      if (accept(']')) return out;
      if (!accept(',')) return expected("',' or ']'");
    }
  }

  Result<Json> parse_object(int depth) {
    RK_TRY(check_depth(depth));
    ++offset_;
    Json::Object members;
    skip_blanks();
    if (accept('}')) return Json::object();
    for (;;) {
      skip_blanks();
      if (peek() != '"') return expected("a member name in quotes");
      RK_ASSIGN(std::string key, parse_string());
      skip_blanks();
      if (!accept(':')) return expected("':'");
      skip_blanks();
      RK_ASSIGN(Json value, parse_value(depth + 1));
      members.push_back({std::move(key), std::move(value)});
      skip_blanks();
      if (accept('}')) return Json::object_of(std::move(members));
      if (!accept(',')) return expected("',' or '}'");
    }
  }

  Result<uint32_t> parse_hex4() {
    uint32_t value = 0;
    const std::string_view digits = text_.substr(offset_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4) {
      return expected("four hexadecimal digits");
    }
    offset_ += 4;
    return value;
  }

  // After "\u". A high surrogate takes the low one that follows; an unpaired one is replaced.
  Status parse_unicode_escape(std::string& out) {
    constexpr uint32_t kReplacement = 0xfffd;
    RK_ASSIGN(const uint32_t unit, parse_hex4());
    if (unit < 0xd800 || unit > 0xdfff) {
      append_utf8(out, unit);
      return ok_status();
    }
    if (unit <= 0xdbff && text_.substr(offset_, 2) == "\\u") {
      const size_t before_second = offset_;
      offset_ += 2;
      RK_ASSIGN(const uint32_t low, parse_hex4());
      if (low >= 0xdc00 && low <= 0xdfff) {
        append_utf8(out, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
        return ok_status();
      }
      offset_ = before_second;  // an escape of its own
    }
    append_utf8(out, kReplacement);
    return ok_status();
  }

  Result<std::string> parse_string() {
    ++offset_;
    std::string out;
    for (;;) {
      const size_t run_begin = offset_;
      while (offset_ < text_.size() && static_cast<unsigned char>(text_[offset_]) >= 0x20 &&
             text_[offset_] != '"' && text_[offset_] != '\\') {
        ++offset_;
      }
      out.append(text_.substr(run_begin, offset_ - run_begin));
      if (accept('"')) return out;
      if (!accept('\\')) return expected("the end of a string");
      RK_TRY(parse_escape(out));
    }
  }

  Status parse_escape(std::string& out) {
    const char c = peek();
    if (c == 'u') {
      ++offset_;
      return parse_unicode_escape(out);
    }
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const size_t which = offset_ < text_.size() ? kNames.find(c) : std::string_view::npos;
    if (which == std::string_view::npos) return expected("one of \"\\/bfnrtu after a backslash");
    out.push_back(kMeanings[which]);
    ++offset_;
    return ok_status();
  }

  Status skip_digits() {
    if (!is_digit(peek())) return expected("a digit");
    while (is_digit(peek())) ++offset_;
    return ok_status();
  }

  Result<Json> parse_number() {
    const size_t begin = offset_;
    accept('-');
    if (!accept('0')) RK_TRY(skip_digits());
    bool is_integer = true;
    if (accept('.')) {
      is_integer = false;
      RK_TRY(skip_digits());
    }
    if (peek() == 'e' || peek() == 'E') {
      is_integer = false;
      ++offset_;
      if (!accept('+')) accept('-');
      RK_TRY(skip_digits());
    }
    const char* const from = text_.data() + begin;
    const char* const to = text_.data() + offset_;
    if (is_integer) {
      int64_t value = 0;
      if (std::from_chars(from, to, value).ec == std::errc()) return Json(value);
    }
    double value = 0;
    if (std::from_chars(from, to, value).ec == std::errc()) return Json(value);
    offset_ = begin;
    return fail("the number is beyond the range of a double");
  }

  std::string_view text_;
  size_t offset_ = 0;
};

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Json& value, int depth) {
    if (value.is_null()) {
      out_ += "null";
    } else if (const auto flag = value.as_bool()) {
      out_ += *flag ? "true" : "false";
    } else if (const auto integer = value.as_int()) {
      out_ += std::to_string(*integer);
    } else if (const auto number = value.as_double()) {
      write_double(*number);
    } else if (const std::string* text = value.as_string()) {
      write_string(*text);
    } else if (const Json::Array* elements = value.as_array()) {
      write_array(*elements, depth);
    } else if (const Json::Object* members = value.as_object()) {
      write_object(*members, depth);
    }
  }

  std::string release() { return std::move(out_); }

 private:
  void write_double(double value) {
    if (!std::isfinite(value)) {
      out_ += "null";
      return;
    }
    char digits[32];
    const char* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    const std::string_view text(digits, static_cast<size_t>(end - digits));
    out_ += text;
    if (text.find_first_of(".e") == std::string_view::npos) out_ += ".0";
  }

  void write_string(std::string_view text) {
    constexpr char kHex[] = "0123456789abcdef";
    out_ += '"';
    for (const char c : text) {
      switch (c) {
        case '"':
          out_ += "\\\"";
          break;
        case '\\':
          out_ += "\\\\";
          break;
        case '\n':
          out_ += "\\n";
          break;
        case '\r':
          out_ += "\\r";
          break;
        case '\t':
          out_ += "\\t";
          break;
        default:
          if (static_cast<unsigned char>(c) < 0x20) {
            out_ += "\\u00";
            out_ += kHex[c >> 4];
            out_ += kHex[c & 15];
          } else {
            out_ += c;
          }
      }
    }
    out_ += '"';
  }

  void new_line(int depth) {
    out_ += '\n';
    out_.append(static_cast<size_t>(indent_) * static_cast<size_t>(depth), ' ');
  }

  void write_array(const Json::Array& elements, int depth) {
    const bool on_one_line =
        indent_ <= 0 || std::all_of(elements.begin(), elements.end(),
                                    [](const Json& element) { return element.is_number(); });
    out_ += '[';
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i != 0) out_ += indent_ > 0 && on_one_line ? ", " : ",";
      if (!on_one_line) new_line(depth + 1);
      write(elements[i], depth + 1);
    }
    if (!on_one_line) new_line(depth);
    out_ += ']';
  }

  void write_object(const Json::Object& members, int depth) {
    out_ += '{';
    for (size_t i = 0; i < members.size(); ++i) {
      if (i != 0) out_ += ',';
      if (indent_ > 0) new_line(depth + 1);
      write_string(members[i].key);
      out_ += indent_ > 0 ? ": " : ":";
      write(members[i].value, depth + 1);
    }
    if (indent_ > 0 && !members.empty()) new_line(depth);
    out_ += '}';
  }

  int indent_;
  std::string out_;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (text.size() > kMaxJsonBytes) {
    return invalid_argument(
        str("a JSON text of ", text.size(), " bytes; the limit is ", kMaxJsonBytes));
  }
  return Parser(text).parse_document();
}

std::string write_json(const Json& value, int indent) {
  Writer writer(indent);
  writer.write(value, 0);
  return writer.release();
}

}  // namespace rk

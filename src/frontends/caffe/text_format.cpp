// SPDX-License-Identifier: Apache-2.0
#include "frontends/caffe/text_format.h"

#include <cctype>
#include <charconv>
#include <cmath>

namespace rk::frontends::caffe {
namespace {

constexpr int kDeepest = 32;             // Caffe's own messages nest five deep
constexpr size_t kMostFields = 2000000;  // in all

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Message> run() {
    RK_ASSIGN(Message message, read_message('\0', 0));
    return message;
  }

 private:
  Status wrong(std::string_view what) const {
    return invalid_model(str("line ", line_, ": ", std::string(what)));
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',' || c == ';') {
        line_ += c == '\n';
        ++at_;
      } else {
        return;
      }
    }
  }

  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+' ||
           c == '-' || c == '/';
  }

  std::string word() {
    const size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  // A quoted string; neighbors are joined.
  Result<std::string> quoted() {
    std::string out;
    while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const char quote = text_[at_++];
      while (at_ < text_.size() && text_[at_] != quote) {
        if (text_[at_] == '\n') return wrong("a string does not end on its line");
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        out += text_[at_++];
      }
      if (at_ == text_.size()) return wrong("a string does not end");
      ++at_;
      skip_blanks();
    }
    return out;
  }

  Status read_scalar(Field& field) {
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      RK_ASSIGN(field.text, quoted());
      return ok_status();
    }
    field.text = word();
    if (field.text.empty()) return wrong(str("field '", field.name, "' has no value"));
    return ok_status();
  }

  Status read_field(Message& message, int depth) {
    Field field;
    field.line = line_;
    field.name = word();
    if (field.name.empty()) {
      return wrong(str("'", std::string(text_.substr(at_, 20)), "' is not the name of a field"));
    }
    if (++fields_ > kMostFields) return wrong("too many fields");
    skip_blanks();
    const bool colon = at_ < text_.size() && text_[at_] == ':';
    if (colon) {
      ++at_;
      skip_blanks();
    }
    const char next = at_ < text_.size() ? text_[at_] : '\0';
    if (next == '{' || next == '<') {
      ++at_;
      RK_ASSIGN(Message inner, read_message(next == '{' ? '}' : '>', depth + 1));
      field.submessage = std::make_unique<Message>(std::move(inner));
      message.fields.push_back(std::move(field));
      return ok_status();
    }
    if (!colon) return wrong(str("':' or '{' is expected after '", field.name, "'"));
    if (next != '[') {
      RK_TRY(read_scalar(field));
      message.fields.push_back(std::move(field));
      return ok_status();
    }
    ++at_;  // a list of numbers
    skip_blanks();
    while (at_ < text_.size() && text_[at_] != ']') {
      Field entry{field.name, "", nullptr, line_};
      if (++fields_ > kMostFields) return wrong("too many fields");
      RK_TRY(read_scalar(entry));
      message.fields.push_back(std::move(entry));
      skip_blanks();
    }
    if (at_ == text_.size()) return wrong("a list does not end");
    ++at_;
    return ok_status();
  }

  Result<Message> read_message(char end, int depth) {
    if (depth > kDeepest) return wrong("messages are nested too deep");
    Message message;
    while (true) {
      skip_blanks();
      if (at_ == text_.size()) {
        if (end == '\0') return message;
        return wrong(str("the file ends where '", end, "' is missing"));
      }
      if (end != '\0' && text_[at_] == end) {
        ++at_;
        return message;
      }
      RK_TRY(read_field(message, depth));
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t fields_ = 0;
  int line_ = 1;
};

Status wrong_value(const Field& field, std::string_view expected) {
  return invalid_model(str("line ", field.line, ": ", field.name, ": '", field.text.substr(0, 40),
                           "' is not ", std::string(expected)));
}

Result<int64_t> to_integer(const Field& field) {
  int64_t out = 0;
  const char* const end = field.text.data() + field.text.size();
  const auto result = std::from_chars(field.text.data(), end, out);
  constexpr int64_t kLargest = int64_t{1} << 40;
  if (field.submessage || result.ec != std::errc() || result.ptr != end || out < -kLargest ||
      out > kLargest) {
    return wrong_value(field, "a whole number");
  }
  return out;
}

Result<float> to_real(const Field& field) {
  std::string_view text = field.text;
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.ends_with('f')) text.remove_suffix(1);
  float out = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), out);
  if (field.submessage || result.ec != std::errc() || result.ptr != text.data() + text.size() ||
      !std::isfinite(out)) {
    return wrong_value(field, "a number");
  }
  return out;
}

}  // namespace

bool Message::has(std::string_view name) const {
  for (const Field& field : fields) {
    if (field.name == name) return true;
  }
  return false;
}

const Message* Message::message(std::string_view name) const {
  const Message* found = nullptr;
  for (const Field& field : fields) {
    if (field.name == name && field.submessage) found = field.submessage.get();
  }
  return found;
}

std::vector<const Message*> Message::messages(std::string_view name) const {
  std::vector<const Message*> out;
  for (const Field& field : fields) {
    if (field.name == name && field.submessage) out.push_back(field.submessage.get());
  }
  return out;
}

std::string Message::text(std::string_view name, const std::string& fallback) const {
  std::string out = fallback;
  for (const Field& field : fields) {
    if (field.name == name && !field.submessage) out = field.text;
  }
  return out;
}

std::vector<std::string> Message::texts(std::string_view name) const {
  std::vector<std::string> out;
  for (const Field& field : fields) {
    if (field.name == name && !field.submessage) out.push_back(field.text);
  }
  return out;
}

Result<int64_t> Message::integer(std::string_view name, int64_t fallback) const {
  RK_ASSIGN(const std::vector<int64_t> all, integers(name));
  return all.empty() ? fallback : all.back();
}

Result<std::vector<int64_t>> Message::integers(std::string_view name) const {
  std::vector<int64_t> out;
  for (const Field& field : fields) {
    if (field.name != name) continue;
    RK_ASSIGN(const int64_t number, to_integer(field));
    out.push_back(number);
  }
  return out;
}

Result<float> Message::real(std::string_view name, float fallback) const {
  RK_ASSIGN(const std::vector<float> all, reals(name));
  return all.empty() ? fallback : all.back();
}

Result<std::vector<float>> Message::reals(std::string_view name) const {
  std::vector<float> out;
  for (const Field& field : fields) {
    if (field.name != name) continue;
    RK_ASSIGN(const float number, to_real(field));
    out.push_back(number);
  }
  return out;
}

Result<bool> Message::flag(std::string_view name, bool fallback) const {
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    if (field->name != name) continue;
    if (field->text == "true" || field->text == "True" || field->text == "1" ||
        field->text == "t") {
      return true;
    }
    if (field->text == "false" || field->text == "False" || field->text == "0" ||
        field->text == "f") {
      return false;
    }
    return wrong_value(*field, "true or false");
  }
  return fallback;
}

Result<Message> parse_text(std::string_view text) { return Parser(text).run(); }

}  // namespace rk::frontends::caffe

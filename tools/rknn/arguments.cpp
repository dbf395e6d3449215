// SPDX-License-Identifier: Apache-2.0
#include "rknn/arguments.h"

#include <cstdlib>

#include "base/suggest.h"

namespace rk::tools {
namespace {

// ".html" of "[FILE.html]".
std::string_view extension_of(std::string_view optional_value) {
  return optional_value.substr(optional_value.rfind('.'),
                               optional_value.size() - optional_value.rfind('.') - 1);
}

}  // namespace

Result<Arguments> Arguments::parse(const std::vector<std::string>& words,
                                   const std::vector<OptionDef>& options) {
  Arguments out;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      out.words_.push_back(word);
      continue;
    }
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const OptionDef* def = nullptr;
    for (const OptionDef& option : options) {
      if (option.name == name || (!option.short_name.empty() && option.short_name == name) ||
          (!option.other_name.empty() && option.other_name == name))
        def = &option;
    }
    if (def == nullptr) {
      std::vector<std::string> names;
      for (const OptionDef& option : options) {
        names.push_back(option.name);
        if (!option.other_name.empty()) names.push_back(option.other_name);
      }
      const std::string close = close_names(name, names);
      return invalid_argument(str("unknown option '", name, "'; ",
                                  close.empty() ? "" : str("did you mean ", close, "? "),
                                  "--help lists the options"));
    }
    std::string value;
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (def->value.starts_with('[')) {
      if (i + 1 < words.size() && words[i + 1].ends_with(extension_of(def->value)))
        value = words[++i];
    } else if (!def->value.empty()) {
      if (i + 1 >= words.size())
        return invalid_argument(str("option '", name, "' needs a value: ", def->value));
      value = words[++i];
    }
    out.values_[def->name].push_back(std::move(value));
  }
  return out;
}

std::string Arguments::get(std::string_view option, std::string_view otherwise) const {
  const auto it = values_.find(option);
  return it == values_.end() ? std::string(otherwise) : it->second.back();
}

std::vector<std::string> Arguments::all(std::string_view option) const {
  const auto it = values_.find(option);
  return it == values_.end() ? std::vector<std::string>{} : it->second;
}

std::string help_text(const std::vector<OptionDef>& options) {
  std::string out;
  for (const OptionDef& option : options) {
    std::string head = str("  ", option.short_name, option.short_name.empty() ? "" : ", ",
                           option.name, option.value.empty() ? "" : " ", option.value);
    if (head.size() < 34) head.resize(34, ' ');
    out += str(head, " ", option.doc, "\n");
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

namespace {

std::string_view without_brackets(std::string_view text) {
  while (!text.empty() && (text.front() == '[' || text.front() == ' ')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ']' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

template <typename T, typename Convert>
Result<std::vector<T>> parse_list(std::string_view option, std::string_view text, Convert convert) {
  std::vector<T> out;
  for (const std::string& part : split(without_brackets(text), ',')) {
    char* end = nullptr;
    const T value = convert(part.c_str(), &end);
    while (*end == ' ') ++end;
    if (end == part.c_str() || *end != '\0') {
      return invalid_argument(str("'", part, "' in option ", option, " is not a number"));
    }
    out.push_back(value);
  }
  return out;
}

}  // namespace

Result<std::vector<int64_t>> parse_ints(std::string_view option, std::string_view text) {
  return parse_list<int64_t>(option, text,
                             [](const char* s, char** end) { return std::strtoll(s, end, 10); });
}

Result<std::vector<double>> parse_numbers(std::string_view option, std::string_view text) {
  return parse_list<double>(option, text,
                            [](const char* s, char** end) { return std::strtod(s, end); });
}

}  // namespace rk::tools

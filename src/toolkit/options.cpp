// SPDX-License-Identifier: Apache-2.0
#include "toolkit/options.h"

#include <algorithm>

#include "base/suggest.h"

namespace rk::toolkit {
namespace {

// 0 and 1 are written for False and True in many scripts.
std::optional<bool> truth(const Json& value) {
  if (const auto flag = value.as_bool()) return flag;
  if (const auto number = value.as_int(); number && (*number == 0 || *number == 1))
    return *number == 1;
  return std::nullopt;
}

template <typename T, typename Convert>
std::optional<std::vector<T>> list_of(const Json& value, Convert convert) {
  const Json::Array* const array = value.as_array();
  if (array == nullptr) return std::nullopt;
  std::vector<T> out;
  for (const Json& element : *array) {
    const auto converted = convert(element);
    if (!converted) return std::nullopt;
    out.push_back(static_cast<T>(*converted));
  }
  return out;
}

// A list of shapes; null stands for an input that stays as it is.
std::optional<std::vector<std::vector<int64_t>>> shapes_of(const Json& value) {
  if (!value.is_array()) return std::nullopt;
  const auto whole = [](const Json& element) { return element.as_int(); };
  std::vector<std::vector<int64_t>> shapes;
  for (size_t i = 0; i < value.size(); ++i) {
    const Json& element = *value.at(i);
    auto list = element.is_null() ? std::optional(std::vector<int64_t>{})
                                  : list_of<int64_t>(element, whole);
    if (!list) return std::nullopt;
    shapes.push_back(std::move(*list));
  }
  return shapes;
}

}  // namespace

const Json* OptionReader::find(std::string_view key) {
  known_.emplace_back(key);
  const Json* const found = options_.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

void OptionReader::wrong(std::string_view key, std::string_view expected) {
  if (!first_.ok()) return;
  std::string found = write_json(*options_.find(key));
  if (found.size() > 80) found = found.substr(0, 80) + "...";
  first_ = invalid_argument(str("Invalid ", key, " ", found, ", expect ", expected, "!"));
}

void OptionReader::read(std::string_view key, bool& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  const auto flag = truth(*value);
  if (!flag) return wrong(key, "True or False");
  out = *flag;
}

void OptionReader::read(std::string_view key, int& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  const auto number = value->as_int();
  if (!number || *number < INT32_MIN || *number > INT32_MAX) return wrong(key, "a whole number");
  out = static_cast<int>(*number);
}

void OptionReader::read(std::string_view key, uint32_t& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  const auto number = value->as_int();
  if (!number || *number < 0 || *number > UINT32_MAX) return wrong(key, "a whole number from 0");
  out = static_cast<uint32_t>(*number);
}

void OptionReader::read(std::string_view key, double& out) {
  std::optional<double> number;
  read(key, number);
  if (number) out = *number;
}

void OptionReader::read(std::string_view key, std::optional<double>& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  if (!value->as_double()) return wrong(key, "a number");
  out = value->as_double();
}

void OptionReader::read(std::string_view key, std::string& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  if (value->as_string() == nullptr) return wrong(key, "a text");
  out = *value->as_string();
}

void OptionReader::read(std::string_view key, std::vector<std::string>& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  if (value->as_string() != nullptr) {
    out = {*value->as_string()};
    return;
  }
  auto list = list_of<std::string>(*value, [](const Json& element) {
    return element.as_string() == nullptr ? std::nullopt : std::optional(*element.as_string());
  });
  if (!list) return wrong(key, "a list of texts");
  out = std::move(*list);
}

void OptionReader::read(std::string_view key, std::vector<bool>& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  if (const auto flag = truth(*value)) {
    out = {*flag};
    return;
  }
  auto list = list_of<bool>(*value, truth);
  if (!list) return wrong(key, "True, False or a list of them");
  out = std::move(*list);
}

void OptionReader::read(std::string_view key, std::vector<std::vector<int64_t>>& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  auto shapes = shapes_of(*value);
  if (!shapes) return wrong(key, "a list of shapes, one per input, e.g. [[1, 3, 224, 224]]");
  out = std::move(*shapes);
}

void OptionReader::read(std::string_view key, std::vector<std::vector<std::vector<int64_t>>>& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  constexpr std::string_view kExpected =
      "a list of sets of shapes, e.g. [[[1, 3, 224, 224]], [[1, 3, 160, 160]]]";
  if (!value->is_array()) return wrong(key, kExpected);
  std::vector<std::vector<std::vector<int64_t>>> sets;
  for (size_t i = 0; i < value->size(); ++i) {
    auto shapes = shapes_of(*value->at(i));
    if (!shapes) return wrong(key, kExpected);
    sets.push_back(std::move(*shapes));
  }
  out = std::move(sets);
}

void OptionReader::read(std::string_view key, std::vector<std::vector<float>>& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  constexpr std::string_view kExpected =
      "a list per input of numbers per channel, e.g. [[127.5, 127.5, 127.5]]";
  const auto number = [](const Json& element) { return element.as_double(); };
  if (auto flat = list_of<float>(*value, number); flat && !flat->empty()) {
    out = {std::move(*flat)};
    return;
  }
  const Json::Array* const elements = value->as_array();
  if (elements == nullptr) return wrong(key, kExpected);
  std::vector<std::vector<float>> lists;
  for (const Json& element : *elements) {
    auto list =
        element.is_null() ? std::optional(std::vector<float>{}) : list_of<float>(element, number);
    if (!list) return wrong(key, kExpected);
    lists.push_back(std::move(*list));
  }
  out = std::move(lists);
}

void OptionReader::read(std::string_view key, std::map<std::string, std::string>& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  const Json::Object* const object = value->as_object();
  if (object == nullptr) return wrong(key, "a dict of texts");
  for (const Json::Member& member : *object) {
    if (member.value.as_string() == nullptr) return wrong(key, "a dict of texts");
    out[member.key] = *member.value.as_string();
  }
}

void OptionReader::read(std::string_view key,
                        std::vector<std::pair<std::string, std::string>>& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  auto pairs = list_of<std::pair<std::string, std::string>>(
      *value, [](const Json& pair) -> std::optional<std::pair<std::string, std::string>> {
        const Json *first = pair.at(0), *second = pair.at(1);
        if (pair.size() != 2 || first == nullptr || first->as_string() == nullptr ||
            second->as_string() == nullptr)
          return std::nullopt;
        return std::pair(*first->as_string(), *second->as_string());
      });
  if (!pairs) return wrong(key, "a list of [input name, output name]");
  out = std::move(*pairs);
}

Status OptionReader::finish() const {
  if (!first_.ok()) return first_;
  const Json::Object* const members = options_.as_object();
  if (members == nullptr)
    return options_.is_null() ? ok_status() : invalid_argument("options are not a JSON object");
  for (const Json::Member& member : *members) {
    if (std::ranges::find(known_, member.key) != known_.end()) continue;
    const std::string close = close_names(member.key, known_);
    return invalid_argument(str("unknown parameter '", member.key, "'",
                                close.empty() ? "" : "; did you mean ", close,
                                close.empty() ? "" : "?"));
  }
  return ok_status();
}

}  // namespace rk::toolkit

// SPDX-License-Identifier: Apache-2.0
// The option table in use: JSON both ways, accepted values, the documentation page.
#include <algorithm>
#include <cctype>

#include "base/log.h"
#include "toolkit/option_table.h"
#include "toolkit/options.h"

namespace rk::toolkit {
namespace {

Json value_json(bool value) { return value; }
Json value_json(int value) { return value; }
Json value_json(double value) { return value; }
Json value_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json value_json(const std::string& value) { return value.empty() ? Json() : Json(value); }

Json value_json(const std::vector<bool>& values) {
  Json out = Json::array();
  for (const bool value : values) out.push(value);
  return out;
}

Json value_json(const std::vector<std::string>& values) {
  return values.empty() ? Json() : Json::array_of(values);
}

Json value_json(const std::vector<std::vector<float>>& lists) {
  if (lists.empty()) return {};
  Json out = Json::array();
  for (const std::vector<float>& list : lists) {
    Json numbers = Json::array();
    for (const float value : list) numbers.push(static_cast<double>(value));
    out.push(std::move(numbers));
  }
  return out;
}

Json value_json(const std::vector<std::vector<int64_t>>& shapes) {
  if (shapes.empty()) return {};
  Json out = Json::array();
  for (const auto& shape : shapes) out.push(Json::array_of(shape));
  return out;
}

Json value_json(const std::vector<ShapeSet>& sets) {
  if (sets.empty()) return {};
  Json out = Json::array();
  for (const ShapeSet& set : sets) out.push(value_json(set));
  return out;
}

Json value_json(const std::map<std::string, std::string>& entries) {
  if (entries.empty()) return {};
  Json out = Json::object();
  for (const auto& [key, value] : entries) out.set(key, value);
  return out;
}

Json value_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  if (pairs.empty()) return {};
  Json out = Json::array();
  for (const auto& [first, second] : pairs) out.push(Json::array({first, second}));
  return out;
}

Json value_json(const std::vector<std::optional<Tensor>>&) { return {}; }

bool asks_for_something(const Json* value) {
  if (value == nullptr) return false;
  return !(value->as_bool() == false || (value->is_array() && value->size() == 0));
}

void warn_without_effect(std::string_view name) {
  log(LogLevel::kWarning, str(name, " has no effect in this version"));
}

std::string_view text_of(Since since) {
  switch (since) {
    case Since::kVendor:
      return "2.3.2";
    case Since::kVendor250:
      return "2.5.0";
    case Since::kOwn:
      return "OpenRKNN";
  }
  return "";
}

template <typename S>
Json rows_json() {
  Json rows = Json::array();
  for (const Option<S>& option : options_of<S>()) {
    const Json value = option_json(option, S{});
    rows.push(Json::object({{"name", option.name},
                            {"default", option.python_none ? Json() : value},
                            {"accepted", Json::array_of(option.accepted)},
                            {"since", text_of(option.since)},
                            {"in_file", option.in_file},
                            {"has_effect", option.has_effect},
                            {"flags", Json::array_of(flags_of(option))},
                            {"doc", option.doc}}));
  }
  return rows;
}

// A JSON value as Python spells it.
std::string python_text(const Json& value) {
  if (value.is_null()) return "None";
  if (const auto flag = value.as_bool()) return *flag ? "True" : "False";
  if (const std::string* text = value.as_string()) return str("'", *text, "'");
  return write_json(value);
}

template <typename S>
std::string rows_page(std::string_view title) {
  std::string out =
      str("## ", title,
          "\n\n| keyword, yml key | flag | default | values | meaning | file | since |"
          "\n|---|---|---|---|---|---|---|\n");
  for (const Option<S>& option : options_of<S>()) {
    std::string flags(option.flag.short_name);
    for (const std::string& flag : flags_of(option)) flags += str(flags.empty() ? "" : ", ", flag);
    std::string accepted;
    for (const std::string& value : option.accepted)
      accepted += str(accepted.empty() ? "" : ", ", value);
    const Json value = option.python_none ? Json() : option_json(option, S{});
    out += str("| `", option.name, "` | `", flags, "` | `", python_text(value), "` | ", accepted,
               " | ", option.doc, option.has_effect ? "" : " (no effect here)", " | ",
               option.in_file ? "yes" : "", " | ", text_of(option.since), " |\n");
  }
  return out + "\n";
}

}  // namespace

template <typename S>
Status read_options(const Json& json, S& out, std::span<const std::string_view> others) {
  OptionReader reader(json);
  for (const std::string_view name : others) reader.find(name);
  for (const Option<S>& option : options_of<S>()) {
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), std::vector<std::optional<Tensor>> S::*>) {
            reader.find(option.name);
          } else {
            reader.read(option.name, out.*member);
          }
        },
        option.member);
  }
  if constexpr (std::is_same_v<S, Config>) {
    for (const std::string_view name : ignored_config_keywords()) {
      if (asks_for_something(reader.find(name))) warn_without_effect(name);
    }
  }
  return reader.finish();
}

void warn_of_options_without_effect(const Config& config) {
  for (const Option<Config>& option : config_options()) {
    if (!option.has_effect && option_json(option, config) != option_json(option, Config{}))
      warn_without_effect(option.name);
  }
}

template <typename S>
Json option_json(const Option<S>& option, const S& options) {
  const Json value =
      std::visit([&](auto member) { return value_json(options.*member); }, option.member);
  // One entry serves all inputs, none is no swap.
  if (std::holds_alternative<std::vector<bool> S::*>(option.member) && value.size() < 2)
    return value.size() == 1 ? *value.at(0) : Json(false);
  return value;
}

template <typename S>
Json write_options(const S& options) {
  Json out = Json::object();
  for (const Option<S>& option : options_of<S>())
    out.set(option.name, option_json(option, options));
  return out;
}

template Status read_options(const Json&, Config&, std::span<const std::string_view>);
template Status read_options(const Json&, LoadOptions&, std::span<const std::string_view>);
template Status read_options(const Json&, BuildOptions&, std::span<const std::string_view>);
template Status read_options(const Json&, HybridOptions&, std::span<const std::string_view>);
template Json write_options(const Config&);
template Json write_options(const LoadOptions&);
template Json write_options(const BuildOptions&);
template Json write_options(const HybridOptions&);
template Json option_json(const Option<Config>&, const Config&);

Status expect_one_of(std::string_view parameter, std::string_view found,
                     std::span<const std::string> accepted) {
  if (std::ranges::find(accepted, found) != accepted.end()) return ok_status();
  std::string list;
  for (const std::string& value : accepted) list += str(list.empty() ? "" : ", ", "'", value, "'");
  return invalid_argument(str("Invalid ", parameter, " '", found, "', expect in [", list, "]!"));
}

Status check_accepted(const Config& config) {
  for (const Option<Config>& option : config_options()) {
    if (option.accepted.empty()) continue;
    if (const auto* text = std::get_if<std::string Config::*>(&option.member)) {
      const std::string& found = config.*(*text);
      // "group{SIZE}" stands for names that begin so; what follows is for others to judge.
      const std::string head = option.accepted.back().substr(0, option.accepted.back().find('{'));
      if (head != option.accepted.back() && found.starts_with(head)) continue;
      RK_TRY(expect_one_of(option.name, found, option.accepted));
    } else if (const auto* number = std::get_if<int Config::*>(&option.member)) {
      const int found = config.*(*number);
      if (std::ranges::find(option.accepted, str(found)) != option.accepted.end()) continue;
      std::string list;
      for (const std::string& value : option.accepted) list += str(list.empty() ? "" : ", ", value);
      return invalid_argument(
          str("Invalid ", option.name, " ", found, ", expect in [", list, "]!"));
    } else if (const auto* entries =
                   std::get_if<std::map<std::string, std::string> Config::*>(&option.member)) {
      for (const auto& [key, value] : config.*(*entries))
        RK_TRY(expect_one_of(str(option.name, " of '", key, "'"), value, option.accepted));
    }
  }
  return ok_status();
}

Json option_table_json() {
  Json ignored = Json::array();
  for (const std::string_view name : ignored_config_keywords()) ignored.push(name);
  return Json::object({{"config", rows_json<Config>()},
                       {"ignored_config_keywords", ignored},
                       {"load", rows_json<LoadOptions>()},
                       {"build", rows_json<BuildOptions>()},
                       {"hybrid_quantization_step1", rows_json<HybridOptions>()}});
}

std::string option_table_page() {
  return str(
      "# Options\n\nPrinted by `rknn info --options`; a test compares. A row is a keyword of the "
      "Python method, a key of the yml file's\n`configs` (first table) and a flag of `rknn "
      "convert`, "
      "`analyze`, `compare` and `hybrid step1`. Flags of lists per input\nare given once per "
      "input; "
      "a flag that takes no value turns the option to the other side of its default. *file*: the\n"
      ".rknn file says what was chosen. *since*: the toolkit version that has the name.\n\n",
      rows_page<Config>("config"), rows_page<LoadOptions>("load_..."),
      rows_page<BuildOptions>("build"), rows_page<HybridOptions>("hybrid_quantization_step1"));
}

template <typename S>
std::vector<std::string> flags_of(const Option<S>& option) {
  std::vector<std::string> out;
  if (!option.flag.name.empty()) out.emplace_back(option.flag.name);
  const auto* const is_switch = std::get_if<bool S::*>(&option.member);
  if (is_switch != nullptr && S{}.*(*is_switch)) return out;
  std::string flag = "--" + std::string(option.name);
  std::ranges::replace(flag, '_', '-');
  std::ranges::transform(flag, flag.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (flag != option.flag.name) out.push_back(std::move(flag));
  return out;
}

template std::vector<std::string> flags_of(const Option<Config>&);
template std::vector<std::string> flags_of(const Option<LoadOptions>&);
template std::vector<std::string> flags_of(const Option<BuildOptions>&);
template std::vector<std::string> flags_of(const Option<HybridOptions>&);

namespace {

bool has_word(std::string_view text, std::string_view word) {
  const auto is_part = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                text[at] == '_' || text[at] == '-');
  };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (!is_part(at - 1) && !is_part(at + word.size())) return true;
  }
  return false;
}

template <typename S>
void add_flags(std::string_view message, std::string& out) {
  for (const Option<S>& option : options_of<S>()) {
    // A name of one word, such as inputs, may be just the word.
    if (option.name.find('_') == option.name.npos || !has_word(message, option.name)) continue;
    const std::vector<std::string> flags = flags_of(option);
    if (flags.empty() || has_word(message, flags.front())) continue;
    out += str(out.empty() ? " (" : ", ", option.name, " is ", flags.front(),
               option.flag.value.empty() ? "" : " ", option.flag.value);
  }
}

}  // namespace

std::string flags_for_keywords(std::string_view message) {
  std::string out;
  add_flags<Config>(message, out);
  add_flags<LoadOptions>(message, out);
  add_flags<BuildOptions>(message, out);
  return out.empty() ? out : out + " here)";
}

}  // namespace rk::toolkit

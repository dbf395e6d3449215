// SPDX-License-Identifier: Apache-2.0
#include "frontends/darknet/config.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace rk::frontends::darknet {
namespace {

constexpr size_t kMostSections = 10000;  // the largest published networks have a few hundred
constexpr size_t kMostListEntries = 10000;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool parse(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse(std::string_view text, float& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(out);
}

}  // namespace

std::string Section::label() const { return str("[", type, "] of line ", line); }

std::string Section::text(const std::string& key, const std::string& fallback) const {
  const auto it = values.find(key);
  return it == values.end() ? fallback : it->second;
}

Result<int64_t> Section::number(const std::string& key, int64_t fallback) const {
  const auto it = values.find(key);
  if (it == values.end()) return fallback;
  int64_t out = 0;
  constexpr int64_t kLargest = int64_t{1} << 31;
  if (parse(it->second, out) && out > -kLargest && out < kLargest) return out;
  return invalid_model(
      str(label(), ": ", key, "=", it->second.substr(0, 40), " is not a whole number"));
}

Result<float> Section::real(const std::string& key, float fallback) const {
  const auto it = values.find(key);
  if (it == values.end()) return fallback;
  float out = 0;
  if (parse(it->second, out)) return out;
  return invalid_model(str(label(), ": ", key, "=", it->second.substr(0, 40), " is not a number"));
}

Result<std::vector<int64_t>> Section::numbers(const std::string& key) const {
  std::vector<int64_t> out;
  std::string_view rest = values.contains(key) ? std::string_view(values.at(key)) : "";
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view part = trimmed(rest.substr(0, comma));
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    if (part.empty() && rest.empty()) break;  // a comma at the end
    int64_t number = 0;
    if (!parse(part, number) || number < -1000000 || number > 1000000 ||
        out.size() >= kMostListEntries) {
      return invalid_model(str(label(), ": ", key, "=", values.at(key).substr(0, 40),
                               " is not a list of whole numbers"));
    }
    out.push_back(number);
  }
  return out;
}

Result<std::vector<Section>> read_config(ByteSpan bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<Section> sections;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    const std::string_view content = trimmed(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (content.empty() || content[0] == '#' || content[0] == ';') continue;
    if (content[0] == '[') {
      const size_t close = content.find(']');
      if (close == content.npos || sections.size() >= kMostSections) {
        return invalid_model(str("line ", line, ": '", std::string(content.substr(0, 40)),
                                 "' does not begin a section"));
      }
      sections.push_back({std::string(content.substr(1, close - 1)), line, {}});
      continue;
    }
    const size_t equals = content.find('=');
    if (sections.empty() || equals == content.npos) {
      return invalid_model(str("line ", line, ": '", std::string(content.substr(0, 40)),
                               "' is not key=value within a [section]"));
    }
    std::string value(trimmed(content.substr(equals + 1)));
    // A comment may follow the value.
    if (const size_t hash = value.find('#'); hash != value.npos) {
      value = std::string(trimmed(std::string_view(value).substr(0, hash)));
    }
    sections.back().values[std::string(trimmed(content.substr(0, equals)))] = value;
  }
  if (sections.empty() || (sections[0].type != "net" && sections[0].type != "network")) {
    return invalid_model("a Darknet .cfg begins with a [net] section; this file does not");
  }
  return sections;
}

Result<Weights> Weights::open(ByteSpan bytes) {
  Weights weights(bytes);
  RK_ASSIGN(const int32_t major, weights.reader_.read<int32_t>());
  RK_ASSIGN(const int32_t minor, weights.reader_.read<int32_t>());
  RK_TRY(weights.reader_.read<int32_t>().status());  // revision
  // From version 0.2 on the count of pictures seen has 64 bits.
  const bool wide = int64_t{major} * 10 + minor >= 2 && major < 1000 && minor < 1000;
  RK_TRY(weights.reader_.take(wide ? 8 : 4).status());
  weights.transposed_ = major > 1000 || minor > 1000;
  return weights;
}

Result<std::vector<float>> Weights::take(int64_t count) {
  if (count < 0 || static_cast<uint64_t>(count) > floats_left()) {
    return invalid_model(str("the .weights file ends here: ", count, " numbers are needed, ",
                             floats_left(), " are left. Do .cfg and .weights belong together?"));
  }
  RK_ASSIGN(const ByteSpan bytes, reader_.take(static_cast<uint64_t>(count) * sizeof(float)));
  std::vector<float> out(static_cast<size_t>(count));
  if (count > 0) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace rk::frontends::darknet

// SPDX-License-Identifier: Apache-2.0
#include "frontends/transform_formula.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/checked_math.h"

namespace rk::frontends {
namespace {

constexpr int64_t kLargestExtent = int64_t{1} << 31;

using Part = std::string;  // letters of one dimension; empty: 1

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

Result<std::vector<Part>> parse_side(std::string_view text) {
  std::vector<Part> parts(1);
  bool empty = true;  // neither a letter nor a 1 so far
  for (const char c : text) {
    if (c == ',') {
      if (empty) return invalid_argument("a dimension is empty");
      parts.emplace_back();
      empty = true;
    } else if (is_letter(c)) {
      parts.back() += c;
      empty = false;
    } else if (c == '1') {
      empty = false;
    } else {
      return invalid_argument(str("'", c, "' is neither a letter a-z, nor 1, nor a comma"));
    }
  }
  if (empty) return invalid_argument("a dimension is empty");
  return parts;
}

// "a=2,k=8"
Result<std::map<char, int64_t>> parse_sizes(std::string_view text) {
  std::map<char, int64_t> sizes;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    int64_t value = 0;
    bool good = item.size() >= 3 && item.size() <= 12 && is_letter(item[0]) && item[1] == '=';
    for (size_t i = 2; good && i < item.size(); ++i) {
      good = item[i] >= '0' && item[i] <= '9';
      value = value * 10 + (item[i] - '0');
    }
    if (!good || value < 1 || value > kLargestExtent)
      return invalid_argument(str("'", item, "' in [ ] is not like a=2"));
    sizes[item[0]] = value;
  }
  return sizes;
}

std::string letters_of(const std::vector<Part>& parts) {
  std::string out;
  for (const Part& part : parts) out += part;
  return out;
}

Status check_letters(const std::string& left, const std::string& right) {
  for (const std::string& side : {left, right}) {
    for (const char c : side) {
      if (std::ranges::count(side, c) > 1)
        return invalid_argument(str("'", c, "' stands twice on one side"));
    }
  }
  for (const char c : left) {
    if (right.find(c) == std::string::npos)
      return invalid_argument(str("'", c, "' is missing on the right"));
  }
  for (const char c : right) {
    if (left.find(c) == std::string::npos)
      return invalid_argument(str("'", c, "' is missing on the left"));
  }
  return ok_status();
}

// Sizes of the letters of one dimension; the one that is not given is derived.
Status resolve_part(const Part& part, size_t axis, int64_t dim, std::map<char, int64_t>& sizes) {
  int64_t known = 1;
  char open = 0;
  for (const char c : part) {
    const auto it = sizes.find(c);
    if (it == sizes.end()) {
      if (open != 0)
        return invalid_argument(str("'", open, "' and '", c, "' of dimension ", axis,
                                    " are both unknown: give [", open, "=...]"));
      open = c;
      continue;
    }
    if (known > kLargestExtent / it->second) return invalid_argument("the extents are too large");
    known *= it->second;
  }
  if (dim < 0) {
    if (open != 0) sizes[open] = -1;
    return ok_status();
  }
  if (open == 0) {
    if (known == dim) return ok_status();
    return invalid_argument(str("dimension ", axis, " is ", dim, " in the model, '",
                                part.empty() ? "1" : part, "' is ", known));
  }
  if (dim % known != 0)
    return invalid_argument(str("dimension ", axis, " is ", dim, ", which ", known,
                                " does not divide: '", open, "' is no whole number"));
  sizes[open] = dim / known;
  return ok_status();
}

std::vector<int64_t> merged(const std::vector<Part>& parts, const std::map<char, int64_t>& sizes) {
  std::vector<int64_t> out;
  for (const Part& part : parts) {
    int64_t extent = 1;
    for (const char c : part) extent = extent < 0 || sizes.at(c) < 0 ? -1 : extent * sizes.at(c);
    out.push_back(extent);
  }
  return out;
}

Result<Transform> parse(std::string_view formula, std::span<const int64_t> dims) {
  std::string text;
  std::ranges::copy_if(formula, std::back_inserter(text),
                       [](char c) { return c != ' ' && c != '\t'; });
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos) return invalid_argument("there is no '->'");
  std::string left_text = text.substr(0, arrow);
  std::string right_text = text.substr(arrow + 2);
  // The sizes stand behind either side.
  std::map<char, int64_t> sizes;
  for (std::string* side : {&left_text, &right_text}) {
    const size_t open = side->find('[');
    if (open == std::string::npos) continue;
    if (side->back() != ']') return invalid_argument("'[' is not closed");
    RK_ASSIGN(const auto given,
              parse_sizes(std::string_view(*side).substr(open + 1, side->size() - open - 2)));
    sizes.insert(given.begin(), given.end());
    side->resize(open);
  }
  RK_ASSIGN(const std::vector<Part> left, parse_side(left_text));
  RK_ASSIGN(const std::vector<Part> right, parse_side(right_text));
  const std::string left_letters = letters_of(left);
  const std::string right_letters = letters_of(right);
  RK_TRY(check_letters(left_letters, right_letters));
  if (left.size() != dims.size())
    return invalid_argument(
        str("the left side has ", left.size(), " dimensions, the tensor has ", dims.size()));
  for (size_t i = 0; i < left.size(); ++i) RK_TRY(resolve_part(left[i], i, dims[i], sizes));
  Transform out;
  out.left_dims = merged(left, sizes);
  out.right_dims = merged(right, sizes);
  for (const char c : left_letters) out.left_split.push_back(sizes.at(c));
  for (const char c : right_letters) {
    out.right_split.push_back(sizes.at(c));
    out.permutation.push_back(static_cast<int64_t>(left_letters.find(c)));
  }
  if (std::ranges::count(out.left_split, -1) > 1)
    return invalid_argument(
        "more than one dimension is open in the model: give their sizes in [ ]");
  return out;
}

}  // namespace

Result<Transform> parse_transform(std::string_view formula, std::span<const int64_t> dims) {
  auto out = parse(formula, dims);
  if (!out.ok()) return out.status().with_context(str("formula '", formula, "'"));
  return out;
}

}  // namespace rk::frontends

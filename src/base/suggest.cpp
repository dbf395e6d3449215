// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include <algorithm>
#include <numeric>

#include "base/status.h"

namespace rk {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string close_names(std::string_view wanted, const std::vector<std::string>& names) {
  constexpr size_t kLongestName = 256;  // names come from a file; the distance is quadratic
  constexpr size_t kMostNames = 20000;
  constexpr size_t kSuggestions = 3;
  if (wanted.size() > kLongestName) return {};
  std::vector<std::pair<size_t, std::string_view>> scored;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    const std::string_view name = names[i];
    if (name.empty() || name.size() > kLongestName) continue;
    size_t distance = edit_distance(wanted, name);
    if (name.find(wanted) != name.npos || wanted.find(name) != wanted.npos) distance = 1;
    if (distance <= std::max<size_t>(2, wanted.size() / 3)) scored.emplace_back(distance, name);
  }
  std::ranges::stable_sort(scored, {}, &std::pair<size_t, std::string_view>::first);
  std::string out;
  for (size_t i = 0; i < std::min(scored.size(), kSuggestions); ++i) {
    out += str(i == 0 ? "'" : ", '", scored[i].second, "'");
  }
  return out;
}

}  // namespace rk

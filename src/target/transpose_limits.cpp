// SPDX-License-Identifier: Apache-2.0
// The conditions are a table of products of extents; a row per permutation, as published.
#include "target/transpose_limits.h"

#include <algorithm>
#include <array>

namespace rk::target {
namespace {

struct Sizes {
  int64_t n = 1, c = 1, h = 1, w = 1;
  int64_t a = 16;  // channels per block of the dtype
  int64_t p = 8192, q = 2048;
};

struct Rule {
  std::array<int64_t, 4> perm;
  bool (*accepts)(const Sizes& s);
};

constexpr int64_t kLine = 8192;

const Rule kRules[] = {
    {{0, 1, 2, 3}, [](const Sizes&) { return true; }},
    {{0, 1, 3, 2},
     [](const Sizes& s) { return s.h % s.a == 0 && s.h * s.w < s.a * s.p && s.h * s.w < 2 * s.q; }},
    {{0, 2, 3, 1},
     [](const Sizes& s) { return s.c < kLine && s.h * s.w % 8 == 0 && s.w * s.c < s.a * s.p; }},
    {{0, 2, 1, 3},
     [](const Sizes& s) {
       return s.h % s.a == 0 && s.h * s.w < s.a * s.p && s.h * s.w < 2 * s.q && s.c * s.w < s.p;
     }},
    {{0, 3, 1, 2},
     [](const Sizes& s) { return s.h * s.w < s.p && s.w < kLine && s.h * s.c < s.p; }},
    {{0, 3, 2, 1},
     [](const Sizes& s) {
       return s.h % s.a == 0 && s.h * s.w < s.a * s.p && s.h * s.w < 2 * s.q && s.c < s.a * s.p;
     }},
    {{1, 0, 2, 3},
     [](const Sizes& s) { return s.h * s.w < s.a * s.p && s.n < kLine && s.h * s.w < s.p; }},
    {{1, 0, 3, 2},
     [](const Sizes& s) {
       return s.h % s.a == 0 && s.c * s.h * s.w < s.a * s.p && s.h * s.w < 2 * s.q;
     }},
    {{1, 2, 0, 3},
     [](const Sizes& s) {
       return s.n * s.w < s.a * s.p && s.c * s.h * s.w < s.p && s.w % s.a == 0;
     }},
    {{1, 2, 3, 0},
     [](const Sizes& s) {
       return s.h * s.w < s.p && s.n < s.a * s.p && s.c * s.h * s.w < s.a * s.p &&
              s.n * s.w < s.a * s.p;
     }},
    {{1, 3, 0, 2},
     [](const Sizes& s) { return s.c * s.w < kLine && s.n * s.h < s.p && s.w % s.a == 0; }},
    {{1, 3, 2, 0},
     [](const Sizes& s) {
       return s.c * s.h * s.w < s.p && s.n * s.h < s.p && s.w < kLine && s.w % s.a == 0;
     }},
    {{2, 1, 0, 3},
     [](const Sizes& s) { return s.c < kLine && s.c * s.h * s.w < s.p && s.n * s.w < s.p; }},
    {{2, 1, 3, 0},
     [](const Sizes& s) {
       return s.c * s.h * s.w < s.p && s.n * s.w < s.a * s.p && s.c < kLine && s.n * s.w % 4 == 0;
     }},
    {{2, 0, 3, 1}, [](const Sizes& s) { return s.c < kLine && s.c * s.h * s.w < s.p; }},
    {{2, 0, 1, 3},
     [](const Sizes& s) { return s.n * s.c * s.h * s.w < s.p && s.h * s.w % s.a == 0; }},
    {{2, 3, 1, 0},
     [](const Sizes& s) {
       return s.c * s.h * s.w < s.p && s.n * s.c < s.p && s.h * s.w < kLine && s.h * s.w % s.a == 0;
     }},
    {{2, 3, 0, 1}, [](const Sizes& s) { return s.h * s.w < kLine && s.n * s.c < s.p; }},
    {{3, 0, 2, 1},
     [](const Sizes& s) {
       return s.h * s.w < s.p && s.n * s.c < kLine && s.c * s.h < s.p && s.n * s.w < kLine &&
              s.n * s.w % s.a == 0;
     }},
    {{3, 0, 1, 2},
     [](const Sizes& s) {
       return s.h * s.w < s.p && s.n * s.c < kLine && s.c * s.h < s.p && s.n * s.w < kLine &&
              s.n * s.h * s.w % s.a == 0;
     }},
    {{3, 2, 0, 1},
     [](const Sizes& s) { return s.h * s.w < s.p && s.n * s.c < kLine && s.n * s.c * s.w < s.p; }},
    {{3, 2, 1, 0},
     [](const Sizes& s) {
       return s.c * s.h * s.w < s.p && s.h * s.w < kLine && 2 * s.h * s.w < s.q &&
              s.n * s.c < s.a * s.p && s.h % s.a == 0;
     }},
    {{3, 1, 0, 2},
     [](const Sizes& s) { return s.h * s.w < s.p && s.c * s.w < kLine && s.n * s.h < s.p; }},
    {{3, 1, 2, 0},
     [](const Sizes& s) {
       return s.h * s.w < s.p && s.n * s.c < kLine && s.n * s.h < s.p && s.n * s.c * s.w < s.p;
     }},
};

// Without the attribute the axes are reversed.
std::vector<int64_t> permutation(const Node& node) {
  if (node.has_attr("perm") && !node.ints("perm").empty()) return node.ints("perm");
  std::vector<int64_t> reversed;
  for (int axis = node.input(0).shape().rank() - 1; axis >= 0; --axis) reversed.push_back(axis);
  return reversed;
}

std::string perm_text(const Node& node) {
  std::string text = "permutation [";
  const std::vector<int64_t> perm = permutation(node);
  for (size_t i = 0; i < perm.size(); ++i) text += str(i == 0 ? "" : ",", perm[i]);
  return text + "] of " + to_string(node.input(0).shape());
}

bool is_identity(const Node& node) {
  const std::vector<int64_t> perm = permutation(node);
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return !perm.empty();
}

Sizes sizes_of(const Node& node) {
  const Shape& shape = node.input(0).shape();
  Sizes s{shape[0], shape[1], shape[2], shape[3]};
  s.a = node.input(0).quantized() ? 16 : 8;
  return s;
}

std::string refuse_by_rules(const Node& node, int64_t p, int64_t q) {
  if (is_identity(node)) return "";
  if (node.input(0).shape().rank() != 4) return "the NPU permutes four axes";
  Sizes sizes = sizes_of(node);
  sizes.p = p;
  sizes.q = q;
  const std::vector<int64_t> perm = permutation(node);
  for (const Rule& rule : kRules) {
    if (std::ranges::equal(rule.perm, perm) && rule.accepts(sizes)) return "";
  }
  return perm_text(node) + " is beyond the NPU's limits";
}

}  // namespace

std::string refuse_transpose_rk3566(const Node& node) {
  if (is_identity(node)) return "";
  if (node.input(0).shape().rank() != 4) return "the NPU permutes four axes";
  const Sizes s = sizes_of(node);
  const std::vector<int64_t> perm = permutation(node);
  const auto is = [&](std::initializer_list<int64_t> wanted) {
    return std::ranges::equal(perm, wanted);
  };
  const bool by_height = is({2, 1, 0, 3}) || is({2, 1, 3, 0});
  const bool by_width = is({3, 1, 0, 2}) || is({3, 1, 2, 0});
  // For n = h = 1 the list asks for h % 4 = 0 where h moves to the front, which cannot be.
  const bool fits = s.c < kLine && s.n < kLine && s.h * s.w < kLine &&
                    ((s.h == 1 && s.w == 1 && s.n % 4 == 0) ||
                     (s.n == 1 && s.h == 1 && by_width && s.w % 4 == 0));
  if ((by_height || by_width) && fits) return "";
  return perm_text(node) + " is beyond the NPU's limits";
}

std::string refuse_transpose_short(const Node& node) { return refuse_by_rules(node, 8192, 2048); }

std::string refuse_transpose_long(const Node& node) {
  return refuse_by_rules(node, int64_t{1} << 28, 65536);
}

}  // namespace rk::target

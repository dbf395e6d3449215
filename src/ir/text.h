// SPDX-License-Identifier: Apache-2.0
// The text form of a graph: what logs print and what pass tests are written in.
//
//   graph "net" {
//     input %x: f32[1,3,8,8]
//     const %w: f32[4,3,1,1] = [1, 2, ...]
//     %y: f32[1,4,8,8] = Conv(%x, %w, _) {strides=[1,1]} @"conv1"
//     output %y
//   }
//
// `_` is an absent optional input. Types of results may be left out when parsing; where given they
// must agree with inference. Names with other characters than letters, digits and _./:- are quoted:
// %"a b".
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace rk {

struct TextOptions {
  // Constants with more elements are printed as a checksum, which parse_graph() refuses.
  int64_t max_constant_elements = INT64_MAX;
  // Constants that this graph has under the same name are printed as a checksum.
  const Graph* shared = nullptr;
};

std::string to_text(const Graph& graph, const TextOptions& options = {});
// Values that are left out are those of `shared`, where name, type and checksum agree.
Result<Graph> parse_graph(std::string_view text, const OpRegistry& registry,
                          const Graph* shared = nullptr);

// What stands for the values of a constant: "<0123456789abcdef>".
std::string checksum_text(const Tensor& tensor);

}  // namespace rk

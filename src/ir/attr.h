// SPDX-License-Identifier: Apache-2.0
// Attribute values of nodes. The kinds are ONNX's, less subgraphs: those are expanded by the
// importer.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ir/tensor.h"

namespace rk {

using Attr = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                          std::vector<std::string>, Tensor>;
using AttrMap = std::map<std::string, Attr, std::less<>>;

std::string_view attr_kind(
    const Attr& value);  // "int", "float", "string", "ints", "floats", "strings", "tensor"
bool attr_equal(const Attr& a, const Attr& b);
bool attrs_equal(const AttrMap& a, const AttrMap& b);

}  // namespace rk

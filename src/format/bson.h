// SPDX-License-Identifier: Apache-2.0
// Node attributes as vendor files store them: one BSON document whose members are {dtype, value}
// sub-documents, dtype "i", "is", "f" or "s" (integer, integers, float, string); "fs" and "ss"
// complete the set. An empty vector and a single zero byte both mean "no attributes". On
// OutputOperator nodes the bytes are not BSON at all: do not parse those.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace rk::format {

struct Attribute {
  // A type of our own, so that Value may become valueless: of types that libstdc++ 12 knows never to, it ends a variant
  // whose copy ran out of memory by an index that it does not have.
  struct Texts : std::vector<std::string> {
    using vector::vector;
    Texts(std::vector<std::string> texts) : vector(std::move(texts)) {}
  };
  using Value =
      std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, Texts>;
  std::string name;
  Value value;
  bool operator==(const Attribute&) const = default;
};

Result<std::vector<Attribute>> read_attributes(ByteSpan bson);
// The same members as JSON text that ends with a zero byte (container 0x1004).
Result<std::vector<Attribute>> read_json_attributes(ByteSpan text);
std::vector<uint8_t> write_json_attributes(const std::vector<Attribute>& attributes);
// Integers are 32 bits wide where they fit, as in vendor files, else 64. No attributes give no
// bytes.
std::vector<uint8_t> write_attributes(const std::vector<Attribute>& attributes);

}  // namespace rk::format

// SPDX-License-Identifier: Apache-2.0
// Protobuf's text form as a tree, without a schema: forks of Caffe have fields of their own, and those must not keep a
// network from being read. A field that nobody asks for is ignored.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace rk::frontends::caffe {

struct Field;

struct Message {
  std::vector<Field> fields;

  bool has(std::string_view name) const;
  // The last one, as protobuf has it; null when there is none or it is a number.
  const Message* message(std::string_view name) const;
  std::vector<const Message*> messages(std::string_view name) const;
  std::string text(std::string_view name, const std::string& fallback = "") const;
  std::vector<std::string> texts(std::string_view name) const;
  // kInvalidModel names line and field.
  Result<int64_t> integer(std::string_view name, int64_t fallback) const;
  Result<std::vector<int64_t>> integers(std::string_view name) const;
  Result<float> real(std::string_view name, float fallback) const;
  Result<std::vector<float>> reals(std::string_view name) const;
  Result<bool> flag(std::string_view name, bool fallback) const;
};

struct Field {
  std::string name;
  std::string text;                     // of a number, word or string
  std::unique_ptr<Message> submessage;  // else
  int line = 0;
};

// kInvalidModel with the line.
Result<Message> parse_text(std::string_view text);

}  // namespace rk::frontends::caffe

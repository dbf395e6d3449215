// SPDX-License-Identifier: Apache-2.0
// A Darknet .cfg as sections of keys and values, and the .weights file as numbers in order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace rk::frontends::darknet {

struct Section {
  std::string type;  // "convolutional"
  int line = 0;      // where it begins, from 1
  std::map<std::string, std::string> values;

  bool has(const std::string& key) const { return values.contains(key); }
  std::string text(const std::string& key, const std::string& fallback) const;
  // kInvalidModel names section, line and key.
  Result<int64_t> number(const std::string& key, int64_t fallback) const;
  Result<float> real(const std::string& key, float fallback) const;
  Result<std::vector<int64_t>> numbers(const std::string& key) const;
  std::string label() const;  // "[convolutional] of line 12"
};

// kInvalidModel for text that is not made of sections.
Result<std::vector<Section>> read_config(ByteSpan bytes);

class Weights {
 public:
  // Reads the header, of either version.
  static Result<Weights> open(ByteSpan bytes);
  // Connected layers are stored transposed.
  bool is_transposed() const { return transposed_; }
  // The next numbers; kInvalidModel when there are fewer.
  Result<std::vector<float>> take(int64_t count);
  size_t floats_left() const { return reader_.remaining() / sizeof(float); }

 private:
  explicit Weights(ByteSpan bytes) : reader_(bytes) {}
  ByteReader reader_;
  bool transposed_ = false;
};

}  // namespace rk::frontends::darknet

// SPDX-License-Identifier: Apache-2.0
// Options as JSON: reads members by name into variables and remembers the first thing that is wrong. A member that is
// absent or null leaves the variable alone; a member that nobody read is a mistake of the caller's spelling.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace rk::toolkit {

class OptionReader {
 public:
  // `options` outlives the reader.
  explicit OptionReader(const Json& options) : options_(options) {}

  void read(std::string_view key, bool& out);
  void read(std::string_view key, int& out);
  void read(std::string_view key, uint32_t& out);
  void read(std::string_view key, double& out);
  void read(std::string_view key, std::optional<double>& out);
  void read(std::string_view key, std::string& out);
  void read(std::string_view key,
            std::vector<std::string>& out);                 // one text serves as a list of it
  void read(std::string_view key, std::vector<bool>& out);  // likewise one bool or 0/1
  void read(std::string_view key, std::vector<std::vector<int64_t>>& out);
  void read(std::string_view key, std::vector<std::vector<std::vector<int64_t>>>& out);
  void read(std::string_view key,
            std::vector<std::vector<float>>& out);  // a flat list is that of the only input
  void read(std::string_view key, std::map<std::string, std::string>& out);
  void read(std::string_view key, std::vector<std::pair<std::string, std::string>>& out);

  // The member, null when absent or null; it counts as read.
  const Json* find(std::string_view key);
  bool given(std::string_view key) { return find(key) != nullptr; }

  // The first wrong member, or one that was not read, with the closest name that was.
  Status finish() const;

 private:
  void wrong(std::string_view key, std::string_view expected);

  const Json& options_;
  std::vector<std::string> known_;
  Status first_;
};

}  // namespace rk::toolkit

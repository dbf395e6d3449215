// SPDX-License-Identifier: Apache-2.0
// Command-line arguments of the rknn tool: "--name value", "--name=value", flags, and free words.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace rk::tools {

struct OptionDef {
  std::string name;             // "--target"
  std::string_view short_name;  // "-t" or ""
  // What help calls the value; "" is a flag. "[FILE.html]" may be left out: the next word is its
  // value only if it ends the same way.
  std::string_view value;
  std::string_view doc;
  std::string other_name = {};  // "--target-platform"; values count for `name`
};

class Arguments {
 public:
  // An unknown option or a missing value is kInvalidArgument.
  static Result<Arguments> parse(const std::vector<std::string>& words,
                                 const std::vector<OptionDef>& options);

  const std::vector<std::string>& words() const { return words_; }
  bool has(std::string_view option) const { return values_.find(option) != values_.end(); }
  std::string get(std::string_view option, std::string_view otherwise = "") const;
  // Every value given for an option that may be repeated.
  std::vector<std::string> all(std::string_view option) const;

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

std::string help_text(const std::vector<OptionDef>& options);

std::vector<std::string> split(std::string_view text, char separator);
// "1,3,224,224" and "[1,3,224,224]".
Result<std::vector<int64_t>> parse_ints(std::string_view option, std::string_view text);
Result<std::vector<double>> parse_numbers(std::string_view option, std::string_view text);

}  // namespace rk::tools

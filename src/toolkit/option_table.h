// SPDX-License-Identifier: Apache-2.0
// Every option of config, load, build and hybrid_quantization_step1, once. A row gives an option its
// Python keyword, JSON member, yml key, command-line flag, accepted values and documentation; the
// default is that of the struct member. docs/options.md is printed from here.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "toolkit/config.h"

namespace rk::toolkit {

template <typename S>
using OptionMember =
    std::variant<bool S::*, int S::*, double S::*, std::optional<double> S::*, std::string S::*,
                 std::vector<bool> S::*, std::vector<std::string> S::*,
                 std::vector<std::vector<float>> S::*, std::vector<std::vector<int64_t>> S::*,
                 std::vector<ShapeSet> S::*, std::map<std::string, std::string> S::*,
                 std::vector<std::pair<std::string, std::string>> S::*,
                 // Arrays are no JSON: the reader only knows the name, callers pass them beside it.
                 std::vector<std::optional<Tensor>> S::*>;

// Where the name comes from.
enum class Since { kVendor, kVendor250, kOwn };

struct OptionFlag {
  std::string_view name;        // besides the one made of the option's name: "--mean"; or empty
  std::string_view short_name;  // "-t"
  std::string_view value;       // placeholder in the help text; empty: takes none
};

template <typename S>
struct Option {
  std::string_view name;
  OptionMember<S> member;
  OptionFlag flag;
  std::string_view doc;
  // Of a text, a number, or the values of a dict; empty: not a matter of a list.
  std::vector<std::string> accepted;
  Since since = Since::kVendor;
  bool in_file = false;      // the .rknn file says what was chosen
  bool has_effect = true;    // otherwise taken, with a warning when it differs from the default
  bool python_none = false;  // the vendor's default is None although the member has a value
};

// In the vendor's positional order.
std::span<const Option<Config>> config_options();
std::span<const Option<LoadOptions>> load_options();
std::span<const Option<BuildOptions>> build_options();
std::span<const Option<HybridOptions>> hybrid_options();

template <typename S>
std::span<const Option<S>> options_of();
template <>
inline std::span<const Option<Config>> options_of() {
  return config_options();
}
template <>
inline std::span<const Option<LoadOptions>> options_of() {
  return load_options();
}
template <>
inline std::span<const Option<BuildOptions>> options_of() {
  return build_options();
}
template <>
inline std::span<const Option<HybridOptions>> options_of() {
  return hybrid_options();
}

// Members of `json` by option name. What is absent or null stays; an unknown name or a value of
// another type is refused, with the nearest name or the expected form. `others` are members that the
// caller reads himself.
template <typename S>
Status read_options(const Json& json, S& out, std::span<const std::string_view> others = {});

// Every option by name; read_options() gives the same struct back.
template <typename S>
Json write_options(const S& options);

// The value in Python's view: an empty text, list or dict is None.
template <typename S>
Json option_json(const Option<S>& option, const S& options);

// Further keywords that the vendor's config takes (2.3.2, undocumented) or once took. They say how
// its compiler works, not what a model computes: taken with a warning.
std::span<const std::string_view> ignored_config_keywords();

// A warning per option that has no effect and was given.
void warn_of_options_without_effect(const Config& config);

// Lists of accepted values, of all rows that have one.
Status check_accepted(const Config& config);
// "Invalid quantized_method 'x', expect in ['layer', 'channel']!"
Status expect_one_of(std::string_view parameter, std::string_view found,
                     std::span<const std::string> accepted);

// The rows as JSON, for tests and generators: {"config": [{"name": ..., "default": ...}, ...], ...}.
Json option_table_json();
// docs/options.md.
std::string option_table_page();

// Its flags, the one to show first: {"--mean", "--mean-values"}. A switch that is on by default has
// only the one that turns it off.
template <typename S>
std::vector<std::string> flags_of(const Option<S>& option);

// What the command line adds to an error that names Python keywords: " (input_size_list is --input-size 1,3,224,224 here)".
std::string flags_for_keywords(std::string_view message);

}  // namespace rk::toolkit

// SPDX-License-Identifier: Apache-2.0
#include "toolkit/config_check.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "toolkit/dynamic_shapes.h"
#include "toolkit/option_table.h"

namespace rk::toolkit {
namespace {

std::string quoted_list(const auto& values) {
  std::string out = "[";
  for (const auto& value : values) out += str(out.size() > 1 ? ", " : "", "'", value, "'");
  return out + "]";
}

Status check_std(const std::vector<std::vector<float>>& lists) {
  for (const auto& list : lists) {
    for (const float value : list) {
      if (!(value != 0))
        return invalid_argument("std_values holds 0 or NaN; inputs are divided by it");
    }
  }
  return ok_status();
}

// The chip has the type, or a simulation of a chip that had it is asked for.
Status check_dtype(const Config& config, const target::Target& target) {
  const std::string& dtype = config.quantized_dtype;
  if (dtype == "w16a16i_dfp") {
    return unsupported(
        "quantized_dtype 'w16a16i_dfp' (dynamic fixed point) is not offered by this version; "
        "'w16a16i' has the same width");
  }
  const auto& has = target.quantized_dtypes;
  if (std::ranges::find(has, dtype) != has.end() || config.what_if) return ok_status();
  // A chip without any quantized type still takes float16 builds, where the default is not looked at.
  if (has.empty() && dtype == "w8a8") return ok_status();
  return unsupported(str("quantized_dtype '", dtype, "' is not supported by ", target.name,
                         ", which has ", quoted_list(has),
                         "; set what_if=True to simulate it nevertheless"));
}

Status check_method(const Config& config) {
  const std::string& method = config.quantized_method;
  constexpr std::string_view kGroup = "group";
  if (!method.starts_with(kGroup)) return ok_status();
  int size = 0;
  const std::string digits = method.substr(kGroup.size());
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const bool whole = end.ec == std::errc() && end.ptr == digits.data() + digits.size();
  if (!whole || size < 32 || size > 256 || size % 32 != 0) {
    return invalid_argument(
        str("Invalid quantized_method '", method,
            "', expect group{SIZE} with SIZE a multiple of 32 from 32 to 256!"));
  }
  if (config.quantized_dtype == "w4a16") return ok_status();
  return invalid_argument(str("Invalid quantized_method '", method, "' for quantized_dtype '",
                              config.quantized_dtype, "': groups are for w4a16 only!"));
}

}  // namespace

Result<const target::Target*> check_config(Config& config) {
  if (config.target_platform.empty()) {
    std::vector<std::string_view> names;
    for (const target::Target* target : target::all_targets()) names.push_back(target->name);
    return invalid_argument(str("target_platform is not set, expect in ", quoted_list(names), "!"));
  }
  RK_ASSIGN(const target::Target* target, target::find_target(config.target_platform));
  if (config.quantized_dtype == "asymmetric_quantized-8") config.quantized_dtype = "w8a8";
  if (config.quantized_algorithm == "gdq") {
    return unsupported(
        "quantized_algorithm 'gdq' (gradient descent on w4a16 and w8a16 weights) is not offered by "
        "this version; 'normal', 'mmse', 'kl_divergence' and 'percentile' are");
  }
  RK_TRY(check_accepted(config));
  RK_TRY(check_dtype(config, *target));
  RK_TRY(check_method(config));
  if (config.custom_string.size() > 1024) {
    return invalid_argument(
        str("custom_string has ", config.custom_string.size(), " bytes, at most 1024 are stored"));
  }
  if (!config.inputs_yuv_fmt.empty()) {
    return unsupported(
        "inputs_yuv_fmt is not offered by this version: the model takes RGB or BGR pictures; "
        "convert YUV pictures in the application and leave inputs_yuv_fmt out");
  }
  RK_TRY(check_std(config.std_values));
  RK_TRY(check_dynamic_input(config.dynamic_input));
  if (config.remove_weight && !config.dynamic_input.empty())
    return unsupported(
        "remove_weight does not go with dynamic_input: its shapes share weights already");
  warn_of_options_without_effect(config);
  return target;
}

Status check_types(const Config& config, const target::Target& target, bool quantize) {
  const bool floats = !quantize || computes_in_float(config);
  if (config.what_if) return ok_status();
  if (!floats && config.quantized_dtype == "w8a8" && !target.has_i8) {
    return unsupported(
        str(target.name, " has no int8; build without quantization for a float16 model"));
  }
  if (floats && !target.has_f16) {
    return unsupported(str(target.name, " has no float16; build with quantization and a dataset"));
  }
  return ok_status();
}

bool computes_in_float(const Config& config) {
  return config.quantized_dtype == "w8a16" || config.quantized_dtype == "w4a16";
}

Status check_hybrid_type(const Config& config) {
  if (config.quantized_dtype == "w8a8") return ok_status();
  return unsupported(
      str("hybrid quantization and auto_hybrid are for quantized_dtype 'w8a8', not '",
          config.quantized_dtype, "'"));
}

Status check_batch(int& batch) {
  constexpr int kMaxBatch = 1024;
  if (batch == -1) batch = 1;
  if (batch >= 1 && batch <= kMaxBatch) return ok_status();
  return invalid_argument(str("Invalid rknn_batch_size ", batch, ", expect 1 to ", kMaxBatch, "!"));
}

Status check_batch_at_shapes(int batch, const Config& config) {
  if (batch == 1 || config.dynamic_input.empty()) return ok_status();
  return unsupported("rknn_batch_size does not go with dynamic_input: list batches there");
}

Status check_inputs(const Config& config, const Graph& graph) {
  const size_t inputs = graph.inputs().size();
  const auto check = [&](std::string_view name,
                         const std::vector<std::vector<float>>& lists) -> Status {
    if (lists.size() > inputs) {
      return invalid_argument(
          str(name, " has ", lists.size(), " entries, the model has ", inputs, " input(s)"));
    }
    for (size_t i = 0; i < lists.size(); ++i) {
      const Shape& shape = graph.inputs()[i]->shape();
      const int64_t channels = shape.rank() > 1 ? shape[1] : 1;
      const auto found = static_cast<int64_t>(lists[i].size());
      if (found > 1 && found != channels) {
        std::string values;
        for (const float value : lists[i]) values += str(values.empty() ? "" : ", ", value);
        // The vendor's words, which users look for.
        return invalid_argument(str("The len of ", name, " ([", values, "]) for input ", i,
                                    " is wrong, expect ", channels, "! The input is '",
                                    graph.inputs()[i]->name(), "' of ", to_string(shape),
                                    ", the list has ", found, " numbers"));
      }
    }
    return ok_status();
  };
  RK_TRY(check("mean_values", config.mean_values));
  RK_TRY(check("std_values", config.std_values));
  if (config.quant_img_rgb2bgr.size() > std::max<size_t>(inputs, 1)) {
    return invalid_argument(str("quant_img_RGB2BGR has ", config.quant_img_rgb2bgr.size(),
                                " entries, the model has ", inputs, " input(s)"));
  }
  return ok_status();
}

std::vector<quant::InputFeed> input_feeds(const Config& config, size_t inputs) {
  std::vector<quant::InputFeed> out(inputs);
  for (size_t i = 0; i < inputs; ++i) {
    if (i < config.mean_values.size()) out[i].mean = config.mean_values[i];
    if (i < config.std_values.size()) out[i].std = config.std_values[i];
    const auto& swap = config.quant_img_rgb2bgr;
    out[i].rgb2bgr = !swap.empty() && swap[i < swap.size() ? i : 0];
  }
  return out;
}

std::vector<std::string> skipped_passes() {
  std::vector<std::string> out;
  const char* text = secure_getenv("RKNN_SKIP_PASSES");
  std::string name;
  for (const char* c = text == nullptr ? "" : text;; ++c) {
    if (*c != ',' && *c != '\0') {
      name += *c;
      continue;
    }
    if (!name.empty()) out.push_back(std::move(name));
    name.clear();
    if (*c == '\0') return out;
  }
}

}  // namespace rk::toolkit

// SPDX-License-Identifier: Apache-2.0
#include "toolkit/quantization_cfg.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "quant/quantize.h"
#include "toolkit/yml.h"

namespace rk::toolkit {
namespace {

constexpr double kSlack = 1e-5;  // relative; files pass through hands and other programs

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  std::string out(text, end.ptr);
  // 6 would be read as a whole number by others.
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

// As YAML's plain form where that is safe, else in double quotes.
std::string key_text(const std::string& name) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_./:-").find(c) != std::string_view::npos;
  };
  const bool starts = !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) ||
                                        name[0] == '_' || name[0] == '/');
  if (starts && name.back() != ':' && std::ranges::all_of(name, is_plain)) return name;
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

void add_list(std::string& text, std::string_view key,
              const std::optional<std::vector<double>>& list, bool whole) {
  if (!list) return;
  text += str("        ", key, ":\n");
  for (const double value : *list) {
    text += str("        - ", whole ? str(static_cast<int64_t>(value)) : number_text(value), "\n");
  }
}

Result<std::optional<std::vector<double>>> read_list(const Json& entry, std::string_view key,
                                                     const std::string& tensor) {
  const Json* const found = entry.find(key);
  if (found == nullptr || found->is_null()) return std::optional<std::vector<double>>();
  std::vector<double> out;
  const auto bad = [&]() {
    return invalid_argument(
        str("quantize_parameters of '", tensor, "': ", key, " is not a list of finite numbers"));
  };
  const auto add = [&](const Json& value) {
    const auto number = value.as_double();
    if (number && std::isfinite(*number)) out.push_back(*number);
    return number && std::isfinite(*number);
  };
  if (!found->is_array()) {
    if (!add(*found)) return bad();
  }
  for (size_t i = 0; found->is_array() && i < found->size(); ++i) {
    if (!add(*found->at(i))) return bad();
  }
  if (out.empty()) return bad();
  return std::optional(std::move(out));
}

bool close(double a, double b, double unit) {
  return std::fabs(a - b) <= kSlack * std::max(unit, std::max(std::fabs(a), std::fabs(b)));
}

// Both lists, or neither, of the wanted length.
Status check_pair(std::string_view tensor, const std::optional<std::vector<double>>& a,
                  const std::optional<std::vector<double>>& b, std::string_view names,
                  size_t wanted) {
  const std::string where = str("quantize_parameters of '", tensor, "'");
  if (a.has_value() != b.has_value())
    return invalid_argument(str(where, ": ", names, " go together, one is missing"));
  for (const auto* list : {&a, &b}) {
    if (*list && (*list)->size() != wanted) {
      return invalid_argument(
          str(where, ": ", names, " have ", (*list)->size(), " entries, expected ", wanted));
    }
  }
  return ok_status();
}

}  // namespace

TensorEntry entry_of(const QuantParams& params) {
  TensorEntry out;
  out.axis = params.axis;
  if (params.dtype == DType::kI16) out.dtype = "int16";
  const int shift = params.dtype == DType::kU8 ? 128 : 0;
  const double steps = params.dtype == DType::kI16 ? 65535 : 255;
  std::vector<double> scale, zero_point;
  for (size_t i = 0; i < params.scale.size(); ++i) {
    // In double where the range is known: the digits people know from the vendor's files.
    const bool ranged = i < params.min.size() && i < params.max.size();
    const double range = ranged ? (double{params.max[i]} - params.min[i]) / steps : 0;
    const bool same = ranged && static_cast<float>(range) == params.scale[i];
    scale.push_back(same ? range : params.scale[i]);
    zero_point.push_back(params.zero_point[i] - shift);
  }
  out.scale = std::move(scale);
  out.zero_point = std::move(zero_point);
  if (!params.min.empty()) {
    out.min.emplace(params.min.begin(), params.min.end());
    out.max.emplace(params.max.begin(), params.max.end());
  }
  return out;
}

std::string write_cfg(const Graph& graph, const QuantizationCfg& cfg) {
  std::string text = "custom_quantize_layers:";
  text += cfg.layers.empty() ? " {}\n" : "\n";
  for (const Value* value : graph.values()) {
    if (const auto it = cfg.layers.find(value->name()); it != cfg.layers.end())
      text += str("    ", key_text(it->first), ": ", it->second, "\n");
  }
  text += "quantize_parameters:\n";
  for (const Value* value : graph.values()) {
    const auto it = cfg.parameters.find(value->name());
    if (it == cfg.parameters.end()) continue;
    const TensorEntry& entry = it->second;
    text += str("    ", key_text(it->first), ":\n        qtype: asymmetric_quantized\n",
                "        qmethod: ", entry.axis < 0 ? "layer" : "channel",
                "\n        dtype: ", entry.dtype, "\n");
    add_list(text, "min", entry.min, false);
    add_list(text, "max", entry.max, false);
    add_list(text, "scale", entry.scale, false);
    add_list(text, "zero_point", entry.zero_point, true);
  }
  return text;
}

Result<QuantizationCfg> read_cfg(const std::string& path) {
  RK_ASSIGN(const Json file, read_yml(path));
  QuantizationCfg out;
  const Json* const layers = file.find("custom_quantize_layers");
  const Json* const parameters = file.find("quantize_parameters");
  for (const auto& [name, part] : {std::pair("custom_quantize_layers", layers),
                                   std::pair("quantize_parameters", parameters)}) {
    if (part != nullptr && !part->is_null() && !part->is_object())
      return invalid_argument(str("'", path, "': ", name, " is not a map of tensor names"));
  }
  if (layers != nullptr && layers->is_object()) {
    for (const Json::Member& member : *layers->as_object()) {
      const std::string* const type = member.value.as_string();
      if (type == nullptr || (*type != "float16" && *type != "int16" && *type != "int8")) {
        return invalid_argument(str("'", path, "': custom_quantize_layers of '", member.key,
                                    "' is ", write_json(member.value),
                                    ", expect in ['float16', 'int16', 'int8']!"));
      }
      out.layers[member.key] = *type;
    }
  }
  if (parameters == nullptr || !parameters->is_object()) return out;
  for (const Json::Member& member : *parameters->as_object()) {
    TensorEntry entry;
    if (const Json* dtype = member.value.find("dtype"); dtype != nullptr && dtype->as_string())
      entry.dtype = *dtype->as_string();
    RK_ASSIGN(entry.min, read_list(member.value, "min", member.key));
    RK_ASSIGN(entry.max, read_list(member.value, "max", member.key));
    RK_ASSIGN(entry.scale, read_list(member.value, "scale", member.key));
    RK_ASSIGN(entry.zero_point, read_list(member.value, "zero_point", member.key));
    out.parameters[member.key] = std::move(entry);
  }
  return out;
}

Result<std::optional<QuantParams>> edited_params(std::string_view tensor, const TensorEntry& entry,
                                                 const QuantParams& before) {
  const std::string where = str("quantize_parameters of '", tensor, "'");
  const TensorEntry old = entry_of(before);
  if (entry.dtype != old.dtype) {
    return invalid_argument(
        str(where, ": dtype is '", entry.dtype, "', step 1 wrote '", old.dtype,
            "'; name the layer under custom_quantize_layers to change its type"));
  }
  const size_t count = before.scale.size();
  RK_TRY(check_pair(tensor, entry.min, entry.max, "min and max", count));
  RK_TRY(check_pair(tensor, entry.scale, entry.zero_point, "scale and zero_point", count));
  if (!entry.min && !entry.scale)
    return invalid_argument(str(where, ": neither min and max nor scale and zero_point are given"));

  const double steps = before.dtype == DType::kI16 ? 65535 : 255;
  const double least = before.dtype == DType::kI16 ? -32768 : -128;
  const auto differs = [&](const std::optional<std::vector<double>>& now,
                           const std::optional<std::vector<double>>& was, double unit) {
    if (!now) return false;
    if (!was) return true;
    for (size_t i = 0; i < count; ++i) {
      if (!close((*now)[i], (*was)[i], unit)) return true;
    }
    return false;
  };
  const double span = old.scale->at(0) * steps;
  const bool range_edited = differs(entry.min, old.min, span) || differs(entry.max, old.max, span);
  const bool scale_edited =
      differs(entry.scale, old.scale, 0) || differs(entry.zero_point, old.zero_point, 1);
  if (!range_edited && !scale_edited) return std::optional<QuantParams>();

  QuantParams out;
  out.dtype = before.dtype == DType::kI16 ? DType::kI16 : DType::kI8;
  out.axis = before.axis;
  for (size_t i = 0; i < count; ++i) {
    if (range_edited) {
      const double min = (*entry.min)[i], max = (*entry.max)[i];
      if (!(min < max)) {
        return invalid_argument(str(where, ": min ", min, " is not below max ", max));
      }
      const QuantParams one =
          quant::activation_params({static_cast<float>(min), static_cast<float>(max)}, out.dtype);
      out.scale.push_back(one.scale[0]);
      out.zero_point.push_back(one.zero_point[0]);
      out.min.push_back(one.min[0]);
      out.max.push_back(one.max[0]);
      if (!scale_edited) continue;
      const double scale = (*entry.scale)[i], zero_point = (*entry.zero_point)[i];
      const bool agree = close(scale, one.scale[0], 0) && zero_point == one.zero_point[0];
      if (agree) continue;
      return invalid_argument(
          str(where, ": min ", min, " and max ", max, " mean scale ", one.scale[0],
              " and zero_point ", one.zero_point[0], ", but scale ", scale, " and zero_point ",
              zero_point, " are given; edit one pair and leave the other, or make them agree"));
    }
    const double scale = (*entry.scale)[i], zero_point = (*entry.zero_point)[i];
    if (!(scale > 0) || zero_point != std::round(zero_point) || zero_point < least ||
        zero_point > least + steps) {
      return invalid_argument(str(where, ": scale ", scale, " and zero_point ", zero_point,
                                  "; expect a positive scale and a whole zero_point from ", least,
                                  " to ", least + steps));
    }
    out.scale.push_back(static_cast<float>(scale));
    out.zero_point.push_back(static_cast<int32_t>(zero_point));
    out.min.push_back(static_cast<float>(scale * (least - zero_point)));
    out.max.push_back(static_cast<float>(scale * (least + steps - zero_point)));
  }
  return std::optional(std::move(out));
}

}  // namespace rk::toolkit

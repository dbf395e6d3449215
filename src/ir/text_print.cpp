// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "ir/text.h"

namespace rk {
namespace {

bool is_plain(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("_./:-").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string value_name(const Value* value) {
  if (value == nullptr) return "_";
  return "%" + (is_plain(value->name()) ? value->name() : quoted(value->name()));
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

// A float always shows that it is one, so that the attribute's kind survives.
std::string number(float value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  std::string out = text;
  if (out.find_first_of(".einf") == std::string::npos) out += ".0";
  return out;
}

std::string number(int64_t value) { return std::to_string(value); }
std::string number(int32_t value) { return std::to_string(value); }
std::string number(const std::string& value) { return quoted(value); }

template <typename T>
std::string list(const std::vector<T>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i == 0 ? "" : ",") + number(values[i]);
  return out + "]";
}

std::string elements(const Tensor& tensor) {
  std::string out = "[";
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (i != 0) out += ",";
    if (tensor.dtype() == DType::kI64) {
      out += number(tensor.at_i64(i));
    } else if (tensor.dtype() == DType::kU64) {
      out += std::to_string(tensor.data<uint64_t>()[i]);
    } else if (tensor.dtype() == DType::kF64) {
      out += number(tensor.at_f64(i));
    } else if (is_float(tensor.dtype()) || is_small_float(tensor.dtype())) {
      char text[40];
      std::snprintf(text, sizeof text, "%.9g", tensor.at_f64(i));
      out += text;
    } else {
      out += std::to_string(static_cast<int64_t>(tensor.at_f64(i)));
    }
  }
  return out + "]";
}

uint64_t fnv1a(ByteSpan bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

bool has_constant(const Graph& graph, const Value& value) {
  const Value* const other = graph.find(value.name());
  return other != nullptr && other->is_constant() && other->type() == value.type() &&
         std::ranges::equal(other->constant().bytes(), value.constant().bytes());
}

std::string constant_text(const Value& value, const TextOptions& options) {
  const Tensor& tensor = value.constant();
  const bool left_out = tensor.elements() > options.max_constant_elements ||
                        (options.shared != nullptr && has_constant(*options.shared, value));
  return left_out ? checksum_text(tensor) : elements(tensor);
}

std::string attr_text(const Attr& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          return str("tensor ", to_string(v.type()), " ", elements(v));
        } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float> ||
                             std::is_same_v<T, std::string>) {
          return number(v);
        } else {
          return list(v);
        }
      },
      value);
}

std::string quant_text(const QuantParams& quant) {
  if (quant.scale.empty()) return "";
  std::string out = str(" q(", to_string(quant.dtype));
  if (quant.axis >= 0) out += str(", axis=", quant.axis);
  out += str(", scale=", list(quant.scale), ", zp=", list(quant.zero_point));
  if (!quant.min.empty()) out += str(", min=", list(quant.min), ", max=", list(quant.max));
  return out + ")";
}

std::string typed(const Value& value) {
  return str(value_name(&value), ": ", to_string(value.type()), quant_text(value.quant));
}

}  // namespace

std::string checksum_text(const Tensor& tensor) {
  char text[32];
  std::snprintf(text, sizeof text, "<%016llx>",
                static_cast<unsigned long long>(fnv1a(tensor.bytes())));
  return text;
}

std::string to_text(const Graph& graph, const TextOptions& options) {
  std::string out = str("graph ", quoted(graph.name), " {\n");
  for (const Value* input : graph.inputs()) out += str("  input ", typed(*input), "\n");
  for (const Value* value : graph.values()) {
    if (!value->is_constant()) continue;
    out += str("  const ", typed(*value), " = ", constant_text(*value, options), "\n");
  }
  for (const Node* node : graph.nodes()) {
    out += "  ";
    for (size_t i = 0; i < node->output_count(); ++i)
      out += str(i == 0 ? "" : ", ", typed(node->output(i)));
    out += str(" = ", node->op(), "(");
    for (size_t i = 0; i < node->input_count(); ++i)
      out += str(i == 0 ? "" : ", ", value_name(node->inputs()[i]));
    out += ")";
    if (!node->attrs().empty()) {
      out += " {";
      bool first = true;
      for (const auto& [name, value] : node->attrs()) {
        out += str(first ? "" : ", ", name, "=", attr_text(value));
        first = false;
      }
      out += "}";
    }
    if (!node->name().empty()) out += str(" @", quoted(node->name()));
    out += "\n";
  }
  for (const Value* output : graph.outputs()) out += str("  output ", value_name(output), "\n");
  return out + "}\n";
}

}  // namespace rk

// SPDX-License-Identifier: Apache-2.0
#include "format/model_info.h"

namespace rk::format {
namespace {

using program::InputInfo;
using program::Program;
using program::ProgramTensor;
using program::Variant;

enum class Style { kLiteral, kJson };

// repr() of a string: single quotes, escapes only where needed.
std::string python_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "'";
}

void print(const Json& value, Style style, std::string& out) {
  const auto quoted = [&](const std::string& text) {
    return style == Style::kLiteral ? python_quoted(text) : write_json(Json(text));
  };
  if (const Json::Array* const array = value.as_array()) {
    out += '[';
    for (size_t i = 0; i < array->size(); ++i) {
      if (i != 0) out += ", ";
      print((*array)[i], style, out);
    }
    out += ']';
  } else if (const Json::Object* const object = value.as_object()) {
    out += '{';
    for (size_t i = 0; i < object->size(); ++i) {
      if (i != 0) out += ", ";
      out += quoted((*object)[i].key) + ": ";
      print((*object)[i].value, style, out);
    }
    out += '}';
  } else if (const std::string* const text = value.as_string()) {
    out += quoted(*text);
  } else if (style == Style::kLiteral && value.is_bool()) {
    out += *value.as_bool() ? "True" : "False";
  } else if (style == Style::kLiteral && value.is_null()) {
    out += "None";
  } else {
    out += write_json(value);
  }
}

// Means and deviations that are whole numbers are written as users gave them: 0, not 0.0.
Json plain_numbers(const std::vector<float>& values, size_t channels, float fallback) {
  Json out = Json::array();
  for (size_t i = 0; i < (values.empty() ? channels : values.size()); ++i) {
    const float value = values.empty() ? fallback : values[i];
    const auto whole = static_cast<int64_t>(value);
    out.push(static_cast<float>(whole) == value ? Json(whole) : Json(static_cast<double>(value)));
  }
  return out;
}

Json shape_of(const ProgramTensor& tensor) { return Json::array_of(tensor.shape.dims()); }

Json input_attributes(const ProgramTensor& tensor, const InputInfo& info, size_t index) {
  const size_t channels = tensor.shape.rank() == 4 ? static_cast<size_t>(tensor.shape[1]) : 0;
  return Json::object({
      {"idx", index},
      {"shape", shape_of(tensor)},
      {"layout", "nchw"},
      {"layout_ori", "nchw"},
      {"is_output", false},
      {"range", Json::array({0, 1})},
      {"origin_dynamic", false},
      {"dtype", numpy_name(info.model_dtype)},
      {"mean", plain_numbers(info.mean, channels, 0)},
      {"std", plain_numbers(info.std, channels, 1)},
      {"rgb2bgr", info.rgb2bgr},
  });
}

Json output_attributes(const ProgramTensor& tensor, size_t index) {
  // The source model's own output type is float unless the tensor carries integers.
  const bool integer = is_integer(tensor.dtype) && !tensor.quantized();
  return Json::object({
      {"is_output", true},
      {"idx", index},
      {"shape", shape_of(tensor)},
      {"dtype", numpy_name(integer ? tensor.dtype : DType::kF32)},
      {"layout", "nchw"},
  });
}

Json quant_entry(const ProgramTensor& tensor) {
  const auto one = [](float value) { return Json::array({static_cast<double>(value)}); };
  return Json::object({
      {"name", tensor.name},
      {"dtype", "float32"},
      {"qmethod", "layer"},
      {"qtype", "asymmetric_quantized"},
      {"min", one(tensor.min)},
      {"max", one(tensor.max)},
      {"scale", Json::array()},
      {"zero_point", Json::array()},
      {"ori_min", one(tensor.min)},
      {"ori_max", one(tensor.max)},
  });
}

const ProgramTensor& tensor_of(const Variant& variant, int32_t index) {
  return variant.tensors[static_cast<size_t>(index)];
}

Json io_types(const Variant& variant, const std::vector<int32_t>& indices, const char* layout) {
  Json out = Json::object();
  for (const int32_t index : indices) {
    const ProgramTensor& tensor = tensor_of(variant, index);
    out.set(tensor.name,
            Json::object({{"dtype", numpy_name(tensor.dtype)},
                          {"layout", tensor.shape.rank() == 4 ? layout : "UNDEFINED"}}));
  }
  return out;
}

// Input name -> list of its shapes, one per variant; empty for a static model.
Json dynamic_shapes(const Program& program) {
  Json out = Json::object();
  if (program.variants.size() < 2) return out;
  for (size_t i = 0; i < program.main_variant().inputs.size(); ++i) {
    Json shapes = Json::array();
    for (const Variant& variant : program.variants)
      shapes.push(shape_of(tensor_of(variant, variant.inputs[i])));
    out.set(tensor_of(program.main_variant(), program.main_variant().inputs[i]).name,
            std::move(shapes));
  }
  return out;
}

}  // namespace

std::string to_python_literal(const Json& value) {
  std::string out;
  print(value, Style::kLiteral, out);
  return out;
}

std::string to_python_json(const Json& value) {
  std::string out;
  print(value, Style::kJson, out);
  return out;
}

std::string_view numpy_name(DType dtype) {
  switch (dtype) {
    case DType::kUndefined:
      return "";
    case DType::kF32:
      return "float32";
    case DType::kU8:
      return "uint8";
    case DType::kI8:
      return "int8";
    case DType::kU16:
      return "uint16";
    case DType::kI16:
      return "int16";
    case DType::kI32:
      return "int32";
    case DType::kI64:
      return "int64";
    case DType::kBool:
      return "bool";
    case DType::kF16:
      return "float16";
    case DType::kF64:
      return "float64";
    case DType::kU32:
      return "uint32";
    case DType::kU64:
      return "uint64";
    case DType::kBF16:
      return "bfloat16";
    default:
      return "";
  }
}

std::string make_info(const Program& program) {
  const Variant& variant = program.main_variant();
  Json attrs = Json::object(), quant_tab = Json::object();
  for (size_t i = 0; i < variant.inputs.size(); ++i) {
    const ProgramTensor& tensor = tensor_of(variant, variant.inputs[i]);
    const InputInfo info = i < program.inputs.size() ? program.inputs[i] : InputInfo();
    attrs.set(tensor.name, input_attributes(tensor, info, i));
    if (tensor.quantized()) quant_tab.set(tensor.name, quant_entry(tensor));
  }
  for (size_t i = 0; i < variant.outputs.size(); ++i) {
    const ProgramTensor& tensor = tensor_of(variant, variant.outputs[i]);
    attrs.set(tensor.name, output_attributes(tensor, i));
    if (tensor.quantized()) quant_tab.set(tensor.name, quant_entry(tensor));
  }
  return to_python_literal(Json::object({{"attrs", std::move(attrs)},
                                         {"quant_tab", std::move(quant_tab)},
                                         {"dynamic_shapes", dynamic_shapes(program)}}));
}

std::string make_input_json(const Program& program) {
  return to_python_json(io_types(program.main_variant(), program.main_variant().inputs, "NHWC"));
}

std::string make_output_json(const Program& program) {
  return to_python_json(io_types(program.main_variant(), program.main_variant().outputs, "NCHW"));
}

}  // namespace rk::format

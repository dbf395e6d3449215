// SPDX-License-Identifier: Apache-2.0
#include "toolkit/hybrid_data.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "toolkit/config_check.h"
#include "toolkit/option_table.h"

namespace rk::toolkit {
namespace {

constexpr std::string_view kFormat = "openrknn hybrid quantization 1";

Json params_json(const QuantParams& params) {
  Json scale = Json::array();
  for (const float value : params.scale) scale.push(static_cast<double>(value));
  return Json::object({{"dtype", static_cast<int>(params.dtype)},
                       {"axis", params.axis},
                       {"scale", scale},
                       {"zero_point", Json::array_of(params.zero_point)}});
}

std::optional<QuantParams> params_from(const Json& json) {
  const Json *dtype = json.find("dtype"), *axis = json.find("axis"), *scale = json.find("scale"),
             *zero_point = json.find("zero_point");
  if (dtype == nullptr || axis == nullptr || scale == nullptr || zero_point == nullptr)
    return std::nullopt;
  const auto stored = dtype_from_onnx(dtype->as_int().value_or(0));
  if (!stored || !scale->is_array() || !zero_point->is_array() ||
      scale->size() != zero_point->size())
    return std::nullopt;
  QuantParams out;
  out.dtype = *stored;
  out.axis = static_cast<int>(axis->as_int().value_or(-1));
  for (size_t i = 0; i < scale->size(); ++i) {
    out.scale.push_back(static_cast<float>(scale->at(i)->as_double().value_or(0)));
    out.zero_point.push_back(static_cast<int32_t>(zero_point->at(i)->as_int().value_or(0)));
  }
  return out;
}

Result<HybridData> data_from(const Json& json) {
  const auto damaged = [](std::string_view what) {
    return invalid_argument(
        str("this is no .data file of hybrid_quantization_step1: ", what, " is missing or wrong"));
  };
  const Json* const format = json.find("format");
  if (format == nullptr || format->as_string() == nullptr || *format->as_string() != kFormat)
    return damaged("its first line");
  const Json *config = json.find("config"), *ranges = json.find("ranges"),
             *own = json.find("own_parameters"), *means = json.find("means"),
             *crc = json.find("model_crc32"), *dataset = json.find("dataset");
  if (config == nullptr || !config->is_object()) return damaged("config");
  if (ranges == nullptr || !ranges->is_object()) return damaged("ranges");
  if (own == nullptr || !own->is_object()) return damaged("own_parameters");
  if (means == nullptr || !means->is_object()) return damaged("means");
  if (crc == nullptr || !crc->as_int()) return damaged("model_crc32");
  if (dataset == nullptr || dataset->as_string() == nullptr) return damaged("dataset");
  HybridData out;
  RK_TRY(read_options(*config, out.config));
  out.dataset = *dataset->as_string();
  // Files of older versions have none.
  if (const Json* const batch = json.find("rknn_batch_size"); batch != nullptr) {
    if (!batch->as_int() || *batch->as_int() < 1 || *batch->as_int() > INT32_MAX)
      return damaged("rknn_batch_size");
    out.rknn_batch_size = static_cast<int>(*batch->as_int());
    RK_TRY(check_batch(out.rknn_batch_size));
    RK_TRY(check_batch_at_shapes(out.rknn_batch_size, out.config));
  }
  // Files of older versions have one shape.
  if (const Json* const shapes = json.find("other_shapes"); shapes != nullptr) {
    if (!shapes->is_array()) return damaged("other_shapes");
    for (size_t i = 0; i < shapes->size(); ++i) {
      const std::string* const text = shapes->at(i)->as_string();
      if (text == nullptr) return damaged("other_shapes");
      out.other_shapes.push_back(*text);
    }
  }
  if (out.other_shapes.size() + 1 != std::max<size_t>(out.config.dynamic_input.size(), 1))
    return damaged("other_shapes");
  out.model_crc32 = static_cast<uint32_t>(*crc->as_int());
  for (const Json::Member& member : *ranges->as_object()) {
    const Json *low = member.value.at(0), *high = member.value.at(1);
    if (low == nullptr || high == nullptr || !low->as_double() || !high->as_double())
      return damaged(str("the range of '", member.key, "'"));
    out.ranges[member.key] = {static_cast<float>(*low->as_double()),
                              static_cast<float>(*high->as_double())};
  }
  for (const Json::Member& member : *means->as_object()) {
    std::vector<quant::ChannelStats>& channels = out.stats[member.key];
    if (!member.value.is_array()) return damaged(str("the means of '", member.key, "'"));
    for (size_t i = 0; i < member.value.size(); ++i) {
      const Json* const mean = member.value.at(i);
      if (mean == nullptr || !mean->as_double())
        return damaged(str("the means of '", member.key, "'"));
      channels.emplace_back().mean = *mean->as_double();
    }
  }
  for (const Json::Member& member : *own->as_object()) {
    auto params = params_from(member.value);
    if (!params) return damaged(str("the parameters of '", member.key, "'"));
    out.own_params.emplace(member.key, std::move(*params));
  }
  return out;
}

}  // namespace

std::string write_hybrid_data(const HybridData& data) {
  Json ranges = Json::object();
  for (const auto& [name, range] : data.ranges) {
    ranges.set(name, Json::array({static_cast<double>(range.min), static_cast<double>(range.max)}));
  }
  Json own = Json::object();
  for (const auto& [name, params] : data.own_params) own.set(name, params_json(params));
  Json means = Json::object();
  for (const auto& [name, channels] : data.stats) {
    Json list = Json::array();
    for (const quant::ChannelStats& channel : channels) list.push(channel.mean);
    means.set(name, std::move(list));
  }
  return write_json(Json::object({{"format", kFormat},
                                  {"model_crc32", data.model_crc32},
                                  {"dataset", data.dataset},
                                  {"rknn_batch_size", data.rknn_batch_size},
                                  {"config", write_options(data.config)},
                                  {"ranges", ranges},
                                  {"means", means},
                                  {"other_shapes", Json::array_of(data.other_shapes)},
                                  {"own_parameters", own}}),
                    1);
}

Result<HybridData> read_hybrid_data(const std::string& path) {
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file(path, kMaxJsonBytes));
  const auto json =
      parse_json(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!json.ok()) return json.status().with_context(str("'", path, "'"));
  auto data = data_from(*json);
  if (!data.ok()) return data.status().with_context(str("'", path, "'"));
  return data;
}

}  // namespace rk::toolkit

// SPDX-License-Identifier: Apache-2.0
#include "toolkit/convert_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "frontends/model_source.h"
#include "toolkit/option_table.h"
#include "toolkit/options.h"
#include "toolkit/yml.h"

namespace rk::toolkit {
namespace {

// "1,3,512,512" as well as [1, 3, 512, 512].
Result<Json> shape_json(const Json& entry) {
  if (entry.is_array() || entry.is_null()) return entry;
  Json out = Json::array();
  if (const auto number = entry.as_int()) {
    out.push(*number);
    return out;
  }
  if (entry.as_string() == nullptr)
    return invalid_argument("input_size_list: expected texts such as 1,3,224,224");
  std::string_view text = *entry.as_string();
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    int64_t number = 0;
    const auto end = std::from_chars(part.data(), part.data() + part.size(), number);
    if (end.ec != std::errc() || end.ptr != part.data() + part.size())
      return invalid_argument(str("input_size_list: '", part, "' is not a number"));
    out.push(number);
  }
  return out;
}

Status read_subgraphs(const Json& subgraphs, LoadOptions& load) {
  Json options = Json::object();
  if (const Json::Object* const members = subgraphs.as_object()) {
    for (const Json::Member& member : *members) options.set(member.key, member.value);
  } else if (!subgraphs.is_null()) {
    return invalid_argument("subgraphs: expected the keys inputs, input_size_list, outputs");
  }
  if (const Json* const sizes = options.find("input_size_list")) {
    Json shapes = Json::array();
    if (!sizes->is_array() && !sizes->is_null()) {
      RK_ASSIGN(Json shape, shape_json(*sizes));
      shapes.push(std::move(shape));
    }
    for (size_t i = 0; i < sizes->size(); ++i) {
      RK_ASSIGN(Json shape, shape_json(*sizes->at(i)));
      shapes.push(std::move(shape));
    }
    options.set("input_size_list", std::move(shapes));
  }
  return read_options(options, load).with_context("subgraphs");
}

Result<ConvertFile> read_models(const Json& models, const std::filesystem::path& folder) {
  ConvertFile out;
  OptionReader reader(models);
  reader.read("name", out.name);
  reader.read("platform", out.platform);
  bool quantize = false;
  reader.read("quantize", quantize);
  out.build.do_quantization = quantize;
  reader.read("dataset", out.build.dataset);
  const auto beside = [&](const std::string& path) { return (folder / path).string(); };
  if (!out.build.dataset.empty()) out.build.dataset = beside(out.build.dataset);
  for (const frontends::ModelSource& source : frontends::model_sources()) {
    for (const frontends::FilePart& part : source.parts) {
      std::string path;
      reader.read(part.yml_key, path);
      if (!path.empty()) out.files[std::string(part.yml_key)] = beside(path);
    }
  }
  const Json* const subgraphs = reader.find("subgraphs");
  const Json* const configs = reader.find("configs");
  RK_TRY(reader.finish());
  auto source = frontends::find_source(out.platform);
  if (!source.ok()) return source.status().with_context("platform");
  for (const frontends::FilePart& part : (*source)->parts) {
    const auto path = out.files.find(std::string(part.yml_key));
    if (path == out.files.end())
      return invalid_argument(
          str(part.yml_key, " is missing: platform '", out.platform, "' needs it"));
    out.paths.push_back(path->second);
  }
  if (quantize && out.build.dataset.empty())
    return invalid_argument("dataset is missing: quantize is true");
  if (subgraphs != nullptr) RK_TRY(read_subgraphs(*subgraphs, out.load));
  if (configs != nullptr) RK_TRY(read_options(*configs, out.config).with_context("configs"));
  return out;
}

}  // namespace

Result<ConvertFile> read_convert_file(const std::string& path) {
  RK_ASSIGN(const Json document, read_yml(path));
  OptionReader reader(document);
  const Json* const models = reader.find("models");
  if (models == nullptr)
    return invalid_argument(str("'", path, "': the top key 'models' is missing"));
  Status status = reader.finish();
  if (!status.ok()) return status.with_context(str("'", path, "'"));
  auto out = read_models(*models, std::filesystem::path(path).parent_path());
  if (!out.ok()) return out.status().with_context(str("'", path, "': models"));
  return out;
}

Json to_json(const ConvertFile& file) {
  return Json::object({{"name", file.name},
                       {"platform", file.platform},
                       {"paths", Json::array_of(file.paths)},
                       {"config", write_options(file.config)},
                       {"load", write_options(file.load)},
                       {"build", write_options(file.build)}});
}

}  // namespace rk::toolkit

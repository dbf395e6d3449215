// SPDX-License-Identifier: Apache-2.0
// yaml-cpp throws; everything is caught here.
#include "toolkit/yml.h"

#include <yaml-cpp/yaml.h>

namespace rk::toolkit {
namespace {

Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted
  int64_t whole = 0;
  double number = 0;
  bool flag = false;
  if (YAML::convert<int64_t>::decode(node, whole)) return whole;
  if (YAML::convert<double>::decode(node, number)) return number;
  if (YAML::convert<bool>::decode(node, flag)) return flag;
  return text;
}

Result<Json> to_json(const YAML::Node& node, int depth) {
  if (depth > kMaxJsonDepth) return invalid_argument("nested too deeply");
  if (!node.IsDefined() || node.IsNull()) return Json();
  if (node.IsScalar()) return scalar(node);
  if (node.IsSequence()) {
    Json out = Json::array();
    for (const YAML::Node& element : node) {
      RK_ASSIGN(Json value, to_json(element, depth + 1));
      out.push(std::move(value));
    }
    return out;
  }
  Json out = Json::object();
  for (const auto& member : node) {
    RK_ASSIGN(Json value, to_json(member.second, depth + 1));
    out.set(member.first.Scalar(), std::move(value));
  }
  return out;
}

}  // namespace

Result<Json> read_yml(const std::string& path) {
  try {
    auto json = to_json(YAML::LoadFile(path), 0);
    return json.ok() ? std::move(json) : Result<Json>(json.status().with_context(path));
  } catch (const YAML::BadFile&) {
    return io_error(str("'", path, "' cannot be read"));
  } catch (const YAML::Exception& error) {
    return invalid_argument(str("'", path, "': ", error.what()));
  }
}

}  // namespace rk::toolkit

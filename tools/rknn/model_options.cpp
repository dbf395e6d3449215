// SPDX-License-Identifier: Apache-2.0
#include "rknn/model_options.h"

#include "quant/samples.h"

namespace rk::tools {
namespace {

using toolkit::Option;

// What was typed, in the form of JSON that the option's reader takes. The reader judges it.
template <typename S>
struct FlagText {
  std::string flag;
  std::vector<std::string> values;  // one per time the flag was given

  Result<Json> one_number(auto parse) const {
    RK_ASSIGN(const auto numbers, parse(flag, values.back()));
    if (numbers.size() != 1) return invalid_argument(str(flag, " takes one number"));
    return Json(numbers[0]);
  }
  template <typename Parse>
  Result<Json> lists(Parse parse) const {
    Json out = Json::array();
    for (const std::string& text : values) {
      RK_ASSIGN(const auto numbers, parse(flag, text));
      out.push(Json::array_of(numbers));
    }
    return out;
  }
  Result<Json> pairs(char separator, Json (*make)(std::string, std::string), Json out) const {
    for (const std::string& text : values) {
      const size_t at = text.rfind(separator);
      if (at == std::string::npos)
        return invalid_argument(str(flag, " '", text, "': expected two names with '",
                                    std::string(1, separator), "' between them"));
      Json pair = make(text.substr(0, at), text.substr(at + 1));
      if (const Json::Object* const members = pair.as_object())
        out.set(members->front().key, members->front().value);
      else
        out.push(std::move(pair));
    }
    return out;
  }

  Result<Json> operator()(bool S::*member) const {
    const std::string& text = values.back();
    static const S defaults{};
    if (text.empty()) return Json(!(defaults.*member));
    if (text == "1" || text == "true" || text == "True") return Json(true);
    if (text == "0" || text == "false" || text == "False") return Json(false);
    return Json(text);
  }
  Result<Json> operator()(int S::*) const { return one_number(parse_ints); }
  Result<Json> operator()(double S::*) const { return one_number(parse_numbers); }
  Result<Json> operator()(std::optional<double> S::*) const { return one_number(parse_numbers); }
  Result<Json> operator()(std::string S::*) const { return Json(values.back()); }
  Result<Json> operator()(std::vector<bool> S::*) const {
    if (values.back().empty()) return Json(true);
    RK_ASSIGN(const auto numbers, parse_ints(flag, values.back()));
    return Json::array_of(numbers);
  }
  Result<Json> operator()(std::vector<std::string> S::*) const {
    Json out = Json::array();
    for (const std::string& text : values) {
      for (const std::string& name : split(text, ',')) out.push(name);
    }
    return out;
  }
  Result<Json> operator()(std::vector<std::vector<float>> S::*) const {
    return lists(parse_numbers);
  }
  Result<Json> operator()(std::vector<std::vector<int64_t>> S::*) const {
    return lists(parse_ints);
  }
  Result<Json> operator()(std::vector<toolkit::ShapeSet> S::*) const {
    Json out = Json::array();
    for (const std::string& text : values) {
      Json set = Json::array();
      for (const std::string& part : split(text, ';')) {
        RK_ASSIGN(const auto shape, parse_ints(flag, part));
        set.push(Json::array_of(shape));
      }
      out.push(std::move(set));
    }
    return out;
  }
  Result<Json> operator()(std::map<std::string, std::string> S::*) const {
    return pairs(
        '=',
        [](std::string key, std::string value) {
          return Json::object({{key, value}});
        },
        Json::object());
  }
  Result<Json> operator()(std::vector<std::pair<std::string, std::string>> S::*) const {
    return pairs(
        ',',
        [](std::string from, std::string to) {
          return Json::array({from, to});
        },
        Json::array());
  }
  Result<Json> operator()(std::vector<std::optional<Tensor>> S::*) const { return Json(); }
};

// "2=x.npy": input number 2 becomes this array.
Status read_arrays(const std::string& flag, const std::vector<std::string>& values,
                   std::vector<std::optional<Tensor>>& out) {
  for (const std::string& text : values) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      return invalid_argument(str(flag, " '", text, "': expected I=FILE.npy"));
    RK_ASSIGN(const auto index, parse_ints(flag, text.substr(0, equals)));
    if (index.size() != 1 || index[0] < 0 || index[0] > 255)
      return invalid_argument(str(flag, ": I counts inputs from 0"));
    RK_ASSIGN(Tensor value, quant::load_npy_tensor(text.substr(equals + 1)));
    const auto at = static_cast<size_t>(index[0]);
    if (out.size() <= at) out.resize(at + 1);
    out[at] = std::move(value);
  }
  return ok_status();
}

void append(std::vector<OptionDef>& to, std::vector<OptionDef> more) {
  for (OptionDef& def : more) to.push_back(std::move(def));
}

}  // namespace

template <typename S>
std::vector<OptionDef> flags_for() {
  std::vector<OptionDef> out;
  for (const Option<S>& option : toolkit::options_of<S>()) {
    const std::vector<std::string> names = toolkit::flags_of(option);
    out.push_back({.name = names.front(),
                   .short_name = option.flag.short_name,
                   .value = option.flag.value,
                   .doc = option.doc,
                   .other_name = names.size() > 1 ? names[1] : ""});
  }
  return out;
}

template <typename S>
Status read_flags(const Arguments& args, S& out) {
  Json given = Json::object();
  for (const Option<S>& option : toolkit::options_of<S>()) {
    const std::string flag = toolkit::flags_of(option).front();
    if (!args.has(flag)) continue;
    const FlagText<S> text{flag, args.all(flag)};
    RK_ASSIGN(Json value, std::visit(text, option.member));
    given.set(option.name, std::move(value));
    if (const auto* arrays = std::get_if<std::vector<std::optional<Tensor>> S::*>(&option.member))
      RK_TRY(read_arrays(flag, text.values, out.*(*arrays)));
  }
  return toolkit::read_options(given, out);
}

template Status read_flags(const Arguments&, toolkit::Config&);
template Status read_flags(const Arguments&, toolkit::LoadOptions&);
template Status read_flags(const Arguments&, toolkit::BuildOptions&);
template Status read_flags(const Arguments&, toolkit::HybridOptions&);

std::vector<OptionDef> with_model_options(const std::vector<OptionDef>& own, ModelFlags flags) {
  std::vector<OptionDef> out = flags_for<toolkit::Config>();
  append(out, flags_for<toolkit::LoadOptions>());
  append(out, flags == ModelFlags::kBuild ? flags_for<toolkit::BuildOptions>()
                                          : flags_for<toolkit::HybridOptions>());
  append(out, {{"--format", "", "NAME",
                "of the model: onnx, tflite, tensorflow, ...; default: told from its files"}});
  append(out, own);
  out.push_back({"--help", "-h", "", "this text"});
  return out;
}

Status read_model_options(const Arguments& args, ConvertRequest& request) {
  if (!args.words().empty()) request.model = args.words();
  if (args.has("--format")) request.format = args.get("--format");
  RK_TRY(read_flags(args, request.config));
  RK_TRY(read_flags(args, request.load));
  RK_TRY(read_flags(args, request.build));
  if (request.model.empty()) return invalid_argument("no model given; --help says how");
  return ok_status();
}

}  // namespace rk::tools

// SPDX-License-Identifier: Apache-2.0
#include "toolkit/methods.h"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "base/file.h"
#include "base/log.h"
#include "format/model_info.h"
#include "frontends/model_source.h"
#include "registers/board_model.h"
#include "remote/client.h"
#include "toolkit/board.h"
#include "toolkit/codegen.h"
#include "toolkit/config_check.h"
#include "toolkit/convert_file.h"
#include "toolkit/encrypt.h"
#include "toolkit/onnx_edit.h"
#include "toolkit/option_table.h"
#include "toolkit/options.h"
#include "toolkit/simulator.h"
#include "toolkit/version.h"

namespace rk::toolkit {
namespace {

// The guide's rule for a platform that is not set.
constexpr const char* kDefaultPlatform = "rk3566";
// list_devices waits so long for one that does not answer.
constexpr int kPingMs = 1000;

Json attr_json(const runtime::TensorAttr& attr) {
  return Json::object({{"name", attr.name},
                       {"dims", Json::array_of(attr.dims)},
                       {"format", std::string(runtime::to_string(attr.format))},
                       {"dtype", static_cast<int>(attr.dtype)},
                       {"scale", static_cast<double>(attr.scale)},
                       {"zero_point", attr.zero_point}});
}

Json outputs_json(const Runner& runner) {
  Json outputs = Json::array();
  for (size_t i = 0; i < runner.output_count(); ++i) {
    const TensorType type = runner.output_type(i);
    Json output = attr_json(runner.output_attr(i));
    output.set("result_dtype", static_cast<int>(type.dtype));
    output.set("dims", Json::array_of(type.shape.dims()));
    outputs.push(std::move(output));
  }
  return outputs;
}

std::string size_text(uint64_t bytes) {
  std::ostringstream out;
  const double kib = static_cast<double>(bytes) / 1024;
  out << std::fixed << std::setprecision(2);
  if (kib < 1024) {
    out << kib << " KiB";
  } else {
    out << kib / 1024 << " MiB";
  }
  return out.str();
}

// `chip`: null when it is not known.
std::string memory_text(const program::ChipMemory& use, uint64_t file_bytes,
                        const target::Target* chip) {
  const std::string rule(54, '=');
  const auto usual = static_cast<uint64_t>(chip == nullptr ? 0 : chip->memory.usual_mib) << 20;
  // Beside the model the system wants its part; half of the memory is taken as what a model may have.
  const std::string_view verdict = use.total() + file_bytes <= usual / 2 ? "fits"
                                   : use.total() + file_bytes <= usual   ? "may fit"
                                                                         : "does not fit";
  const std::string fits =
      chip == nullptr ? ""
                      : str(" With it the model ", verdict, " the ", chip->memory.usual_mib,
                            " MiB that boards with ", chip->name, " usually have.");
  return str(rule, "\n", std::string(14, ' '), "Memory Profile Info Dump\n", rule, "\n",
             "NPU model memory detail(bytes):\n",
             "    Weight Memory: ", size_text(use.weight_bytes),
             "\n    Internal Tensor Memory: ", size_text(use.internal_bytes),
             "\n    Other Memory: ", size_text(use.command_bytes),
             "\n    Total Memory: ", size_text(use.total()), "\n\n    The model file takes ",
             size_text(file_bytes), ".", fits, "\n", rule, "\n");
}

// Inputs and outputs that are int8 in the file although the source model has float32.
void warn_of_changed_types(const program::Program& program) {
  const program::Variant& variant = program.main_variant();
  const auto warn = [&](const char* what, const std::vector<int32_t>& tensors) {
    for (const int32_t index : tensors) {
      const program::ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
      if (!tensor.quantized()) continue;
      log(LogLevel::kWarning,
          str("The default ", what, " dtype of '", tensor.name, "' is changed from 'float32' to '",
              format::numpy_name(tensor.dtype), "' in the rknn model for performance"));
    }
  };
  warn("input", variant.inputs);
  warn("output", variant.outputs);
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

// Chips named in a file, and every chip that takes such a file.
Result<Json> platforms(const Json& options) {
  std::string path;
  OptionReader reader(options);
  reader.read("rknn_model", path);
  RK_TRY(reader.finish());
  Json filled = Json::array();
  Json supported = Json::array();
  std::string model_target;
  if (!path.empty()) {
    RK_ASSIGN(const std::vector<uint8_t> file, read_file(path));
    RK_ASSIGN(const auto model,
              runtime::LoadedModel::from_bytes(file, {.device = {}, .info_only = true}));
    model_target = model->program().target;
    filled.push(model_target);
  }
  for (const target::Target* chip : target::all_targets()) {
    if (!path.empty() && !target::runs_on(model_target, chip->name)) continue;
    supported.push(upper(chip->name));
    for (const std::string_view also : chip->also) {
      const Json name = upper(also);
      if (std::ranges::find(*supported.as_array(), name) == supported.as_array()->end())
        supported.push(name);
    }
  }
  return Json::object({{"filled", filled}, {"supported", supported}});
}

// The file with register lists. The log says of each layer what its lists are; layers without one are warnings.
Status export_for_board(const Toolkit& toolkit, bool built, const registers::BoardOptions& options,
                        const std::string& path) {
  if (!built) return invalid_argument("export_rknn: build the model first");
  std::vector<registers::LayerReport> layers;
  RK_ASSIGN(const std::vector<uint8_t> bytes,
            registers::write_board_file(toolkit.program(), &layers, options));
  for (const registers::LayerReport& layer : layers) {
    const bool absent = layer.form == registers::LayerForm::kAbsent;
    log(absent ? LogLevel::kWarning : LogLevel::kInfo,
        str("export_rknn: ", registers::form_name(layer.form), ", ", layer.tasks,
            " tasks: ", layer.name, absent ? str(": ", layer.why) : ""));
  }
  return write_file(path, bytes, Durability::kPower);
}

}  // namespace

Result<Json> Methods::config(const Json& options) {
  Config config;
  RK_TRY(read_options(options, config));
  if (config.target_platform.empty()) {
    config.target_platform = kDefaultPlatform;
    log(LogLevel::kWarning,
        str("target_platform is not set: building for the default, ", kDefaultPlatform));
  }
  const std::vector<bool> rgb2bgr = config.quant_img_rgb2bgr;
  const bool removes_weights = config.remove_weight, compresses_weights = config.compress_weight;
  RK_TRY(toolkit_.config(std::move(config)));
  removes_weights_ = removes_weights;
  compresses_weights_ = compresses_weights;
  rgb2bgr_ = rgb2bgr;
  return Json();
}

Result<Json> Methods::load(std::string_view format, const Json& options,
                           const std::vector<Tensor>& arrays) {
  RK_ASSIGN(const frontends::ModelSource* const source, frontends::find_source(format));
  std::vector<std::string> paths;
  std::vector<std::string_view> files;
  for (const frontends::FilePart& part : source->parts) {
    files.push_back(part.argument);
    const Json* const path = options.find(part.argument);
    if (path == nullptr || path->as_string() == nullptr || path->as_string()->empty()) {
      return invalid_argument(
          str(part.argument, " is not given: the path of a ", part.ending, " file"));
    }
    paths.push_back(*path->as_string());
  }
  LoadOptions load;
  RK_TRY(read_options(options, load, files));
  // A list of null (as in the model) and anything else (the next array).
  const Json* const values = options.find("input_initial_val");
  if (values != nullptr && !values->is_null() && !values->is_array())
    return invalid_argument("input_initial_val is not a list: give one array or None per input");
  size_t next = 0;
  for (size_t i = 0; values != nullptr && i < values->size(); ++i) {
    load.input_initial_val.emplace_back();
    if (values->at(i)->is_null()) continue;
    if (next >= arrays.size())
      return invalid_argument("input_initial_val: fewer arrays than entries");
    load.input_initial_val.back() = arrays[next++];
  }
  RK_TRY(toolkit_.load(paths, std::string(format), load));
  built_ = false;
  rknn_path_.clear();
  file_.reset();
  runner_.reset();
  return Json();
}

Result<Json> Methods::optimize_onnx(const Json& options) {
  std::string model, path;
  std::vector<std::string> passes;
  OptionReader reader(options);
  reader.read("model", model);
  reader.read("optimized_path", path);
  reader.read("passes_enable", passes);
  RK_TRY(reader.finish());
  if (path.empty())
    path = std::filesystem::path(model).replace_extension(".optimized.onnx").string();
  RK_TRY(load("onnx", Json::object({{"model", model}}), {}).status());
  RK_TRY(toolkit_.export_optimized(path, passes));
  return Json(path);
}

Result<Json> Methods::load_rknn(const Json& options) {
  std::string path;
  OptionReader reader(options);
  reader.read("path", path);
  RK_TRY(reader.finish());
  RK_ASSIGN(std::vector<uint8_t> file, read_file(path));
  RK_TRY(runtime::LoadedModel::from_bytes(file, {.device = {}, .info_only = true})
             .status()
             .with_context(path));
  RK_TRY(toolkit_.add_plugins());
  file_ = std::move(file);
  std::error_code error;
  rknn_path_ = std::filesystem::absolute(path, error).string();
  built_ = false;
  runner_.reset();
  return Json();
}

Result<Json> Methods::export_encrypted(const Json& options) {
  std::string input, output;
  int level = 1;
  OptionReader reader(options);
  reader.read("input_model", input);
  reader.read("output_model", output);
  reader.read("crypt_level", level);
  RK_TRY(reader.finish());
  RK_ASSIGN(std::string path, encrypt_file(input, output, level, format::keys_of_environment()));
  return Json(std::move(path));
}

Result<Json> Methods::build(const Json& options) {
  BuildOptions build;
  RK_TRY(read_options(options, build));
  RK_TRY(check_batch(build.rknn_batch_size));
  build.progress = [this](size_t done, size_t total) {
    return !progress_ || progress_("Quantizating", done, total);
  };
  if (progress_ && !progress_("Preparing", 0, 1))
    return Status(Code::kCancelled, "the build was stopped");
  built_ = false;
  rknn_path_.clear();
  runner_.reset();
  RK_TRY(toolkit_.build(build));
  built_ = true;
  warn_of_changed_types(toolkit_.program());
  return Json();
}

Result<Json> Methods::export_rknn(const Json& options) {
  std::string path;
  OptionReader reader(options);
  bool for_board = false;
  reader.read("export_path", path);
  reader.read("for_board", for_board);
  RK_TRY(reader.finish());
  if (path.empty()) return invalid_argument("export_path is empty: the path of the file to write");
  if (for_board && removes_weights_)
    return invalid_argument("for_board does not go with remove_weight: lists name every weight");
  const registers::BoardOptions for_chip{.compress_weight = compresses_weights_};
  RK_TRY(for_board ? export_for_board(toolkit_, built_, for_chip, path)
                   : toolkit_.export_rknn(path));
  std::error_code error;
  rknn_path_ = std::filesystem::absolute(path, error).string();
  return Json();
}

Result<Json> Methods::codegen(const Json& options) {
  CodegenOptions request;
  OptionReader reader(options);
  reader.read("output_path", request.output_path);
  reader.read("inputs", request.inputs);
  reader.read("overwrite", request.overwrite);
  RK_TRY(reader.finish());
  request.model = rknn_path_;
  if (request.model.empty())
    return invalid_argument("call export_rknn() first: the program runs the exported file");
  request.rgb2bgr = rgb2bgr_;
  RK_ASSIGN(const CodegenResult result, toolkit::codegen(request));
  if (result.skipped) {
    log(LogLevel::kWarning, str("'", request.output_path,
                                "' exists and was left as it is: overwrite=True writes into it"));
  }
  return Json::object({{"skipped", result.skipped}, {"project", result.project}});
}

Result<Json> Methods::init_runtime(const Json& options) {
  RuntimeOptions runtime;
  OptionReader reader(options);
  reader.read("target", runtime.target);
  reader.read("device_id", runtime.device_id);
  reader.read("perf_debug", runtime.perf_debug);
  reader.read("eval_mem", runtime.eval_mem);
  reader.read("async_mode", runtime.async_mode);
  reader.read("core_mask", runtime.core_mask);
  reader.read("fallback_prior_device", runtime.fallback_prior_device);
  RK_TRY(reader.finish());
  if (!built_ && !file_) return invalid_argument("call build() or load_rknn() first");
  runner_.reset();
  RK_ASSIGN(const auto device, device_for(runtime.target, runtime.device_id));
  if (device) {
    RK_ASSIGN(std::vector<uint8_t> file, rknn_file());
    RK_ASSIGN(runner_, Board::create(std::move(file), runtime, *device));
  } else if (built_) {
    RK_ASSIGN(runner_, Simulator::create(toolkit_.program(), runtime, toolkit_.operators()));
  } else {
    RK_ASSIGN(runner_, Simulator::create(*file_, runtime, toolkit_.operators()));
  }
  Json inputs = Json::array();
  for (size_t i = 0; i < runner_->input_count(); ++i)
    inputs.push(attr_json(runner_->input_attr(i)));
  return Json::object({{"chip", std::string(runner_->chip())},
                       {"inputs", inputs},
                       {"outputs", outputs_json(*runner_)},
                       {"dynamic", runner_->dynamic()}});
}

Status Methods::begin(const char* stage) {
  if (!progress_ || progress_(stage, 0, 1)) return ok_status();
  return {Code::kCancelled, "the call was stopped"};
}

Status Methods::reg_custom_op(ops::CustomOp op) { return toolkit_.reg_custom_op(std::move(op)); }

Result<Runner*> Methods::running(std::string_view method) {
  if (runner_ == nullptr) return invalid_argument(str(method, ": call init_runtime() first"));
  return runner_.get();
}

Result<Json> Methods::eval_perf(const Json& options) {
  bool is_print = true, fix_freq = true;
  std::vector<std::vector<int64_t>> dims;
  OptionReader reader(options);
  reader.read("is_print", is_print);
  reader.read("fix_freq", fix_freq);
  reader.read("shape", dims);
  RK_TRY(reader.finish());
  std::vector<Shape> shapes;
  for (const std::vector<int64_t>& one : dims) {
    RK_ASSIGN(Shape shape, Shape::make(one));
    shapes.push_back(std::move(shape));
  }
  RK_ASSIGN(Runner* const runner, running("eval_perf"));
  RK_ASSIGN(const std::string text, runner->performance(fix_freq, shapes));
  return Json(text);
}

Result<Json> Methods::eval_memory(const Json& options) {
  bool ignored = true;
  OptionReader reader(options);
  reader.read("is_print", ignored);
  RK_TRY(reader.finish());
  RK_ASSIGN(Runner* const runner, running("eval_memory"));
  if (!runner->options().eval_mem)
    return invalid_argument("memory was not asked for: call init_runtime(eval_mem=True)");
  const program::ChipMemory use = runner->memory();
  RK_ASSIGN(const std::vector<uint8_t> file, rknn_file());
  const auto chip = target::find_target(runner->chip());
  return Json::object({{"text", memory_text(use, file.size(), chip.ok() ? *chip : nullptr)},
                       {"weight_memory", use.weight_bytes},
                       {"internal_memory", use.internal_bytes},
                       {"other_memory", use.command_bytes},
                       {"total_memory", use.total()},
                       {"total_model_allocation", use.total()}});
}

Result<Json> Methods::get_sdk_version(const Json& options) {
  RK_TRY(OptionReader(options).finish());
  RK_ASSIGN(const Runner* const runner, running("get_sdk_version"));
  const std::string rule(46, '=');
  return Json(str(rule, "\nRKNN VERSION:\n  API: ", kVersionText, "\n", runner->driver_versions(),
                  rule, "\n"));
}

Result<std::vector<uint8_t>> Methods::rknn_file() const {
  if (built_) return toolkit_.rknn_bytes();
  return *file_;
}

// Those that answer.
Result<Json> Methods::list_devices(const Json& options) {
  RK_TRY(OptionReader(options).finish());
  RK_ASSIGN(const std::vector<remote::Device> known, remote::known_devices());
  Json out = Json::array();
  for (const remote::Device& device : known) {
    const auto client = remote::Client::open(device, kVersionText, kPingMs);
    if (client.ok()) {
      out.push(device.id);
    } else {
      log(LogLevel::kWarning,
          str("device '", device.id, "' is left out: ", client.status().message()));
    }
  }
  return out;
}

Result<Json> Methods::call(std::string_view method, const Json& options,
                           const std::vector<Tensor>& arrays) {
  if (method == "config") return config(options);
  if (method == "load_rknn") return load_rknn(options);
  if (method.starts_with("load_")) return load(method.substr(5), options, arrays);
  if (method == "build") return build(options);
  if (method == "hybrid_quantization_step1") return hybrid_step1(options);
  if (method == "hybrid_quantization_step2") return hybrid_step2(options);
  if (method == "export_rknn") return export_rknn(options);
  if (method == "accuracy_analysis") return accuracy_analysis(options);
  if (method == "codegen") return codegen(options);
  if (method == "init_runtime") return init_runtime(options);
  if (method == "choose_shapes") return choose_shapes(options);
  if (method == "eval_perf") return eval_perf(options);
  if (method == "eval_memory") return eval_memory(options);
  if (method == "get_sdk_version") return get_sdk_version(options);
  if (method == "list_devices") return list_devices(options);
  if (method == "list_support_target_platform") return platforms(options);
  if (method == "onnx_edit") return edit_onnx(options);
  if (method == "export_encrypted_rknn_model") return export_encrypted(options);
  if (method == "optimize_onnx") return optimize_onnx(options);
  if (method == "options") return option_table_json();
  if (method == "read_yml") {
    std::string path;
    OptionReader reader(options);
    reader.read("path", path);
    RK_TRY(reader.finish());
    RK_ASSIGN(const ConvertFile file, read_convert_file(path));
    return to_json(file);
  }
  return invalid_argument(str("there is no method '", method, "'"));
}

// The arrays of a call with the options that go with them.
Result<std::vector<Feed>> Methods::feeds_of(const std::vector<ArrayRef>& inputs,
                                            OptionReader& reader) {
  std::vector<std::string> formats;
  std::vector<bool> pass_through;
  reader.read("data_format", formats);
  reader.read("inputs_pass_through", pass_through);
  RK_TRY(reader.finish());
  // One text serves every input.
  if (formats.size() == 1) formats.resize(std::max<size_t>(inputs.size(), 1), formats.front());
  if (!formats.empty() && formats.size() != inputs.size())
    return invalid_argument(
        str("data_format has ", formats.size(), " entries for ", inputs.size(), " input(s)!"));
  if (!pass_through.empty() && pass_through.size() != inputs.size())
    return invalid_argument(str("inputs_pass_through has ", pass_through.size(), " entries for ",
                                inputs.size(), " input(s)!"));
  std::vector<Feed> feeds;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Feed feed;
    feed.array = inputs[i];
    feed.pass_through = i < pass_through.size() && pass_through[i];
    if (i < formats.size()) {
      const std::string format = upper(formats[i]);
      if (format != "NHWC" && format != "NCHW")
        return invalid_argument(
            str("Invalid data_format '", formats[i], "', expect in ['nhwc', 'nchw']!"));
      feed.nchw = format == "NCHW";
    }
    feeds.push_back(feed);
  }
  return feeds;
}

// The outputs that arrays of these shapes will give.
Result<Json> Methods::choose_shapes(const Json& options) {
  RK_ASSIGN(Runner* const runner, running("inference"));
  std::vector<std::vector<int64_t>> shapes;
  OptionReader reader(options);
  reader.read("shapes", shapes);
  std::vector<ArrayRef> arrays;
  for (const std::vector<int64_t>& dims : shapes) {
    RK_ASSIGN(const Shape shape, Shape::make(dims));
    arrays.push_back({DType::kF32, shape, nullptr, 0});
  }
  RK_ASSIGN(const std::vector<Feed> feeds, feeds_of(arrays, reader));
  RK_TRY(runner->choose_shapes(feeds));
  return outputs_json(*runner);
}

Status Methods::inference(const Json& options, const std::vector<ArrayRef>& inputs,
                          const std::vector<ArrayRef>& outputs) {
  RK_ASSIGN(Runner* const runner, running("inference"));
  OptionReader reader(options);
  RK_ASSIGN(const std::vector<Feed> feeds, feeds_of(inputs, reader));
  return runner->run(feeds, outputs);
}

}  // namespace rk::toolkit

// SPDX-License-Identifier: Apache-2.0
// rknn report: one page about a model, or about two builds of one. A .rknn file is described as it is; a model file is
// built first, with a dataset and an input analyzed too, without a dataset for its cost alone.
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "format/reader.h"
#include "rknn/describe.h"
#include "toolkit/report.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = with_model_options({
    {"--input", "-i", "FILE", "picture or .npy to analyze on, one per model input, in order"},
    {"--output", "-o", "FILE.html", "the page to write"},
});

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Result<Json> describe_file(const std::string& path) {
  RK_ASSIGN(std::vector<uint8_t> bytes, read_file(path));
  auto program = format::read_rknn(std::move(bytes));
  if (!program.ok()) return program.status().with_context(str("'", path, "'"));
  return toolkit::describe_model(*program, name_of(path), nullptr);
}

Result<Json> describe_build(const Arguments& args, const std::vector<std::string>& files) {
  ConvertRequest request;
  RK_TRY(read_model_options(args, request));
  request.model = files;
  const bool judged = args.has("--dataset");
  if (!judged && args.has("--input"))
    return invalid_argument("--input compares with the int8 model: give --dataset too");
  if (!judged) {
    request.build.do_quantization = !args.has("--float");
    request.build.assumed_ranges = true;
  }
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(request.config));
  RK_TRY(toolkit.load(request.model, request.format, request.load));
  RK_TRY(toolkit.build(request.build));
  const std::string name = name_of(request.model.front());
  if (!args.has("--input")) return toolkit::describe_model(toolkit.program(), name, nullptr);
  RK_ASSIGN(const analysis::AccuracyReport report,
            toolkit.accuracy_analysis(args.all("--input"), {}));
  return toolkit::describe_model(toolkit.program(), name, &report);
}

bool is_built(const std::string& path) { return path.ends_with(".rknn"); }

}  // namespace

Result<Json> describe_model_file(const Arguments& args, const std::string& path) {
  return is_built(path) ? describe_file(path) : describe_build(args, {path});
}

Status report_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf(
        "usage: rknn report MODEL.rknn [OTHER.rknn] -o PAGE.html\n"
        "       rknn report MODEL -t CHIP [--dataset FILE -i INPUT | --float] -o PAGE.html\n%s",
        help_text(kOptions).c_str());
    return ok_status();
  }
  const std::vector<std::string>& files = args.words();
  if (files.empty() || !args.has("--output"))
    return invalid_argument("give a model and -o PAGE.html; see rknn report --help");
  std::vector<Json> models;
  if (is_built(files.front())) {
    if (files.size() > 2)
      return invalid_argument(
          str(files.size(), " files; one .rknn file is described, two are compared"));
    for (const std::string& file : files) {
      RK_ASSIGN(Json model, describe_file(file));
      models.push_back(std::move(model));
    }
  } else {
    RK_ASSIGN(Json model, describe_build(args, files));
    models.push_back(std::move(model));
  }
  const std::string page = toolkit::report_page(models);
  RK_TRY(write_file(args.get("--output"),
                    std::span(reinterpret_cast<const uint8_t*>(page.data()), page.size())));
  std::printf("%s: %zu KB\n", args.get("--output").c_str(), page.size() / 1024);
  return ok_status();
}

}  // namespace rk::tools

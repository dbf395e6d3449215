// SPDX-License-Identifier: Apache-2.0
// hybrid_quantization_step1 and _step2 with the parameters of the Python API.
#include "toolkit/methods.h"
#include "toolkit/options.h"

namespace rk::toolkit {
namespace {

Status read_borders(const Json* value, HybridOptions& hybrid) {
  if (value == nullptr || value->is_null()) return ok_status();
  const auto invalid = [&] {
    return invalid_argument(str("Invalid custom_hybrid ", write_json(*value),
                                ", expect a list of [input name, output name]!"));
  };
  if (!value->is_array()) return invalid();
  for (const Json& border : *value->as_array()) {
    const Json *from = border.at(0), *to = border.at(1);
    const bool two = border.size() == 2 && from != nullptr && to != nullptr &&
                     from->as_string() != nullptr && to->as_string() != nullptr;
    if (!two) return invalid();
    hybrid.custom_hybrid.emplace_back(*from->as_string(), *to->as_string());
  }
  return ok_status();
}

}  // namespace

Result<Json> Methods::hybrid_step1(const Json& options) {
  HybridOptions hybrid;
  int batch = 1, samples = 1;
  OptionReader reader(options);
  reader.read("dataset", hybrid.dataset);
  reader.read("rknn_batch_size", batch);
  reader.read("proposal", hybrid.proposal);
  reader.read("proposal_dataset_size", samples);
  RK_TRY(read_borders(reader.find("custom_hybrid"), hybrid));
  RK_TRY(reader.finish());
  if (batch != 1 && batch != -1)
    return unsupported(str("rknn_batch_size ", batch, " is not offered for hybrid quantisation"));
  if (samples < 1)
    return invalid_argument(str("Invalid proposal_dataset_size ", samples, ", expect 1 or more!"));
  hybrid.proposal_dataset_size = static_cast<size_t>(samples);
  hybrid.progress = [this](size_t done, size_t total) {
    return !progress_ || progress_("Quantizating", done, total);
  };
  built_ = false;
  simulator_.reset();
  RK_ASSIGN(const HybridFiles files, toolkit_.hybrid_quantization_step1(hybrid));
  return Json::object({{"model", files.model}, {"data", files.data}, {"cfg", files.cfg}});
}

Result<Json> Methods::hybrid_step2(const Json& options) {
  HybridFiles files;
  OptionReader reader(options);
  reader.read("model_input", files.model);
  reader.read("data_input", files.data);
  reader.read("model_quantization_cfg", files.cfg);
  RK_TRY(reader.finish());
  for (const auto& [name, path] :
       {std::pair("model_input", &files.model), std::pair("data_input", &files.data),
        std::pair("model_quantization_cfg", &files.cfg)}) {
    if (path->empty())
      return invalid_argument(str(name, " is not given: a file of hybrid_quantization_step1"));
  }
  built_ = false;
  simulator_.reset();
  file_.reset();
  RK_TRY(toolkit_.hybrid_quantization_step2(files));
  built_ = true;
  return Json();
}

}  // namespace rk::toolkit

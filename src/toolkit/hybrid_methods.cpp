// SPDX-License-Identifier: Apache-2.0
// hybrid_quantization_step1 and _step2 with the parameters of the Python API.
#include "toolkit/config_check.h"
#include "toolkit/methods.h"
#include "toolkit/option_table.h"
#include "toolkit/options.h"

namespace rk::toolkit {
Result<Json> Methods::hybrid_step1(const Json& options) {
  HybridOptions hybrid;
  RK_TRY(read_options(options, hybrid));
  RK_TRY(check_batch(hybrid.rknn_batch_size));
  if (hybrid.proposal_dataset_size < 1)
    return invalid_argument(
        str("Invalid proposal_dataset_size ", hybrid.proposal_dataset_size, ", expect 1 or more!"));
  hybrid.progress = [this](size_t done, size_t total) {
    return !progress_ || progress_("Quantizating", done, total);
  };
  built_ = false;
  rknn_path_.clear();
  runner_.reset();
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
  rknn_path_.clear();
  runner_.reset();
  file_.reset();
  RK_TRY(toolkit_.hybrid_quantization_step2(files));
  built_ = true;
  return Json();
}

}  // namespace rk::toolkit

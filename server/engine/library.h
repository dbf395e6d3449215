// SPDX-License-Identifier: Apache-2.0
// A librknnrt.so, ours or the vendor's, loaded at run time. The server reaches the NPU through these functions of
// rknn_api.h and rknn_custom_op.h only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "include/rknn_api.h"
#include "include/rknn_custom_op.h"

namespace rk::server {

// Every library has the first ones; the server does without the others and says so.
#define RK_SERVER_NEEDED_FUNCTIONS(X) \
  X(rknn_init)                        \
  X(rknn_destroy)                     \
  X(rknn_query)                       \
  X(rknn_inputs_set)                  \
  X(rknn_run)                         \
  X(rknn_outputs_get)                 \
  X(rknn_outputs_release)
#define RK_SERVER_OPTIONAL_FUNCTIONS(X) \
  X(rknn_dup_context)                   \
  X(rknn_set_core_mask)                 \
  X(rknn_set_input_shapes)              \
  X(rknn_register_custom_ops)

class Library {
 public:
  // `path` as for dlopen: a name without a slash is searched for by the loader. `plugins`: a folder whose
  // librkcst_*.so are operators for every model; empty: none. kUnavailable says what is missing.
  static Result<std::shared_ptr<const Library>> open(const std::string& path,
                                                     const std::string& plugins = "");

#define RK_SERVER_DECLARE(function) decltype(&::function) function = nullptr;
  RK_SERVER_NEEDED_FUNCTIONS(RK_SERVER_DECLARE)
  RK_SERVER_OPTIONAL_FUNCTIONS(RK_SERVER_DECLARE)
#undef RK_SERVER_DECLARE

  const std::string& path() const { return path_; }
  // From the text "librknnrt version: X" in the file, as users look for it; empty: there is none.
  const std::string& version() const { return version_; }
  const std::vector<std::string>& missing() const { return missing_; }
  const std::vector<rknn_custom_op>& operators() const { return operators_; }

 private:
  Status load_plugins(const std::string& folder);

  std::string path_;
  std::string version_;
  std::vector<std::string> missing_;
  std::vector<rknn_custom_op> operators_;
};

// "rknn_init: RKNN_ERR_MODEL_INVALID (-6)" with the Code that fits; ok for RKNN_SUCC.
Status check(int result, const char* function);

}  // namespace rk::server

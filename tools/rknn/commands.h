// SPDX-License-Identifier: Apache-2.0
// The commands of the rknn tool: thin mains over the toolkit library and the C API.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::tools {

Status advise_command(const std::vector<std::string>& words);
Status analyze_command(const std::vector<std::string>& words);
Status bench_command(const std::vector<std::string>& words);
Status benchmark_command(const std::vector<std::string>& words);  // the program rknn_benchmark
Status codegen_command(const std::vector<std::string>& words);
Status compare_command(const std::vector<std::string>& words);
Status convert_command(const std::vector<std::string>& words);
Status cost_command(const std::vector<std::string>& words);
Status device_command(const std::vector<std::string>& words);
Status edit_command(const std::vector<std::string>& words);
Status encrypt_command(const std::vector<std::string>& words);
Status hybrid_command(const std::vector<std::string>& words);
Status info_command(const std::vector<std::string>& words);
Status lift_command(const std::vector<std::string>& words);
Status report_command(const std::vector<std::string>& words);
Status run_command(const std::vector<std::string>& words);
Status view_command(const std::vector<std::string>& words);

// One conversion, however it was asked for.
struct ConvertRequest {
  std::vector<std::string> model;  // its files, in the order of the load_... call
  std::string format;              // empty: told from the files
  std::string output;
  toolkit::Config config;
  toolkit::LoadOptions load;
  toolkit::BuildOptions build;
};

}  // namespace rk::tools

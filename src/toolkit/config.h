// SPDX-License-Identifier: Apache-2.0
// What a caller may ask for, as plain structs. Names, defaults and meaning are those of the Python
// API. Note: a new member also needs a row in option_table.cpp, which gives it its keyword, yml key,
// command-line flag, accepted values and documentation; option_table_test counts the members.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/tensor.h"

namespace rk::toolkit {

// One shape per model input, in the model's own layout.
using ShapeSet = std::vector<std::vector<int64_t>>;

struct Config {
  std::vector<std::vector<float>> mean_values;  // per input, per channel; empty: 0
  std::vector<std::vector<float>> std_values;   // likewise; empty: 1
  std::string quantized_dtype = "w8a8";         // check_config() resolves its alias
  std::string quantized_algorithm = "normal";
  std::string quantized_method = "channel";
  int quantized_hybrid_level = 0;
  std::string target_platform;          // required, any case
  std::vector<bool> quant_img_rgb2bgr;  // per input; one entry serves all
  std::string float_dtype = "float16";
  int optimization_level = 3;
  std::string custom_string;
  bool remove_weight = false;
  bool compress_weight = false;
  std::vector<std::string> inputs_yuv_fmt;
  bool single_core_mode = false;
  std::vector<ShapeSet> dynamic_input;  // the k-th shapes of all inputs go together
  bool model_pruning = false;
  std::map<std::string, std::string> op_target;  // output name or operator type -> processor
  bool quantize_weight = false;
  bool remove_reshape = false;
  bool sparse_infer = false;
  bool enable_flash_attention = false;
  double auto_hybrid_cos_thresh = 0.98;
  std::optional<double> auto_hybrid_euc_thresh;  // none: not looked at
  bool mini_rknn = false;
  std::string memory_plan_strategy = "BestFit";
  std::string compute_order = "WidthFirst";
  std::string compiler_control_file;
  bool what_if = false;
};

struct LoadOptions {
  std::vector<std::string> inputs;  // cut the graph here; needs input_size_list
  std::vector<std::vector<int64_t>> input_size_list;
  std::vector<std::optional<Tensor>> input_initial_val;  // inputs that become constants
  std::vector<std::string> outputs;                      // cut the graph here
  bool input_is_nchw = false;  // TFLite, TensorFlow: the rank-4 inputs are NCHW already
};

// Called with (done, total); false stops the work with kCancelled.
using ProgressCallback = std::function<bool(size_t, size_t)>;

struct BuildOptions {
  bool do_quantization = true;
  std::string dataset;      // path of the text file, needed for quantization
  int rknn_batch_size = 1;  // samples of one run; they share nothing, so each is as if run alone
  bool auto_hybrid = false;
  std::vector<std::string> float_layers;  // outputs of layers that stay float16
  // Quantizes with made-up ranges instead of a dataset: types, layouts and costs are those of a real build, numbers are not.
  bool assumed_ranges = false;
  ProgressCallback progress;  // of the calibration
};

struct HybridOptions {
  std::string dataset = "dataset.txt";
  int rknn_batch_size = 1;
  bool proposal = false;
  int proposal_dataset_size = 1;
  std::vector<std::pair<std::string, std::string>> custom_hybrid;  // sub-graphs: input, output
  std::string output_dir = ".";
  ProgressCallback progress;  // of the calibration
};

}  // namespace rk::toolkit

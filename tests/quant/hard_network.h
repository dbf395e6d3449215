// SPDX-License-Identifier: Apache-2.0
// A network built to be hard for int8, with its calibration set and inputs to judge it on:
//   spike   one of its values is 100 on one pixel of one calibration sample (one value in 10^5), else it is 0; the other
//           channels stay around 1
//   wide    one channel is 1000 times larger than the others, one is dead
//   narrow  takes the thousandfold channel back
// None of it shows in the judged inputs, which are like the other calibration samples.
#pragma once

#include <string>
#include <vector>

#include "ir/tensor.h"

namespace rk::quant_check {

// What makes it hard; each has its own remedy.
struct Flaws {
  bool spike = false;
  bool wide = false;
};

struct HardNetwork {
  std::string folder;  // temporary
  std::string onnx;
  std::string dataset;
  std::vector<Tensor> inputs;
  std::vector<std::string> input_files;
};

Result<HardNetwork> make_hard_network(const Flaws& flaws);

}  // namespace rk::quant_check

// SPDX-License-Identifier: Apache-2.0
// Calibration samples: the files of dataset.txt as the float tensors a graph's inputs take. Pictures are decoded to
// RGB (grey for one channel), resized, swapped if asked; .npy arrays are taken as they are. Then (x - mean) / std.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "media/dataset.h"

namespace rk::quant {

// How one input is fed. Lists are per channel; empty means mean 0, std 1.
struct InputFeed {
  std::vector<float> mean;
  std::vector<float> std;
  bool rgb2bgr = false;  // pictures only
};

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual size_t count() const = 0;
  // One tensor per graph input, in order.
  virtual Result<std::vector<Tensor>> load(size_t sample) const = 0;
};

// The samples of a dataset file for a graph's inputs. `feeds` has one entry per input (or is empty).
class DatasetSamples : public SampleSource {
 public:
  static Result<DatasetSamples> open(const std::string& path, const Graph& graph,
                                     std::vector<InputFeed> feeds);
  size_t count() const override { return dataset_.samples.size(); }
  Result<std::vector<Tensor>> load(size_t sample) const override;

 private:
  media::Dataset dataset_;
  std::vector<TensorType> types_;
  std::vector<std::string> names_;
  std::vector<InputFeed> feeds_;
};

// One file as the tensor of one input, normalized.
Result<Tensor> load_input_file(const std::string& path, const std::string& input_name,
                               const TensorType& type, const InputFeed& feed);

// The array of an .npy file, in its own dtype.
Result<Tensor> load_npy_tensor(const std::string& path);

// In place on an f32 NCHW tensor; other ranks are left alone, as the chip does.
void normalize(Tensor& tensor, const InputFeed& feed);

}  // namespace rk::quant

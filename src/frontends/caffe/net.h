// SPDX-License-Identifier: Apache-2.0
// A Caffe network as a list of layers: .prototxt and .caffemodel brought together, the forms of older versions
// (V1 `layers`, `input_dim`) turned into today's, layers of training left out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "frontends/caffe/text_format.h"
#include "ir/tensor.h"

namespace rk::frontends::caffe {

struct Layer {
  std::string name, type;
  std::vector<std::string> bottoms, tops;
  const Message* message = nullptr;  // of the .prototxt
  std::vector<Tensor> blobs;         // f32

  // The sub-message with a layer's own parameters; an empty one when it is absent.
  const Message& params(std::string_view field) const;
};

struct NetInput {
  std::string name;
  std::vector<int64_t> dims;  // empty: the file does not say
};

struct Net {
  std::string name;
  Message text;
  std::vector<NetInput> inputs;
  std::vector<Layer> layers;
};

Result<Net> read_net(ByteSpan prototxt, ByteSpan caffemodel);

}  // namespace rk::frontends::caffe

// SPDX-License-Identifier: Apache-2.0
// The tiny models of tests/frontends/<format>/cases.bin; pack.py writes them and describes the form.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "ir/tensor.h"

namespace rk::frontends {

struct TinyCase {
  std::string name, format;
  std::vector<std::vector<uint8_t>> files;
  std::vector<std::vector<int64_t>> shapes;
  bool input_is_nchw = false;
  std::vector<Tensor> inputs, outputs;
  double tolerance = 0;
  std::string refusal, without, note;
};

inline Result<std::vector<int64_t>> read_dims(ByteReader& in) { return in.read_vector<int64_t>(); }

inline Result<std::vector<Tensor>> read_arrays(ByteReader& in) {
  RK_ASSIGN(const uint32_t count, in.read<uint32_t>());
  std::vector<Tensor> out;
  for (uint32_t i = 0; i < count; ++i) {
    RK_ASSIGN(const uint8_t dtype, in.read<uint8_t>());
    RK_ASSIGN(const auto dims, read_dims(in));
    RK_ASSIGN(const auto bytes, in.read_vector<uint8_t>());
    RK_ASSIGN(const Shape shape, Shape::make(dims));
    RK_ASSIGN(Tensor tensor, Tensor::from_bytes({static_cast<DType>(dtype), shape}, bytes));
    out.push_back(std::move(tensor));
  }
  return out;
}

inline Result<std::vector<TinyCase>> read_cases(const std::string& path) {
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(path));
  ByteReader in(file);
  RK_ASSIGN(const uint32_t count, in.read<uint32_t>());
  std::vector<TinyCase> cases;
  for (uint32_t i = 0; i < count; ++i) {
    TinyCase one;
    RK_ASSIGN(one.name, in.read_string());
    RK_ASSIGN(one.format, in.read_string());
    RK_ASSIGN(const uint32_t files, in.read<uint32_t>());
    for (uint32_t k = 0; k < files; ++k) {
      RK_ASSIGN(auto bytes, in.read_vector<uint8_t>());
      one.files.push_back(std::move(bytes));
    }
    RK_ASSIGN(const uint32_t shapes, in.read<uint32_t>());
    for (uint32_t k = 0; k < shapes; ++k) {
      RK_ASSIGN(auto dims, read_dims(in));
      one.shapes.push_back(std::move(dims));
    }
    RK_ASSIGN(const uint8_t nchw, in.read<uint8_t>());
    one.input_is_nchw = nchw != 0;
    RK_ASSIGN(one.inputs, read_arrays(in));
    RK_ASSIGN(one.outputs, read_arrays(in));
    RK_ASSIGN(one.tolerance, in.read<double>());
    RK_ASSIGN(one.refusal, in.read_string());
    RK_ASSIGN(one.without, in.read_string());
    RK_ASSIGN(one.note, in.read_string());
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace rk::frontends

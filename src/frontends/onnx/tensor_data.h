// SPDX-License-Identifier: Apache-2.0
// TensorProto -> Tensor. Nothing is allocated before the bytes that fill it have been counted.
#pragma once

#include <string>

#include "frontends/onnx/rk_onnx.pb.h"
#include "ir/tensor.h"

namespace rk::frontends {

// kUnsupported for strings and complex numbers. `what` names the tensor in the message.
Result<DType> import_dtype(int64_t onnx_number, const std::string& what);

// External data is read from below `base_dir`, and refused when that is empty or the path leaves it.
Result<Tensor> import_tensor(const onnx::TensorProto& proto, const std::string& base_dir,
                             const std::string& what);

// The same with zeros where the sparse form says nothing.
Result<Tensor> import_sparse_tensor(const onnx::SparseTensorProto& proto,
                                    const std::string& base_dir, const std::string& what);

}  // namespace rk::frontends

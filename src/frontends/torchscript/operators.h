// SPDX-License-Identifier: Apache-2.0
// The operators that are imported: one row each, at the end of the file that holds its function.
#pragma once

#include "frontends/torchscript/importer.h"

namespace rk::frontends::torchscript {

struct OperatorRow {
  std::string_view kind;
  OpFunction function;
};

std::span<const OperatorRow> scalar_operators();    // numbers, lists, questions about tensors
std::span<const OperatorRow> math_operators();      // element by element
std::span<const OperatorRow> reduce_operators();    // along axes
std::span<const OperatorRow> move_operators();      // elements that only change their places
std::span<const OperatorRow> generate_operators();  // tensors made from numbers, and by position
std::span<const OperatorRow> picture_operators();   // convolutions, pools, norms, resizing
std::span<const OperatorRow> matrix_operators();    // products, recurrent networks
std::span<const OperatorRow> attention_operators();
std::span<const OperatorRow> quantized_operators();

// What those files share.

// PyTorch's number of a dtype; half, double and bfloat16 are float32 here. Nothing for complex and quantized ones.
std::optional<DType> dtype_of_torch(int64_t number);
Status same(Call& call);  // argument 0 as it is
Status binary(Call& call, std::string_view op);
// Both arguments are numbers (or lists, where that means something): the result. `found` tells whether they were.
Status scalar_binary(Call& call, std::string_view op, bool& found);
Status logical_scalar(Call& call, std::string_view op);
Status extreme_scalar(Call& call, bool largest);
Status integer_scalar(Call& call, double (*function)(double));

}  // namespace rk::frontends::torchscript

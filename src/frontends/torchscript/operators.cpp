// SPDX-License-Identifier: Apache-2.0
// The rows of all families by name. Operators that change their first argument have the same row.
#include "frontends/torchscript/operators.h"

#include <set>

namespace rk::frontends::torchscript {

bool is_view(std::string_view kind) {
  static const std::set<std::string_view> kinds = {"aten::view",
                                                   "aten::reshape",
                                                   "aten::view_as",
                                                   "aten::reshape_as",
                                                   "aten::flatten",
                                                   "aten::unflatten",
                                                   "aten::permute",
                                                   "aten::transpose",
                                                   "aten::swapaxes",
                                                   "aten::swapdims",
                                                   "aten::t",
                                                   "aten::movedim",
                                                   "aten::squeeze",
                                                   "aten::unsqueeze",
                                                   "aten::expand",
                                                   "aten::expand_as",
                                                   "aten::chunk",
                                                   "aten::split",
                                                   "aten::split_with_sizes",
                                                   "aten::tensor_split",
                                                   "aten::unbind",
                                                   "aten::slice",
                                                   "aten::select",
                                                   "aten::narrow",
                                                   "aten::contiguous",
                                                   "aten::to",
                                                   "aten::type_as",
                                                   "aten::detach",
                                                   "aten::alias",
                                                   "aten::dropout",
                                                   "aten::feature_dropout",
                                                   "aten::alpha_dropout",
                                                   "aten::Identity",
                                                   "prim::data",
                                                   "prim::unchecked_cast",
                                                   "prim::TupleConstruct",
                                                   "prim::ListConstruct"};
  return kinds.contains(kind);
}

OpFunction find_operator(std::string_view kind) {
  static const auto rows = [] {
    std::map<std::string_view, OpFunction> all;
    for (const auto& family : {scalar_operators(), math_operators(), reduce_operators(),
                               move_operators(), generate_operators(), picture_operators(),
                               matrix_operators(), attention_operators(), quantized_operators()}) {
      for (const OperatorRow& row : family) {
        RK_ASSERT(all.emplace(row.kind, row.function).second, "an operator has one row");
      }
    }
    return all;
  }();
  const auto row = rows.find(kind);
  return row == rows.end() ? nullptr : row->second;
}

}  // namespace rk::frontends::torchscript

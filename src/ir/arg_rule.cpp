// SPDX-License-Identifier: Apache-2.0
#include "ir/arg_rule.h"

#include <algorithm>

#include "ir/op_def.h"

namespace rk {
namespace {

std::string expectation(const ArgRule& rule) {
  return rule.words.empty() ? str("dtype ", to_string(rule.dtypes)) : std::string(rule.words);
}

}  // namespace

std::string to_string(DTypeSet dtypes) {
  std::vector<std::string_view> names;
  for (int number = 1; number < 32; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (dtypes.contains(dtype)) names.push_back(to_string(dtype));
  }
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    out += str(i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  }
  return out;
}

Status check_arguments(const OpDef& def, std::span<const TensorType* const> inputs) {
  const auto name = [&](size_t i) { return def.inputs[std::min(i, def.inputs.size() - 1)].name; };
  for (size_t i = 0; i < inputs.size() && !def.inputs.empty(); ++i) {
    const ArgRule& rule = def.inputs[std::min(i, def.inputs.size() - 1)].rule;
    if (inputs[i] == nullptr || !rule.declared()) continue;
    const TensorType& type = *inputs[i];
    if (!rule.dtypes.contains(type.dtype)) {
      return invalid_model(str("input ", i, " ('", name(i), "') is ", to_string(type),
                               ", expected ", expectation(rule)));
    }
    if (type.shape.rank() < rule.least_rank || type.shape.rank() > rule.most_rank) {
      return invalid_model(
          str("input ", i, " ('", name(i), "') is ", to_string(type), ", expected rank ",
              rule.least_rank,
              rule.least_rank == rule.most_rank ? std::string() : str(" to ", rule.most_rank)));
    }
    const auto other = static_cast<size_t>(rule.same_as);
    if (rule.same_as < 0 || other >= inputs.size() || inputs[other] == nullptr) continue;
    if (inputs[other]->dtype != type.dtype) {
      return invalid_model(str("inputs ", other, " ('", name(other), "') and ", i, " ('", name(i),
                               "') have dtypes ", to_string(inputs[other]->dtype), " and ",
                               to_string(type.dtype), "; they must be the same"));
    }
  }
  return ok_status();
}

}  // namespace rk

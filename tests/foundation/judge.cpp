// SPDX-License-Identifier: Apache-2.0
#include "tests/foundation/judge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/e2e/figure.h"

namespace rk::foundation {
namespace {

double cosine(const std::vector<float>& a, const Tensor& golden) {
  double dot = 0, aa = 0, gg = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double g = golden.at_f64(static_cast<int64_t>(i));
    dot += double{a[i]} * g;
    aa += double{a[i]} * a[i];
    gg += g * g;
  }
  if (gg == 0 && aa == 0) return 1;
  return dot / std::max(1e-300, std::sqrt(aa) * std::sqrt(gg));
}

struct Distance {
  double peak = 0;  // of the golden
  double difference = 0;
};

Distance distance(const std::vector<float>& a, const Tensor& golden) {
  Distance out;
  for (int64_t e = 0; e < golden.elements(); ++e) {
    out.peak = std::max(out.peak, std::fabs(golden.at_f64(e)));
    out.difference =
        std::max(out.difference, std::fabs(golden.at_f64(e) - a[static_cast<size_t>(e)]));
  }
  return out;
}

}  // namespace

void compare_with_goldens(const ZooModel& model, const AnyModel& any, const std::string& label,
                          double bar) {
  std::vector<double> worst(model.output_names.size(), 1);
  for (const ZooCase& one : model.cases) {
    const auto results = any.run_float(one.inputs);
    ASSERT_TRUE(results.ok()) << results.status().message();
    ASSERT_EQ(results->size(), one.outputs.size());
    for (size_t i = 0; i < results->size(); ++i) {
      const Tensor& golden = one.outputs[i];
      ASSERT_EQ(static_cast<int64_t>((*results)[i].size()), golden.elements());
      const rknn_tensor_attr attr = any.output_attr(static_cast<uint32_t>(i));
      const Distance apart = distance((*results)[i], golden);
      if (attr.type == RKNN_TENSOR_INT8 && apart.peak < 2 * attr.scale) {
        e2e::figure_at_most(str(label, " ", model.name, " ", one.name, " ", model.output_names[i],
                                " (below two steps), difference in steps"),
                            apart.difference / attr.scale, 1);
        continue;
      }
      // Not std::min: a NaN must not pass for the best value.
      const double found = cosine((*results)[i], golden);
      if (!(found >= worst[i])) worst[i] = found;
    }
  }
  for (size_t i = 0; i < worst.size(); ++i) {
    e2e::figure_at_least(str(label, " ", model.name, " ", model.output_names[i], ", cosine"),
                         worst[i], bar);
  }
}

}  // namespace rk::foundation

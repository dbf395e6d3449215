// SPDX-License-Identifier: Apache-2.0
// The cases of every operator on the two paths that users take: the evaluator with its fast kernels, and a float16 file
// through the optimizer, the compiler, the container and the C API.
#include <gtest/gtest.h>

#include <set>

#include "base/thread_pool.h"
#include "compiler/compile.h"
#include "evaluator/evaluate.h"
#include "format/writer.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "passes/pipeline.h"
#include "target/target.h"
#include "tests/conformance/run_case.h"
#include "tests/ops/case_text.h"

namespace rk::ops {
namespace {

struct Loaded {
  Graph graph;
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
};

Result<Loaded> load(const ParsedCase& parts) {
  RK_ASSIGN(Graph numbers, parse_graph(in_graph(parts.values), registry()));
  RK_ASSIGN(Graph graph, parse_graph(in_graph(parts.graph), registry()));
  Loaded out{std::move(graph), {}, {}};
  for (const std::string& name : parts.inputs) out.inputs.push_back(numbers.find(name)->constant());
  for (const std::string& name : parts.outputs) {
    out.expected.push_back(numbers.find(name)->constant());
  }
  return out;
}

Result<std::vector<Tensor>> through_a_file(Loaded& loaded) {
  RK_ASSIGN(const target::Target* target, target::find_target("rk3588"));
  RK_TRY(passes::run_pipeline(loaded.graph, *target, {}).status());
  RK_ASSIGN(const program::Program program, compiler::compile(loaded.graph, {}));
  RK_ASSIGN(std::vector<uint8_t> file, format::write_rknn(program));
  return conformance::run_image(std::move(file), loaded.inputs, loaded.expected);
}

// The C interface has no type for the others, and no tensor without elements.
bool has_c_type(const Tensor& tensor) {
  static const std::set<DType> kTypes = {DType::kF32, DType::kI8,  DType::kU8,
                                         DType::kI16, DType::kU16, DType::kI32,
                                         DType::kU32, DType::kI64, DType::kBool};
  return kTypes.contains(tensor.dtype()) && tensor.elements() > 0;
}

bool fits_the_c_interface(const Loaded& loaded) {
  return std::ranges::all_of(loaded.inputs, has_c_type) &&
         std::ranges::all_of(loaded.expected, has_c_type);
}

class OpPaths : public testing::TestWithParam<CaseList> {};

TEST_P(OpPaths, EvaluatorAgrees) {
  ThreadPool pool(2);
  for (const OpCase& op_case : GetParam().cases()) {
    SCOPED_TRACE(op_case.name);
    const ParsedCase parts = parse_case(op_case.text);
    if (!parts.error.empty()) continue;
    const auto loaded = load(parts);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    const auto outputs = evaluator::evaluate(loaded->graph, loaded->inputs, {.pool = &pool});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    for (size_t i = 0; i < outputs->size(); ++i) {
      expect_close((*outputs)[i], loaded->expected[i], op_case.tolerance);
    }
  }
}

TEST_P(OpPaths, FileAgrees) {
  for (const OpCase& op_case : GetParam().cases()) {
    SCOPED_TRACE(op_case.name);
    const ParsedCase parts = parse_case(op_case.text);
    if (!parts.error.empty() || parts.inputs.empty()) continue;
    auto loaded = load(parts);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    if (!fits_the_c_interface(*loaded)) continue;
    const auto outputs = through_a_file(*loaded);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    for (size_t i = 0; i < outputs->size(); ++i) {
      expect_close((*outputs)[i], loaded->expected[i], std::max(op_case.tolerance, 4e-3));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpPaths, testing::ValuesIn(kLists),
                         [](const auto& info) { return std::string(info.param.file); });

}  // namespace
}  // namespace rk::ops

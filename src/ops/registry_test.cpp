// SPDX-License-Identifier: Apache-2.0
// Runs the cases of every operator (tests/ops/cases.h). For each: inferred types are the expected
// ones, the reference gives the expected numbers with and without threads and whatever the output
// memory held before, folding gives the same, and the graph survives its text form. The evaluator and the runtime see
// the same cases in tests/ops/paths_test.cpp.
#include "ops/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "base/thread_pool.h"
#include "ir/text.h"
#include "ops/shared/bounded.h"
#include "ops/shared/evaluate.h"
#include "tests/ops/case_text.h"

namespace rk::ops {

namespace {

// Runs every node; the outputs' memory holds rubbish before.
Status run_nodes(const Graph& graph, std::map<std::string, Tensor>& values, ThreadPool* pool) {
  for (const Value* value : graph.values()) {
    if (value->is_constant()) values[value->name()] = value->constant();
  }
  for (const Node* node : graph.nodes()) {
    std::vector<const Tensor*> inputs;
    for (const Value* input : node->inputs()) {
      inputs.push_back(input == nullptr ? nullptr : &values.at(input->name()));
    }
    std::vector<Tensor> outputs;
    for (const Value* output : node->outputs()) {
      outputs.push_back(Tensor::make(output->type()));
      std::memset(outputs.back().mutable_data<uint8_t>(), 0xcd, outputs.back().size_bytes());
    }
    RK_TRY(node->def().reference({*node, inputs, outputs, pool}));
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(outputs[i].type(), node->output(i).type());
      values[node->output(i).name()] = outputs[i];
    }
  }
  return ok_status();
}

void expect_text_round_trip(const Graph& graph) {
  const std::string text = to_text(graph);
  auto again = parse_graph(text, registry());
  ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
  EXPECT_EQ(to_text(*again), text);
}

void expect_folds_alike(const ParsedCase& parts, const std::map<std::string, Tensor>& values) {
  auto graph = parse_graph(in_graph(parts.folded), registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  if (graph->node_count() != 1) return;  // only one-node cases have all inputs constant
  const Node& node = *graph->nodes()[0];
  if (has_data_dependent_size(node.def())) return;  // constants have the exact size, values room
  ASSERT_TRUE(can_fold(node));
  auto folded = fold(node);
  ASSERT_TRUE(folded.ok()) << folded.status().message();
  for (size_t i = 0; i < folded->size(); ++i) {
    EXPECT_TRUE(std::ranges::equal((*folded)[i].bytes(), values.at(node.output(i).name()).bytes()));
  }
}

void run_case(const OpCase& op_case) {
  const ParsedCase parts = parse_case(op_case.text);
  auto numbers = parse_graph(in_graph(parts.values), registry());
  ASSERT_TRUE(numbers.ok()) << numbers.status().message();
  auto graph = parse_graph(in_graph(parts.graph), registry());
  std::map<std::string, Tensor> values;
  for (const std::string& name : parts.inputs) values[name] = numbers->find(name)->constant();
  if (!parts.error.empty()) {
    const Status status = graph.ok() ? run_nodes(*graph, values, nullptr) : graph.status();
    ASSERT_FALSE(status.ok()) << "expected: " << parts.error;
    EXPECT_NE(status.message().find(parts.error), std::string::npos) << status.message();
    return;
  }
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_FALSE(parts.outputs.empty()) << "the case expects nothing";
  const Status status = run_nodes(*graph, values, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  for (const std::string& name : parts.outputs) {
    SCOPED_TRACE(name);
    expect_close(values.at(name), numbers->find(name)->constant(), op_case.tolerance);
  }
  std::map<std::string, Tensor> threaded;
  for (const std::string& name : parts.inputs) threaded[name] = values.at(name);
  ThreadPool pool(3);
  ASSERT_TRUE(run_nodes(*graph, threaded, &pool).ok());
  for (const std::string& name : parts.outputs) {
    EXPECT_TRUE(std::ranges::equal(threaded.at(name).bytes(), values.at(name).bytes())) << name;
  }
  expect_folds_alike(parts, values);
  expect_text_round_trip(*graph);
}

class OpTest : public testing::TestWithParam<CaseList> {};

TEST_P(OpTest, EveryCaseHolds) {
  for (const OpCase& op_case : GetParam().cases()) {
    SCOPED_TRACE(op_case.name);
    run_case(op_case);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpTest, testing::ValuesIn(kLists),
                         [](const auto& info) { return std::string(info.param.file); });

// Replaces one or two numbers of a graph's text (extents, constants, attributes) by others.
std::string with_other_numbers(std::string text, std::mt19937& random) {
  constexpr const char* kNumbers[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "5",
                                      "-1",
                                      "-2",
                                      "64",
                                      "65536",
                                      "2147483647",
                                      "2147483648",
                                      "inf",
                                      "nan",
                                      "0.25",
                                      "1e38",
                                      "-9223372036854775808",
                                      "9223372036854775807"};
  for (int round = 0; round < 2; ++round) {
    std::vector<std::pair<size_t, size_t>> places;
    for (size_t i = 1; i < text.size(); ++i) {
      if (std::string_view("[,= ").find(text[i - 1]) == std::string_view::npos) continue;
      const size_t end = std::min(text.find_first_not_of("-+.0123456789e", i), text.size());
      if (end > i && text.find_first_of("0123456789", i) < end) places.emplace_back(i, end);
    }
    if (places.empty()) return text;
    const auto [begin, end] = places[random() % places.size()];
    text.replace(begin, end - begin, kNumbers[random() % std::size(kNumbers)]);
  }
  return text;
}

bool is_small(const Graph& graph) {
  uint64_t work = 0;
  for (const Value* value : graph.values())
    work += static_cast<uint64_t>(value->shape().elements());
  for (const Node* node : graph.nodes()) {
    const Cost cost = node->def().cost(*node);
    if (work > 100000 || cost.macs > 1000000 || cost.ops > 1000000) return false;
  }
  return work <= 100000;
}

// Files are hostile: a node made of wrong numbers is refused or runs. The sanitized build sees what
// else happens.
TEST(RegistryTest, CasesWithOtherNumbersAreRefusedOrRun) {
  std::mt19937 random(4711);
  for (const CaseList& list : kLists) {
    for (const OpCase& op_case : list.cases()) {
      const ParsedCase parts = parse_case(op_case.text);
      for (int i = 0; i < 12; ++i) {
        const std::string text = in_graph(with_other_numbers(parts.graph, random));
        SCOPED_TRACE(text);
        auto graph = parse_graph(text, registry());
        if (!graph.ok()) {
          EXPECT_FALSE(graph.status().message().empty());
        } else if (is_small(*graph)) {
          std::map<std::string, Tensor> values;
          for (const Value* input : graph->inputs())
            values[input->name()] = Tensor::make(input->type());
          const Status status = run_nodes(*graph, values, nullptr);
          EXPECT_TRUE(status.ok() || !status.message().empty());
        }
      }
    }
  }
}

TEST(RegistryTest, EveryOperatorHasCases) {
  std::string all;
  for (const CaseList& list : kLists) {
    for (const OpCase& op_case : list.cases()) all += op_case.text;
  }
  for (const auto& def : registry().all()) {
    EXPECT_NE(all.find(str("= ", def->name, "(")), std::string::npos)
        << def->name << " has no case";
  }
}

TEST(RegistryTest, EveryOperatorDescribesItself) {
  for (const auto& def : registry().all()) {
    EXPECT_FALSE(def->doc.empty()) << def->name;
    EXPECT_NE(def->cost, nullptr) << def->name;
    for (const AttrDef& attr : def->attrs)
      EXPECT_FALSE(attr.doc.empty()) << def->name << "." << attr.name;
    const bool has_range = def->fixed_range.first < def->fixed_range.second;
    EXPECT_EQ(has_range, def->quant == QuantRule::kFixed) << def->name;
  }
}

// No operator may forget to say what an argument can be: who runs it does not look again.
TEST(RegistryTest, EveryInputDeclaresWhatItTakes) {
  for (const auto& def : registry().all()) {
    for (size_t i = 0; i < def->inputs.size(); ++i) {
      const ArgRule& rule = def->inputs[i].rule;
      EXPECT_TRUE(rule.declared()) << def->name << "." << def->inputs[i].name;
      EXPECT_LE(rule.same_as, static_cast<int>(i)) << def->name << "." << def->inputs[i].name;
    }
  }
}

TEST(RegistryTest, EveryAttributeNamedAfterAxesIsOne) {
  for (const auto& def : registry().all()) {
    for (const AttrDef& attr : def->attrs) {
      const bool named = attr.name == "axis" || attr.name == "axes" || attr.name == "perm";
      EXPECT_EQ(named, attr.meaning != AttrDef::kPlain) << def->name << "." << attr.name;
    }
  }
}

// Every case, with the dtype of one input replaced by each other one: refused, or run without touching what the tensor
// does not hold (the sanitized build sees it).
TEST(RegistryTest, CasesWithOtherDtypesAreRefusedOrRun) {
  constexpr const char* kDTypes[] = {"f32", "f16", "f64", "bf16", "i8", "u8", "i32", "i64", "bool"};
  size_t ran = 0;
  for (const CaseList& list : kLists) {
    for (const OpCase& op_case : list.cases()) {
      const std::string text = parse_case(op_case.text).graph;
      for (size_t at = text.find("input %"); at != std::string::npos;
           at = text.find("input %", at + 1)) {
        const size_t begin = text.find(": ", at) + 2, end = text.find('[', begin);
        for (const char* dtype : kDTypes) {
          const std::string other = text.substr(0, begin) + dtype + text.substr(end);
          SCOPED_TRACE(other);
          auto graph = parse_graph(in_graph(other), registry());
          if (!graph.ok() || !is_small(*graph)) continue;
          std::map<std::string, Tensor> values;
          for (const Value* input : graph->inputs())
            values[input->name()] = Tensor::make(input->type());
          const Status status = run_nodes(*graph, values, nullptr);
          EXPECT_TRUE(status.ok() || !status.message().empty());
          ++ran;
        }
      }
    }
  }
  EXPECT_GT(ran, 1000u);
}

TEST(RegistryTest, UnknownNamesAreNotFound) {
  EXPECT_EQ(registry().find("NoSuchOperator"), nullptr);
  EXPECT_NE(registry().find("Conv"), nullptr);
}

}  // namespace
}  // namespace rk::ops

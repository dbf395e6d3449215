// SPDX-License-Identifier: Apache-2.0
// The cases of every operator (cases.h), taken apart: for the tests that run them on the reference, the evaluator and,
// through a file, the runtime. case_table.inc is written by CMake, one line per file of cases.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor.h"
#include "tests/ops/cases.h"

namespace rk::ops {

#define RK_CASES(operator_file) std::span<const OpCase> operator_file##_cases();
#include "ops/case_table.inc"
#undef RK_CASES

struct CaseList {
  const char* file;
  std::span<const OpCase> (*cases)();
};
inline void PrintTo(const CaseList& list, std::ostream* out) { *out << list.file; }

inline constexpr CaseList kLists[] = {
#define RK_CASES(operator_file) {#operator_file, operator_file##_cases},
#include "ops/case_table.inc"
#undef RK_CASES
};

// A case's text taken apart into the graph, the numbers and the message.
struct ParsedCase {
  std::string graph;   // inputs, constants, nodes
  std::string folded;  // the same with constants in place of inputs
  std::string values;  // a graph of constants: inputs and expected outputs
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string last_result;
  std::string error;
};

inline bool starts_with(std::string_view text, std::string_view word) {
  return text.substr(0, word.size()) == word;
}

inline std::string name_in(std::string_view statement) {
  const size_t begin = statement.find('%') + 1;
  return std::string(statement.substr(begin, statement.find(':') - begin));
}

inline void add_statement(const std::string& statement, ParsedCase& out) {
  const std::string rest = statement.substr(std::min(statement.size(), statement.find(' ') + 1));
  if (starts_with(statement, "error ")) {
    out.error = rest.substr(0, rest.find_last_not_of(" \n") + 1);
  } else if (starts_with(statement, "input ")) {
    out.inputs.push_back(name_in(statement));
    out.values += "const " + rest + "\n";
    out.folded += "const " + rest + "\n";
    out.graph += "input " + rest.substr(0, rest.find(" =")) + "\n";
  } else if (starts_with(statement, "expect ")) {
    out.outputs.push_back(name_in(statement));
    out.values += "const " + rest + "\n";
  } else {
    if (starts_with(statement, "%"))
      out.last_result = statement.substr(1, statement.find_first_of(" ,:") - 1);
    out.graph += statement + "\n";
    out.folded += statement + "\n";
  }
}

// Statements start with a keyword or a value; other lines continue the one before.
inline ParsedCase parse_case(std::string_view text) {
  ParsedCase out;
  std::string statement;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    const bool starts = starts_with(line, "input ") || starts_with(line, "const ") ||
                        starts_with(line, "expect ") || starts_with(line, "error ") ||
                        starts_with(line, "%");
    if (starts && !statement.empty()) {
      add_statement(statement, out);
      statement.clear();
    }
    statement += (statement.empty() ? "" : " ") + std::string(line);
  }
  if (!statement.empty()) add_statement(statement, out);
  const std::vector<std::string> results =
      out.outputs.empty() ? std::vector{out.last_result} : out.outputs;
  for (const std::string& name : results) {
    out.graph += "output %" + name + "\n";
    out.folded += "output %" + name + "\n";
  }
  // A graph must end somewhere.
  out.values += "input %none: f32[] %end = Identity(%none) output %end\n";
  return out;
}

inline std::string in_graph(const std::string& body) { return "graph \"case\" {\n" + body + "}\n"; }

// Integers exactly, floats within the tolerance relative to max(1, |expected|).
inline void expect_close(const Tensor& found, const Tensor& expected, double tolerance) {
  ASSERT_EQ(to_string(found.type()), to_string(expected.type()));
  for (int64_t i = 0; i < found.elements(); ++i) {
    if (!is_float(found.dtype()) && !is_small_float(found.dtype())) {
      ASSERT_EQ(found.at_i64(i), expected.at_i64(i)) << "element " << i;
      continue;
    }
    const double a = found.at_f64(i);
    const double b = expected.at_f64(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    ASSERT_LE(std::fabs(a - b), tolerance * std::max(1.0, std::fabs(b)))
        << "element " << i << " is " << a << ", expected " << b;
  }
}

}  // namespace rk::ops

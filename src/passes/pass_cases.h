// SPDX-License-Identifier: Apache-2.0
// A pass test is a list of cases, and a case is text: a graph, how many rewrites the pass must make
// of it and the operators that must be left, in order. pass_cases_test.cpp runs them and checks
// that no output moves; files with cases need no other header, so adding a case costs no compile
// time.
//
// Every fusion has a case with constants of rank 0, one whose constant makes the result larger and
// one whose intermediate is an output of the graph: both must be left alone.
#pragma once

#include <cstddef>
#include <span>

namespace rk::passes {

struct PassCase {
  const char* name;  // a sentence
  const char* text;  // the body of a graph, in the form of ir/text.h
  size_t rewrites;
  const char* operators;   // what is left, "Conv Relu"
  const char* given = "";  // lines that several cases start with
};

}  // namespace rk::passes

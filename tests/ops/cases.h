// SPDX-License-Identifier: Apache-2.0
// An operator test is a list of cases, and a case is text: the node in the form of ir/text.h, what
// goes in, and what must come out or be said. src/ops/registry_test.cpp runs them; files with cases
// need no other header, so adding a case costs no compile time.
//
//   input %x: f32[2] = [1, -2]        known when the node runs
//   const %k: i64[1] = [1]            known when the node is made; for inputs that decide shapes
//   %y = LeakyRelu(%x) {alpha=0.5}    one or more nodes; types of results may be given
//   expect %y: f32[2] = [1, -1]       exact type; integers exact, floats within the tolerance
//   error a part of the message       instead of expect: making or running the node fails like this
//
// Numbers are worked by hand or come from a formula that is not the operator's own code.
#pragma once

#include <span>

namespace rk::ops {

struct OpCase {
  const char* name;  // a sentence
  const char* text;
  double tolerance = 1e-6;  // relative to max(1, |expected|)
};

}  // namespace rk::ops

// SPDX-License-Identifier: Apache-2.0
// Outcomes against the list of exceptions. A listed exception that passes is as much a failure as
// an unlisted case that does not: the list must stay true.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/run_case.h"

namespace rk::conformance {

// exceptions.txt: lines "<archive> <path> <case> <reason>"; archive is the name given on the
// command line, or "node" for every archive of node tests; path is "evaluator" or "rknn".
class Exceptions {
 public:
  // kInvalidArgument for a line without a reason or of another form.
  static Result<Exceptions> read(const std::filesystem::path& path, const std::string& archive);
  bool lists(const std::string& path, const std::string& name) const {
    return listed_.contains(path + ' ' + name);
  }
  // Listed for this very archive, but no such case: a misspelling.
  std::vector<std::string> unknown(const std::vector<CaseSource>& cases) const;

 private:
  std::map<std::string, bool> listed_;  // true: must be a case of this archive
};

struct Counts {
  int total = 0;
  int passed = 0;
  int excepted = 0;
  int failed = 0;     // unlisted failures and listed passes
  int inference = 0;  // cases that are about inference on tensors
  int inference_passed = 0;
};

// Prints failures, counts per operator and FIGURE lines. False when something is unexpected or
// short of its bar.
bool report(const std::string& archive, const std::vector<CaseSource>& cases,
            const std::vector<Outcome>& outcomes, const Exceptions& exceptions);

}  // namespace rk::conformance

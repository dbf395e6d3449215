// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace rk::conformance {
namespace {

// Counts one outcome; says what is unexpected.
void judge(const std::string& path, const std::string& name, const Outcome& outcome,
           const Status& status, const Exceptions& exceptions, Counts& counts) {
  const bool inference = outcome.scope == Scope::kInference;
  ++counts.total;
  counts.inference += inference;
  counts.inference_passed += inference && status.ok();
  const bool listed = exceptions.lists(path, name);
  if (status.ok() && !listed) {
    ++counts.passed;
  } else if (status.ok()) {
    std::printf("%s %s passes now: take it off the list of exceptions\n", path.c_str(),
                name.c_str());
    ++counts.passed;
    ++counts.failed;
  } else if (listed) {
    ++counts.excepted;
  } else {
    std::printf("%s FAILED %s (%s): %s\n", path.c_str(), name.c_str(), outcome.op.c_str(),
                status.message().c_str());
    ++counts.failed;
  }
}

void figure(const std::string& what, const std::string& value, const std::string& bar, bool ok) {
  std::printf("FIGURE %s | %s | %s | %s\n", what.c_str(), value.c_str(), bar.c_str(),
              ok ? "ok" : "SHORT");
}

bool judge_bar(const std::string& archive, const Counts& evaluator) {
  const std::string passed = str(evaluator.passed, " of ", evaluator.total);
  if (archive == "opset19") {
    // One case in a hundred may fail among those that are about inference on tensors.
    const int most = evaluator.total / 100;
    const bool ok = evaluator.inference - evaluator.inference_passed <= most;
    figure("opset 19 inference cases in the evaluator",
           str(evaluator.inference_passed, " of ", evaluator.inference), str("all but ", most), ok);
    figure("opset 19 cases in all, with training, strings and sequences", passed, "reported", true);
    return ok;
  }
  const double bar = archive == "layers" ? 0.98 : 0.90;
  const bool ok = evaluator.passed >= bar * evaluator.total;
  figure(archive == "layers" ? "single-layer nets in the evaluator"
                             : "newest node tests in the evaluator",
         passed, str(">= ", bar * 100, " %"), ok);
  return ok;
}

}  // namespace

Result<Exceptions> Exceptions::read(const std::filesystem::path& path, const std::string& archive) {
  Exceptions out;
  std::ifstream in(path);
  if (!in) return io_error(str("cannot read ", path.string()));
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string of, where, name, reason;
    words >> of >> where >> name;
    std::getline(words >> std::ws, reason);
    if (reason.empty() || (where != "evaluator" && where != "rknn")) {
      return invalid_argument(
          str(path.string(), ":", number, ": expected '<archive> evaluator|rknn <case> <reason>'"));
    }
    const bool is_node = of == "node" && archive != "layers";
    if (of == archive || is_node) out.listed_[where + ' ' + name] = !is_node;
  }
  return out;
}

std::vector<std::string> Exceptions::unknown(const std::vector<CaseSource>& cases) const {
  std::vector<std::string> out;
  for (const auto& [key, must_exist] : listed_) {
    const std::string name = key.substr(key.find(' ') + 1);
    const bool exists = std::ranges::any_of(cases, [&](const auto& c) { return c.name == name; });
    if (must_exist && !exists) out.push_back(name);
  }
  return out;
}

bool report(const std::string& archive, const std::vector<CaseSource>& cases,
            const std::vector<Outcome>& outcomes, const Exceptions& exceptions) {
  Counts evaluator, rknn;
  std::map<std::string, std::pair<int, int>> per_operator;
  std::map<std::string, int> not_run;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    judge("evaluator", cases[i].name, outcome, outcome.evaluator, exceptions, evaluator);
    auto& [passed, total] = per_operator[outcome.op];
    passed += outcome.evaluator.ok();
    ++total;
    if (outcome.rknn) judge("rknn", cases[i].name, outcome, *outcome.rknn, exceptions, rknn);
    if (!outcome.not_run.empty()) ++not_run[outcome.not_run];
  }
  std::printf("%s per operator, passed of all:", archive.c_str());
  for (const auto& [op, counts] : per_operator) {
    std::printf(" %s %d/%d,", op.c_str(), counts.first, counts.second);
  }
  std::printf("\n");
  bool ok = evaluator.failed == 0 && rknn.failed == 0;
  for (const std::string& name : exceptions.unknown(cases)) {
    std::printf("listed as an exception, but no case of %s: %s\n", archive.c_str(), name.c_str());
    ok = false;
  }
  ok &= judge_bar(archive, evaluator);
  if (rknn.total != 0) {
    figure(str(archive, " cases as fp16 .rknn through the C API"),
           str(rknn.passed, " of ", rknn.total), "every case that is not listed", rknn.failed == 0);
    for (const auto& [why, count] : not_run) {
      std::printf("not run as .rknn: %d (%s)\n", count, why.c_str());
    }
  }
  std::printf("COUNTS %s passed=%d exceptions=%d failed=%d total=%d rknn_passed=%d rknn_total=%d\n",
              archive.c_str(), evaluator.passed, evaluator.excepted, evaluator.failed,
              evaluator.total, rknn.passed, rknn.total);
  return ok;
}

}  // namespace rk::conformance

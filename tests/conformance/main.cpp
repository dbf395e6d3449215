// SPDX-License-Identifier: Apache-2.0
// Runs a folder of conformance cases and compares the outcome with the list of exceptions.
//
//   onnx_conformance <archive> <folder> <exceptions.txt> [--rknn] [case ...]
//
// <archive> is opset19, newest (folders of node tests) or layers (a folder with index.json); it
// chooses the bar. With case names only those run, and the list is not consulted.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/log.h"
#include "tests/conformance/report.h"

namespace rk::conformance {
namespace {

std::vector<Outcome> run_all(const std::vector<CaseSource>& cases, Paths paths) {
  std::vector<Outcome> outcomes(cases.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) outcomes[i] = run_case(cases[i], paths);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

Result<bool> run(const std::string& archive, const std::string& folder,
                 const std::string& exceptions_path, std::vector<std::string> names) {
  const bool with_rknn = std::erase(names, "--rknn") != 0;
  const Paths paths = with_rknn ? Paths::kBoth : Paths::kEvaluator;
  std::vector<CaseSource> cases;
  if (archive == "layers") {
    RK_ASSIGN(cases, find_layers(folder));
  } else {
    cases = find_node_tests(folder);
  }
  if (!names.empty()) {
    std::erase_if(cases, [&](const CaseSource& source) {
      return std::ranges::find(names, source.name) == names.end();
    });
  }
  if (cases.empty()) return invalid_argument(str("no cases in '", folder, "'"));
  RK_ASSIGN(const Exceptions exceptions, Exceptions::read(exceptions_path, archive));
  const std::vector<Outcome> outcomes = run_all(cases, paths);
  if (names.empty()) return report(archive, cases, outcomes, exceptions);
  bool all = true;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    std::printf("%s (%s)\n  evaluator: %s\n  rknn: %s\n", cases[i].name.c_str(), outcome.op.c_str(),
                outcome.evaluator.ok() ? "ok" : outcome.evaluator.message().c_str(),
                !outcome.rknn        ? outcome.not_run.c_str()
                : outcome.rknn->ok() ? "ok"
                                     : outcome.rknn->message().c_str());
    all &= outcome.evaluator.ok() && (!outcome.rknn || outcome.rknn->ok());
  }
  return all;
}

}  // namespace
}  // namespace rk::conformance

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: onnx_conformance opset19|newest|layers <folder> <exceptions.txt> [--rknn] "
                 "[case ...]\n");
    return 2;
  }
  // What is refused is refused a thousand times here; the report says it once.
  setenv("RKNN_LOG_LEVEL", "0", 1);  // for the library, which has a log of its own
  rk::set_log_sink([](rk::LogLevel, std::string_view) {});
  const auto ok = rk::conformance::run(argv[1], argv[2], argv[3], {argv + 4, argv + argc});
  if (!ok.ok()) std::fprintf(stderr, "%s\n", ok.status().message().c_str());
  return ok.ok() && *ok ? 0 : 1;
}

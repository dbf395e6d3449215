// SPDX-License-Identifier: Apache-2.0
// What quantisation costs, layer by layer: the float evaluator on the optimised graph (golden) against the compiled
// Program in the runtime (simulator), on one input.
//
// A newcomer's mistake: `entire` is the error accumulated from the input up to a layer, `single` is that layer's own
// error when it is fed with golden inputs. The remedy belongs where `single` is bad.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "ir/graph.h"

namespace rk::analysis {

struct Errors {
  double cosine = 1;
  double euclidean = 0;
  double max_abs = 0;
  double sqnr_db = 0;  // 10 log10(sum golden^2 / sum (found - golden)^2); 200 when equal
};
// Two zero vectors have cosine 1, a zero and another one 0. Elements that are not finite on either side make it 0.
Errors compare(std::span<const float> golden, std::span<const float> found);

struct Layer {
  std::string type;  // as in the Program: ConvRelu, Add, ...
  std::string name;  // of the value it computes
  bool is_float = false;
  std::optional<Errors> entire;  // empty: the compiler fused it away
  std::optional<Errors> single;
  float low = 0, high = 0;           // the range that int8 can hold; float16: its own limits
  float seen_min = 0, seen_max = 0;  // of the golden values
  double saturated = 0;              // share of the golden values outside low..high
  std::vector<uint64_t> histogram;   // of the golden values, even bins from seen_min to seen_max
};

// A remedy and what it did to the worst output, measured.
struct Proposal {
  std::string text;
  double cosine_before = 0;
  double cosine_after = 0;
};

struct AccuracyReport {
  std::vector<Layer> layers;        // in execution order, inputs first
  std::vector<Errors> outputs;      // of the model, entire
  std::vector<Proposal> proposals;  // best first
  double worst_output_cosine() const;
};

struct AccuracyOptions {
  std::string output_dir;  // empty: no files
  bool single = true;
};

// `inputs` are normalised, for the graph; `raw_inputs` are as the application feeds them, for the Program.
Result<AccuracyReport> analyze(const Graph& graph, const program::Program& program,
                               const compiler::CompileOptions& compile,
                               const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& raw_inputs,
                               const AccuracyOptions& options, ThreadPool* pool);

// The vendor's table, and a page that needs no other file.
std::string to_text(const AccuracyReport& report);
std::string to_html(const AccuracyReport& report);
// error_analysis.txt and report.html.
Status write_report(const AccuracyReport& report, const std::string& output_dir);

}  // namespace rk::analysis

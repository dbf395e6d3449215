// SPDX-License-Identifier: Apache-2.0
// What quantization costs, layer by layer: the float evaluator on the optimized graph (golden) against the compiled
// Program in the runtime (simulator), on one input.
//
// Note: `entire` is the error accumulated from the input up to a layer, `single` is that layer's own
// error when it is fed with golden inputs. The remedy belongs where `single` is bad.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/errors.h"
#include "compiler/compile.h"
#include "ir/graph.h"

namespace rk::analysis {

// A layer of the model that the chip computes as part of another, which stores nothing of its own.
struct FusedLayer {
  std::string type;  // the operator
  std::string name;  // of the value it computes
};

struct Layer {
  std::string type;  // as in the Program: ConvRelu, Add, ...
  std::string name;  // of the value it computes
  // A quantized output of the model has two rows: what the layer stores, under this name, and what the application gets.
  std::string stored_name;
  bool is_float = false;
  std::optional<Errors> entire;  // empty: the compiler fused it away
  std::optional<Errors> single;
  std::optional<Errors> board_entire;  // only with AccuracyOptions::board
  std::optional<Errors> board_single;  // the board against the simulator
  float low = 0, high = 0;             // the range that int8 can hold; float16: its own limits
  float seen_min = 0, seen_max = 0;    // of the golden values
  double saturated = 0;                // share of the golden values outside low..high
  std::vector<uint64_t> histogram;     // of the golden values, even bins from seen_min to seen_max
  std::vector<uint64_t>
      stored_histogram;  // of the simulator's, in the same bins; empty: fused away
  std::vector<std::pair<float, float>> channel_ranges;  // of the golden values, pictures only
  std::vector<FusedLayer> fused;  // rows with empty cells above this one; see name_fused_layers()
};

// A remedy and what it did to the worst output, measured.
struct Proposal {
  std::string text;
  double cosine_before = 0;
  double cosine_after = 0;
  std::string code;  // what to write for it, ready to copy; empty: nothing that can be copied
};

struct AccuracyReport {
  std::vector<Layer> layers;          // in execution order, inputs first
  std::vector<Errors> outputs;        // of the model, entire, in execution order
  std::vector<std::string> findings;  // sentences about what is wrong and where
  std::vector<Proposal> proposals;    // layers first, then settings, each by its effect
  bool has_board = false;
  std::vector<std::pair<std::string, std::string>> about;  // what was analyzed, for the page's head
  double worst_output_cosine() const;
};

// The golden graph computes in float; the quantized one has the same values by name, with parameters, and is what the
// Program was compiled from.
struct Subject {
  const Graph& golden;
  const Graph& quantized;
  const program::Program& program;
  const compiler::CompileOptions& compile;
};

// One input: normalized, for the graph, and raw as the application feeds it, for the Program.
struct TrialInput {
  std::vector<Tensor> normalized;
  std::vector<Tensor> raw;
};

struct AccuracyOptions {
  std::string output_dir;  // empty: no files
  // The file as the simulated board reads it; empty: no board, or one that `run_board` knows.
  std::vector<uint8_t> board;
  // Called with (done, total) nodes; false stops with kCancelled.
  std::function<bool(size_t, size_t)> progress;
  // Runs the Program on a device and gives `sink` every float tensor that it stores, as float32.
  using Sink = std::function<Status(const std::string& name, const Tensor& tensor)>;
  std::function<Status(const program::Program& program, const std::vector<Tensor>& raw_inputs,
                       const Sink& sink)>
      run_board;
  bool has_board() const { return !board.empty() || run_board; }
};

// Tensors are streamed through files (of output_dir, or temporary ones): memory holds what the evaluator holds anyway.
Result<AccuracyReport> analyze(const Subject& subject, const TrialInput& input,
                               const AccuracyOptions& options, ThreadPool* pool);

// Only the model's float outputs of a Program, against those of the golden graph.
Result<std::vector<Errors>> output_errors(const std::vector<Tensor>& golden,
                                          const program::Program& program,
                                          const OpRegistry& operators,
                                          const std::vector<Tensor>& raw_inputs);
double worst_cosine(const std::vector<Errors>& outputs);

// The vendor's table.
// Names the layers of the model as loaded that passes made part of others.
void name_fused_layers(const Graph& model, AccuracyReport& report);

enum class Color { kNone, kTerminal };  // a terminal shows low cosines yellow and red
std::string to_text(const AccuracyReport& report, Color color = Color::kNone);

}  // namespace rk::analysis

// SPDX-License-Identifier: Apache-2.0
// The converter as one class that mirrors rknn.api.RKNN: config, load, build, export. Values and defaults are those of
// the Python API; see docs/architecture.md for what happens inside.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/accuracy.h"
#include "analysis/auto_hybrid.h"
#include "base/status.h"
#include "compiler/placement_report.h"
#include "ir/tensor.h"
#include "ops/shared/custom.h"
#include "program/program.h"
#include "quant/regions.h"
#include "toolkit/config.h"

namespace rk::toolkit {

// The files between the steps of hybrid quantization.
struct HybridFiles {
  std::string model;  // the optimized graph, ONNX
  std::string data;
  std::string cfg;
};

struct AnalysisOptions {
  // golden/, simulator/, simulator_single/, error_analysis.txt, map_name_to_file.txt and report.html; empty: no files.
  std::string output_dir;
  // Also as this board runs the written file, into runtime/; empty: simulator only.
  std::string target;
  std::function<bool(size_t, size_t)> progress;  // (done, total) nodes
  // With a target: on a device instead of the simulated board.
  decltype(analysis::AccuracyOptions::run_board) run_board;
};

struct CompareOptions {
  std::string dataset;      // list of samples
  std::string labels;       // one class number per sample, text or .npy; empty: none
  size_t limit = SIZE_MAX;  // samples at most
  std::string device;       // the built model runs on it (remote/devices.h); empty: simulated here
  std::function<bool(size_t, size_t)> progress;  // (done, total) samples
};

struct OutputAgreement {
  std::vector<double> cosines;  // per sample
  size_t worst_sample = 0;
};

struct CompareReport {
  size_t samples = 0;
  std::map<std::string, OutputAgreement> outputs;  // float ones, by name
  // Of the first output, with labels: samples whose largest element is the label's, and those where both agree.
  bool has_labels = false;
  size_t right_float = 0, right_built = 0, same_class = 0;
};
std::string to_text(const CompareReport& report);

// What the float model gives when it is fed as the original framework may have been fed.
struct SlipReport {
  struct Trial {
    std::string slip;  // empty: fed as configured
    double error = 0;  // Euclidean, relative to the saved outputs, worst output
  };
  std::vector<Trial> tried;
  std::vector<std::string> notes;  // about shapes
  const Trial& best() const;
};
std::string to_text(const SlipReport& report);

class Toolkit {
 public:
  Toolkit();
  ~Toolkit();
  Toolkit(Toolkit&&) noexcept;
  Toolkit& operator=(Toolkit&&) noexcept;

  // kInvalidArgument names the parameter, what was found and the accepted values.
  Status config(Config config);
  // Before load or hybrid_quantization_step2(); a type that was registered before is replaced.
  Status reg_custom_op(ops::CustomOp op);
  // Registers what plug-in libraries have and nobody registered; load and hybrid_quantization_step2() do it themselves.
  Status add_plugins();
  // What the graphs and Programs of this object may use; null: the standard operators.
  std::shared_ptr<const OpRegistry> operators() const;
  // The files of one model in the order of its load_... call; `format` is the word of that call ("onnx", "tflite",
  // ...), empty: told from the files.
  Status load(const std::vector<std::string>& paths, const std::string& format,
              const LoadOptions& options = {});
  Status load_onnx(const std::string& path, const LoadOptions& options = {}) {
    return load({path}, "onnx", options);
  }
  // After loading. The graph as these passes (none: all) leave it for the chip, as ONNX.
  Status export_optimized(const std::string& path, const std::vector<std::string>& passes) const;
  Status build(const BuildOptions& options);
  // Instead of build(). Writes <model>.model, <model>.data and <model>.quantization.cfg.
  Result<HybridFiles> hybrid_quantization_step1(const HybridOptions& options);
  // Instead of config(), load and build(): builds from the three files.
  Status hybrid_quantization_step2(const HybridFiles& files);
  Status export_rknn(const std::string& path) const;

  // After a quantized build(): outputs of the layers that stayed float16 because they were asked for or chosen.
  const quant::FloatLayers& float_layers() const;
  size_t layer_count() const;  // of the last build

  // After build(). The compiled form and its file image.
  const program::Program& program() const;
  Result<std::vector<uint8_t>> rknn_bytes() const;

  // After build(). Where each node runs on the chip, and why.
  Result<compiler::PlacementReport> placement() const;

  // The float evaluator on the imported network: the golden side of every comparison. Inputs are raw (before mean and
  // std), f32 NCHW.
  Result<std::vector<Tensor>> golden(const std::vector<Tensor>& raw_inputs) const;

  // After build(). One file per model input (picture or .npy).
  Result<analysis::AccuracyReport> accuracy_analysis(const std::vector<std::string>& inputs,
                                                     const AnalysisOptions& options) const;

  // After build(): outputs of the built model against those of the imported one.
  Result<CompareReport> compare(const CompareOptions& options) const;
  // After loading: outputs saved from the original framework (.npy, in order) against the imported model, fed with the
  // same inputs in the ways that go wrong most often.
  Result<SlipReport> find_slip(const std::vector<std::string>& inputs,
                               const std::vector<std::string>& goldens) const;

 private:
  // Optimizes the imported graph and, for a quantized build, calibrates it.
  Status prepare(const BuildOptions& options);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rk::toolkit

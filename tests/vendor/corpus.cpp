// SPDX-License-Identifier: Apache-2.0
// Runs a corpus of files made by the vendor's converter and compares each with the vendor simulator's outputs, which lie
// beside it (model.rknn, input_K.npy, sim_K.npy, float_K.npy in one folder each, below CHIP/int8|fp16/).
//
//   vendor_corpus FOLDER [--verbose] [--only TEXT]
//
// Prints one line per file that does not agree, a table per chip and dtype, the refusals by operator, and FIGURE lines
// with their bars. Each file runs in a process of its own, so that a crash or a hang is one line and not the end.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "base/npy.h"
#include "format/reader.h"
#include "format/vendor_model.h"
#include "rknn_api.h"
#include "tests/vendor/node_check.h"
#include "tests/vendor/register_run.h"

namespace rk::vendor {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSecondsPerFile = 300;
constexpr rlim_t kMaxAddressSpace = rlim_t{12} << 30;

// What one output shows beside the simulator's and the float model's.
struct OutputScore {
  double cosine = 0;    // to the simulator
  double relative = 0;  // largest difference, in parts of the simulator's peak
  double steps = -1;    // largest difference in quantization steps; -1: not an int8 output
  double ours_to_float = 1, simulator_to_float = 1;
  double to_registers =
      -1;  // largest difference to the registers' result, of the peak; -1: not asked
};

// Nodes of an int8 file for RK3588 beside its registers, asked where the simulator says something
// else.
struct NodeProof {
  uint64_t tasks = 0, compared = 0, bytes = 0, different = 0, far_floats = 0;

  // Compared: executed from registers, and the node's result put beside ours.
  bool holds() const {
    return bytes != 0 && different == 0 && far_floats == 0 && compared * 100 >= tasks * 99;
  }
};

struct FileResult {
  std::string path;             // CHIP/DTYPE/MODEL
  std::string state = "crash";  // unreadable, refused, failed, ran, crash
  std::string reason;
  std::vector<OutputScore> outputs;
  NodeProof proof;
  double mean_loss = -1;  // of inputs moved by less than half a step; -1: not asked

  std::string chip() const { return path.substr(0, path.find('/')); }
  std::string dtype() const {
    const size_t start = path.find('/') + 1;
    return path.substr(start, path.find('/', start) - start);
  }
  bool is_network() const { return path.find("/layer_") == std::string::npos; }
  bool ran() const { return state == "ran"; }
};

std::vector<double> numbers(const NpyArray& array) {
  std::vector<double> out;
  const auto item = static_cast<size_t>(array.item_size);
  for (size_t at = 0; at + item <= array.bytes.size(); at += item) {
    const uint8_t* const p = array.bytes.data() + at;
    double value = 0;
    if (array.kind == 'f' && item == 4) value = load<float>(p);
    if (array.kind == 'f' && item == 8) value = load<double>(p);
    if (array.kind == 'i' && item == 8) value = static_cast<double>(load<int64_t>(p));
    if (array.kind == 'i' && item == 4) value = load<int32_t>(p);
    if (array.kind == 'i' && item == 1) value = static_cast<int8_t>(*p);
    if (array.kind == 'u' && item == 1) value = *p;
    if (array.kind == 'b') value = *p != 0;
    out.push_back(std::isfinite(value) ? value : 0);
  }
  return out;
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  if (aa == 0 && bb == 0) return 1;
  return aa == 0 || bb == 0 ? 0 : dot / std::sqrt(aa * bb);
}

OutputScore score(const std::vector<double>& ours, const std::vector<double>& simulator,
                  const std::vector<double>& reference, double step) {
  OutputScore out;
  double peak = 1e-9, worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    peak = std::max(peak, std::abs(simulator[i]));
    worst = std::max(worst, std::abs(ours[i] - simulator[i]));
  }
  out.cosine = cosine(ours, simulator);
  out.relative = worst / peak;
  if (step > 0) out.steps = worst / step;
  if (reference.size() == ours.size()) {
    out.ours_to_float = cosine(ours, reference);
    out.simulator_to_float = cosine(simulator, reference);
  }
  return out;
}

Result<std::vector<NpyArray>> read_arrays(const fs::path& folder, const std::string& stem) {
  std::vector<NpyArray> out;
  for (int k = 0;; ++k) {
    const fs::path path = folder / str(stem, "_", k, ".npy");
    if (!fs::exists(path)) return out;
    RK_ASSIGN(NpyArray array, read_npy(path.string()));
    out.push_back(std::move(array));
  }
}

rknn_tensor_type type_of(const NpyArray& array) {
  if (array.kind == 'f') return array.item_size == 2 ? RKNN_TENSOR_FLOAT16 : RKNN_TENSOR_FLOAT32;
  if (array.kind == 'u') return RKNN_TENSOR_UINT8;
  if (array.kind == 'b') return RKNN_TENSOR_BOOL;
  return array.item_size == 8   ? RKNN_TENSOR_INT64
         : array.item_size == 4 ? RKNN_TENSOR_INT32
                                : RKNN_TENSOR_INT8;
}

size_t elements(const NpyArray& array) {
  return array.bytes.size() / static_cast<size_t>(array.item_size);
}

class Run {
 public:
  ~Run() {
    if (open_) rknn_destroy(context_);
  }

  Status open(std::vector<uint8_t>& file) {
    const int code =
        rknn_init(&context_, file.data(), static_cast<uint32_t>(file.size()), 0, nullptr);
    if (code != RKNN_SUCC) return unsupported(str("rknn_init returned ", code));
    open_ = true;
    rknn_query(context_, RKNN_QUERY_IN_OUT_NUM, &count_, sizeof count_);
    return ok_status();
  }

  Status set_inputs(std::vector<NpyArray> arrays) {
    std::vector<rknn_input> inputs(count_.n_input);
    kept_.clear();
    for (uint32_t i = 0; i < count_.n_input; ++i) {
      rknn_tensor_attr attr{};
      attr.index = i;
      rknn_query(context_, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr);
      // A converter may drop an input that nothing reads: take the next one of the right size.
      const auto fits = [&](const NpyArray& a) { return elements(a) == attr.n_elems; };
      const auto found = std::find_if(arrays.begin(), arrays.end(), fits);
      if (found == arrays.end()) return invalid_argument(str("no data for input ", i));
      kept_.push_back(std::move(*found));
      arrays.erase(found);
      const NpyArray& array = kept_.back();
      inputs[i].index = i;
      inputs[i].size = static_cast<uint32_t>(array.bytes.size());
      inputs[i].type = type_of(array);
      const bool picture = array.kind == 'u' && array.shape.size() == 4;
      inputs[i].fmt = picture                   ? RKNN_TENSOR_NHWC
                      : array.shape.size() == 4 ? RKNN_TENSOR_NCHW
                                                : RKNN_TENSOR_UNDEFINED;
    }
    for (uint32_t i = 0; i < count_.n_input; ++i) inputs[i].buf = kept_[i].bytes.data();
    const int code = rknn_inputs_set(context_, count_.n_input, inputs.data());
    return code == RKNN_SUCC ? ok_status()
                             : invalid_argument(str("rknn_inputs_set returned ", code));
  }

  Result<std::vector<OutputScore>> run(const std::vector<NpyArray>& simulator,
                                       const std::vector<NpyArray>& reference) {
    if (const int code = rknn_run(context_, nullptr); code != RKNN_SUCC)
      return invalid_argument(str("rknn_run returned ", code));
    std::vector<rknn_output> out(count_.n_output);
    for (rknn_output& o : out) o.want_float = 1;
    if (const int code = rknn_outputs_get(context_, count_.n_output, out.data(), nullptr);
        code != RKNN_SUCC) {
      return invalid_argument(str("rknn_outputs_get returned ", code));
    }
    std::vector<OutputScore> scores;
    outputs_.clear();
    for (uint32_t i = 0; i < count_.n_output; ++i) {
      rknn_tensor_attr attr{};
      attr.index = i;
      rknn_query(context_, RKNN_QUERY_OUTPUT_ATTR, &attr, sizeof attr);
      const auto* const from = static_cast<const float*>(out[i].buf);
      std::vector<double> ours(from, from + out[i].size / sizeof(float));
      for (double& value : ours) value = std::isfinite(value) ? value : 0;
      if (simulator.empty()) continue;  // the simulator failed on its own file
      if (i >= simulator.size()) return invalid_argument("the simulator has fewer outputs");
      const std::vector<double> theirs = numbers(simulator[i]);
      if (theirs.size() != ours.size()) {
        return invalid_argument(
            str("output ", i, " has ", ours.size(), " elements, the simulator's ", theirs.size()));
      }
      outputs_.push_back(ours);
      const std::vector<double> real =
          i < reference.size() ? numbers(reference[i]) : std::vector<double>();
      const bool quantized = attr.type == RKNN_TENSOR_INT8 && attr.scale > 0;
      scores.push_back(score(ours, theirs, real, quantized ? double{attr.scale} : 0));
    }
    rknn_outputs_release(context_, count_.n_output, out.data());
    return scores;
  }

  const std::vector<std::vector<double>>& outputs() const { return outputs_; }

  // How far one step of input i goes; 0 where it is not int8.
  double input_step(uint32_t i) {
    rknn_tensor_attr attr{};
    attr.index = i;
    rknn_query(context_, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr);
    return attr.type == RKNN_TENSOR_INT8 ? double{attr.scale} : 0;
  }

 private:
  rknn_context context_ = 0;
  bool open_ = false;
  rknn_input_output_num count_{};
  std::vector<NpyArray> kept_;
  std::vector<std::vector<double>> outputs_;
};

std::vector<uint8_t> read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr double kStepBar = 2.01;  // dequantized numbers are float32
constexpr double kHalfBar = 2e-3;

// Where a float16 output is farther from the simulator's than the bar, the file's registers are
// asked: the simulator works on the graph, the board on them.
Status ask_registers(const std::vector<uint8_t>& file, const std::vector<NpyArray>& inputs,
                     const std::vector<NpyArray>& simulator, const Run& run, FileResult& result) {
  RK_ASSIGN(const RegisterRun registers, run_registers(file, inputs));
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const std::vector<double>&ours = run.outputs()[i], &theirs = registers.outputs.at(i);
    if (ours.size() != theirs.size()) return unsupported("outputs of another size");
    double peak = 1e-9, worst = 0;
    for (const double value : numbers(simulator[i])) peak = std::max(peak, std::abs(value));
    for (size_t k = 0; k < ours.size(); ++k) worst = std::max(worst, std::abs(ours[k] - theirs[k]));
    result.outputs[i].to_registers = worst / peak;
  }
  return ok_status();
}

// How much farther from float the network is than the simulator, on average over inputs that differ
// by less than half of their own step: int8 cannot tell these apart, so what one of them gives is
// chance.
Result<double> average_loss(const std::vector<NpyArray>& inputs,
                            const std::vector<NpyArray>& simulator,
                            const std::vector<NpyArray>& reference, Run& run) {
  constexpr int kTurns = 8;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> moved(-0.5f, 0.5f);
  std::vector<double> sum(simulator.size());
  for (int turn = 0; turn < kTurns; ++turn) {
    std::vector<NpyArray> near = inputs;
    for (size_t i = 0; i < near.size(); ++i) {
      const auto step = static_cast<float>(run.input_step(static_cast<uint32_t>(i)));
      if (near[i].kind != 'f' || near[i].item_size != 4) return unsupported("inputs of this type");
      for (size_t at = 0; at + 4 <= near[i].bytes.size(); at += 4) {
        const float value = load<float>(near[i].bytes.data() + at) + moved(random) * step;
        std::memcpy(near[i].bytes.data() + at, &value, sizeof value);
      }
    }
    RK_TRY(run.set_inputs(std::move(near)));
    RK_ASSIGN(const std::vector<OutputScore> scores, run.run(simulator, reference));
    for (size_t i = 0; i < scores.size(); ++i)
      sum[i] += scores[i].simulator_to_float - scores[i].ours_to_float;
  }
  return *std::max_element(sum.begin(), sum.end()) / kTurns;
}

double worst_cosine(const FileResult& r) {
  double worst = 1;
  for (const OutputScore& o : r.outputs) worst = std::min(worst, o.cosine);
  return worst;
}

// How much farther from float we are than the simulator.
double worst_loss(const FileResult& r) {
  double worst = 0;
  for (const OutputScore& o : r.outputs)
    worst = std::max(worst, o.simulator_to_float - o.ours_to_float);
  return worst;
}

constexpr double kLeastCosine = 0.99, kMostLoss = 0.002;

void ask_further(const std::vector<uint8_t>& file, const std::vector<NpyArray>& inputs,
                 const std::vector<NpyArray>& simulator, const std::vector<NpyArray>& reference,
                 Run& run, FileResult& result) {
  if (result.chip() == "rk3588") {
    Report report;
    const Status status = check_nodes(result.path, "", file, report);
    const Tally& t = report.total;
    if (status.ok()) result.proof = {t.tasks, t.compared, t.bytes, t.different, t.far_floats};
  }
  if (worst_loss(result) > kMostLoss) {
    const auto mean = average_loss(inputs, simulator, reference, run);
    if (mean.ok()) result.mean_loss = std::max(*mean, 0.0);
  }
}

Status try_file(const fs::path& folder, FileResult& result) {
  std::vector<uint8_t> file = read_bytes(folder / "model.rknn");
  result.state = "unreadable";
  RK_TRY(format::read_model(ByteSpan(file)).status());
  result.state = "refused";
  RK_TRY(format::read_rknn(file).status());
  result.state = "failed";
  Run run;
  RK_TRY(run.open(file));
  RK_ASSIGN(const std::vector<NpyArray> inputs, read_arrays(folder, "input"));
  RK_TRY(run.set_inputs(inputs));
  RK_ASSIGN(const std::vector<NpyArray> simulator, read_arrays(folder, "sim"));
  RK_ASSIGN(const std::vector<NpyArray> reference, read_arrays(folder, "float"));
  RK_ASSIGN(result.outputs, run.run(simulator, reference));
  result.state = "ran";
  const auto is_far = [](const OutputScore& o) { return o.steps < 0 && o.relative > kHalfBar; };
  if (result.dtype() == "fp16" &&
      std::any_of(result.outputs.begin(), result.outputs.end(), is_far)) {
    const Status asked = ask_registers(file, inputs, simulator, run, result);
    if (!asked.ok()) result.reason = "registers: " + asked.message();
  }
  if (result.dtype() == "int8" && !result.outputs.empty() && result.is_network() &&
      (worst_cosine(result) < kLeastCosine || worst_loss(result) > kMostLoss)) {
    ask_further(file, inputs, simulator, reference, run, result);
  }
  return ok_status();
}

// Text between two processes: state, scores, then the reason up to the end.
std::string encode(const FileResult& r) {
  std::ostringstream out;
  out.precision(17);
  out << r.state << ' ' << r.outputs.size() << '\n';
  out << r.proof.tasks << ' ' << r.proof.compared << ' ' << r.proof.bytes << ' '
      << r.proof.different << ' ' << r.proof.far_floats << ' ' << r.mean_loss << '\n';
  for (const OutputScore& o : r.outputs) {
    out << o.cosine << ' ' << o.relative << ' ' << o.steps << ' ' << o.ours_to_float << ' '
        << o.simulator_to_float << ' ' << o.to_registers << '\n';
  }
  out << r.reason;
  return out.str();
}

void decode(const std::string& text, FileResult& r) {
  std::istringstream in(text);
  size_t count = 0;
  in >> r.state >> count;
  NodeProof& p = r.proof;
  in >> p.tasks >> p.compared >> p.bytes >> p.different >> p.far_floats >> r.mean_loss;
  for (size_t i = 0; i < count; ++i) {
    OutputScore o;
    in >> o.cosine >> o.relative >> o.steps >> o.ours_to_float >> o.simulator_to_float >>
        o.to_registers;
    r.outputs.push_back(o);
  }
  in.ignore(1);
  r.reason.assign(std::istreambuf_iterator<char>(in), {});
}

FileResult in_a_process(const fs::path& folder, const std::string& path) {
  FileResult result;
  result.path = path;
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return result;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsPerFile);
    const rlimit limit{kMaxAddressSpace, kMaxAddressSpace};
    setrlimit(RLIMIT_AS, &limit);
    const Status status = try_file(folder, result);
    if (!status.ok()) result.reason = status.message();
    const std::string text = encode(result);
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = write(pipe_ends[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t n; (n = read(pipe_ends[0], piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<size_t>(n));
  close(pipe_ends[0]);
  int code = 0;
  waitpid(child, &code, 0);
  if (WIFEXITED(code) && !text.empty()) {
    decode(text, result);
  } else {
    result.reason = WIFSIGNALED(code) ? str("signal ", WTERMSIG(code)) : "no answer";
  }
  return result;
}

// Where the converter wrote other numbers into the file than its simulator computes with: the file is run as it is.
struct KnownDefect {
  std::string_view model, effect;
};
constexpr KnownDefect kDefects[] = {
    {"layer_deconvolution_group", "the bias of a grouped ConvTranspose is cut by input channels"},
};

const KnownDefect* find_defect(const FileResult& r) {
  for (const KnownDefect& defect : kDefects) {
    if (r.path.ends_with(defect.model)) return &defect;
  }
  return nullptr;
}

double worst_steps(const FileResult& r) {
  double worst = -1;
  for (const OutputScore& o : r.outputs) worst = std::max(worst, o.steps);
  return worst;
}

// Largest relative difference among outputs that are not int8.
double worst_relative(const FileResult& r) {
  double worst = -1;
  for (const OutputScore& o : r.outputs) {
    if (o.steps < 0) worst = std::max(worst, o.relative);
  }
  return worst;
}

// The largest difference to the registers' results, among outputs that are not int8; -1: they were
// not asked.
double worst_to_registers(const FileResult& r) {
  double worst = -1;
  for (const OutputScore& o : r.outputs) {
    if (o.steps < 0) worst = std::max(worst, o.to_registers);
  }
  return worst;
}

bool proven(const FileResult& r) {
  return worst_to_registers(r) >= 0 && worst_to_registers(r) <= kHalfBar;
}

bool agrees(const FileResult& r) {
  return r.ran() && worst_cosine(r) >= 0.99 && worst_steps(r) <= kStepBar &&
         worst_relative(r) <= kHalfBar;
}

void print_line(const FileResult& r) {
  std::cout << "  " << r.path << ": " << r.state;
  if (r.ran()) {
    std::cout << " cosine " << worst_cosine(r);
    if (worst_steps(r) >= 0) std::cout << " steps " << worst_steps(r);
    if (worst_relative(r) >= 0) std::cout << " relative " << worst_relative(r);
    std::cout << " farther from float by " << worst_loss(r);
    if (r.mean_loss >= 0) std::cout << " (mean of near inputs " << r.mean_loss << ")";
    if (r.proof.bytes != 0) {
      std::cout << " registers: " << r.proof.different << " of " << r.proof.bytes
                << " bytes differ, " << r.proof.compared << " of " << r.proof.tasks << " tasks";
    }
    if (worst_to_registers(r) >= 0) std::cout << " from the registers " << worst_to_registers(r);
  }
  if (!r.reason.empty()) std::cout << " " << r.reason.substr(0, 700);
  std::cout << "\n";
}

struct Row {
  int files = 0, readable = 0, run = 0, agree = 0, wrong = 0;
};

void print_table(const std::vector<FileResult>& results) {
  std::map<std::string, Row> rows;
  for (const FileResult& r : results) {
    for (const std::string& key :
         {str(r.chip(), " ", r.dtype(), r.is_network() ? " network" : " layer"),
          std::string("~all")}) {
      Row& row = rows[key];
      ++row.files;
      row.readable += r.state != "unreadable" && r.state != "crash";
      row.run += r.ran();
      row.agree += agrees(r);
      row.wrong += r.ran() && worst_cosine(r) < 0.99;
    }
  }
  std::cout << "chip dtype kind: files, readable, run, within bars, cosine below 0.99\n";
  for (const auto& [key, row] : rows) {
    std::cout << "  " << key << ": " << row.files << " " << row.readable << " " << row.run << " "
              << row.agree << " " << row.wrong << "\n";
  }
}

int short_figures = 0;

void figure(const std::string& name, double value, double bar, bool at_least) {
  const bool holds = at_least ? value >= bar : value <= bar;
  short_figures += !holds;
  std::cout << "FIGURE " << name << " | " << value << " | " << (at_least ? ">= " : "<= ") << bar
            << " | " << (holds ? "ok" : "SHORT") << "\n";
}

double percent(int part, int whole) { return whole == 0 ? 0 : 100.0 * part / whole; }

void print_figures(const std::vector<FileResult>& results, bool further) {
  int files = 0, readable = 0, run = 0, main = 0, main_run = 0, other = 0, other_run = 0;
  int wrong = 0, stepped = 0, stepped_close = 0, halves = 0, halves_close = 0, networks_far = 0;
  int halves_proven = 0, wrong_unproven = 0, far_unproven = 0;
  std::string proofs, node_proofs, means;
  for (const FileResult& r : results) {
    ++files;
    readable += r.state != "unreadable" && r.state != "crash";
    run += r.ran();
    const bool is_main = r.chip() == "rk3588" || r.chip() == "rk3566" || r.chip() == "rk3568";
    (is_main ? main : other) += 1;
    (is_main ? main_run : other_run) += r.ran();
    if (!r.ran()) continue;
    const bool is_wrong = worst_cosine(r) < kLeastCosine;
    const bool is_far = r.is_network() && worst_loss(r) > kMostLoss;
    wrong += is_wrong;
    wrong_unproven += is_wrong && !r.proof.holds();
    networks_far += is_far;
    const bool by_chance = r.mean_loss >= 0 && r.mean_loss <= kMostLoss;
    far_unproven += is_far && !r.proof.holds() && !by_chance;
    if ((is_wrong || is_far) && r.proof.holds()) {
      node_proofs += str(node_proofs.empty() ? "" : ", ", r.path, " 0 of ", r.proof.bytes,
                         " bytes in ", r.proof.compared, " of ", r.proof.tasks, " tasks");
    } else if (is_far && by_chance) {
      means += str(means.empty() ? "" : ", ", r.path, " ", r.mean_loss);
    }
    if (!r.is_network() && worst_steps(r) >= 0) {
      ++stepped;
      stepped_close += worst_steps(r) <= kStepBar;
    }
    if (r.dtype() == "fp16" && worst_relative(r) >= 0) {
      ++halves;
      const bool close = worst_relative(r) <= kHalfBar;
      halves_close += close;
      halves_proven += close || proven(r);
      if (!close && proven(r))
        proofs += str(proofs.empty() ? "" : ", ", r.path, " ", worst_to_registers(r));
    }
  }
  const std::string which = further ? "further vendor files: " : "vendor corpus: ";
  figure(which + "files", files, further ? 300 : 540, true);
  figure(which + "readable, %", percent(readable, files), further ? 93 : 100, true);
  if (further) {
    figure(which + "run, %", percent(run, files), 93, true);
  } else {
    figure(which + "run on RK3588, RK3566, RK3568, %", percent(main_run, main), 99, true);
    figure(which + "run on the other chips, %", percent(other_run, other), 95, true);
  }
  // What the registers say counts more than the simulator (docs/fidelity.md).
  figure(str(which, "cosine to the simulator below 0.99, files (", wrong,
             "; the registers' bytes are ours, node by node: ",
             node_proofs.empty() ? "none" : node_proofs, ")"),
         wrong_unproven, 0, false);
  figure(which + "single layers with int8 output within 2 steps, %",
         percent(stepped_close, stepped), 97, true);
  // Where simulator and registers disagree, registers win (docs/fidelity.md): a file counts that is
  // as close to them.
  figure(str(which, "float16 outputs within 2e-3 of the peak, % (", percent(halves_close, halves),
             " of the simulator; of the file's own registers: ", proofs.empty() ? "none" : proofs,
             ")"),
         percent(halves_proven, halves), 97, true);
  figure(
      str(which, "networks farther from float than the simulator by 0.002 (", networks_far,
          "; proven by registers as above, or no more on average over inputs that differ by less "
          "than half a step: ",
          means.empty() ? "none" : means, ")"),
      far_unproven, 0, false);
}

int check_corpus(const fs::path& root, const std::string& only, bool verbose, bool further) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    if (entry.path().filename() == "model.rknn") folders.push_back(entry.path().parent_path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<FileResult> results;
  for (const fs::path& folder : folders) {
    const std::string path = fs::relative(folder, root).string();
    if (path.find(only) == std::string::npos) continue;
    results.push_back(in_a_process(folder, path));
    if (verbose || !agrees(results.back())) print_line(results.back());
    if (const KnownDefect* const defect = find_defect(results.back());
        defect != nullptr && results.back().ran()) {
      std::cout << "  " << path << " is not compared: " << defect->effect << "\n";
      results.back().outputs.clear();
    }
    std::cout.flush();
  }
  if (results.empty()) {
    std::cout << "FIGURE vendor corpus: files | 0 | >= 1 | SHORT\n";
    return 1;
  }
  print_table(results);
  if (only.empty()) print_figures(results, further);
  return short_figures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace rk::vendor

int main(int argc, char** argv) {
  std::string folder, only;
  bool verbose = false, further = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--verbose") {
      verbose = true;
    } else if (argument == "--further") {
      further = true;
    } else if (argument == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      folder = argument;
    }
  }
  if (folder.empty()) {
    std::cout << "usage: vendor_corpus FOLDER [--verbose] [--further] [--only TEXT]\n";
    return 2;
  }
  return rk::vendor::check_corpus(folder, only, verbose, further);
}

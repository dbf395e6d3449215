// SPDX-License-Identifier: Apache-2.0
// What files of the vendor's converter cost beside our own files of the same networks: opening with preparing, and one
// run, in processor time of one thread.
//
//   vendor_cost CORPUS [FURTHER]     CORPUS as for vendor_corpus, FURTHER made by make_cost_files.py
//
// Both files of a network take turns, so that a busy machine slows both, and the best of each counts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "base/file.h"
#include "rknn_api.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::vendor {
namespace {

namespace fs = std::filesystem;

constexpr double kOpenBar = 1.5, kRunBar = 1.1;

// One network: the vendor's file and what our own is made from.
struct Network {
  std::string name;
  fs::path folder;  // model.rknn, input_0.npy
  fs::path source;  // ONNX
  std::string chip = "rk3588";
  bool picture = false;  // input_0.npy is uint8 NHWC and the file has a mean and a deviation
  float deviation = 1;
  std::vector<std::string> outputs;  // where the vendor's file ends, if not where the source does
};

Result<std::vector<uint8_t>> convert(const Network& network) {
  const fs::path dataset = fs::temp_directory_path() / "vendor_cost_dataset.txt";
  std::ofstream(dataset) << fs::absolute(network.folder / "input_0.npy").string() << "\n";
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = network.chip;
  if (network.picture) {
    config.mean_values = {{0, 0, 0}};
    config.std_values = {{network.deviation, network.deviation, network.deviation}};
  }
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(network.source.string()));
  RK_TRY(toolkit.build({.do_quantization = true, .dataset = dataset.string(), .progress = {}}));
  return toolkit.rknn_bytes();
}

// Of the processor, not of the clock on the wall: others use the machine too.
double milliseconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  };
  const double start = now();
  work();
  return now() - start;
}

// An open file and the best times seen.
class Measured {
 public:
  explicit Measured(std::vector<uint8_t> file) : file_(std::move(file)) {}
  ~Measured() { close(); }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  bool open() {
    close();
    int code = 0;
    const double time = milliseconds_of([&] {
      code = rknn_init(&context_, file_.data(), static_cast<uint32_t>(file_.size()), 0, nullptr);
    });
    open_ = code == RKNN_SUCC;
    open_ms_ = std::min(open_ms_, time);
    return open_;
  }

  // Bytes at random in every input: tables are read all over.
  bool set_inputs() {
    rknn_input_output_num count{};
    if (rknn_query(context_, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count) != RKNN_SUCC)
      return false;
    std::mt19937 random(1);
    std::vector<std::vector<uint8_t>> bytes(count.n_input);
    std::vector<rknn_input> inputs(count.n_input);
    for (uint32_t i = 0; i < count.n_input; ++i) {
      rknn_tensor_attr attr{};
      attr.index = i;
      rknn_query(context_, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr);
      bytes[i].resize(attr.n_elems);
      for (uint8_t& b : bytes[i]) b = static_cast<uint8_t>(random());
      inputs[i].index = i;
      inputs[i].buf = bytes[i].data();
      inputs[i].size = attr.n_elems;
      inputs[i].type = RKNN_TENSOR_UINT8;
      inputs[i].fmt = attr.n_dims == 4 ? RKNN_TENSOR_NHWC : RKNN_TENSOR_UNDEFINED;
    }
    return rknn_inputs_set(context_, count.n_input, inputs.data()) == RKNN_SUCC;
  }

  bool run() {
    int code = 0;
    run_ms_ = std::min(run_ms_, milliseconds_of([&] { code = rknn_run(context_, nullptr); }));
    return code == RKNN_SUCC;
  }

  double open_ms() const { return open_ms_; }
  double run_ms() const { return run_ms_; }

 private:
  void close() {
    if (open_) rknn_destroy(context_);
    open_ = false;
  }

  std::vector<uint8_t> file_;
  rknn_context context_ = 0;
  bool open_ = false;
  double open_ms_ = 1e9, run_ms_ = 1e9;
};

bool figure(const std::string& name, double theirs, double ours, double bar) {
  const bool holds = theirs <= bar * ours;
  std::printf("FIGURE %s | %.2f x (%.1f ms beside %.1f ms) | <= %.1f x | %s\n", name.c_str(),
              theirs / ours, theirs, ours, bar, holds ? "ok" : "SHORT");
  return holds;
}

bool failed(const Network& network, const std::string& what) {
  std::printf("FIGURE %s, cost of the vendor's file | %s | a ratio | SHORT\n", network.name.c_str(),
              what.c_str());
  return false;
}

bool measure(const Network& network) {
  auto theirs = read_file((network.folder / "model.rknn").string());
  if (!theirs.ok()) return failed(network, theirs.status().message());
  auto ours = convert(network);
  if (!ours.ok()) return failed(network, ours.status().message());
  Measured a(std::move(*theirs)), b(std::move(*ours));
  for (int i = 0; i < 7; ++i) {
    if (!a.open() || !b.open()) return failed(network, "does not open");
  }
  if (!a.set_inputs() || !b.set_inputs()) return failed(network, "takes no inputs");
  // About two seconds, at least ten turns.
  double spent = 0;
  for (int i = 0; i < 10 || (i < 200 && spent < 2000); ++i) {
    spent += milliseconds_of([&] { (void)a.run(), (void)b.run(); });
  }
  if (!a.run() || !b.run()) return failed(network, "does not run");
  const bool open = figure(network.name + ", vendor file: opening and preparing", a.open_ms(),
                           b.open_ms(), kOpenBar);
  const bool run = figure(network.name + ", vendor file: one run", a.run_ms(), b.run_ms(), kRunBar);
  return open && run;
}

std::vector<Network> networks(const fs::path& corpus, const fs::path& further) {
  const fs::path project = RK_SOURCE_DIR, models = project / "../shared/assets/models/onnx";
  const fs::path int8 = corpus / "rk3588" / "int8";
  std::vector<Network> out;
  out.push_back({.name = "signs (ReLU)",
                 .folder = int8 / "signs",
                 .source = project / "examples/signs/signs.onnx",
                 .picture = true,
                 .deviation = 255});
  out.push_back({.name = "yunet (ReLU, sigmoid)",
                 .folder = int8 / "yunet_n_320",
                 .source = models / "yunet_n_320/yunet_n_320_320.onnx",
                 .picture = true});
  out.push_back({.name = "fastestdet (ReLU, sigmoid)",
                 .folder = int8 / "fastestdet",
                 .source = models / "fastestdet/FastestDet.onnx",
                 .picture = true,
                 .deviation = 255});
  if (further.empty()) return out;
  std::vector<fs::path> folders;
  for (const auto& chip : fs::directory_iterator(further)) {
    if (!fs::is_directory(chip.path() / "int8")) continue;
    for (const auto& entry : fs::directory_iterator(chip.path() / "int8"))
      folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    out.push_back({.name = folder.filename().string(),
                   .folder = folder,
                   .source = folder / "source.onnx",
                   .chip = folder.parent_path().parent_path().filename().string()});
  }
  return out;
}

}  // namespace
}  // namespace rk::vendor

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: vendor_cost CORPUS [FURTHER] [--only TEXT]\n");
    return 2;
  }
  setenv("RKNN_NUM_THREADS", "1", 1);
  std::string only, further;
  for (int i = 2; i < argc; ++i) {
    if (std::string(argv[i]) == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      further = argv[i];
    }
  }
  bool good = true;
  for (const auto& network : rk::vendor::networks(argv[1], further)) {
    if (network.name.find(only) == std::string::npos) continue;
    good &= rk::vendor::measure(network);
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}

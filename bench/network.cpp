// SPDX-License-Identifier: Apache-2.0
// Runs one .rknn model through the C API on request, for bench/run.py.
//
//   network MODEL.rknn
//
// Says "ready INIT_MS WEIGHT_BYTES INTERNAL_BYTES RSS_KB DUP_RSS_KB" (RSS: resident memory after the first run less that
// before rknn_init; DUP: its growth per duplicated context; both without this program's own buffers), then answers each
// line:
//   round MS general   median ms of rknn_inputs_set (u8 NHWC) + rknn_run + rknn_outputs_get (float)
//   round MS zero      median ms of rknn_run with bound u8 input and native outputs
//   perf MS            sums of the PERF_DETAIL rows per operator type: "TYPE:US:MACS ...", median run of MS
//   peak               GMAC/s of int8 dot products and of float multiply-adds, one thread
//   bytes MASK MODE    a checksum of the outputs of the general flow under a core mask, with floating-point rounding of
//                      the program to nearest (0) or upwards (1)
// The number of threads is RKNN_NUM_THREADS.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bench/peak.h"
#include "rknn_api.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void check(int code, const char* call) {
  if (code >= 0) return;
  std::fprintf(stderr, "%s failed with %d\n", call, code);
  std::exit(1);
}

long resident_kb() {
  std::ifstream statm("/proc/self/statm");
  long pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

using Extents = std::vector<double>;

// "(1,3,8,8),(16,3,3,3)": the extents of each shape.
std::vector<Extents> shapes_in(const std::string& text) {
  std::vector<Extents> shapes;
  for (const char* at = text.c_str(); *at != '\0';) {
    if (*at == '(') shapes.emplace_back();
    if (std::isdigit(static_cast<unsigned char>(*at)) != 0 && !shapes.empty()) {
      char* end = nullptr;
      shapes.back().push_back(std::strtod(at, &end));
      at = end;
    } else {
      ++at;
    }
  }
  return shapes;
}

double product(const Extents& extents, size_t from) {
  double result = 1;
  for (size_t i = from; i < extents.size(); ++i) result *= extents[i];
  return result;
}

// Multiply-adds of a row of the layer table, from its shapes: every weight of a convolution is used once per output
// pixel, every output of a matrix product takes as many as the inner extent.
double multiplications(const std::string& type, const std::vector<Extents>& in,
                       const std::vector<Extents>& out) {
  if (in.empty() || out.empty() || out[0].empty()) return 0;
  if (type.starts_with("Conv") && in.size() > 1 && in[1].size() == 4 && out[0].size() == 4) {
    return product(in[1], 0) * product(out[0], 2) * out[0][0];
  }
  if (type.find("MatMul") != std::string::npos && !in[0].empty())
    return product(out[0], 0) * in[0].back();
  return 0;
}

struct Row {
  double us = 0;
  double macs = 0;
};
using Rows = std::map<std::string, Row>;

class Model {
 public:
  Model(const char* path, uint32_t flags) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes(std::filesystem::file_size(path));
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file_kb_ = static_cast<long>(bytes.size() / 1024);
    if (!file || bytes.empty()) {
      std::fprintf(stderr, "%s cannot be read\n", path);
      std::exit(1);
    }
    resident_before_kb_ = resident_kb();
    const auto start = Clock::now();
    check(rknn_init(&context_, bytes.data(), static_cast<uint32_t>(bytes.size()), flags, nullptr),
          "rknn_init");
    init_ms_ = milliseconds_since(start);
    open();
    bytes = {};
    resident_before_kb_ -= file_kb_;
  }
  // Shares the weights of `other`.
  explicit Model(Model& other) {
    check(rknn_dup_context(&other.context_, &context_), "rknn_dup_context");
    open();
  }
  ~Model() { rknn_destroy(context_); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  double init_ms() const { return init_ms_; }
  long resident_before_kb() const { return resident_before_kb_; }
  // Of the picture and the results.
  long own_kb() const {
    size_t bytes = picture_.size();
    for (const std::vector<float>& result : results_) bytes += result.size() * sizeof(float);
    return static_cast<long>(bytes / 1024);
  }
  rknn_mem_size sizes() const {
    rknn_mem_size sizes{};
    check(rknn_query(context_, RKNN_QUERY_MEM_SIZE, &sizes, sizeof sizes), "rknn_query");
    return sizes;
  }

  void general() {
    rknn_input input{};
    input.buf = picture_.data();
    input.size = static_cast<uint32_t>(picture_.size());
    input.type = RKNN_TENSOR_UINT8;
    input.fmt = RKNN_TENSOR_NHWC;
    check(rknn_inputs_set(context_, 1, &input), "rknn_inputs_set");
    check(rknn_run(context_, nullptr), "rknn_run");
    std::vector<rknn_output> outputs(results_.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].index = static_cast<uint32_t>(i);
      outputs[i].want_float = 1;
      outputs[i].is_prealloc = 1;
      outputs[i].buf = results_[i].data();
      outputs[i].size = static_cast<uint32_t>(results_[i].size() * sizeof(float));
    }
    check(
        rknn_outputs_get(context_, static_cast<uint32_t>(outputs.size()), outputs.data(), nullptr),
        "rknn_outputs_get");
    rknn_outputs_release(context_, static_cast<uint32_t>(outputs.size()), outputs.data());
  }

  void bind() {
    rknn_tensor_attr attr = attr_of(RKNN_QUERY_INPUT_ATTR, 0);
    attr.type = RKNN_TENSOR_UINT8;
    attr.fmt = RKNN_TENSOR_NHWC;
    rknn_tensor_mem* memory = rknn_create_mem(context_, static_cast<uint32_t>(picture_.size()));
    std::memcpy(memory->virt_addr, picture_.data(), picture_.size());
    check(rknn_set_io_mem(context_, memory, &attr), "rknn_set_io_mem");
    for (uint32_t i = 0; i < results_.size(); ++i) {
      attr = attr_of(RKNN_QUERY_NATIVE_OUTPUT_ATTR, i);
      memory = rknn_create_mem(context_, attr.size_with_stride);
      check(rknn_set_io_mem(context_, memory, &attr), "rknn_set_io_mem");
    }
  }
  void run_bound() { check(rknn_run(context_, nullptr), "rknn_run"); }

  // Time and work of the last run, per operator type.
  Rows perf() const {
    rknn_perf_detail detail{};
    check(rknn_query(context_, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail), "rknn_query");
    std::istringstream lines(std::string(detail.perf_data, detail.data_len));
    Rows rows;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string id, type, dtype, target, in, out, cycles;
      double us = 0;
      if (!(words >> id >> type >> dtype >> target >> in >> out >> cycles >> us)) continue;
      const size_t first = cycles.find('/'), last = cycles.rfind('/');
      if (id.find_first_not_of("0123456789") != std::string::npos || first == last) continue;
      rows[type].us += us;
      rows[type].macs += multiplications(type, shapes_in(in), shapes_in(out));
    }
    return rows;
  }

  unsigned long checksum(int core_mask, bool upwards) {
    check(rknn_set_core_mask(context_, static_cast<rknn_core_mask>(core_mask)),
          "rknn_set_core_mask");
    std::fesetround(upwards ? FE_UPWARD : FE_TONEAREST);
    general();
    std::fesetround(FE_TONEAREST);
    unsigned long sum = 14695981039346656037u;  // FNV-1a
    for (const std::vector<float>& result : results_) {
      const auto* const bytes = reinterpret_cast<const unsigned char*>(result.data());
      for (size_t i = 0; i < result.size() * sizeof(float); ++i)
        sum = (sum ^ bytes[i]) * 1099511628211u;
    }
    return sum;
  }

 private:
  rknn_tensor_attr attr_of(rknn_query_cmd command, uint32_t index) const {
    rknn_tensor_attr attr{};
    attr.index = index;
    check(rknn_query(context_, command, &attr, sizeof attr), "rknn_query");
    return attr;
  }

  void open() {
    rknn_input_output_num counts{};
    check(rknn_query(context_, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts), "rknn_query");
    picture_.resize(attr_of(RKNN_QUERY_INPUT_ATTR, 0).n_elems);
    unsigned state = 1;
    for (unsigned char& pixel : picture_) {
      state = state * 1664525 + 1013904223;
      pixel = static_cast<unsigned char>(state >> 24);
    }
    for (uint32_t i = 0; i < counts.n_output; ++i) {
      results_.emplace_back(attr_of(RKNN_QUERY_OUTPUT_ATTR, i).n_elems);
    }
  }

  rknn_context context_ = 0;
  double init_ms_ = 0;
  long file_kb_ = 0;
  long resident_before_kb_ = 0;
  std::vector<unsigned char> picture_;
  std::vector<std::vector<float>> results_;
};

// Median milliseconds of one call, over a time after one unmeasured call.
double median_ms(double duration_ms, const std::function<void()>& call) {
  call();
  std::vector<double> times;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    call();
    times.push_back(milliseconds_since(start));
  } while (milliseconds_since(begin) < duration_ms);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void answer_perf(Model& model, double duration_ms) {
  std::vector<std::pair<double, Rows>> runs;
  const auto begin = Clock::now();
  do {
    model.general();
    Rows rows = model.perf();
    double total = 0;
    for (const auto& [type, row] : rows) total += row.us;
    runs.emplace_back(total, std::move(rows));
  } while (milliseconds_since(begin) < duration_ms);
  std::nth_element(runs.begin(), runs.begin() + runs.size() / 2, runs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [type, row] : runs[runs.size() / 2].second) {
    std::printf("%s:%.0f:%.0f ", type.c_str(), row.us, row.macs);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: network MODEL.rknn\n");
    return 1;
  }
  Model model(argv[1], 0);
  model.general();
  const long rss = resident_kb();
  const long used_kb = rss - model.resident_before_kb() - model.own_kb();
  double dup_kb = 0;
  {
    constexpr int kDups = 8;
    std::vector<std::unique_ptr<Model>> dups;
    for (int i = 0; i < kDups; ++i) {
      dups.push_back(std::make_unique<Model>(model));
      dups.back()->general();
    }
    dup_kb = static_cast<double>(resident_kb() - rss) / kDups - static_cast<double>(model.own_kb());
  }
  std::unique_ptr<Model> bound, measured;
  const rknn_mem_size sizes = model.sizes();
  std::printf("ready %.2f %u %u %ld %.0f\n", model.init_ms(), sizes.total_weight_size,
              sizes.total_internal_size, used_kb, dup_kb);
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, flow;
    double duration_ms = 0;
    words >> command >> duration_ms >> flow;
    if (command == "round" && flow == "zero") {
      if (bound == nullptr) {
        bound = std::make_unique<Model>(model);
        bound->bind();
      }
      std::printf("%.4f\n", median_ms(duration_ms, [&] { bound->run_bound(); }));
    } else if (command == "round") {
      std::printf("%.4f\n", median_ms(duration_ms, [&] { model.general(); }));
    } else if (command == "perf") {
      if (measured == nullptr)
        measured = std::make_unique<Model>(argv[1], RKNN_FLAG_COLLECT_PERF_MASK);
      answer_perf(*measured, duration_ms);
    } else if (command == "peak") {
      std::printf("%.2f %.2f\n", rk::bench::int8_peak_gmacs(), rk::bench::float_peak_gmacs());
    } else if (command == "bytes") {
      std::printf("%lx\n", model.checksum(static_cast<int>(duration_ms), flow == "1"));
    } else {
      std::printf("unknown command\n");
    }
    std::fflush(stdout);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// rknn bench, and rknn_benchmark with the positional arguments of the vendor's tool: how long a model takes on this
// machine, through the C API, copying and zero-copy.
//
// Note: the times are this CPU's. They rank layers and find regressions; they say nothing of a chip.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sstream>

#include "base/json.h"
#include "base/npy.h"
#include "rknn/api_context.h"
#include "rknn/arguments.h"
#include "rknn/commands.h"
#include "rknn/remote_model.h"

namespace rk::tools {
namespace {

using Clock = std::chrono::steady_clock;

const std::vector<OptionDef> kOptions = {
    {"--input", "-i", "FILE", "picture or .npy, one per model input; default: zeros"},
    {"--loops", "-n", "N", "runs that count, default 20"},
    {"--warmup", "-w", "N", "runs before them, default 3"},
    {"--core-mask", "-c", "MASK", "as rknn_set_core_mask; default: not set"},
    {"--per-layer", "", "", "the table of RKNN_QUERY_PERF_DETAIL too"},
    {"--json", "-j", "", "print one JSON object"},
    {"--device", "-d", "HOST[:PORT]",
     "on the device behind this rknn_server; or a name of rknn device list"},
    {"--help", "-h", "", "this text"},
};

struct Job {
  std::string model;
  std::vector<std::string> inputs;
  int64_t loops = 20;
  int64_t warmup = 3;
  int64_t core_mask = -1;
};

// Microseconds, one entry per run.
struct Times {
  std::vector<double> input, run, output;

  std::vector<double> total() const {
    std::vector<double> out;
    for (size_t i = 0; i < run.size(); ++i) out.push_back(input[i] + run[i] + output[i]);
    return out;
  }
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double at_fraction(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<size_t>(fraction * static_cast<double>(values.size() - 1))];
}

template <typename Work>
Result<double> microseconds(const Work& work) {
  const Clock::time_point start = Clock::now();
  RK_TRY(work());
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// A loaded model with something to feed it.
struct Loaded {
  ApiContext context;
  rknn_input_output_num counts{};
  std::vector<Feed> feeds;
};

// The files of the job, or zeros.
Result<std::vector<Feed>> feeds_for(const Job& job, const std::vector<rknn_tensor_attr>& attrs) {
  std::vector<Feed> out;
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (!job.inputs.empty()) {
      RK_ASSIGN(Feed feed, feed_file(job.inputs[i], attrs[i], false));
      out.push_back(std::move(feed));
      continue;
    }
    const bool picture = attrs[i].n_dims == 4;
    const bool whole = attrs[i].type == RKNN_TENSOR_INT64 || attrs[i].type == RKNN_TENSOR_INT32 ||
                       attrs[i].type == RKNN_TENSOR_BOOL;
    Feed feed;
    feed.type = whole ? attrs[i].type : RKNN_TENSOR_UINT8;
    feed.fmt = picture ? RKNN_TENSOR_NHWC : RKNN_TENSOR_UNDEFINED;
    feed.bytes.resize(whole ? attrs[i].size : attrs[i].n_elems);
    out.push_back(std::move(feed));
  }
  return out;
}

Status open(const Job& job, uint32_t flags, Loaded& out) {
  std::string path = job.model;
  RK_TRY(check(rknn_init(&out.context.handle, path.data(), 0, flags, nullptr), "rknn_init"));
  const rknn_context context = out.context.handle;
  if (job.core_mask >= 0) {
    RK_TRY(check(rknn_set_core_mask(context, static_cast<rknn_core_mask>(job.core_mask)),
                 "rknn_set_core_mask"));
  }
  RK_TRY(check(rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &out.counts, sizeof out.counts),
               "rknn_query"));
  if (!job.inputs.empty() && job.inputs.size() != out.counts.n_input) {
    return invalid_argument(
        str("the model has ", out.counts.n_input, " input(s), ", job.inputs.size(), " given"));
  }
  RK_ASSIGN(const auto attrs, query_attrs(context, RKNN_QUERY_INPUT_ATTR, out.counts.n_input));
  RK_ASSIGN(out.feeds, feeds_for(job, attrs));
  return ok_status();
}

Status copying_frame(Loaded& loaded, Times* times) {
  const rknn_context context = loaded.context.handle;
  std::vector<rknn_input> inputs;
  for (uint32_t i = 0; i < loaded.counts.n_input; ++i) inputs.push_back(loaded.feeds[i].input(i));
  std::vector<rknn_output> outputs(loaded.counts.n_output);
  for (rknn_output& output : outputs) output.want_float = 1;
  RK_ASSIGN(const double input, microseconds([&] {
              return check(rknn_inputs_set(context, loaded.counts.n_input, inputs.data()),
                           "rknn_inputs_set");
            }));
  RK_ASSIGN(const double run,
            microseconds([&] { return check(rknn_run(context, nullptr), "rknn_run"); }));
  RK_ASSIGN(const double output, microseconds([&] {
              return check(
                  rknn_outputs_get(context, loaded.counts.n_output, outputs.data(), nullptr),
                  "rknn_outputs_get");
            }));
  rknn_outputs_release(context, loaded.counts.n_output, outputs.data());
  if (times == nullptr) return ok_status();
  times->input.push_back(input);
  times->run.push_back(run);
  times->output.push_back(output);
  return ok_status();
}

// Memories that end with their scope.
struct Bindings {
  explicit Bindings(rknn_context context) : context(context) {}
  ~Bindings() {
    for (rknn_tensor_mem* memory : memories) rknn_destroy_mem(context, memory);
  }
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;

  Status bind(rknn_tensor_attr attr, const Feed* feed) {
    if (feed != nullptr && attr.type == RKNN_TENSOR_INT8) attr.type = RKNN_TENSOR_UINT8;
    rknn_tensor_mem* const memory = rknn_create_mem(context, attr.size_with_stride);
    if (memory == nullptr) return out_of_memory("rknn_create_mem");
    memories.push_back(memory);
    if (feed != nullptr) {
      std::memcpy(memory->virt_addr, feed->bytes.data(),
                  std::min<size_t>(feed->bytes.size(), memory->size));
    }
    return check(rknn_set_io_mem(context, memory, &attr), "rknn_set_io_mem");
  }

  rknn_context context;
  std::vector<rknn_tensor_mem*> memories;
};

// The time in a row's column of the layer table, summed over the rows of one operator.
double column_sum(const std::string& table, std::string_view op, std::string_view column) {
  std::istringstream lines(table);
  std::string line;
  size_t at = std::string::npos, end = 0;
  double sum = 0;
  while (std::getline(lines, line)) {
    if (line.find("FullName") != std::string::npos) {
      at = line.find(column);
      end = at + column.size();
    } else if (line.find("Elapsed") != std::string::npos) {
      break;
    } else if (at != std::string::npos && line.find(op) != std::string::npos && line.size() > at) {
      sum += std::strtod(line.substr(at, end - at + 8).c_str(), nullptr);
    }
  }
  return sum;
}

Result<std::string> layer_table(rknn_context context) {
  rknn_perf_detail detail{};
  RK_TRY(check(rknn_query(context, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail), "rknn_query"));
  return std::string(detail.perf_data, detail.data_len);
}

// rknn_run converts and computes; the layer table tells the parts.
Status zero_copy_frame(rknn_context context, Times* times) {
  RK_ASSIGN(const double all,
            microseconds([&] { return check(rknn_run(context, nullptr), "rknn_run"); }));
  if (times == nullptr) return ok_status();
  RK_ASSIGN(const std::string table, layer_table(context));
  const double input = column_sum(table, "InputOperator", "Time(us)");
  const double output = column_sum(table, "OutputOperator", "Time(us)");
  times->input.push_back(input);
  times->run.push_back(std::max(0.0, all - input - output));
  times->output.push_back(output);
  return ok_status();
}

Result<Times> measure_copying(const Job& job) {
  Loaded loaded;
  RK_TRY(open(job, 0, loaded));
  Times times;
  for (int64_t i = 0; i < job.warmup; ++i) RK_TRY(copying_frame(loaded, nullptr));
  for (int64_t i = 0; i < job.loops; ++i) RK_TRY(copying_frame(loaded, &times));
  return times;
}

struct ZeroCopy {
  Times times;
  std::string table;
};

Result<ZeroCopy> measure_zero_copy(const Job& job) {
  Loaded loaded;
  RK_TRY(open(job, RKNN_FLAG_COLLECT_PERF_MASK, loaded));
  const rknn_context context = loaded.context.handle;
  Bindings bindings(context);
  RK_ASSIGN(const auto inputs, query_attrs(context, RKNN_QUERY_INPUT_ATTR, loaded.counts.n_input));
  for (uint32_t i = 0; i < loaded.counts.n_input; ++i)
    RK_TRY(bindings.bind(inputs[i], &loaded.feeds[i]));
  RK_ASSIGN(const auto outputs,
            query_attrs(context, RKNN_QUERY_NATIVE_OUTPUT_ATTR, loaded.counts.n_output));
  for (const rknn_tensor_attr& attr : outputs) RK_TRY(bindings.bind(attr, nullptr));
  ZeroCopy out;
  for (int64_t i = 0; i < job.warmup; ++i) RK_TRY(zero_copy_frame(context, nullptr));
  for (int64_t i = 0; i < job.loops; ++i) RK_TRY(zero_copy_frame(context, &out.times));
  RK_ASSIGN(out.table, layer_table(context));
  return out;
}

Json to_json(const Times& times) {
  const std::vector<double> total = times.total();
  return Json::object({{"input_us", mean(times.input)},
                       {"run_us", mean(times.run)},
                       {"output_us", mean(times.output)},
                       {"total_us", mean(total)},
                       {"median_us", at_fraction(total, 0.5)},
                       {"p90_us", at_fraction(total, 0.9)},
                       {"min_us", at_fraction(total, 0)},
                       {"fps", mean(total) == 0 ? 0 : 1e6 / mean(total)}});
}

void print(const char* flow, const Times& times) {
  const std::vector<double> total = times.total();
  std::printf(
      "%-10s input %9.1f us, run %9.1f us, output %9.1f us, total %9.1f us (median %.1f, p90 "
      "%.1f), %.2f fps\n",
      flow, mean(times.input), mean(times.run), mean(times.output), mean(total),
      at_fraction(total, 0.5), at_fraction(total, 0.9), mean(total) == 0 ? 0 : 1e6 / mean(total));
}

// What the vendor's tool prints before it runs.
Status describe(const Loaded& loaded) {
  const rknn_context context = loaded.context.handle;
  rknn_sdk_version version{};
  rknn_mem_size sizes{};
  RK_TRY(
      check(rknn_query(context, RKNN_QUERY_SDK_VERSION, &version, sizeof version), "rknn_query"));
  RK_TRY(check(rknn_query(context, RKNN_QUERY_MEM_SIZE, &sizes, sizeof sizes), "rknn_query"));
  std::printf("rknn_api/rknnrt version: %s, driver version: %s\n", version.api_version,
              version.drv_version);
  std::printf("total weight size: %u, total internal size: %u\ntotal dma used size: %llu\n",
              sizes.total_weight_size, sizes.total_internal_size,
              static_cast<unsigned long long>(sizes.total_dma_allocated_size));
  std::printf("model input num: %u, output num: %u\n", loaded.counts.n_input,
              loaded.counts.n_output);
  const auto print_attrs = [&](const char* title, rknn_query_cmd command,
                               uint32_t count) -> Status {
    RK_ASSIGN(const auto attrs, query_attrs(context, command, count));
    std::printf("%s\n", title);
    for (const rknn_tensor_attr& attr : attrs) {
      std::string dims;
      for (uint32_t i = 0; i < attr.n_dims; ++i) dims += str(i == 0 ? "" : ", ", attr.dims[i]);
      std::printf(
          "  index=%u, name=%s, n_dims=%u, dims=[%s], n_elems=%u, size=%u, w_stride = %u, "
          "size_with_stride=%u, fmt=%s, type=%s, qnt_type=%s, zp=%d, scale=%f\n",
          attr.index, attr.name, attr.n_dims, dims.c_str(), attr.n_elems, attr.size, attr.w_stride,
          attr.size_with_stride, get_format_string(attr.fmt), get_type_string(attr.type),
          get_qnt_type_string(attr.qnt_type), attr.zp, static_cast<double>(attr.scale));
    }
    return ok_status();
  };
  RK_TRY(print_attrs("input tensors:", RKNN_QUERY_INPUT_ATTR, loaded.counts.n_input));
  return print_attrs("output tensors:", RKNN_QUERY_OUTPUT_ATTR, loaded.counts.n_output);
}

// The five largest values of every output, and the outputs as rt_output0.npy, ... in the current folder.
Status show_outputs(Loaded& loaded) {
  const rknn_context context = loaded.context.handle;
  RK_TRY(copying_frame(loaded, nullptr));
  RK_ASSIGN(const auto attrs, query_attrs(context, RKNN_QUERY_OUTPUT_ATTR, loaded.counts.n_output));
  std::vector<rknn_output> outputs(loaded.counts.n_output);
  for (rknn_output& output : outputs) output.want_float = 1;
  RK_TRY(check(rknn_outputs_get(context, loaded.counts.n_output, outputs.data(), nullptr),
               "rknn_outputs_get"));
  Status status = ok_status();
  for (uint32_t i = 0; i < loaded.counts.n_output && status.ok(); ++i) {
    const auto* const values = static_cast<const float*>(outputs[i].buf);
    const size_t count = std::min<size_t>(attrs[i].n_elems, outputs[i].size / sizeof(float));
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    const size_t shown = std::min<size_t>(5, count);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown),
                      order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
    std::printf("---- Top5 of output %u ----\n", i);
    for (size_t k = 0; k < shown; ++k)
      std::printf("%8.6f - %zu\n", static_cast<double>(values[order[k]]), order[k]);
    NpyArray array;
    array.shape.assign(attrs[i].dims, attrs[i].dims + attrs[i].n_dims);
    const auto* const bytes = static_cast<const uint8_t*>(outputs[i].buf);
    array.bytes.assign(bytes, bytes + count * sizeof(float));
    status = write_npy(str("rt_output", i, ".npy"), array);
  }
  rknn_outputs_release(context, loaded.counts.n_output, outputs.data());
  return status;
}

Result<int64_t> count_of(const Arguments& args, std::string_view option, std::string_view otherwise,
                         int64_t least) {
  RK_ASSIGN(const auto values, parse_ints(option, args.get(option, otherwise)));
  if (values.size() != 1 || values[0] < least || values[0] > 1'000'000)
    return invalid_argument(str(option, " takes a number from ", least, " to 1000000"));
  return values[0];
}

// Times as the device measures rknn_run, and whole calls as this end sees them.
Status bench_on_device(const Job& job, const Arguments& args) {
  const bool layers = args.has("--per-layer");
  const auto mask = static_cast<uint32_t>(std::max<int64_t>(job.core_mask, 0));
  RK_ASSIGN(const auto model, RemoteModel::open(args.get("--device"), job.model,
                                                layers ? RKNN_FLAG_COLLECT_PERF_MASK : 0, mask));
  if (!job.inputs.empty() && job.inputs.size() != model->inputs().size()) {
    return invalid_argument(
        str("the model has ", model->inputs().size(), " input(s), ", job.inputs.size(), " given"));
  }
  RK_ASSIGN(std::vector<Feed> feeds, feeds_for(job, model->inputs()));
  std::vector<double> calls, runs;
  std::string table;
  for (int64_t i = -job.warmup; i < job.loops; ++i) {
    RK_ASSIGN(const double call, microseconds([&] { return model->run(feeds, false).status(); }));
    RK_ASSIGN(const Json answer, model->client().performance(model->name()));
    if (i < 0) continue;
    calls.push_back(call);
    const auto run_us = answer.find("run_us");
    runs.push_back(run_us == nullptr ? 0 : run_us->as_double().value_or(0));
    const auto detail = answer.find("detail");
    if (detail != nullptr && detail->as_string() != nullptr) table = *detail->as_string();
  }
  if (args.has("--json")) {
    Json out = Json::object({{"model", job.model},
                             {"device", args.get("--device")},
                             {"loops", job.loops},
                             {"call_us", mean(calls)},
                             {"call_median_us", at_fraction(calls, 0.5)},
                             {"run_us", mean(runs)},
                             {"run_median_us", at_fraction(runs, 0.5)}});
    if (layers) out.set("layers", table);
    std::printf("%s\n", write_json(out).c_str());
    return ok_status();
  }
  std::printf(
      "device '%s': rknn_run %9.1f us (median %.1f); whole call over the network %9.1f us (median "
      "%.1f)\n",
      args.get("--device").c_str(), mean(runs), at_fraction(runs, 0.5), mean(calls),
      at_fraction(calls, 0.5));
  if (layers) std::printf("%s", table.c_str());
  return ok_status();
}

}  // namespace

Status bench_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn bench MODEL.rknn [options]\n%s", help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.words().size() != 1)
    return invalid_argument("give one .rknn file; rknn bench --help tells how");
  Job job;
  job.model = args.words().front();
  job.inputs = args.all("--input");
  RK_ASSIGN(job.loops, count_of(args, "--loops", "20", 1));
  RK_ASSIGN(job.warmup, count_of(args, "--warmup", "3", 0));
  if (args.has("--core-mask")) {
    RK_ASSIGN(job.core_mask, count_of(args, "--core-mask", "0", 0));
  }
  if (args.has("--device")) return bench_on_device(job, args);
  RK_ASSIGN(const Times copying, measure_copying(job));
  RK_ASSIGN(const ZeroCopy zero_copy, measure_zero_copy(job));
  if (args.has("--json")) {
    Json out = Json::object({{"model", job.model},
                             {"loops", job.loops},
                             {"warmup", job.warmup},
                             {"core_mask", job.core_mask},
                             {"machine", "this CPU, not an NPU"},
                             {"general", to_json(copying)},
                             {"zero_copy", to_json(zero_copy.times)}});
    if (args.has("--per-layer")) out.set("layers", zero_copy.table);
    std::printf("%s\n", write_json(out).c_str());
    return ok_status();
  }
  std::printf("times of this CPU, not of an NPU; %lld runs after %lld to warm up\n",
              static_cast<long long>(job.loops), static_cast<long long>(job.warmup));
  print("general", copying);
  print("zero-copy", zero_copy.times);
  if (args.has("--per-layer")) std::printf("%s", zero_copy.table.c_str());
  return ok_status();
}

// rknn_benchmark MODEL [INPUTS or ""] [LOOPS] [CORE_MASK]; inputs are separated by '#'.
Status benchmark_command(const std::vector<std::string>& words) {
  if (words.empty() || words.size() > 4) {
    return invalid_argument(
        "usage: rknn_benchmark MODEL.rknn [INPUT#INPUT or \"\"] [LOOPS] [CORE_MASK]");
  }
  Job job;
  job.model = words[0];
  if (words.size() > 1 && !words[1].empty()) job.inputs = split(words[1], '#');
  const auto number = [&](size_t i, int64_t otherwise) -> int64_t {
    return words.size() > i ? std::strtoll(words[i].c_str(), nullptr, 0) : otherwise;
  };
  job.loops = std::clamp<int64_t>(number(2, 10), 1, 1'000'000);
  job.core_mask = number(3, -1);
  Loaded loaded;
  RK_TRY(open(job, 0, loaded));
  RK_TRY(describe(loaded));
  RK_ASSIGN(const Times times, measure_copying(job));
  std::printf("Warmup: %lld runs. Times are this CPU's, not an NPU's\n",
              static_cast<long long>(job.warmup));
  for (size_t i = 0; i < times.run.size(); ++i) {
    std::printf("%4zu: Elapse Time = %.2fms, FPS = %.2f\n", i, times.run[i] / 1e3,
                1e6 / std::max(times.run[i], 1e-3));
  }
  const double average = std::max(mean(times.run), 1e-3);
  std::printf("\nAvg Time %.2fms, Avg FPS = %.3f\n", average / 1e3, 1e6 / average);
  return show_outputs(loaded);
}

}  // namespace rk::tools

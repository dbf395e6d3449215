// SPDX-License-Identifier: Apache-2.0
// rknn run: a .rknn file on pictures or .npy arrays, through the C API as any application would call it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <span>

#include "base/npy.h"
#include "rknn/api_context.h"
#include "rknn/arguments.h"
#include "rknn/commands.h"
#include "rknn/remote_model.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--input", "-i", "FILE", "picture or .npy, one per model input, in order"},
    {"--output", "-o", "DIR", "write each output as DIR/<n>_<name>.npy"},
    {"--top", "", "N", "print the N largest elements of each output, default 5"},
    {"--raw", "", "", "outputs in the model's own type instead of float32"},
    {"--bgr", "", "", "feed pictures blue first"},
    {"--device", "-d", "HOST[:PORT]",
     "run on the device behind this rknn_server; or a name of rknn device list"},
    {"--help", "-h", "", "this text"},
};

NpyArray as_npy(const rknn_tensor_attr& attr, std::span<const uint8_t> bytes, bool raw) {
  NpyArray array;
  array.shape.assign(attr.dims, attr.dims + attr.n_dims);
  array.bytes.assign(bytes.begin(), bytes.end());
  if (raw) {
    array.item_size = static_cast<int>(bytes.size() / std::max<uint32_t>(attr.n_elems, 1));
    array.kind = attr.type == RKNN_TENSOR_FLOAT16 || attr.type == RKNN_TENSOR_FLOAT32 ? 'f'
                 : attr.type == RKNN_TENSOR_BOOL                                      ? 'b'
                 : attr.type == RKNN_TENSOR_UINT8                                     ? 'u'
                                                                                      : 'i';
  }
  return array;
}

void print_top(const rknn_tensor_attr& attr, const float* values, size_t count) {
  std::vector<uint32_t> order(attr.n_elems);
  std::iota(order.begin(), order.end(), 0u);
  count = std::min<size_t>(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(count), order.end(),
                    [&](uint32_t a, uint32_t b) { return values[a] > values[b]; });
  for (size_t i = 0; i < count; ++i) std::printf("    [%u] %g\n", order[i], values[order[i]]);
}

Status check_count(size_t wanted, size_t given) {
  if (wanted == given) return ok_status();
  return invalid_argument(
      str("the model has ", wanted, " input(s), ", given, " given with --input"));
}

// Prints and writes what the options ask for.
Status show(const Arguments& args, const rknn_tensor_attr& attr, std::span<const uint8_t> bytes) {
  const bool raw = args.has("--raw");
  RK_ASSIGN(const auto top, parse_ints("--top", args.get("--top", "5")));
  std::string shape;
  for (uint32_t d = 0; d < attr.n_dims; ++d) shape += str(d == 0 ? "" : ",", attr.dims[d]);
  std::printf("output %u '%s' [%s]\n", attr.index, attr.name, shape.c_str());
  if (!raw && !top.empty() && top[0] > 0 && bytes.size() >= attr.n_elems * sizeof(float))
    print_top(attr, reinterpret_cast<const float*>(bytes.data()), static_cast<size_t>(top[0]));
  if (!args.has("--output")) return ok_status();
  std::string name = attr.name;
  std::ranges::replace(name, '/', '_');
  const auto file =
      std::filesystem::path(args.get("--output")) / str(attr.index, "_", name, ".npy");
  return write_npy(file.string(), as_npy(attr, bytes, raw));
}

Status run_on_device(const Arguments& args) {
  RK_ASSIGN(const auto model, RemoteModel::open(args.get("--device"), args.words().front()));
  const std::vector<std::string> files = args.all("--input");
  RK_TRY(check_count(model->inputs().size(), files.size()));
  std::vector<Feed> feeds;
  for (size_t i = 0; i < files.size(); ++i) {
    RK_ASSIGN(Feed feed, feed_file(files[i], model->inputs()[i], args.has("--bgr")));
    feeds.push_back(std::move(feed));
  }
  RK_ASSIGN(const auto outputs, model->run(feeds, args.has("--raw")));
  for (size_t i = 0; i < outputs.size(); ++i)
    RK_TRY(show(args, model->outputs()[i], {outputs[i].bytes, outputs[i].size_bytes}));
  return ok_status();
}

}  // namespace

Status run_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn run MODEL.rknn -i INPUT [-i INPUT] [options]\n%s",
                help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.words().size() != 1)
    return invalid_argument("give one .rknn file; rknn run --help tells how");
  if (args.has("--output")) {
    std::error_code error;
    std::filesystem::create_directories(args.get("--output"), error);
    if (error)
      return io_error(str("cannot make folder '", args.get("--output"), "': ", error.message()));
  }
  if (args.has("--device")) return run_on_device(args);
  const std::vector<std::string> files = args.all("--input");
  const bool raw = args.has("--raw");

  ApiContext context;
  std::string path = args.words().front();
  RK_TRY(check(rknn_init(&context.handle, path.data(), 0, 0, nullptr), "rknn_init"));
  rknn_input_output_num counts{};
  RK_TRY(check(rknn_query(context.handle, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts),
               "rknn_query"));
  RK_TRY(check_count(counts.n_input, files.size()));
  std::vector<Feed> feeds;
  std::vector<rknn_input> inputs(counts.n_input);
  for (uint32_t i = 0; i < counts.n_input; ++i) {
    rknn_tensor_attr attr{};
    attr.index = i;
    RK_TRY(
        check(rknn_query(context.handle, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr), "rknn_query"));
    RK_ASSIGN(Feed feed, feed_file(files[i], attr, args.has("--bgr")));
    feeds.push_back(std::move(feed));
  }
  for (uint32_t i = 0; i < counts.n_input; ++i) inputs[i] = feeds[i].input(i);
  RK_TRY(check(rknn_inputs_set(context.handle, counts.n_input, inputs.data()), "rknn_inputs_set"));
  RK_TRY(check(rknn_run(context.handle, nullptr), "rknn_run"));

  std::vector<rknn_output> outputs(counts.n_output);
  for (rknn_output& output : outputs) {
    output = {};
    output.want_float = raw ? 0 : 1;
  }
  RK_TRY(check(rknn_outputs_get(context.handle, counts.n_output, outputs.data(), nullptr),
               "rknn_outputs_get"));
  for (uint32_t i = 0; i < counts.n_output; ++i) {
    rknn_tensor_attr attr{};
    attr.index = i;
    RK_TRY(check(rknn_query(context.handle, RKNN_QUERY_OUTPUT_ATTR, &attr, sizeof attr),
                 "rknn_query"));
    RK_TRY(show(args, attr, {static_cast<const uint8_t*>(outputs[i].buf), outputs[i].size}));
  }
  rknn_outputs_release(context.handle, counts.n_output, outputs.data());
  return ok_status();
}

}  // namespace rk::tools

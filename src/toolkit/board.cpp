// SPDX-License-Identifier: Apache-2.0
#include "toolkit/board.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/checked_math.h"
#include "base/log.h"
#include "format/writer.h"
#include "runtime/session/loaded_model.h"
#include "target/target.h"
#include "toolkit/version.h"

namespace rk::toolkit {
namespace {

using runtime::TensorAttr;
using runtime::TensorFormat;

constexpr const char* kModel = "model";
constexpr uint32_t kCollectPerf = 0x8;  // RKNN_FLAG_COLLECT_PERF_MASK
constexpr uint32_t kGpuFirst = 0x400;   // RKNN_FLAG_EXECUTE_FALLBACK_PRIOR_DEVICE_GPU
constexpr int kTimedRuns = 10;

// In the order of rknn_tensor_type.
constexpr DType kTypes[] = {DType::kF32, DType::kF16,  DType::kI8,  DType::kU8,
                            DType::kI16, DType::kU16,  DType::kI32, DType::kU32,
                            DType::kI64, DType::kBool, DType::kI4,  DType::kBF16};

int32_t to_rknn(DType dtype) {
  const auto* const at = std::ranges::find(kTypes, dtype);
  return at == std::end(kTypes) ? -1 : static_cast<int32_t>(at - kTypes);
}

int64_t number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == nullptr ? 0 : found->as_int().value_or(0);
}

std::string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

std::vector<int64_t> numbers(const Json& json) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < json.size(); ++i) out.push_back(json.at(i)->as_int().value_or(0));
  return out;
}

// Nothing of the answer is trusted.
Result<TensorAttr> read_attr(const Json& json, uint32_t index) {
  TensorAttr out;
  out.index = index;
  out.name = text(json, "name");
  const auto dims = json.find("dims");
  uint64_t elements = 1;
  for (const int64_t dim : dims == nullptr ? std::vector<int64_t>() : numbers(*dims)) {
    if (dim < 0 || dim > UINT32_MAX)
      return io_error("the server describes a tensor that cannot be");
    out.dims.push_back(static_cast<uint32_t>(dim));
    const auto more = checked_mul(elements, static_cast<uint64_t>(dim));
    if (!more || *more > kMaxObjectBytes)
      return io_error("the server describes a tensor that cannot be");
    elements = *more;
  }
  const int64_t type = number(json, "type"), format = number(json, "format");
  if (type < 0 || type >= static_cast<int64_t>(std::size(kTypes)) || format < 0 || format > 3)
    return io_error(str("the server describes '", out.name, "' with a type that does not exist"));
  out.elements = elements;
  out.dtype = kTypes[type];
  out.format = static_cast<TensorFormat>(format);
  out.affine = number(json, "quantization") != 0;
  out.zero_point = static_cast<int32_t>(number(json, "zero_point"));
  const auto scale = json.find("scale");
  out.scale = scale == nullptr ? 1.0f : static_cast<float>(scale->as_double().value_or(1));
  out.size_bytes = static_cast<uint64_t>(number(json, "size_bytes"));
  out.size_with_stride_bytes = static_cast<uint64_t>(number(json, "size_with_stride_bytes"));
  return out;
}

Result<std::vector<TensorAttr>> read_attrs(const Json& model, const char* key) {
  std::vector<TensorAttr> out;
  const auto list = model.find(key);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    RK_ASSIGN(TensorAttr attr, read_attr(*list->at(i), static_cast<uint32_t>(i)));
    out.push_back(std::move(attr));
  }
  return out;
}

Status in_words_of_init(const Status& status) {
  if (status.code() != Code::kUnavailable) return status;
  return {Code::kUnavailable,
          str("RKNN init failed. error code: RKNN_ERR_DEVICE_UNAVAILABLE: ", status.message(),
              ", or leave device_id out to run on the simulated board")};
}

}  // namespace

Status check_connected_mode(const std::string& target) {
  if (target != "rk2118" && target != "RK2118") return ok_status();
  return unsupported(
      "rk2118 has no connected mode: its rknn_server joins the DSP and the MCU and does not serve "
      "the toolkit; "
      "leave target out to use the simulator");
}

Result<std::optional<remote::Device>> device_for(const std::string& target,
                                                 const std::string& device_id) {
  RK_TRY(check_connected_mode(target));
  if (device_id.empty()) {
    if (target.empty()) return std::optional<remote::Device>();
    RK_ASSIGN(const auto known, remote::known_devices());
    if (known.empty()) return std::optional<remote::Device>();
  }
  const auto device = remote::find_device(device_id);
  if (!device.ok()) return in_words_of_init(device.status());
  return std::optional<remote::Device>(*device);
}

Result<std::unique_ptr<Board>> Board::create(std::vector<uint8_t> file,
                                             const RuntimeOptions& options,
                                             const remote::Device& device) {
  RK_TRY(check_options(options));
  std::unique_ptr<Board> out(new Board);
  out->options_ = options;
  out->device_ = device;
  out->file_ = std::move(file);
  RK_TRY(in_words_of_init(out->connect()));
  return out;
}

Status Board::connect() {
  const Status status = open();
  if (!status.ok()) client_.reset();
  return status;
}

Status Board::open() {
  client_.reset();
  RK_ASSIGN(client_, remote::Client::open(device_, kVersionText));
  hello_ = client_->hello();
  const remote::Hello& hello = hello_;
  if (const std::string warning = remote::version_warning(kVersionText, hello);
      !warning.empty() && !warned_of_versions_) {
    warned_of_versions_ = true;
    log(LogLevel::kWarning, warning);
  }
  if (!options_.target.empty() && !hello.chip.empty() &&
      !target::runs_on(options_.target, hello.chip)) {
    return {Code::kTargetMismatch,
            str("device '", device_.id, "' is a ", hello.chip, ", target is ", options_.target,
                "; give the target of the device")};
  }
  uint32_t flags = options_.perf_debug ? kCollectPerf : 0;
  if (options_.fallback_prior_device == "gpu") flags |= kGpuFirst;
  RK_ASSIGN(const Json model,
            client_->load(kModel, file_,
                          Json::object({{"flags", flags}, {"core_mask", options_.core_mask}})));
  RK_ASSIGN(inputs_, read_attrs(model, "inputs"));
  RK_ASSIGN(outputs_, read_attrs(model, "outputs"));
  shapes_.clear();
  const auto dynamic = model.find("dynamic");
  dynamic_ = dynamic != nullptr && dynamic->size() != 0;
  for (size_t i = 0; dynamic_ && i < dynamic->size(); ++i) {
    shapes_.emplace_back();
    for (size_t k = 0; k < dynamic->at(i)->size(); ++k) {
      RK_ASSIGN(const Shape shape, Shape::make(numbers(*dynamic->at(i)->at(k))));
      shapes_.back().push_back(shape);
    }
  }
  if (dynamic_ && shapes_.size() != inputs_.size())
    return io_error("the server describes shapes of other inputs");
  memory_ = {static_cast<uint64_t>(number(model, "weight_bytes")),
             static_cast<uint64_t>(number(model, "internal_bytes")), 0};
  // The runtime says what it took in all; what is neither weights nor arena is commands.
  const auto taken = static_cast<uint64_t>(number(model, "dma_bytes"));
  memory_.command_bytes = taken - std::min(taken, memory_.total());
  runtime_version_ = text(model, "api_version");
  chip_ = hello.chip;
  if (chip_.empty()) {  // a simulator takes the chip of the model
    RK_ASSIGN(const auto about,
              runtime::LoadedModel::from_bytes(file_, {.device = {}, .info_only = true}));
    chip_ = about->chip().name;
  }
  return ok_status();
}

TensorType Board::output_type(size_t i) const {
  const TensorAttr& attr = outputs_[i];
  const bool narrow = attr.dtype == DType::kI8 || attr.dtype == DType::kU8 ||
                      attr.dtype == DType::kI16 || attr.dtype == DType::kU16;
  const bool real = is_float(attr.dtype) || (narrow && attr.affine);
  return {real ? DType::kF32 : attr.dtype, shape_of(attr)};
}

Status Board::choose_shapes(std::span<const Feed> inputs) {
  if (!dynamic_ || inputs.size() != inputs_.size()) return ok_status();
  if (client_ == nullptr) RK_TRY(connect());
  const auto as_the_model_has_it = [&](size_t i) {
    const Shape& given = inputs[i].array.shape;
    return inputs[i].nchw && given.rank() == 4 ? Shape{given[0], given[2], given[3], given[1]}
                                               : given;
  };
  for (size_t k = 0; k < shapes_.front().size(); ++k) {
    bool all = true, same = true;
    for (size_t i = 0; i < inputs.size() && all; ++i) {
      all = k < shapes_[i].size() && as_the_model_has_it(i) == shapes_[i][k];
      same = same && shape_of(inputs_[i]) == shapes_[i][k];
    }
    if (!all) continue;
    Json sets = Json::array();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto dims = shapes_[i][k].dims();
      inputs_[i].dims.assign(dims.begin(), dims.end());
      sets.push(Json::array_of(dims));
    }
    if (same) return ok_status();
    RK_ASSIGN(const Json model, client_->describe(kModel, sets));
    RK_ASSIGN(outputs_, read_attrs(model, "outputs"));
    return ok_status();
  }
  return ok_status();
}

Status Board::infer(std::span<const Feed> inputs, std::span<const ArrayRef> outputs) {
  std::vector<std::vector<float>> converted(inputs.size());
  std::vector<rknn_remote_tensor> sent(inputs.size()), got;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Feed& feed = inputs[i];
    rknn_remote_tensor& to = sent[i];
    to = {};
    to.name = inputs_[i].name.c_str();
    to.native = feed.pass_through ? 1 : 0;
    to.data = feed.array.data;
    to.size_bytes = feed.array.size_bytes;
    to.type = to_rknn(feed.array.dtype);
    to.format = static_cast<int32_t>(TensorFormat::kUndefined);
    if (feed.pass_through) {
      to.type = to_rknn(DType::kU8);
      continue;
    }
    RK_TRY(check_shape(inputs_[i], feed));
    if (feed.array.dtype == DType::kF64) {
      const auto* const values = static_cast<const double*>(feed.array.data);
      converted[i].assign(values, values + feed.array.size_bytes / sizeof(double));
      to.data = converted[i].data();
      to.size_bytes = converted[i].size() * sizeof(float);
      to.type = to_rknn(DType::kF32);
    }
    if (to.type < 0) {
      return invalid_argument(str("The input(", inputs_[i].name, "): devices take no ",
                                  to_string(feed.array.dtype), "; convert it, e.g. to int64"));
    }
    const bool turn = inputs_[i].format == TensorFormat::kNhwc && feed.nchw;
    if (turn) to.format = static_cast<int32_t>(TensorFormat::kNchw);
    const Shape shape = turn ? nchw_of(shape_of(inputs_[i])) : shape_of(inputs_[i]);
    to.rank = static_cast<uint32_t>(std::min<size_t>(shape.rank(), std::size(to.dims)));
    std::copy_n(shape.dims().begin(), to.rank, to.dims);
  }
  RK_TRY(client_->infer(kModel, sent, got));
  if (got.size() != outputs.size()) return io_error("the server gave another number of outputs");
  for (size_t i = 0; i < got.size(); ++i) {
    RK_TRY(check_output(i, outputs[i]));
    if (got[i].size_bytes != outputs[i].size_bytes || got[i].type != to_rknn(outputs[i].dtype))
      return io_error(str("the server gave ", got[i].size_bytes, " bytes for output ", i,
                          ", expected ", outputs[i].size_bytes));
    std::memcpy(outputs[i].data, got[i].data, got[i].size_bytes);
  }
  return ok_status();
}

Status Board::run(std::span<const Feed> inputs, std::span<const ArrayRef> outputs) {
  if (client_ == nullptr) RK_TRY(connect());  // the last try to come back failed
  RK_TRY(choose_shapes(inputs));
  RK_TRY(check_counts(inputs.size(), outputs.size()));
  const Status status = infer(inputs, outputs);
  if (status.code() != Code::kUnavailable && status.code() != Code::kInvalidContext) return status;
  log(LogLevel::kWarning, str("the connection to '", device_.id, "' broke (", status.message(),
                              "): connecting again and sending the model anew"));
  RK_TRY(connect());
  RK_TRY(choose_shapes(inputs));
  return infer(inputs, outputs);
}

Result<std::string> Board::performance(bool fix_freq, std::span<const Shape> shapes) {
  log(LogLevel::kInfo, str("eval_perf: fix_freq ", fix_freq ? "on" : "off",
                           ": the device runs at the clocks that are set there either way"));
  if (!shapes.empty() && shapes.size() != inputs_.size())
    return invalid_argument(str(shapes.size(), " shapes for ", inputs_.size(), " inputs"));
  std::vector<std::vector<uint8_t>> zeros, results;
  std::vector<Feed> feeds;
  std::vector<ArrayRef> outputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorAttr& attr = inputs_[i];
    Shape shape = shape_of(attr);
    if (!shapes.empty()) {
      const Shape& own = shapes[i];
      const bool turn = attr.format == TensorFormat::kNhwc && own.rank() == 4;
      shape = turn ? Shape{own[0], own[2], own[3], own[1]} : own;
    }
    const DType dtype = attr.dtype == DType::kI8 ? DType::kU8 : attr.dtype;
    const auto bytes = checked_mul(static_cast<uint64_t>(shape.elements()),
                                   static_cast<uint64_t>(byte_size(dtype)));
    if (!bytes || *bytes > kMaxObjectBytes)
      return invalid_argument(str("an input of shape ", to_string(shape), " is too large"));
    zeros.emplace_back(*bytes);
    Feed feed;
    feed.array = {dtype, shape, zeros.back().data(), zeros.back().size()};
    feeds.push_back(feed);
  }
  RK_TRY(choose_shapes(feeds));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (feeds[i].array.shape == shape_of(inputs_[i])) continue;
    return invalid_argument(str("the model has no inputs of shape ", to_string(shapes[i])));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorType type = output_type(i);
    results.emplace_back(static_cast<uint64_t>(type.shape.elements()) * byte_size(type.dtype));
    outputs.push_back({type.dtype, type.shape, results.back().data(), results.back().size()});
  }
  double total_us = 0;
  std::string detail;
  const int runs = options_.perf_debug ? 1 : kTimedRuns;
  for (int i = 0; i < runs; ++i) {
    RK_TRY(run(feeds, outputs));
    RK_ASSIGN(const Json answer, client_->performance(kModel));
    total_us += static_cast<double>(number(answer, "run_us")) / runs;
    detail = text(answer, "detail");
  }
  if (options_.perf_debug) return detail;
  return performance_text(total_us, total_us > 0 ? 1e6 / total_us : 0);
}

std::string Board::driver_versions() const {
  return str("  DRV: rknn_server: ", hello_.server_version, "\n  DRV: rknnrt: ", runtime_version_,
             "\n");
}

namespace {

bool stands_for_real_numbers(const program::ProgramTensor& tensor) {
  return tensor.quantized() || is_float(tensor.dtype);
}

// An input as the device stores it, copied to an output. Returns the output's index.
int32_t copy_of_input(program::Variant& variant, int32_t input) {
  program::ProgramTensor copy = variant.tensors[static_cast<size_t>(input)];
  copy.name += "_stored";
  copy.kind = program::TensorKind::kOutput;
  copy.layout = program::Layout::kPlain;
  copy.native_shape.assign(copy.shape.dims().begin(), copy.shape.dims().end());
  copy.size_bytes = static_cast<uint64_t>(copy.shape.elements()) * byte_size(copy.dtype);
  copy.offset_in_arena = variant.arena_bytes;
  copy.plane_align = copy.width_align = 0;
  variant.arena_bytes += copy.size_bytes;
  const auto index = static_cast<int32_t>(variant.tensors.size());
  program::Step step;
  step.type = "Identity";
  step.name = str("Identity:", copy.name);
  step.processor = program::Processor::kCpu;
  step.inputs = {input};
  step.outputs = {index};
  step.params = program::OpParams{"Identity", {}};
  variant.tensors.push_back(std::move(copy));
  variant.steps.insert(variant.steps.begin(), std::move(step));
  return index;
}

}  // namespace

Result<DeviceProgram> DeviceProgram::open(program::Program program, Outputs outputs,
                                          const remote::Device& device) {
  DeviceProgram out;
  program.variants.resize(1);
  program::Variant& variant = program.variants.front();
  for (const int32_t index : variant.outputs)
    out.names_.push_back(variant.tensors[static_cast<size_t>(index)].name);
  if (outputs == Outputs::kEveryTensor) {
    for (const program::Step& step : variant.steps) {
      for (const int32_t index : step.outputs) {
        if (index < 0 || std::ranges::find(variant.outputs, index) != variant.outputs.end())
          continue;
        program::ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
        if (!stands_for_real_numbers(tensor)) continue;
        tensor.kind = program::TensorKind::kOutput;
        variant.outputs.push_back(index);
        out.names_.push_back(tensor.name);
      }
    }
    for (const int32_t input : variant.inputs) {
      const program::ProgramTensor& tensor = variant.tensors[static_cast<size_t>(input)];
      if (!stands_for_real_numbers(tensor)) continue;
      out.names_.push_back(tensor.name);
      variant.outputs.push_back(copy_of_input(variant, input));
    }
  }
  RK_ASSIGN(const std::vector<uint8_t> file, format::write_rknn(program));
  for (const int32_t index : variant.outputs)
    out.outputs_.push_back(variant.tensors[static_cast<size_t>(index)]);
  RK_ASSIGN(out.client_, remote::Client::open(device, kVersionText));
  RK_ASSIGN(const Json model, out.client_->load(kModel, file, Json::object()));
  RK_ASSIGN(out.inputs_, read_attrs(model, "inputs"));
  if (out.inputs_.size() != variant.inputs.size())
    return io_error("the server describes other inputs");
  return out;
}

Status DeviceProgram::run(const std::vector<Tensor>& raw_inputs, const Sink& sink) {
  if (inputs_.size() != raw_inputs.size())
    return invalid_argument(str(raw_inputs.size(), " arrays for ", inputs_.size(), " inputs"));
  std::vector<rknn_remote_tensor> sent, got;
  for (size_t i = 0; i < raw_inputs.size(); ++i) {
    const Tensor& input = raw_inputs[i];
    rknn_remote_tensor to{};
    to.name = inputs_[i].name.c_str();
    to.type = to_rknn(input.dtype());
    const bool turn = inputs_[i].format == TensorFormat::kNhwc && input.shape().rank() == 4;
    to.format = static_cast<int32_t>(turn ? TensorFormat::kNchw : TensorFormat::kUndefined);
    to.rank = static_cast<uint32_t>(std::min<size_t>(input.shape().rank(), std::size(to.dims)));
    std::copy_n(input.shape().dims().begin(), to.rank, to.dims);
    to.data = input.bytes().data();
    to.size_bytes = input.size_bytes();
    sent.push_back(to);
  }
  RK_TRY(client_->infer(kModel, sent, got));
  if (got.size() != outputs_.size()) return io_error("the server gave another number of outputs");
  for (size_t i = 0; i < got.size(); ++i) {
    if (!stands_for_real_numbers(outputs_[i])) continue;
    RK_ASSIGN(Tensor tensor, Tensor::try_make({DType::kF32, outputs_[i].shape}));
    if (got[i].type != to_rknn(DType::kF32) || got[i].size_bytes != tensor.size_bytes())
      return io_error(str("the server gave ", got[i].size_bytes, " bytes for '", names_[i],
                          "', expected ", tensor.size_bytes()));
    std::memcpy(tensor.mutable_data<float>(), got[i].data, got[i].size_bytes);
    RK_TRY(sink(names_[i], tensor));
  }
  return ok_status();
}

decltype(analysis::AccuracyOptions::run_board) run_on(const remote::Device& device) {
  return [device](const program::Program& program, const std::vector<Tensor>& raw_inputs,
                  const analysis::AccuracyOptions::Sink& sink) -> Status {
    RK_ASSIGN(DeviceProgram runner,
              DeviceProgram::open(program, DeviceProgram::Outputs::kEveryTensor, device));
    return runner.run(raw_inputs, sink);
  };
}

}  // namespace rk::toolkit

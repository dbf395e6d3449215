// SPDX-License-Identifier: Apache-2.0
#include "server/engine/model.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "base/log.h"

namespace rk::server {
namespace {

// A server can do these for a client; the others need memory, fences or contexts of the caller.
constexpr uint32_t kServedFlags = RKNN_FLAG_PRIOR_MEDIUM | RKNN_FLAG_PRIOR_LOW |
                                  RKNN_FLAG_COLLECT_PERF_MASK |
                                  RKNN_FLAG_EXECUTE_FALLBACK_PRIOR_DEVICE_GPU |
                                  RKNN_FLAG_ENABLE_SRAM | RKNN_FLAG_DISABLE_PROC_HIGH_PRIORITY;
constexpr uint32_t kMaxTensors = 4096;  // more in one model is no model
constexpr std::chrono::milliseconds kAskEvery{50};

std::string dims_text(std::span<const int64_t> dims) {
  std::string out = "[";
  for (const int64_t dim : dims) out += str(out.size() > 1 ? "," : "", dim);
  return out + "]";
}

std::vector<int64_t> dims_of(const rknn_tensor_attr& attr) {
  return {attr.dims, attr.dims + std::min<uint32_t>(attr.n_dims, RKNN_MAX_DIMS)};
}

std::string_view name_of(const rknn_tensor_attr& attr) {
  return {attr.name, strnlen(attr.name, sizeof attr.name)};
}

// The shape in the model's NHWC order, whatever order the caller uses.
std::vector<int64_t> as_nhwc(const InputTensor& input) {
  const std::span<const int64_t> s = input.shape;
  if (input.format == RKNN_TENSOR_NCHW && s.size() == 4) return {s[0], s[2], s[3], s[1]};
  return {s.begin(), s.end()};
}

}  // namespace

size_t type_size(rknn_tensor_type type) {
  switch (type) {
    case RKNN_TENSOR_INT8:
    case RKNN_TENSOR_UINT8:
    case RKNN_TENSOR_BOOL:
      return 1;
    case RKNN_TENSOR_FLOAT16:
    case RKNN_TENSOR_BFLOAT16:
    case RKNN_TENSOR_INT16:
    case RKNN_TENSOR_UINT16:
      return 2;
    case RKNN_TENSOR_FLOAT32:
    case RKNN_TENSOR_INT32:
    case RKNN_TENSOR_UINT32:
      return 4;
    case RKNN_TENSOR_INT64:
      return 8;
    default:
      return 0;
  }
}

bool is_real(const rknn_tensor_attr& attr) {
  switch (attr.type) {
    case RKNN_TENSOR_FLOAT32:
    case RKNN_TENSOR_FLOAT16:
    case RKNN_TENSOR_BFLOAT16:
      return true;
    case RKNN_TENSOR_INT8:
    case RKNN_TENSOR_UINT8:
    case RKNN_TENSOR_INT16:
    case RKNN_TENSOR_UINT16:
      return attr.qnt_type != RKNN_TENSOR_QNT_NONE;
    default:
      return false;
  }
}

struct Model::Context {
  rknn_context handle = 0;
  std::optional<size_t> shapes;           // of a dynamic model: which were chosen last
  std::vector<rknn_tensor_attr> outputs;  // with those shapes
};

struct Model::Waiter {
  std::condition_variable ready;
  Context* given = nullptr;
};

Result<std::shared_ptr<Model>> Model::load(std::shared_ptr<const Library> library,
                                           std::string_view file, const ModelOptions& options,
                                           std::shared_ptr<Budget> contexts) {
  if ((options.flags & ~kServedFlags) != 0) {
    return unsupported(
        str("flags 0x", std::hex, options.flags & ~kServedFlags,
            " of rknn_init concern memory or fences of the caller, which a server has not"));
  }
  if (file.empty() || file.size() > std::numeric_limits<uint32_t>::max())
    return invalid_argument(str("a model of ", file.size(), " bytes cannot be loaded"));
  std::shared_ptr<Model> out(new Model(std::move(library), std::move(contexts)));
  RK_TRY(out->start(file, options));
  return out;
}

Model::Model(std::shared_ptr<const Library> library, std::shared_ptr<Budget> contexts)
    : library_(std::move(library)), budget_(std::move(contexts)) {}

Model::~Model() {
  for (const auto& context : contexts_) library_->rknn_destroy(context->handle);
  budget_->give_back(contexts_.size());
}

Status Model::prepare(rknn_context handle) const {
  if (options_.core_mask != 0) {
    if (library_->rknn_set_core_mask == nullptr)
      return unsupported("core_mask: the library behind the server has no rknn_set_core_mask");
    RK_TRY(
        check(library_->rknn_set_core_mask(handle, static_cast<rknn_core_mask>(options_.core_mask)),
              "rknn_set_core_mask"));
  }
  if (library_->operators().empty()) return ok_status();
  std::vector<rknn_custom_op> operators = library_->operators();
  return check(library_->rknn_register_custom_ops(handle, operators.data(),
                                                  static_cast<uint32_t>(operators.size())),
               "rknn_register_custom_ops");
}

Status Model::start(std::string_view file, const ModelOptions& options) {
  if (!budget_->take(1)) {
    return out_of_memory(
        str("all ", budget_->maximum(),
            " contexts of the server are in use: unload a model or raise --max-contexts"));
  }
  options_ = options;
  auto context = std::make_unique<Context>();
  const int result =
      library_->rknn_init(&context->handle, const_cast<char*>(file.data()),
                          static_cast<uint32_t>(file.size()), options.flags, nullptr);
  if (result != RKNN_SUCC) {
    budget_->give_back(1);
    return check(result, "rknn_init");
  }
  contexts_.push_back(std::move(context));  // the destructor ends it from here on
  idle_.push_back(contexts_.back().get());
  RK_TRY(prepare(contexts_.front()->handle));
  RK_TRY(describe(contexts_.front()->handle));
  // Other contexts come from rknn_dup_context, which takes neither dynamic models nor operators of plug-ins. The times
  // by layer are those of one context.
  const bool one = !ranges_.empty() || !library_->operators().empty() ||
                   library_->rknn_dup_context == nullptr ||
                   (options.flags & RKNN_FLAG_COLLECT_PERF_MASK) != 0;
  if (one) options_.instances = 1;
  return ok_status();
}

Result<std::vector<rknn_tensor_attr>> Model::attributes(rknn_context handle, rknn_query_cmd command,
                                                        uint32_t count) const {
  std::vector<rknn_tensor_attr> out(count);
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = {};
    out[i].index = i;
    RK_TRY(check(library_->rknn_query(handle, command, &out[i], sizeof out[i]), "rknn_query"));
  }
  return out;
}

Status Model::describe(rknn_context handle) {
  rknn_input_output_num counts{};
  RK_TRY(check(library_->rknn_query(handle, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts),
               "rknn_query"));
  if (counts.n_input > kMaxTensors || counts.n_output > kMaxTensors)
    return invalid_model(str(counts.n_input, " inputs and ", counts.n_output, " outputs"));
  RK_ASSIGN(inputs_, attributes(handle, RKNN_QUERY_INPUT_ATTR, counts.n_input));
  RK_ASSIGN(outputs_, attributes(handle, RKNN_QUERY_OUTPUT_ATTR, counts.n_output));
  RK_ASSIGN(native_inputs_, attributes(handle, RKNN_QUERY_NATIVE_INPUT_ATTR, counts.n_input));
  RK_ASSIGN(native_outputs_, attributes(handle, RKNN_QUERY_NATIVE_OUTPUT_ATTR, counts.n_output));
  RK_TRY(check(library_->rknn_query(handle, RKNN_QUERY_SDK_VERSION, &versions_, sizeof versions_),
               "rknn_query"));
  versions_.api_version[sizeof versions_.api_version - 1] = '\0';
  versions_.drv_version[sizeof versions_.drv_version - 1] = '\0';
  library_->rknn_query(handle, RKNN_QUERY_MEM_SIZE, &memory_, sizeof memory_);
  rknn_custom_string text{};
  if (library_->rknn_query(handle, RKNN_QUERY_CUSTOM_STRING, &text, sizeof text) == RKNN_SUCC)
    custom_string_.assign(text.string, strnlen(text.string, sizeof text.string));
  if (library_->rknn_set_input_shapes == nullptr) return ok_status();
  for (uint32_t i = 0; i < counts.n_input; ++i) {
    // Large: on the heap. Fails for models with fixed shapes, which is how one knows them.
    auto range = std::make_unique<rknn_input_range>();
    range->index = i;
    if (library_->rknn_query(handle, RKNN_QUERY_INPUT_DYNAMIC_RANGE, range.get(), sizeof *range) !=
            RKNN_SUCC ||
        range->shape_number == 0) {
      ranges_.clear();
      break;
    }
    if (range->shape_number > RKNN_MAX_DYNAMIC_SHAPE_NUM || range->n_dims > RKNN_MAX_DIMS ||
        (i > 0 && range->shape_number != ranges_.front().shape_number)) {
      return invalid_model(str("the shapes of input ", i, " do not go with those of the others"));
    }
    ranges_.push_back(*range);
  }
  if (ranges_.size() == 1 && ranges_.front().shape_number == 1) ranges_.clear();
  return ok_status();
}

uint32_t Model::context_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(contexts_.size());
}

// With the lock held. Null when the library or the budget gives no more; the call then waits its turn.
Model::Context* Model::grow() {
  if (contexts_.size() >= options_.instances || !budget_->take(1)) return nullptr;
  auto context = std::make_unique<Context>();
  int result = library_->rknn_dup_context(&contexts_.front()->handle, &context->handle);
  if (result == RKNN_SUCC) {
    if (prepare(context->handle).ok()) {
      contexts_.push_back(std::move(context));
      return contexts_.back().get();
    }
    library_->rknn_destroy(context->handle);
  }
  budget_->give_back(1);
  options_.instances = static_cast<uint32_t>(contexts_.size());
  return nullptr;
}

Result<Model::Context*> Model::acquire(uint32_t max_waiting,
                                       const std::function<bool()>& abandoned) {
  std::unique_lock lock(mutex_);
  if (waiting_.empty()) {
    if (!idle_.empty()) {
      Context* const context = idle_.back();
      idle_.pop_back();
      return context;
    }
    if (Context* const context = grow(); context != nullptr) return context;
  }
  if (waiting_.size() >= max_waiting) {
    return out_of_memory(
        str(waiting_.size(),
            " calls wait for this model already: try again later or raise --max-waiting"));
  }
  Waiter self;
  const auto place = waiting_.insert(waiting_.end(), &self);
  while (self.given == nullptr) {
    self.ready.wait_for(lock, kAskEvery);
    if (self.given != nullptr) break;
    if (abandoned && abandoned()) {
      waiting_.erase(place);
      return Status(Code::kCancelled, "the client no longer waits");
    }
  }
  return self.given;
}

void Model::release(Context* context) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    idle_.push_back(context);
    return;
  }
  Waiter* const next = waiting_.front();
  waiting_.pop_front();
  next->given = context;
  next->ready.notify_one();
}

Result<std::vector<const InputTensor*>> Model::in_order(std::span<const InputTensor> inputs) const {
  std::vector<const InputTensor*> out(inputs_.size(), nullptr);
  for (const InputTensor& input : inputs) {
    const auto found = std::ranges::find(inputs_, input.name, name_of);
    if (found == inputs_.end()) {
      std::string names;
      for (const rknn_tensor_attr& attr : inputs_)
        names += str(names.empty() ? "'" : ", '", name_of(attr), "'");
      return invalid_argument(str("the model has no input '", input.name, "'; it has ", names));
    }
    const InputTensor*& place = out[static_cast<size_t>(found - inputs_.begin())];
    if (place != nullptr) return invalid_argument(str("input '", input.name, "' is given twice"));
    place = &input;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == nullptr)
      return invalid_argument(str("input '", name_of(inputs_[i]),
                                  "' is not given; the model needs all ", inputs_.size()));
  }
  return out;
}

Status Model::check_input(size_t index, const InputTensor& input,
                          std::span<const int64_t> wanted) const {
  const rknn_tensor_attr& attr = inputs_[index];
  if (input.pass_through) {
    const rknn_tensor_attr& native = native_inputs_[index];
    if (input.bytes.size() == native.size || input.bytes.size() == native.size_with_stride)
      return ok_status();
    return invalid_argument(str("input '", name_of(attr), "' is passed through with ",
                                input.bytes.size(), " bytes; its native form has ",
                                native.size_with_stride));
  }
  const size_t item = type_size(input.type);
  if (item == 0)
    return unsupported(
        str("input '", name_of(attr), "' has a type that the runtime does not take"));
  if (input.format == RKNN_TENSOR_NCHW && wanted.size() != 4) {
    return invalid_argument(
        str("input '", name_of(attr), "' has ", wanted.size(), " dimensions: 'nchw' is for four"));
  }
  const std::vector<int64_t> given = as_nhwc(input);
  if (!std::ranges::equal(given, wanted)) {
    return invalid_argument(
        str("input '", name_of(attr), "' has the shape ", dims_text(input.shape),
            input.format == RKNN_TENSOR_NCHW ? " in 'nchw'" : "", "; the model takes ",
            dims_text(wanted), wanted.size() == 4 ? " (or 'nchw' with the parameter format)" : ""));
  }
  const auto elements = checked_product(given);
  const auto bytes = elements ? checked_mul(*elements, item) : std::nullopt;
  if (!bytes || *bytes != input.bytes.size()) {
    return invalid_argument(str("input '", name_of(attr), "' has ", input.bytes.size(),
                                " bytes; its shape and type say ", bytes.value_or(0)));
  }
  return ok_status();
}

// Of a dynamic model: the set of shapes that these are.
Result<size_t> Model::choose_shapes(std::span<const std::vector<int64_t>> shapes) const {
  std::string offered;
  for (size_t k = 0; k < ranges_.front().shape_number && shapes.size() == ranges_.size(); ++k) {
    bool all = true;
    offered += offered.empty() ? "" : "; ";
    for (size_t i = 0; i < shapes.size(); ++i) {
      const rknn_input_range& range = ranges_[i];
      const std::vector<int64_t> dims(range.dyn_range[k], range.dyn_range[k] + range.n_dims);
      offered += dims_text(dims);
      all = all && shapes[i] == dims;
    }
    if (all) return k;
  }
  std::string given;
  for (const std::vector<int64_t>& shape : shapes) given += dims_text(shape);
  return invalid_argument(str("no set of shapes of the model fits ", given, "; it has ", offered));
}

Result<std::vector<rknn_tensor_attr>> Model::outputs_for(
    std::span<const std::vector<int64_t>> shapes) {
  if (ranges_.empty()) return invalid_argument("the shapes of the model are fixed");
  RK_ASSIGN(const size_t choice, choose_shapes(shapes));
  RK_ASSIGN(Context* const context, acquire(std::numeric_limits<uint32_t>::max(), {}));
  const Status status = set_shapes(*context, choice);
  std::vector<rknn_tensor_attr> out = context->outputs;
  release(context);
  if (!status.ok()) return status;
  return out;
}

Status Model::set_shapes(Context& context, size_t choice) const {
  if (context.shapes == choice) return ok_status();
  context.shapes.reset();
  std::vector<rknn_tensor_attr> attrs = inputs_;
  for (size_t i = 0; i < attrs.size(); ++i) {
    const rknn_input_range& range = ranges_[i];
    attrs[i].n_dims = range.n_dims;
    attrs[i].fmt = range.fmt;
    std::copy_n(range.dyn_range[choice], range.n_dims, attrs[i].dims);
  }
  RK_TRY(check(library_->rknn_set_input_shapes(context.handle, static_cast<uint32_t>(attrs.size()),
                                               attrs.data()),
               "rknn_set_input_shapes"));
  RK_ASSIGN(context.outputs, attributes(context.handle, RKNN_QUERY_CURRENT_OUTPUT_ATTR,
                                        static_cast<uint32_t>(outputs_.size())));
  context.shapes = choice;
  return ok_status();
}

Result<std::vector<OutputTensor>> Model::infer(std::span<const InputTensor> inputs,
                                               std::span<const OutputWish> wishes,
                                               uint32_t max_waiting,
                                               const std::function<bool()>& abandoned) {
  RK_ASSIGN(const std::vector<const InputTensor*> ordered, in_order(inputs));
  std::optional<size_t> choice;
  if (!ranges_.empty()) {
    std::vector<std::vector<int64_t>> shapes;
    for (const InputTensor* input : ordered) shapes.push_back(as_nhwc(*input));
    RK_ASSIGN(choice, choose_shapes(shapes));
  }
  for (size_t i = 0; i < ordered.size(); ++i) {
    std::vector<int64_t> wanted = dims_of(inputs_[i]);
    if (choice)
      wanted.assign(ranges_[i].dyn_range[*choice],
                    ranges_[i].dyn_range[*choice] + ranges_[i].n_dims);
    if (choice && ordered[i]->pass_through)
      return unsupported("inputs of models with several shapes cannot be passed through");
    RK_TRY(check_input(i, *ordered[i], wanted));
  }
  std::vector<std::pair<uint32_t, bool>> wanted;
  for (uint32_t i = 0; wishes.empty() && i < outputs_.size(); ++i) wanted.emplace_back(i, false);
  for (const OutputWish& wish : wishes) {
    const auto found = std::ranges::find(outputs_, wish.name, name_of);
    if (found == outputs_.end())
      return invalid_argument(str("the model has no output '", wish.name, "'"));
    wanted.emplace_back(static_cast<uint32_t>(found - outputs_.begin()), wish.native);
  }
  RK_ASSIGN(Context* const context, acquire(max_waiting, abandoned));
  auto out = [&]() -> Result<std::vector<OutputTensor>> {
    if (choice) RK_TRY(set_shapes(*context, *choice));
    return run(*context, ordered, wanted);
  }();
  release(context);
  return out;
}

Result<std::vector<OutputTensor>> Model::run(
    Context& context, const std::vector<const InputTensor*>& inputs,
    const std::vector<std::pair<uint32_t, bool>>& wanted) const {
  std::vector<rknn_input> fed(inputs.size());
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    fed[i] = {};
    fed[i].index = i;
    fed[i].buf = const_cast<char*>(inputs[i]->bytes.data());
    fed[i].size = static_cast<uint32_t>(inputs[i]->bytes.size());
    fed[i].pass_through = inputs[i]->pass_through ? 1 : 0;
    fed[i].type = inputs[i]->type;
    const bool picture = inputs_[i].fmt == RKNN_TENSOR_NHWC || inputs_[i].fmt == RKNN_TENSOR_NCHW;
    fed[i].fmt = inputs[i]->format != RKNN_TENSOR_UNDEFINED ? inputs[i]->format
                 : picture                                  ? RKNN_TENSOR_NHWC
                                                            : RKNN_TENSOR_UNDEFINED;
  }
  RK_TRY(check(
      library_->rknn_inputs_set(context.handle, static_cast<uint32_t>(fed.size()), fed.data()),
      "rknn_inputs_set"));
  RK_TRY(check(library_->rknn_run(context.handle, nullptr), "rknn_run"));

  // The library hands out all outputs; those that nobody wants go nowhere.
  const std::vector<rknn_tensor_attr>& attrs = context.shapes ? context.outputs : outputs_;
  std::vector<rknn_output> got(attrs.size());
  for (uint32_t i = 0; i < got.size(); ++i) {
    got[i] = {};
    got[i].index = i;
    got[i].want_float = is_real(attrs[i]) ? 1 : 0;
  }
  std::vector<OutputTensor> out;
  for (const auto& [index, native] : wanted) {
    const rknn_tensor_attr& attr = attrs[index];
    if (native) got[index].want_float = 0;
    const bool as_float = got[index].want_float != 0;
    OutputTensor tensor{
        std::string(name_of(attr)), as_float ? RKNN_TENSOR_FLOAT32 : attr.type, dims_of(attr), {}};
    const auto elements = checked_product(tensor.shape);
    const auto bytes = elements ? checked_mul(*elements, type_size(tensor.type)) : std::nullopt;
    if (!bytes || *bytes > std::numeric_limits<uint32_t>::max())
      return invalid_model(
          str("output '", tensor.name, "' is larger than the runtime can hand out"));
    tensor.bytes.resize(*bytes);
    out.push_back(std::move(tensor));
  }
  for (size_t k = 0; k < wanted.size(); ++k) {
    rknn_output& output = got[wanted[k].first];
    if (output.is_prealloc != 0)
      return invalid_argument(str("output '", out[k].name, "' is asked for twice"));
    output.is_prealloc = 1;
    output.buf = out[k].bytes.data();
    output.size = static_cast<uint32_t>(out[k].bytes.size());
  }
  RK_TRY(check(library_->rknn_outputs_get(context.handle, static_cast<uint32_t>(got.size()),
                                          got.data(), nullptr),
               "rknn_outputs_get"));
  library_->rknn_outputs_release(context.handle, static_cast<uint32_t>(got.size()), got.data());
  return out;
}

Result<Performance> Model::performance() {
  RK_ASSIGN(Context* const context, acquire(std::numeric_limits<uint32_t>::max(), {}));
  auto out = [&]() -> Result<Performance> {
    Performance result;
    rknn_perf_run run{};
    RK_TRY(check(library_->rknn_query(context->handle, RKNN_QUERY_PERF_RUN, &run, sizeof run),
                 "rknn_query"));
    result.run_us = run.run_duration;
    if ((options_.flags & RKNN_FLAG_COLLECT_PERF_MASK) == 0) return result;
    rknn_perf_detail detail{};
    RK_TRY(
        check(library_->rknn_query(context->handle, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail),
              "rknn_query"));
    if (detail.perf_data != nullptr) {
      // The length may count the terminating zero.
      result.detail.assign(detail.perf_data, strnlen(detail.perf_data, detail.data_len));
    }
    return result;
  }();
  release(context);
  return out;
}

}  // namespace rk::server

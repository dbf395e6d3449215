// SPDX-License-Identifier: Apache-2.0
// The C functions of librknn_toolkit.so: checks pointers, turns text and arrays into values, catches everything.
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "base/log.h"
#include "toolkit/custom_op.h"
#include "toolkit/methods.h"
#include "toolkit/rknn_toolkit_c.h"
#include "toolkit/version.h"

struct rknn_toolkit {
  rknn_toolkit_callbacks callbacks{};
  int log_level = 1;
  std::mutex mutex;
  rk::toolkit::Methods methods;

  explicit rknn_toolkit(const rknn_toolkit_callbacks& c, int level)
      : callbacks(c),
        log_level(level),
        methods([this](const char* stage, size_t done, size_t total) {
          return callbacks.progress == nullptr ||
                 callbacks.progress(callbacks.user, stage, done, total) == 0;
        }) {}
};

namespace {

using rk::Code;
using rk::Json;
using rk::Result;
using rk::Status;
using rk::str;
using rk::toolkit::ArrayRef;

thread_local std::string t_result = "null";
thread_local std::string t_error;
// Whose call this thread is in; lines logged meanwhile go to its callback.
thread_local rknn_toolkit* t_current = nullptr;

// "W RKNN: [12:00:00.000] text\n" -> "text".
std::string bare_text(std::string_view line) {
  const size_t head = line.find("] ");
  if (head != std::string_view::npos) line.remove_prefix(head + 2);
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  return std::string(line);
}

void log_to_current(rk::LogLevel level, std::string_view line) {
  rknn_toolkit* const toolkit = t_current;
  if (toolkit == nullptr || toolkit->callbacks.log == nullptr) {
    // Not within a call of ours, or on a worker thread: as without us.
    // A closed standard error is not our failure.
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
    return;
  }
  if (static_cast<int>(level) > toolkit->log_level) return;
  toolkit->callbacks.log(toolkit->callbacks.user, static_cast<int32_t>(level),
                         bare_text(line).c_str());
}

int32_t number_of(Code code) {
  switch (code) {
    case Code::kOk:
      return RKNN_TOOLKIT_OK;
    case Code::kInvalidArgument:
      return RKNN_TOOLKIT_INVALID_ARGUMENT;
    case Code::kUnsupported:
      return RKNN_TOOLKIT_UNSUPPORTED;
    case Code::kCancelled:
      return RKNN_TOOLKIT_CANCELLED;
    default:
      return RKNN_TOOLKIT_FAILED;
  }
}

template <typename Work>
int32_t guarded(rknn_toolkit* toolkit, Work work) {
  Result<Json> result = Status(Code::kInvalidArgument, "the toolkit object is NULL");
  if (toolkit != nullptr && t_current == toolkit) {
    result = Status(Code::kInvalidArgument,
                    "a call on an object from inside one of its callbacks is not possible");
  } else if (toolkit != nullptr) {
    const std::lock_guard lock(toolkit->mutex);
    rknn_toolkit* const outer = std::exchange(t_current, toolkit);
    try {
      result = work();
    } catch (const std::bad_alloc&) {
      result = rk::out_of_memory("out of memory");
    } catch (const std::exception& error) {
      result = Status(Code::kInvalidModel, str("internal error: ", error.what()));
    }
    t_current = outer;
  }
  t_result = result.ok() ? rk::write_json(*result) : "null";
  t_error = result.ok() ? "" : result.status().message();
  return number_of(result.status().code());
}

Result<Json> parse_options(const char* text) {
  if (text == nullptr || *text == '\0') return Json::object();
  auto options = rk::parse_json(text);
  if (!options.ok()) return options.status().with_context("options");
  if (!options->is_object()) return rk::invalid_argument("options are not a JSON object");
  return options;
}

Result<ArrayRef> checked(const rknn_toolkit_array& array, size_t index) {
  const auto dtype = rk::dtype_from_onnx(array.dtype);
  if (!dtype)
    return rk::invalid_argument(
        str("array ", index, ": element type ", array.dtype, " cannot be used"));
  if (array.rank < 0 || array.rank > rk::kMaxRank || (array.rank > 0 && array.shape == nullptr))
    return rk::invalid_argument(str("array ", index, " has ", array.rank, " dimensions, at most ",
                                    rk::kMaxRank, " are possible"));
  ArrayRef out;
  out.dtype = *dtype;
  RK_ASSIGN(out.shape, rk::Shape::make({array.shape, static_cast<size_t>(array.rank)}));
  RK_ASSIGN(const uint64_t needed, rk::checked_byte_size({out.dtype, out.shape}));
  if (array.size_bytes < needed || (array.data == nullptr && needed > 0))
    return rk::invalid_argument(
        str("array ", index, " has ", array.size_bytes, " bytes, its shape needs ", needed));
  out.data = array.data;
  out.size_bytes = array.size_bytes;
  return out;
}

Result<std::vector<ArrayRef>> checked(const rknn_toolkit_array* arrays, uint32_t count) {
  if (count > 0 && arrays == nullptr) return rk::invalid_argument("the arrays are NULL");
  std::vector<ArrayRef> out;
  for (uint32_t i = 0; i < count; ++i) {
    RK_ASSIGN(ArrayRef array, checked(arrays[i], i));
    out.push_back(array);
  }
  return out;
}

}  // namespace

const char* rknn_toolkit_version(void) { return rk::toolkit::kVersionText; }

rknn_toolkit* rknn_toolkit_create(const rknn_toolkit_callbacks* callbacks, int32_t log_level) {
  try {
    static const bool installed = (rk::set_log_sink(log_to_current), true);
    static_cast<void>(installed);
    rk::set_log_level(std::max(rk::log_level(), static_cast<int>(log_level)));
    return new rknn_toolkit(callbacks != nullptr ? *callbacks : rknn_toolkit_callbacks{},
                            log_level);
  } catch (const std::exception&) {
    return nullptr;
  }
}

void rknn_toolkit_destroy(rknn_toolkit* toolkit) { delete toolkit; }

int32_t rknn_toolkit_call(rknn_toolkit* toolkit, const char* method, const char* options,
                          const rknn_toolkit_array* arrays, uint32_t array_count) {
  return guarded(toolkit, [&]() -> Result<Json> {
    if (method == nullptr) return rk::invalid_argument("the method's name is NULL");
    RK_ASSIGN(const Json parsed, parse_options(options));
    RK_ASSIGN(const std::vector<ArrayRef> refs, checked(arrays, array_count));
    std::vector<rk::Tensor> tensors;
    for (const ArrayRef& ref : refs) {
      const rk::TensorType type{ref.dtype, ref.shape};
      RK_ASSIGN(const uint64_t size_bytes, rk::checked_byte_size(type));
      RK_ASSIGN(rk::Tensor tensor,
                rk::Tensor::from_bytes(type, {static_cast<const uint8_t*>(ref.data), size_bytes}));
      tensors.push_back(std::move(tensor));
    }
    return toolkit->methods.call(method, parsed, tensors);
  });
}

int32_t rknn_toolkit_inference(rknn_toolkit* toolkit, const char* options,
                               const rknn_toolkit_array* inputs, uint32_t input_count,
                               const rknn_toolkit_array* outputs, uint32_t output_count) {
  return guarded(toolkit, [&]() -> Result<Json> {
    RK_ASSIGN(const Json parsed, parse_options(options));
    RK_ASSIGN(const std::vector<ArrayRef> from, checked(inputs, input_count));
    RK_ASSIGN(const std::vector<ArrayRef> to, checked(outputs, output_count));
    RK_TRY(toolkit->methods.inference(parsed, from, to));
    return Json();
  });
}

int32_t rknn_toolkit_reg_custom_op(rknn_toolkit* toolkit, const rknn_toolkit_custom_op* op) {
  return guarded(toolkit, [&]() -> Result<Json> {
    if (op == nullptr) return rk::invalid_argument("the operator is NULL");
    RK_ASSIGN(rk::ops::CustomOp custom, rk::toolkit::custom_op(*op));
    RK_TRY(toolkit->methods.reg_custom_op(std::move(custom)));
    return Json();
  });
}

void rknn_toolkit_answer(const char* text) { rk::toolkit::set_answer(text); }

const char* rknn_toolkit_result(void) { return t_result.c_str(); }
const char* rknn_toolkit_error(void) { return t_error.c_str(); }

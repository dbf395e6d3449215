// SPDX-License-Identifier: Apache-2.0
// What init_runtime gives: a model that is ready to run, on the simulator of this process or on a board behind a server.
//
// Note: pictures go in as NHWC unless the caller says nchw, and come out as NCHW.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/type.h"
#include "program/memory.h"
#include "runtime/session/tensor_attr.h"

namespace rk::toolkit {

struct RuntimeOptions {
  std::string target;     // empty: the simulator; else a board, or the simulated one, of this chip
  std::string device_id;  // of remote/devices.h; empty: the only one that is known, if any
  bool perf_debug = false;
  bool eval_mem = false;
  bool async_mode = false;
  uint32_t core_mask = 0;
  std::string fallback_prior_device = "cpu";
};

// An array of the caller, used in place.
struct ArrayRef {
  DType dtype = DType::kUndefined;
  Shape shape;
  void* data = nullptr;
  uint64_t size_bytes = 0;
};

struct Feed {
  ArrayRef array;
  bool nchw = false;  // four dimensions in the model's own order; otherwise NHWC
  bool pass_through =
      false;  // native bytes already: neither normalized nor quantized nor reordered
};

class Runner {
 public:
  virtual ~Runner() = default;

  const RuntimeOptions& options() const { return options_; }
  virtual bool dynamic() const = 0;
  virtual std::string_view chip() const = 0;
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;
  virtual runtime::TensorAttr input_attr(size_t i) const = 0;
  virtual runtime::TensorAttr output_attr(size_t i) const = 0;
  // f32 for everything that stands for real numbers; integers and bool are kept.
  virtual TensorType output_type(size_t i) const = 0;

  // Models with several shapes take those of the arrays from now on; output_type() answers for them. Nothing happens
  // when no set of shapes fits: run() then names what is wrong.
  virtual Status choose_shapes(std::span<const Feed> inputs) = 0;

  // Calls choose_shapes() first. `outputs` have the types of output_type().
  virtual Status run(std::span<const Feed> inputs, std::span<const ArrayRef> outputs) = 0;

  // The table of eval_perf. `fix_freq`: at the highest clocks. `shapes`: one per input in the model's own order, of a
  // model with several sets; none: those of the simulator's largest set, those last used on a device.
  virtual Result<std::string> performance(bool fix_freq, std::span<const Shape> shapes) = 0;
  virtual program::ChipMemory memory() const = 0;
  // The lines of get_sdk_version after that of the toolkit.
  virtual std::string driver_versions() const = 0;

 protected:
  Runner() = default;
  // One array per input and output.
  Status check_counts(size_t inputs, size_t outputs) const;
  // The array's shape is the model's, or a picture without its batch of one, which is warned of once.
  Status check_shape(const runtime::TensorAttr& attr, const Feed& feed);
  Status check_output(size_t i, const ArrayRef& output) const;

  RuntimeOptions options_;

 private:
  bool warned_of_batch_ = false;
};

// fallback_prior_device and the like, for every kind of runner.
Status check_options(const RuntimeOptions& options);

Shape shape_of(const runtime::TensorAttr& attr);
// [n,h,w,c] -> [n,c,h,w]
Shape nchw_of(const Shape& nhwc);

// The table without times by layer. `more`: further lines.
std::string performance_text(double total_us, double frames_per_second, std::string_view more = {});

}  // namespace rk::toolkit

// SPDX-License-Identifier: Apache-2.0
// init_runtime and inference of the Python API: one session on the simulated chip, fed with arrays of any dtype. It is
// the class behind the C API that computes (runtime/session/session.h), so simulator, C API and rknnlite give equal bytes.
//
// Note: pictures go in as NHWC unless the caller says nchw, and come out as NCHW.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "runtime/session/session.h"

namespace rk::toolkit {

struct RuntimeOptions {
  std::string target;     // empty: the simulator; else the simulated board of this chip
  std::string device_id;  // a board behind a server; there is no server yet, so any text fails
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

// Of an attribute, and of a picture in the model's own order.
Shape shape_of(const runtime::TensorAttr& attr);
Shape nchw_of(const Shape& nhwc);

class Simulator {
 public:
  // `operators` are the standard and custom ones (null: standard). kTargetMismatch when the model is for another chip, kUnavailable for a device_id.
  static Result<std::unique_ptr<Simulator>> create(
      program::Program program, const RuntimeOptions& options,
      std::shared_ptr<const OpRegistry> operators = nullptr);
  // The same for the bytes of a .rknn file.
  static Result<std::unique_ptr<Simulator>> create(
      ByteSpan file, const RuntimeOptions& options,
      std::shared_ptr<const OpRegistry> operators = nullptr);

  const RuntimeOptions& options() const { return options_; }
  bool dynamic() const { return session_->model().dynamic(); }
  std::string_view chip() const { return session_->model().chip().name; }
  size_t input_count() const { return session_->input_count(); }
  size_t output_count() const { return session_->output_count(); }
  runtime::TensorAttr input_attr(size_t i) const { return session_->input_attr(i); }
  runtime::TensorAttr output_attr(size_t i) const { return session_->output_attr(i); }
  // f32 for everything that stands for real numbers; integers and bool are kept.
  TensorType output_type(size_t i) const;

  // Models with several shapes take those of the arrays from now on; output_type() answers for them. Nothing happens
  // when no set of shapes fits: run() then names what is wrong.
  Status choose_shapes(std::span<const Feed> inputs);

  // Calls choose_shapes() first. `outputs` have the types of output_type().
  Status run(std::span<const Feed> inputs, std::span<const ArrayRef> outputs);

  // The report of eval_perf for one set of shapes, predicted for the chip. Needs no run and changes nothing.
  std::string performance(const program::Variant& variant) const;
  // The set of shapes that has these, one per input in the model's own order. None given: the largest set (MaxShape).
  Result<const program::Variant*> find_variant(std::span<const Shape> inputs) const;
  const program::ChipMemory& memory() const { return session_->model().memory(); }
  const target::Target& target() const { return session_->model().chip(); }

 private:
  Simulator() = default;
  static Result<std::unique_ptr<Simulator>> start(std::shared_ptr<const runtime::LoadedModel> model,
                                                  const RuntimeOptions& options,
                                                  std::shared_ptr<const OpRegistry> operators);
  Status set_input(size_t i, const Feed& feed);

  RuntimeOptions options_;
  bool warned_of_batch_ = false;
  std::shared_ptr<const OpRegistry> operators_;  // the session refers to it
  std::unique_ptr<runtime::Session> session_;
};

}  // namespace rk::toolkit

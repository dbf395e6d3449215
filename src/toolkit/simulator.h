// SPDX-License-Identifier: Apache-2.0
// init_runtime and inference of the Python API: one session on the simulated chip, fed with arrays of any dtype. It is
// the class behind the C API that computes (runtime/session/session.h), so simulator, C API and rknnlite give equal bytes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "runtime/session/session.h"
#include "toolkit/runner.h"

namespace rk::toolkit {

class Simulator : public Runner {
 public:
  // `operators` are the standard and custom ones (null: standard). kTargetMismatch when the model is for another chip.
  static Result<std::unique_ptr<Simulator>> create(
      program::Program program, const RuntimeOptions& options,
      std::shared_ptr<const OpRegistry> operators = nullptr);
  // The same for the bytes of a .rknn file.
  static Result<std::unique_ptr<Simulator>> create(
      ByteSpan file, const RuntimeOptions& options,
      std::shared_ptr<const OpRegistry> operators = nullptr);

  bool dynamic() const override { return session_->model().dynamic(); }
  std::string_view chip() const override { return session_->model().chip().name; }
  size_t input_count() const override { return session_->input_count(); }
  size_t output_count() const override { return session_->output_count(); }
  runtime::TensorAttr input_attr(size_t i) const override { return session_->input_attr(i); }
  runtime::TensorAttr output_attr(size_t i) const override { return session_->output_attr(i); }
  TensorType output_type(size_t i) const override;
  Status choose_shapes(std::span<const Feed> inputs) override;
  Status run(std::span<const Feed> inputs, std::span<const ArrayRef> outputs) override;
  // Predicted for the chip. Needs no run and changes nothing.
  Result<std::string> performance(bool fix_freq, std::span<const Shape> shapes) override;
  program::ChipMemory memory() const override { return session_->model().memory(); }
  std::string driver_versions() const override;

 private:
  Simulator() = default;
  static Result<std::unique_ptr<Simulator>> start(std::shared_ptr<const runtime::LoadedModel> model,
                                                  const RuntimeOptions& options,
                                                  std::shared_ptr<const OpRegistry> operators);
  Status set_input(size_t i, const Feed& feed);
  // One run, of which the first tensor is named that float16 does not hold.
  Status run_watched();
  // The set of shapes that has these, one per input in the model's own order. None given: the largest set (MaxShape).
  Result<const program::Variant*> find_variant(std::span<const Shape> inputs) const;

  std::shared_ptr<const OpRegistry> operators_;  // the session refers to it
  std::unique_ptr<runtime::Session> session_;
  bool watches_float16_ = false;  // the next run is watched
};

}  // namespace rk::toolkit

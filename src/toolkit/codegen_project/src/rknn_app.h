// One model behind the zero-copy calls of rknn_api.h: memory is bound to the inputs and outputs once and used in place by
// every run. Every call of the API is timed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "npy.h"
#include "rknn_api.h"

struct CallTime {
  int calls = 0;
  double total_ms = 0;
  double least_ms = 0;
};

class RknnApp {
 public:
  RknnApp() = default;
  RknnApp(const RknnApp&) = delete;
  RknnApp& operator=(const RknnApp&) = delete;
  ~RknnApp();

  // All return false, with a line on standard error, when a call of the API fails.
  bool init(const std::string& model_file);
  // A model with several shapes takes those of these arrays from now on.
  bool choose_shapes(const std::vector<NpyArray>& arrays);
  // Allocates and binds. Inputs take uint8, float32 or the model's own type, as the arrays have it.
  bool bind(const std::vector<NpyArray>& arrays);
  bool set_input(size_t i, const NpyArray& array);
  bool run();
  // float32 for everything that stands for real numbers; integers keep their type.
  bool get_output(size_t i, NpyArray* array);

  const std::vector<rknn_tensor_attr>& inputs() const { return inputs_; }
  const std::vector<rknn_tensor_attr>& outputs() const { return outputs_; }
  void print_attributes() const;
  void print_times() const;

 private:
  bool query_attributes(rknn_query_cmd input_query, rknn_query_cmd output_query);
  template <typename Call>
  auto timed(const char* name, Call call) -> decltype(call());
  bool check(const char* name, int code) const;

  rknn_context context_ = 0;
  std::vector<rknn_tensor_attr> inputs_, outputs_;
  std::vector<rknn_tensor_mem*> input_memory_, output_memory_;
  std::vector<std::string> order_;  // of the calls' names
  std::map<std::string, CallTime> times_;
};

// "|u1", "<f4", ... of a type of the API; empty: numpy has no such type.
std::string npy_type(rknn_tensor_type type);

// SPDX-License-Identifier: Apache-2.0
// What the importers of TFLite and TensorFlow share: one operator on its way into the graph, its
// tensors held channels first or as in the file (frontends/channel_order.h). How operators are
// stored and how tensors are rounded is each format's own; layers.h has the operators that mean the
// same in both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontends/channel_order.h"

namespace rk::frontends {

enum class Order { kFile, kFirst };

// How the source framework gets from its sums to steps: by one division, or in fixed point first
// (evaluator/integer_layers.h). Formats whose tensors carry no scale ignore it.
enum class Rounding { kOnce, kTwice };

// An activation function that an operator holds itself.
enum class Fused { kNone, kRelu, kReluN1To1, kRelu6, kTanh };

// Inputs and outputs are counted as in the file.
class LayerImport {
 public:
  virtual ~LayerImport() = default;

  virtual GraphBuilder& builder() = 0;
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;
  virtual bool has(size_t i) const = 0;
  virtual std::string input_name(size_t i) const = 0;
  virtual std::string output_name(size_t i) const = 0;
  virtual Result<Held*> held(size_t i) = 0;
  // Whether output `i` holds the elements of input `from` without rounding them again.
  virtual bool rounded_alike(size_t from, size_t i) const = 0;

  // The output's value, rounded to its scale where the format has one.
  Status bind(size_t i, Value* value, Order order, Rounding rounding = Rounding::kOnce) {
    return bind_rounded(i, value, order, rounding);
  }
  virtual Status bind_rounded(size_t i, Value* value, Order order, Rounding rounding) = 0;
  // Elements of input `from`: those that are rounded alike stay as they are.
  Status bind_moved(size_t i, Value* value, Order order, size_t from = 0);
  virtual Status bind_held(size_t i, Held held) = 0;  // as it is

  Result<Value*> last(size_t i);   // in the file's order
  Result<Value*> first(size_t i);  // channels first; kInvalidModel unless of rank 4 or 5
  // All of them in one order, broadcasting as in the file; the order they have.
  Result<Order> together(const std::vector<size_t>& which, std::vector<Value*>& values);
  // Integers that must be known: shapes, axes, pads.
  Result<std::vector<int64_t>> ints(size_t i, std::string_view what);
  Result<int64_t> integer(size_t i, std::string_view what);
  // An axis of a tensor of this rank, from 0.
  Result<int64_t> axis(int64_t axis, int64_t rank) const;
  Status need_inputs(size_t least) const;

  // A node named after the first output.
  Result<Value*> emit(std::string_view op, std::string_view suffix, std::vector<Value*> inputs,
                      AttrMap attrs = {});
  Result<std::vector<Value*>> emit_many(std::string_view op, std::vector<Value*> inputs,
                                        size_t outputs, AttrMap attrs = {});
  Value* ints_value(std::string_view suffix, const std::vector<int64_t>& values);
  Value* scalar(std::string_view suffix, float value);
  Value* constant(std::string_view suffix, Tensor tensor);
  Result<Value*> activated(Value* value, Fused activation);

 protected:
  NodeDraft draft() const;
};

}  // namespace rk::frontends

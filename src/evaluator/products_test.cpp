// SPDX-License-Identifier: Apache-2.0
// Matrix products and volumes on the gemm kernel against the operators' references.
#include "evaluator/products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "evaluator/evaluate.h"
#include "evaluator/select.h"
#include "ir/graph.h"
#include "ops/registry.h"

namespace rk::evaluator {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  std::string op;
  std::vector<Shape> inputs;
  AttrMap attrs;
  bool fast = true;  // there is a kernel for it
};

Tensor random_tensor(const Shape& shape, std::mt19937& random) {
  std::uniform_real_distribution<float> values(-1.0f, 1.0f);
  std::vector<float> out(static_cast<size_t>(shape.elements()));
  for (float& value : out) value = values(random);
  return Tensor::f32(shape, out);
}

class Call {
 public:
  Call(const Case& c, std::vector<Tensor> tensors)
      : graph_(ops::registry()), tensors_(std::move(tensors)) {
    NodeSpec spec{.op = c.op, .name = "n", .inputs = {}, .outputs = {"y"}, .attrs = c.attrs};
    for (size_t i = 0; i < tensors_.size(); ++i)
      spec.inputs.push_back(graph_.add_input(str("x", i), tensors_[i].type()).value());
    node_ = graph_.add_node(std::move(spec)).value();
    for (const Tensor& tensor : tensors_) arguments_.push_back(&tensor);
  }
  Tensor run(bool fast) {
    Tensor out = Tensor::make(node_->output().type());
    const EvalCall call{*node_, arguments_, {&out, 1}};
    EXPECT_TRUE((fast ? evaluate_node(call) : node_->def().reference(call)).ok());
    return out;
  }
  bool has_kernel() {
    Tensor out = Tensor::make(node_->output().type());
    return find_fast_kernel({*node_, arguments_, {&out, 1}}) != nullptr;
  }

 private:
  Graph graph_;
  std::vector<Tensor> tensors_;
  std::vector<const Tensor*> arguments_;
  const Node* node_ = nullptr;
};

Case einsum_case(std::string equation, std::vector<Shape> inputs, bool fast = true) {
  return {"Einsum", std::move(inputs), {{"equation", std::move(equation)}}, fast};
}

TEST(ProductsTest, AgreeWithTheReferences) {
  const Case cases[] = {
      {"MatMul", {{3, 5, 7}, {3, 7, 9}}, {}},
      {"MatMul", {{4, 1, 5, 7}, {3, 7, 33}}, {}},
      {"MatMul", {{5, 7}, {2, 3, 7, 4}}, {}},
      {"MatMul", {{2, 3, 130, 7}, {7, 4}}, {}},
      {"MatMul", {{7}, {2, 7, 4}}, {}, false},
      einsum_case("bhid,bhjd->bhij", {{2, 3, 5, 8}, {2, 3, 7, 8}}),
      einsum_case("B G H I J, B G H J D -> B G H I D", {{1, 2, 3, 5, 7}, {1, 2, 3, 7, 4}}),
      einsum_case("bnhd,bmhd->bhnm", {{2, 5, 3, 8}, {2, 7, 3, 8}}),
      einsum_case("ik,kj->ji", {{5, 6}, {6, 7}}),
      einsum_case("bhwc,hkc->bhwk", {{2, 4, 5, 8}, {4, 6, 8}}),
      einsum_case("i,j->ij", {{5}, {6}}),
      einsum_case("i,i->", {{5}, {5}}),
      einsum_case("abc,abc->", {{2, 3, 4}, {2, 3, 4}}),
      einsum_case("...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 6}}),
      einsum_case("ij,jk->k", {{3, 4}, {4, 5}}, false),
      einsum_case("abc,cad->bd", {{2, 3, 4}, {4, 2, 5}}, false),
      einsum_case("ab,cd->acbd", {{2, 3}, {4, 5}}),
      {"Conv", {{2, 4, 5, 6, 7}, {6, 4, 3, 3, 2}, {6}}, {{"pads", Ints{1, 1, 0, 1, 1, 1}}}},
      {"Conv",
       {{1, 4, 6, 9, 7}, {6, 2, 2, 3, 3}},
       {{"group", int64_t{2}}, {"strides", Ints{2, 2, 1}}, {"dilations", Ints{3, 1, 2}}}},
      {"exSDPAttention", {{2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 6}}, {{"scale", 0.35f}}},
      {"exSDPAttention", {{140, 4}, {50, 4}, {50, 33}}, {{"scale", 1.0f}}},
      {"exSDPAttention", {{2, 130, 8}, {2, 400, 8}, {2, 400, 6}}, {{"scale", 0.5f}}},
      {"exSDPAttention", {{3, 8}, {1000, 8}, {1000, 6}, {3, 1000}}, {{"scale", 0.5f}}},
      {"exSDPAttention", {{2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 6}, {3, 1, 7}}, {{"scale", 0.35f}}},
      {"exSDPAttention",
       {{2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 6}, {2, 1, 5, 1}},
       {{"scale", 0.35f}}},
  };
  std::mt19937 random(7);
  for (const Case& c : cases) {
    std::vector<Tensor> inputs;
    for (const Shape& shape : c.inputs) inputs.push_back(random_tensor(shape, random));
    Call call(c, std::move(inputs));
    SCOPED_TRACE(str(c.op, " ", to_string(c.inputs[0]), " ", to_string(c.inputs[1])));
    EXPECT_EQ(call.has_kernel(), c.fast);
    const Tensor fast = call.run(true), slow = call.run(false);
    for (int64_t i = 0; i < slow.elements(); ++i)
      ASSERT_NEAR(fast.data<float>()[i], slow.data<float>()[i], 1e-5) << "element " << i;
  }
}

TEST(ProductsTest, AQueryThatTheMaskHidesFromAllKeysGivesZeros) {
  const float hidden = -std::numeric_limits<float>::infinity();
  const Case c{"exSDPAttention", {}, {{"scale", 1.0f}}};
  Call call(c, {Tensor::f32({2, 1}, {1, 2}), Tensor::f32({2, 1}, {3, 4}),
                Tensor::f32({2, 1}, {5, 6}), Tensor::f32({2, 2}, {hidden, hidden, 0, hidden})});
  const Tensor y = call.run(true);
  EXPECT_EQ(y.to_f32(), (std::vector<float>{0, 5}));
}

}  // namespace
}  // namespace rk::evaluator

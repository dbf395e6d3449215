// SPDX-License-Identifier: Apache-2.0
// Readers of small formats: JSON, attribute lists of vendor files, arrays, pictures, formulas, the text form of graphs.
#include "base/json.h"
#include "base/log.h"
#include "base/npy.h"
#include "format/bson.h"
#include "frontends/transform_formula.h"
#include "ir/text.h"
#include "media/picture.h"
#include "ops/registry.h"
#include "ops/shared/evaluate.h"
#include "tests/fuzz/target.h"

namespace rk::fuzz {
namespace {

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void fuzz_json(Bytes bytes) {
  const auto json = parse_json(as_text(bytes));
  if (!json.ok()) return;
  // What is written reads back as the same value.
  const auto again = parse_json(write_json(*json));
  RK_ASSERT(again.ok() && write_json(*again) == write_json(*json), "JSON survives a round trip");
}

void fuzz_bson(Bytes bytes) { (void)format::read_attributes(bytes); }

void fuzz_npy(Bytes bytes) { (void)decode_npy(bytes, "input"); }

void fuzz_picture(Bytes bytes) {
  for (const media::Color color : {media::Color::kRgb, media::Color::kGrey})
    (void)media::decode_picture(bytes, "input", color);
}

void fuzz_formula(Bytes bytes) {
  constexpr int64_t kDims[] = {1, 3, 4, 6};
  (void)frontends::parse_transform(as_text(bytes), kDims);
}

// A graph, its verification and, where all inputs of a node are known, the node itself.
void fuzz_graph_text(Bytes bytes) {
  const auto graph = parse_graph(as_text(bytes), ops::registry());
  if (!graph.ok()) return;
  RK_ASSERT(verify(*graph).ok(), "what was parsed is a legal graph");
  for (const Node* node : graph->nodes()) {
    const Cost cost = node->def().cost(*node);
    if (cost.macs > kMaxWork || cost.ops > kMaxWork) return;
    uint64_t elements = 0;
    for (const Value* output : node->outputs())
      elements += static_cast<uint64_t>(output->shape().elements());
    if (elements < kMaxWork && ops::can_fold(*node)) (void)ops::fold(*node);
  }
}

}  // namespace rk::fuzz

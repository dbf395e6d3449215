// SPDX-License-Identifier: Apache-2.0
// Pieces of attention as ordinary nodes, for the operators that are taken apart on import because
// the chips know their parts: MatMul and Softmax.
#pragma once

#include <optional>

#include "frontends/graph_builder.h"

namespace rk::frontends {

// Keys or values [B, heads, S, D] with each head repeated, so that there are `heads`; a multiple of
// their own.
Result<Value*> repeat_heads(const NodeDraft& around, GraphBuilder& builder, std::string_view suffix,
                            Value* value, int64_t heads);

// query * keys^T * scale, both [B, heads, S, D]; without a scale 1 / sqrt(D).
Result<Value*> attention_scores(const NodeDraft& around, GraphBuilder& builder, Value* query,
                                Value* keys, std::optional<float> scale);

}  // namespace rk::frontends

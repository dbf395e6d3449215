// SPDX-License-Identifier: Apache-2.0
// The page of `rknn report`: one file without others, with the graph, predicted cost, memory, weights and, after an
// accuracy analysis, the error of each layer. Two models on one page are compared.
#pragma once

#include <span>
#include <string>

#include "analysis/accuracy.h"
#include "base/json.h"
#include "program/program.h"

namespace rk::toolkit {

// What the page says of one model. `accuracy` may be null: nothing was analyzed.
Result<Json> describe_model(const program::Program& program, const std::string& name,
                            const analysis::AccuracyReport* accuracy);

// Fields as page.js reads them. At least one model.
std::string report_page(std::span<const Json> models);

}  // namespace rk::toolkit

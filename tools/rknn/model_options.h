// SPDX-License-Identifier: Apache-2.0
// The flags that say which model to build and how, shared by the commands that build one to look at it.
#pragma once

#include "rknn/arguments.h"
#include "rknn/commands.h"

namespace rk::tools {

// Model flags first, then those of the command, then --help.
std::vector<OptionDef> with_model_options(const std::vector<OptionDef>& own);

// One free word is the model. Only what was given is changed.
Status read_model_options(const Arguments& args, ConvertRequest& request);

}  // namespace rk::tools

// SPDX-License-Identifier: Apache-2.0
// The one log sink, in the vendor's line shape: "<E|W|I|D> RKNN: [HH:MM:SS.mmm] text". Written with
// write(2) at call time, so a program that swaps its file descriptors sees every line; no FILE is
// cached.
#pragma once

#include <functional>
#include <string_view>

namespace rk {

// RKNN_LOG_LEVEL 0..5: 0 errors, 1 warnings too (default), 2 information, 3 and 4 debugging tables,
// 5 dumps too.
enum class LogLevel { kError = 0, kWarning = 1, kInfo = 2, kDebug = 3 };

// The level in force: RKNN_LOG_LEVEL, read once, or what set_log_level said.
int log_level();
void set_log_level(int level);

bool log_enabled(LogLevel level);
void log(LogLevel level, std::string_view text);

// Replaces the destination; empty restores standard error. For the toolkit's verbose file and for
// tests.
using LogSink = std::function<void(LogLevel, std::string_view line)>;
void set_log_sink(LogSink sink);

}  // namespace rk

// SPDX-License-Identifier: Apache-2.0
// A number with its bar: one line "FIGURE <name> | <value> | <bar> | ok" on standard output, which
// tests/run.py repeats at the end; a number short of its bar prints SHORT and fails the test.
#pragma once

#include <string>

namespace rk::e2e {

void figure_at_least(const std::string& name, double value, double bar);
void figure_at_most(const std::string& name, double value, double bar);
// |value - wanted| <= tolerance
void figure_near(const std::string& name, double value, double wanted, double tolerance);
// For claims that are not a number: "identical", "1234567 bytes equal".
void figure_holds(const std::string& name, bool holds, const std::string& value,
                  const std::string& bar);

}  // namespace rk::e2e

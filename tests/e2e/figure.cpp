// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/figure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace rk::e2e {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

void figure_holds(const std::string& name, bool holds, const std::string& value,
                  const std::string& bar) {
  std::printf("FIGURE %s | %s | %s | %s\n", name.c_str(), value.c_str(), bar.c_str(),
              holds ? "ok" : "SHORT");
  std::fflush(stdout);
  EXPECT_TRUE(holds) << name << ": " << value << ", wanted " << bar;
}

void figure_at_least(const std::string& name, double value, double bar) {
  figure_holds(name, value >= bar, number(value), ">= " + number(bar));
}

void figure_at_most(const std::string& name, double value, double bar) {
  figure_holds(name, value <= bar, number(value), "<= " + number(bar));
}

void figure_near(const std::string& name, double value, double wanted, double tolerance) {
  figure_holds(name, std::abs(value - wanted) <= tolerance, number(value),
               number(wanted) + " +- " + number(tolerance));
}

}  // namespace rk::e2e

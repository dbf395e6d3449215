// SPDX-License-Identifier: Apache-2.0
// The version numbers, in the one place where they are written. CMake (project, packages) and python/make_wheel.py read
// them from this file: keep one #define to a line.
#pragma once

// Our own release.
#define RK_PROJECT_VERSION "0.1.0"
// The SDK generation whose interface and file format we follow.
#define RK_API_VERSION "2.3.2"
// The day of the release, in the form programs expect after the commit.
#define RK_RELEASE_DATE "2026-11-15T00:00:00"

// SPDX-License-Identifier: Apache-2.0
// The public headers as this library's own sources include them. Everything else here is compiled with hidden
// visibility; the functions these headers declare are what is exported.
#pragma once

#pragma GCC visibility push(default)
#include "openrknn_plugin.h"
#include "rknn_api.h"
#include "rknn_custom_op.h"
#include "rknn_matmul_api.h"
#pragma GCC visibility pop

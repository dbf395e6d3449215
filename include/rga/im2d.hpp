/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "im2d.h"

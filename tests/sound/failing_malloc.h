// SPDX-License-Identifier: Apache-2.0
// malloc and its relatives that fail on request, and count what is alive. Linked into one test program; not for
// sanitized builds, which have their own.
#pragma once

namespace rk::sound {

// From now on the allocation number `fail_at` (from 1) fails, or that one and all after it where `onwards`.
void arm(long fail_at, bool onwards);
long disarm();  // allocations since arm()
long alive();   // blocks that were allocated and not freed, in all threads

}  // namespace rk::sound

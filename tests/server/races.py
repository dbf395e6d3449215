# SPDX-License-Identifier: Apache-2.0
"""Which reports of ThreadSanitizer are about our own code.

Debian's gRPC and protobuf are not instrumented: what they hand from thread to thread looks unsynchronized, so that one run
gives thousands of reports about their buffers, their messages and the code of their headers. A suppression cannot tell
them apart, because every thread of the server comes out of gRPC. Here a race is ours when both accesses were made by our
code: the first function of each stack that is not the C or C++ library's lies in server/ or src/. Every other kind of
report (a lock order, a leaked thread, a crash) is ours when our code is in it at all.
"""
import re

# The C and C++ libraries and what stands in for them; they act for whoever calls them.
LIBRARY = re.compile(r"libsanitizer|/usr/include/c\+\+/|\(lib(c|m|stdc\+\+|tsan|gcc_s)\.so")


def owner(stack, ours):
    for frame in stack:
        if not LIBRARY.search(frame):
            return bool(ours.search(frame))
    return False


def split(text):
    """The stacks of a report: lists of frames."""
    stacks, stack = [], []
    for line in text.splitlines() + [""]:
        if re.match(r"\s+#\d+ ", line):
            stack.append(line)
        elif stack:
            stacks.append(stack)
            stack = []
    return stacks


def reports_of(text, root):
    """(reports about our code, number of all reports)."""
    ours = re.compile(re.escape(root) + r"/(server|src)/")
    # One ends with its summary.
    reports = re.findall(r"(?ms)^(?:WARNING|==\d+==ERROR): ThreadSanitizer.*?^SUMMARY: [^\n]*", text)
    found = []
    for report in reports:
        stacks = split(report)
        if "ThreadSanitizer: data race" in report:
            mine = len(stacks) >= 2 and owner(stacks[0], ours) and owner(stacks[1], ours)
        elif "ERROR: " in report:
            mine = True
        else:
            mine = any(ours.search(frame) for stack in stacks for frame in stack)
        if mine:
            found.append(report)
    return found, len(reports)


SAMPLE = """WARNING: ThreadSanitizer: data race (pid=1)
  Write of size 8 at 0x1 by thread T1:
    #0 operator delete(void*) ../../../../src/libsanitizer/tsan/tsan_new_delete.cpp:126 (libtsan.so.2+0x1)
    #1 %s
    #2 rk::server::DeviceService::Status() ROOT/server/service/device_service.cpp:1 (rknn_server+0x1)

  Previous read of size 8 at 0x1 by thread T2:
    #0 rk::server::Store::find() ROOT/server/engine/store.cpp:2 (rknn_server+0x2)

SUMMARY: ThreadSanitizer: data race
"""


def works():
    """A race between two places of ours is found; one between gRPC and us is not."""
    ours = SAMPLE % "rk::server::Store::unload() ROOT/server/engine/store.cpp:1 (rknn_server+0x3)"
    theirs = SAMPLE % "grpc::ByteBuffer::Clear() /usr/include/grpcpp/support/byte_buffer.h:1 (rknn_server+0x4)"
    found, count = reports_of(ours + theirs, "ROOT")
    return count == 2 and len(found) == 1 and "Store::unload" in found[0]

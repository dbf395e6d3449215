#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers and clients that are killed at random moments, slow and oversized senders. Prints FIGURE lines.

    faults.py --server rknn_server --library librknnrt.so --remote librknn_remote.so [--kills 200 --inferences 20000]

The environment names the toolkit (PYTHONPATH, OPENRKNN_LIBRARY_DIR). Seeds are fixed.
"""
import argparse
import ctypes
import json
import multiprocessing
import os
import random
import signal
import socket
import struct
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import models  # noqa: E402
from servers import Server  # noqa: E402

CLIENTS = 4
FIELDS = ("right", "wrong", "failed", "slowest_us")


def figure(name, value, bar, ok):
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return ok


def client(path, row, model, address, pictures, want):
    """Infers until it is killed; a failed call connects anew."""
    from rknn.api import RKNN
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    counts = np.memmap(path, "int64", "r+", shape=(CLIENTS, len(FIELDS)))[row]
    rknn = RKNN()
    rknn.load_rknn(model)
    ready, i = False, row
    while True:
        if not ready:
            ready = rknn.init_runtime(target="rk3588", device_id=address) == 0
            if not ready:
                time.sleep(0.05)
                continue
        i = (i + 1) % len(pictures)
        start = time.monotonic()
        outputs = rknn.inference([pictures[i]])
        if outputs is None:
            ready = False
            counts[2] += 1
            counts[3] = max(counts[3], int((time.monotonic() - start) * 1e6))
        else:
            counts[0 if outputs[0].tobytes() == want[i] else 1] += 1


def server_status(library, address):
    remote = ctypes.CDLL(library)
    remote.rknn_remote_text.restype = ctypes.c_char_p
    remote.rknn_remote_text.argtypes = [ctypes.c_void_p]
    remote.rknn_remote_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64]
    remote.rknn_remote_close.argtypes = [ctypes.c_void_p]
    handle = ctypes.c_void_p()
    if remote.rknn_remote_open(json.dumps({"address": address}).encode(), ctypes.byref(handle)) != 0:
        raise SystemExit("no server at %s" % address)
    if remote.rknn_remote_call(handle, b"status", b"{}", None, 0) != 0:
        raise SystemExit(remote.rknn_remote_text(handle).decode())
    status = json.loads(remote.rknn_remote_text(handle).decode())
    remote.rknn_remote_close(handle)
    return status


def settled(library, address, seconds=15):
    """The status once all sessions have ended, or after so long."""
    end = time.time() + seconds
    while True:
        status = server_status(library, address)
        if status["sessions"] == 0 or time.time() > end:
            return status
        time.sleep(0.1)


def open_files(server):
    return len(os.listdir("/proc/%d/fd" % server.process.pid))


def kills(args, program, model, pictures, want):
    order = random.Random(20261116)
    with tempfile.NamedTemporaryFile() as file:
        np.zeros((CLIENTS, len(FIELDS)), "int64").tofile(file.name)
        counts = np.memmap(file.name, "int64", "r+", shape=(CLIENTS, len(FIELDS)))
        # A folder for what servers may leave behind.
        scratch = tempfile.TemporaryDirectory()
        environment = {"TMPDIR": scratch.name}
        server = Server(program=program, environment=environment)
        port, files_at_first = server.port, open_files(server)
        start = lambda row: multiprocessing.get_context("spawn").Process(
            target=client, args=(file.name, row, model, server.address, pictures, want), daemon=True)
        clients = [start(row) for row in range(CLIENTS)]
        for process in clients:
            process.start()
        killed, deadline = 0, time.time() + args.seconds
        while (killed < args.kills or counts[:, 0].sum() < args.inferences) and time.time() < deadline:
            time.sleep(order.uniform(0.05, 0.4))
            if killed >= args.kills:
                continue
            if order.random() < 0.5:
                server.end(signal.SIGKILL)
                server.folder.cleanup()
                server = Server(port=port, program=program, environment=environment)
            else:
                row = order.randrange(CLIENTS)
                clients[row].kill()
                clients[row].join()
                clients[row] = start(row)
                clients[row].start()
            killed += 1
        for process in clients:
            process.kill()
            process.join()
        right, wrong, failed, slowest = counts[:, 0].sum(), counts[:, 1].sum(), counts[:, 2].sum(), counts[:, 3].max()
        status = settled(args.remote, server.address)
        files = open_files(server) - files_at_first
        server.end(signal.SIGKILL)
        on_disk = len(os.listdir(scratch.name))
        scratch.cleanup()
        server.folder.cleanup()
    good = figure("faults: kills of server or client", killed, ">= %d" % args.kills, killed >= args.kills)
    good &= figure("faults: right inferences", right, ">= %d" % args.inferences, right >= args.inferences)
    good &= figure("faults: wrong inferences", wrong, "<= 0", wrong == 0)
    good &= figure("faults: slowest failing call, s", "%.2f of %d" % (slowest / 1e6, failed), "<= 2", slowest <= 2e6)
    left = "%d sessions, %d contexts, %d bytes" % (status["sessions"], status["contexts"], status["bytes_in_flight"])
    good &= figure("faults: left behind by dead clients", left, "0 sessions, 0 contexts, 0 bytes",
                   left == "0 sessions, 0 contexts, 0 bytes")
    good &= figure("faults: more open files than a fresh server", files, "<= 16", files <= 16)
    good &= figure("faults: files left on disk by killed servers", on_disk, "<= 0", on_disk == 0)
    return good


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def ended_by_server(s, end):
    """Whether the server ends this connection before then."""
    try:
        while True:
            s.settimeout(max(0.001, end - time.monotonic()))
            if not s.recv(4096):
                return True
    except TimeoutError:
        return False
    except OSError:
        return True


def slow_senders(args, program, model, pictures, want):
    """Connections that never finish what they say, while a client works."""
    from rknn.api import RKNN
    with Server(program=program) as server:
        rknn = RKNN()
        rknn.load_rknn(model)
        assert rknn.init_runtime(target="rk3588", device_id=server.address) == 0

        def slowest(count=50):
            worst = 0
            for i in range(count):
                start = time.monotonic()
                outputs = rknn.inference([pictures[i % len(pictures)]])
                assert outputs is not None and outputs[0].tobytes() == want[i % len(pictures)]
                worst = max(worst, time.monotonic() - start)
            return worst
        slowest()
        before = server_status(args.remote, server.address)["resident_bytes"]
        sockets = []
        for i in range(300):
            s = socket.create_connection(("127.0.0.1", server.port))
            s.sendall(PREFACE[:1 + i % len(PREFACE)] if i % 2 else
                      PREFACE + frame(4, 0, 0, b"") + struct.pack(">I", 1 << 14)[1:] + b"\0\0" + struct.pack(">I", 1))
            sockets.append(s)
        worst = slowest()
        good = figure("300 slow senders: slowest call beside them, s", "%.3f" % worst, "<= 2", worst <= 2)
        # 10 s to greet, and 15 s without an answer to a ping, are all that the server gives them.
        end = time.monotonic() + 25
        closed = sum(ended_by_server(s, end) for s in sockets)
        good &= figure("300 slow senders: connections that the server ends, within 25 s", closed, 300, closed == 300)
        for s in sockets:
            s.close()
        for i in range(200):  # a frame that says 16 MB, a window update of 0, random bytes
            s = socket.create_connection(("127.0.0.1", server.port))
            rest = random.Random(i).randbytes(2000)
            try:
                s.sendall(PREFACE + frame(4, 0, 0, b"") + (b"\xff\xff\xff\0\0\0\0\0\1" + rest if i % 2 else
                                                            frame(8, 0, 0, b"\0\0\0\0") + rest))
                s.settimeout(2)
                while s.recv(4096):
                    pass
            except OSError:
                pass
            s.close()
        worst = slowest()
        status = server_status(args.remote, server.address)
        grown = max(0, status["resident_bytes"] - before) / 2**20
        good &= figure("oversized and damaged frames: the server lives", "200 connections", "alive",
                       server.process.poll() is None)
        good &= figure("slow and oversized senders: memory grown, MiB", "%.1f" % grown, "<= 32", grown <= 32)
        rknn.release()
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--remote", required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--inferences", type=int, default=20000)
    parser.add_argument("--seconds", type=int, default=1200)
    args = parser.parse_args()
    os.environ["OPENRKNN_REMOTE_LIBRARY"] = args.remote
    program = [args.server, "--library", args.library]
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "digits.rknn")
        rknn = models.digits()
        assert rknn.export_rknn(model) == 0
        assert rknn.init_runtime() == 0
        pictures = [p[None] for p in models.digit_pictures()[0][:32]]
        want = [rknn.inference([p])[0].tobytes() for p in pictures]
        rknn.release()
        good = kills(args, program, model, pictures, want)
        good &= slow_senders(args, program, model, pictures, want)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

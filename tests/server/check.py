#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make check-server` shows, part by part, each figure beside its bar. Exits 0 only where all of it holds.

    check.py PART ... --build build/release --dev build/dev --tsan build/tsan --arm build/aarch64
             --sysroot build/sysroot-arm64 --signs signs.rknn --triton-python PYTHON
"""
import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

import races

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PYTHON = "/usr/bin/python3"
CONNECTIONS = 64
ROUNDS = 5
OTHERS = 0.1  # of the CPUs: a round beside more work than that is repeated, at most so often
MOST_ROUNDS = 15
ENOUGH = 3

# Which tests of server_test show what.
SAME_BYTES = {
    "int8, hand-computed": ["Server.GivesThePicturesHandComputedScores", "Server.TakesNchwAndNativeBytes"],
    "two inputs, float16": ["Server.GivesTheBytesOfThisProcessForTwoInputsInFloat16"],
    "several shapes": ["Server.GivesTheBytesOfThisProcessForEveryShape"],
    "custom operator of a plug-in": ["Server.RunsOperatorsOfItsPlugins"],
}
CLAIMS = {
    "two clients' models are isolated; a client's end frees them": ["Server.KeepsAClientsModelsFromOthersAndFreesThemWithIt"],
    "wrong tensors and models are refused": ["Server.RefusesWhatDoesNotFitAndSaysWhy"],
    "wrong tokens are refused; no open address without one": ["ServerAccess.AsksForTheTokenOfItsFile"],
    "limits of sessions, models, contexts; idle sessions end": ["ServerAccess.GivesNoMoreThanItsLimits",
                                                                "ServerAccess.EndsIdleSessionsAndSaysSo"],
    "the server's folder is everybody's and cannot be unloaded":
        ["ServerAccess.ServesItsFolderToEverybodyAndLetsNobodyUnloadIt"],
    "a killed server is an error within 2 s; SIGTERM ends cleanly": ["ServerAccess.AKilledServerIsAnErrorAtOnce",
                                                                     "ServerAccess.EndsCleanlyWhenTold"],
}


class OtherWork:
    """`with OtherWork(server.process.pid) as other`: afterwards other.share of all CPUs went to neither that process nor
    children that have ended, or was taken by the host."""

    def __init__(self, pid):
        self.pid = pid

    def state(self):
        with open("/proc/stat") as file:
            ticks = [int(n) for n in file.readline().split()[1:9]]
        with open("/proc/%d/stat" % self.pid) as file:
            server = sum(int(n) for n in file.read().rsplit(")", 1)[1].split()[11:13])
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        mine = server + (used.ru_utime + used.ru_stime) * os.sysconf("SC_CLK_TCK")
        return sum(ticks) - ticks[3] - ticks[4], mine, sum(ticks)

    def __enter__(self):
        self.before = self.state()
        return self

    def __exit__(self, kind, error, trace):
        busy, mine, all_of_it = (b - a for a, b in zip(self.before, self.state()))
        self.share = max(0.0, busy - mine) / max(1, all_of_it)


def figure(name, value, bar, ok):
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return bool(ok)


class Check:
    def __init__(self, args):
        build = os.path.abspath(args.build)
        self.args, self.good = args, True
        # Not its real path: a virtual environment is found by its own.
        args.triton_python = os.path.abspath(args.triton_python)
        self.server = os.path.join(build, "server", "rknn_server")
        self.library = os.path.join(build, "src", "capi", "librknnrt.so")
        self.stand_in = os.path.join(build, "tests", "server", "stand_in", "librknnrt.so")
        self.remote = os.path.join(build, "server", "librknn_remote.so")
        self.command = os.path.join(build, "tools", "rknn", "rknn")
        self.server_test = os.path.join(build, "tests", "server", "server_test")
        self.server_check = os.path.join(build, "tests", "server", "server_check")
        self.environment = dict(
            os.environ, OPENRKNN_SERVER=self.server, OPENRKNN_REMOTE_LIBRARY=self.remote, OPENRKNN_COMMAND=self.command,
            RK_SIGNS_RKNN=os.path.abspath(args.signs), OPENRKNN_SERVER_LIBRARY=self.library,
            OPENRKNN_LIBRARY_DIR=os.path.join(build, "src", "toolkit") + os.pathsep + os.path.dirname(self.library),
            PYTHONPATH=os.path.join(ROOT, "python"), PYTHONDONTWRITEBYTECODE="1")

    def figure(self, name, value, bar, ok):
        self.good &= figure(name, value, bar, ok)

    def run(self, words, figures=True, **environment):
        """Repeats the figures of a command; its output where it fails."""
        done = subprocess.run(words, env=dict(self.environment, **environment), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=os.path.join(ROOT, "tests", "python"))
        text = done.stdout.decode(errors="replace")
        for line in text.splitlines():
            if figures and line.startswith("FIGURE "):
                print(line, flush=True)
        if done.returncode != 0:
            self.good = False
            print(text[-6000:], flush=True)
        return done.returncode == 0, text

    def claims(self, where, groups, **environment):
        """One figure per group of server_test's tests."""
        names = [name for group in groups.values() for name in group]
        _, text = self.run([self.server_test, "--gtest_filter=" + ":".join(names)], **environment)
        for claim, tests in groups.items():
            passed = sum("[       OK ] %s (" % test in text for test in tests)
            self.figure(where + claim, "%d of %d tests" % (passed, len(tests)), "all", passed == len(tests))

    def unit_tests(self, name, words, **environment):
        ok, text = self.run(words, **environment)
        ran = re.search(r"Ran (\d+) tests?|\[  PASSED  \] (\d+) tests?", text)
        count = int(ran.group(1) or ran.group(2)) if ran else 0
        skipped = re.search(r"skipped=(\d+)|\[  SKIPPED \]", text)
        self.figure(name, "%d tests" % count, "all pass, none skipped", ok and count > 0 and not skipped)

    def version(self):
        text = subprocess.run("strings %s | grep 'rknn_server version'" % self.server, shell=True,
                              stdout=subprocess.PIPE).stdout.decode().strip()
        self.figure("strings rknn_server | grep 'rknn_server version'", text, "one line",
                    re.fullmatch(r"rknn_server version: \d+\.\d+\.\d+ \(.*\)", text))

    def local(self):
        self.version()
        self.claims("remote = local bytes: ", SAME_BYTES)
        self.claims("", CLAIMS)
        self.unit_tests("connected mode of the toolkit and the rknn command, TLS, versions, analysis = local",
                        [PYTHON, "-m", "unittest", "test_connected"])
        self.run([PYTHON, os.path.join(HERE, "command.py")])
        self.run([PYTHON, os.path.join(HERE, "scripts.py"), "--server", self.server, "--library", self.library])
        self.run([PYTHON, os.path.join(HERE, "deploy.py"), "--server", self.server])

    def vendor(self):
        """The stand-in for the vendor's library: the same tests, and the toolkit's, on it."""
        self.run([PYTHON, os.path.join(HERE, "vendor_symbols.py"), self.stand_in,
                  os.path.join(ROOT, "tests", "abi", "abi_facts.json")])
        self.unit_tests("stand-in for the vendor's library: all server tests", [self.server_test],
                        OPENRKNN_SERVER_LIBRARY=self.stand_in)
        self.unit_tests("stand-in for the vendor's library: connected mode", [PYTHON, "-m", "unittest", "test_connected"],
                        OPENRKNN_SERVER_LIBRARY=self.stand_in)

    def arm(self):
        """A server for 64-bit ARM under qemu-user, with the runtime and a plug-in for it."""
        build, sysroot = os.path.abspath(self.args.arm), os.path.abspath(self.args.sysroot)
        server = os.path.join(build, "server", "rknn_server")
        kind = subprocess.run(["file", "-bL", server], stdout=subprocess.PIPE).stdout.decode()
        self.figure("server for 64-bit ARM", kind.split(",")[1].strip() if "," in kind else kind.strip(), "ARM aarch64",
                    "ARM aarch64" in kind)
        self.run([PYTHON, os.path.join(HERE, "arm_client.py"), "--remote", os.path.join(build, "server", "librknn_remote.so"),
                  "--sysroot", sysroot])
        emulated = {"OPENRKNN_SERVER": "qemu-aarch64 -cpu max -L %s %s" % (sysroot, server),
                    "OPENRKNN_SERVER_LIBRARY": os.path.join(build, "src", "capi", "librknnrt.so"),
                    "OPENRKNN_SERVER_PLUGINS": os.path.join(build, "plugins")}
        self.claims("remote under qemu-arm64 = local bytes: ", SAME_BYTES, **emulated)
        self.unit_tests("remote under qemu-arm64 = local bytes: converted models (int8, float16, several shapes), analysis",
                        [PYTHON, "-m", "unittest", "test_connected.Connected.test_remote_bytes_are_local_bytes",
                         "test_connected.Connected.test_several_shapes",
                         "test_connected.Connected.test_accuracy_analysis_fills_the_board_column_with_the_same_figures"],
                        **emulated)

    def evaluate(self):
        self.run([PYTHON, os.path.join(HERE, "evaluate_check.py")])

    def triton(self):
        """The field's own client on a model of the server's folder."""
        if not os.path.exists(self.args.triton_python):
            self.figure("tritonclient[grpc]", "not installed: make triton-venv", "installed", False)
            return
        np, models, Server = self.python_parts()
        with tempfile.TemporaryDirectory() as folder:
            served = os.path.join(folder, "served")
            os.mkdir(served)
            rknn = models.digits()
            rknn.export_rknn(os.path.join(served, "digits.rknn"))
            rknn.init_runtime()
            pictures = models.digit_pictures()[0][:20]
            np.save(os.path.join(folder, "in.npy"), pictures)
            np.save(os.path.join(folder, "out.npy"), np.stack([rknn.inference([p[None]])[0] for p in pictures]))
            rknn.release()
            with Server("--models", served) as server:
                self.run([self.args.triton_python, os.path.join(HERE, "triton.py"), server.address,
                          os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy"), "digits"], PYTHONPATH="")
        self.printed_example(Server)

    def printed_example(self, Server):
        """The lines of docs/remote.md, as they stand there."""
        with open(os.path.join(ROOT, "docs", "remote.md")) as file:
            lines = re.search(r"tritonclient\[grpc\]`[^\n]*\n\n((?:    .*\n)+)", file.read()).group(1)
        code = "".join(line[4:] for line in lines.splitlines(keepends=True))
        with Server("--models", os.path.dirname(os.path.abspath(self.args.signs)), port=8001):
            ok, text = self.run([self.args.triton_python, "-c", code], PYTHONPATH="")
        self.figure("docs/remote.md: the example of tritonclient, %d lines" % code.count("\n"), text.strip()[-60:],
                    "the shape it tells", ok and text.strip() == re.search(r"# (\(.*\))", code).group(1))

    def python_parts(self):
        os.environ.update(self.environment)
        for folder in (os.path.join(ROOT, "python"), os.path.join(ROOT, "tests", "python")):
            if folder not in sys.path:
                sys.path.insert(0, folder)
        import numpy
        import models
        from servers import Server
        return numpy, models, Server

    def bench(self):
        done = subprocess.run([self.command, "bench", self.args.signs, "-n", "30", "-w", "5", "--json"], check=True,
                              stdout=subprocess.PIPE, env=self.environment)
        return json.loads(done.stdout)["general"]["fps"]

    def load(self):
        """Throughput and waiting times of tritonclient's connections on signs, beside `rknn bench`."""
        if not os.path.exists(self.args.triton_python):
            self.figure("load through tritonclient[grpc]", "not installed: make triton-venv", "installed", False)
            return
        _, _, Server = self.python_parts()
        with tempfile.TemporaryDirectory() as served:
            os.symlink(os.path.abspath(self.args.signs), os.path.join(served, "signs.rknn"))
            with Server("--models", served) as server:
                def calls(seconds, rate=0.0):
                    done = subprocess.run([self.args.triton_python, os.path.join(HERE, "load.py"), server.address, "signs",
                                           "--connections", str(CONNECTIONS), "--seconds", str(seconds), "--rate",
                                           str(rate)], check=True, stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=""))
                    return json.loads(done.stdout)
                calls(1)
                failed = [0]

                def rounds(what):
                    """Results of what(), those of a quiet machine where there are enough."""
                    quiet, loud = [], []
                    while len(quiet) < ROUNDS and len(quiet) + len(loud) < MOST_ROUNDS:
                        with OtherWork(server.process.pid) as other:
                            result, text = what()
                        (quiet if other.share <= OTHERS else loud).append(result)
                        print("%s; other work %.0f %%" % (text, 100 * other.share), flush=True)
                    if len(quiet) < ROUNDS:
                        print("the machine is busy: %d of %d rounds were quiet" % (len(quiet), len(quiet) + len(loud)))
                    return quiet if len(quiet) >= ENOUGH else quiet + loud

                def throughput():
                    # In turn, so that what else the machine does falls on both.
                    alone, full = self.bench(), calls(4)
                    failed[0] += full["failed"]
                    return (full["rate"] / alone, full["rate"]), "signs: rknn bench %.1f frames/s, %d connections %.1f" % (
                        alone, CONNECTIONS, full["rate"])

                def waiting():
                    part = calls(5, rate)
                    failed[0] += part["failed"]
                    return part["p99_ms"] / part["p50_ms"], "%.1f calls/s: p50 %.1f ms, p99 %.1f ms" % (
                        rate, part["p50_ms"], part["p99_ms"])
                # The middle ones count.
                found = rounds(throughput)
                share, full_rate = (statistics.median(values) for values in zip(*found))
                rate = 0.7 * full_rate
                tail = statistics.median(rounds(waiting))
        _, text = self.run([self.server_check, "--gtest_filter=CheckServer.KeepsUp*"])
        print("\n".join(line for line in text.splitlines() if "64 connections" in line), flush=True)
        self.figure("%d tritonclient connections on signs: throughput / rknn bench" % CONNECTIONS, "%.3f" % share, ">= 0.9",
                    share >= 0.9)
        self.figure("%d tritonclient connections at 70 %% load: p99 / p50" % CONNECTIONS, "%.2f" % tail, "<= 3", tail <= 3)
        self.figure("%d tritonclient connections: failed calls" % CONNECTIONS, failed[0], "<= 0", failed[0] == 0)

    def cost(self):
        self.run([self.server_check, "--gtest_filter=CheckServer.OneCallCostsLittle"])

    def faults(self):
        self.run([self.server_check, "--gtest_filter=-CheckServer.OneCallCostsLittle:CheckServer.KeepsUp*"])
        self.run([PYTHON, os.path.join(HERE, "faults.py"), "--server", self.server, "--library", self.library, "--remote",
                  self.remote])

    def sanitized(self, name, build, thread=False):
        """Server and runtime instrumented, tests as they are."""
        build = os.path.abspath(build)
        with tempfile.TemporaryDirectory() as folder:
            options = "log_path=%s" % os.path.join(folder, "report")
            changed = {
                "OPENRKNN_SERVER": os.path.join(build, "server", "rknn_server"),
                "OPENRKNN_SERVER_LIBRARY": os.path.join(build, "src", "capi", "librknnrt.so"),
                "ASAN_OPTIONS": options + ":quarantine_size_mb=8",
                "LSAN_OPTIONS": "use_tls=0:print_suppressions=0:suppressions=" + os.path.join(HERE, "lsan.supp"),
                "UBSAN_OPTIONS": options + ":print_stacktrace=1",
                "TSAN_OPTIONS": options + ":exitcode=0",  # most reports are not about us
                "RK_SERVER_ENDS_ITSELF": "1", "RK_SERVER_MALFORMED": "2000" if thread else "10000",
                "RK_SERVER_ROUNDS": "20", "RK_SERVER_GROWTH_MIB": "128"}
            ok, text = self.run([self.server_test], figures=False, **changed)
            counts = re.search(r"\[  PASSED  \] (\d+) tests", text)
            more, _ = self.run([self.server_check, "--gtest_filter=*Damaged*:*ManyClients*:*Stall*"], figures=False, **changed)
            text = ""
            for report in sorted(os.listdir(folder)):
                with open(os.path.join(folder, report), errors="replace") as file:
                    text += file.read()
        if thread:
            reports, count = races.reports_of(text, ROOT)
            self.figure("reports of TSan are told apart", races.works(), True, races.works())
            print("%d reports of TSan, %d of them about our own code" % (count, len(reports)))
        else:
            reports = [text] if text else []
        for report in reports[:3]:
            print(report[:6000])
        self.figure("server under %s: tests, damaged messages, clients that come and go" % name,
                    "%s tests and 3 runs, %d reports" % (counts.group(1) if counts else 0, len(reports)), "all pass, 0 reports",
                    ok and more and not reports)

    def asan(self):
        self.sanitized("ASan and UBSan", self.args.dev)

    def tsan(self):
        self.sanitized("TSan", self.args.tsan, thread=True)


PARTS = ["local", "vendor", "arm", "evaluate", "triton", "cost", "load", "faults", "asan", "tsan"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=PARTS)
    for option in ("build", "dev", "tsan", "arm", "sysroot", "signs", "triton-python"):
        parser.add_argument("--" + option, required=True)
    args = parser.parse_args()
    check = Check(args)
    for part in args.parts:
        getattr(check, part)()
    return 0 if check.good else 1


if __name__ == "__main__":
    sys.exit(main())

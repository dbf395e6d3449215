#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files between us and the vendor: what we write beside what its compiler writes; and models under a key. Closes with one
summary line; exit 0 only when every figure holds.

    check.py BUILD_FOLDER

The corpus of vendor files comes from ../shared (unpacked below the build folder once, as check-vendor does). RK_VENDOR_FURTHER
names a folder of further files with their source models, made by tests/vendor/make_files.py (--types int8, --chips
rk3588,rv1106): constants can be judged with source models only, and of RV1106 the corpus has little but one network.
RK_VENDOR_PYTHON names the Python of an environment with rknn-toolkit2, a peer that may be absent; it also compiles the
networks that the corpus does not have. RK_NETRON names Netron's source folder.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "vendor"))
from check import unpack_corpus  # noqa: E402  (tests/vendor/check.py)


# Networks whose lists the emulator executes, calibrated on the pictures of the signs, and the vendor's files of the same
# networks in the corpus: what these leave to the CPU needs no list.
NETWORKS = [("signs/signs.onnx", "signs"),
            ("models/onnx/ultraface_rfb320_simplified/version-RFB-320_simplified.onnx", None),
            ("models/onnx/yunet_n_320/yunet_n_320_320.onnx", "yunet_n_320"),
            ("models/onnx/fastestdet/FastestDet.onnx", "fastestdet")]
# Networks of random weights that bench/models.py writes, and the side of their picture.
RANDOM = [("mobilenet_v2", 224), ("resnet18", 224), ("yolov5s_relu", 320)]

SHARED = os.path.abspath(os.path.join(HERE, "..", "..", "..", "shared"))
ASSETS = os.path.join(SHARED, "assets")
CALIBRATION = os.path.join(ASSETS, "signs", "dataset.txt")
PICTURE = ["--mean", "0,0,0", "--std", "255,255,255"]

# Other chips with lists. The first two are of one design: a file for either says rk3566.
CHIPS = ["rk3566", "rk3568", "rk3562", "rk3576", "rv1126b", "rv1106", "rv1103"]
CODED_CHIPS = ["rk3566", "rk3562", "rk3576", "rv1106"]  # with coded weights, too
HALF_CHIPS = ["rk3566", "rk3568", "rk3562", "rk3576", "rv1126b"]  # with lists of float16, too

# What nothing writes, said in the summary and not judged: lists are asked for chips whose registers are of RK3588's family, for
# the small ones where their lists are decoded, and no figure that must be shown needs these. docs/on-a-board.md says so, too.
UNWRITTEN = ["register lists for RV1103B, RV1106B and RK2118",
             "on both cores of RK3576 together an odd number of rows that do not fit at once or go through a table, channels of "
             "depthwise layers that do not fit, and some long kernels with steps: the first core does these"]


def quiet(command, **options):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


class Network:
    """A source model, our files of it with register lists, and the vendor's file, where there is one."""

    def __init__(self, folder, model, vendors=None, dataset=CALIBRATION, options=PICTURE, name=None):
        self.model, self.vendors, self.dataset, self.options = model, vendors, dataset, options
        name = name or os.path.splitext(os.path.basename(model))[0].replace(".float", "")
        self.int8, self.half = [os.path.join(folder, name + suffix + ".rknn") for suffix in ("", "_f16")]
        self.made = os.path.join(folder, "vendor_" + name)

    def write(self, build, path, options, chip="rk3588"):
        quiet([os.path.join(build, "tools", "rknn", "rknn"), "convert", self.model, "-t", chip, "-o", path, "--for-board"] +
              self.options + options, check=True)

    def for_chip(self, build, chip, count):
        """int8 and float16, or the first of them."""
        paths = [path.replace(".rknn", f"_{chip}.rknn") for path in (self.int8, self.half)][:count]
        for path, options in zip(paths, (["--dataset", self.dataset], ["--float"])):
            self.write(build, path, options, chip)
        return paths

    def coded_for_chip(self, build, chip):
        """int8 with coded weights, and the file without, which for_chip() wrote."""
        plain = self.int8.replace(".rknn", f"_{chip}.rknn")
        path = plain.replace(".rknn", "_coded.rknn")
        self.write(build, path, ["--dataset", self.dataset, "--compress-weight"], chip)
        return path, plain

    def write_int8(self, build):
        self.write(build, self.int8, ["--dataset", self.dataset])

    def write_half(self, build):
        self.write(build, self.half, ["--float"])

    def ask_vendor(self, peer):
        """The vendor's file of a network that the corpus does not have."""
        path = os.path.join(self.made, "model.rknn")
        tool = os.path.join(SHARED, "tools", "vendor_file.py")
        if self.vendors is None and peer and os.path.exists(tool):
            if not os.path.exists(path):
                quiet([peer, tool, self.model, "rk3588", "int8", self.made, "--dataset", self.dataset] + self.options)
            self.vendors = path if os.path.exists(path) else None

    def pair(self, path):
        return path + (f"={self.vendors}" if self.vendors else "")


def networks_of(build, corpus, peer):
    """Files of ours with register lists, or none where the networks are not there."""
    folder = os.path.join(build, "check-interop")
    os.makedirs(folder, exist_ok=True)
    networks = []
    for model, vendors in NETWORKS:
        path = os.path.join(ASSETS, model)
        if not os.path.exists(path):
            return []
        networks.append(Network(folder, path, f"{corpus}/rk3588/int8/{vendors}/model.rknn" if vendors and corpus else None))
    for name, size in RANDOM:
        path = os.path.join(folder, f"{name}.float.onnx")
        if not os.path.exists(path):
            quiet([peer or sys.executable, os.path.join(HERE, "..", "..", "bench", "models.py"), folder, "--size", str(size), "--only", name])
        if not os.path.exists(path):
            print(f"MISSING {name}: bench/models.py needs a Python with onnx; RK_VENDOR_PYTHON may name one")
            return []
        networks.append(Network(folder, path))
    for network in networks:
        network.write_int8(build)
        network.write_half(build)
        network.ask_vendor(peer)
    return networks


def netron_command(build, networks, further):
    """Netron's view of ours beside the vendor's: the networks above and those of the further files."""
    source, dump = os.environ.get("RK_NETRON"), os.path.join(SHARED, "tools", "netron-dump.mjs")
    if not source or not os.path.exists(dump):
        return [sys.executable, "-c", "print('FIGURE Netron: networks shown alike | none: RK_NETRON names no folder | ten | SHORT')"]
    shown = [network for network in networks if network.vendors]
    networks_there = os.path.join(further, "rk3588", "int8") if further else ""
    for name in sorted(os.listdir(networks_there)) if os.path.isdir(networks_there) else []:
        folder = os.path.join(networks_there, name)
        if name.startswith("layer_") or not os.path.exists(os.path.join(folder, "model.rknn")):
            continue
        shown.append(Network(os.path.join(build, "check-interop"), os.path.join(folder, "source.onnx"), os.path.join(folder, "model.rknn"),
                             os.path.join(folder, "dataset.txt"), [], name))
        shown[-1].write_int8(build)
    return [sys.executable, os.path.join(HERE, "netron_check.py"), source, dump] + [network.pair(network.int8) for network in shown]


def main():
    build = os.path.abspath(sys.argv[1])
    programs = os.path.join(build, "tests", "interop")
    folders = [unpack_corpus(build), os.environ.get("RK_VENDOR_FURTHER")]
    corpus, further = [folder if folder and os.path.isdir(folder) else None for folder in folders]
    commands = []
    if corpus:
        commands.append([sys.executable, os.path.join(HERE, "registers_check.py"), os.path.join(programs, "register_compare"),
                         os.path.join(HERE, "..", "..", "docs", "fidelity.md"), corpus] + ([further] if further else []))
    else:
        print("MISSING the corpus of vendor files is absent: ../shared/assets/vendor-oracle")
    if further:
        commands.append([os.path.join(programs, "constant_compare"), further])
    else:
        print("MISSING RK_VENDOR_FURTHER is not set: no source models beside vendor files")
    peer = os.environ.get("RK_VENDOR_PYTHON")
    networks = networks_of(build, corpus, peer)
    if networks:
        commands.append([os.path.join(programs, "own_lists")] + [network.pair(network.int8) for network in networks])
        commands.append([os.path.join(programs, "own_lists"), "--float16"] + [network.pair(network.half) for network in networks])
        files = [path for network in networks for path in (network.int8, network.half)]
        for chip in CHIPS:
            kinds = (chip, chip + " in float16") if chip in HALF_CHIPS else (chip,)
            for kind, others in zip(kinds, zip(*[network.for_chip(build, chip, len(kinds)) for network in networks])):
                commands.append([os.path.join(programs, "own_lists"), "--tasks", kind] + list(others))
                files += others
        coded = [networks[0].coded_for_chip(build, chip) for chip in CODED_CHIPS]
        for chip, (path, plain) in zip(CODED_CHIPS, coded):
            commands.append([os.path.join(programs, "own_lists"), "--tasks", chip + " with coded weights", path])
        smaller = sum(os.path.getsize(path) < os.path.getsize(plain) for path, plain in coded)
        ok = "ok" if smaller == len(coded) else "SHORT"
        commands.append([sys.executable, "-c", f"print('FIGURE files with coded weights that are smaller than those without | "
                         f"{smaller} of {len(coded)} | all | {ok}')"])
        files += [path for path, plain in coded]
        if peer:
            commands.append([peer, os.path.join(HERE, "load_check.py")] + files)
        else:
            print("SKIP load_rknn of the vendor's toolkit: RK_VENDOR_PYTHON names no Python that has it")
        commands.append(netron_command(build, networks, further))
    else:
        print("MISSING networks are absent: ../shared/assets")
    commands.append([os.path.join(build, "src", "units_format"), "--gtest_filter=Scrypt.*:Gcm.*:EncryptedModel.*"])
    commands.append([os.path.join(programs, "interop_encryption")])
    commands.append([sys.executable, "-c"] + ["\n".join(f"print('COUNT not written: {name}')" for name in UNWRITTEN)])
    words = [sys.executable, os.path.join(HERE, "..", "check.py"), "check-interop"]
    for command in commands:
        words += ["--"] + command
    code = subprocess.run(words).returncode if commands else 1
    return code if corpus and further and networks else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files between us and the vendor: what we write beside what its compiler writes; and models under a key. Closes with one
summary line; exit 0 only when every figure holds.

    check.py BUILD_FOLDER

The corpus of vendor files comes from ../shared (unpacked below the build folder once, as check-vendor does). RK_VENDOR_FURTHER
names a folder of further files with their source models, made by tests/vendor/make_files.py: constants can be judged with
source models only. RK_VENDOR_PYTHON names the Python of an environment with rknn-toolkit2, a peer that may be absent.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "vendor"))
from check import unpack_corpus  # noqa: E402  (tests/vendor/check.py)


# Networks whose lists the emulator executes, calibrated on the pictures of the signs, and the vendor's files of the same
# networks: their nodes of the CPU need no lists.
NETWORKS = [("signs/signs.onnx", "signs"),
            ("models/onnx/ultraface_rfb320_simplified/version-RFB-320_simplified.onnx", None),
            ("models/onnx/yunet_n_320/yunet_n_320_320.onnx", "yunet_n_320"),
            ("models/onnx/fastestdet/FastestDet.onnx", "fastestdet")]


# Parts of the aim that nothing writes yet, so that the check cannot pass without them.
UNWRITTEN = [("register lists of float16 nodes other than convolutions", "all"),
             ("register lists for other chips than RK3588", "two chips")]


def board_files(build, options, suffix=""):
    """Files of ours with register lists, or none where the networks are not there."""
    assets = os.path.abspath(os.path.join(HERE, "..", "..", "..", "shared", "assets"))
    folder = os.path.join(build, "check-interop")
    os.makedirs(folder, exist_ok=True)
    files = []
    for network, _ in NETWORKS:
        model = os.path.join(assets, network)
        if not os.path.exists(model):
            return []
        files.append(os.path.join(folder, os.path.splitext(os.path.basename(model))[0] + suffix + ".rknn"))
        subprocess.run([os.path.join(build, "tools", "rknn", "rknn"), "convert", model, "-t", "rk3588", "--mean", "0,0,0",
                        "--std", "255,255,255", "-o", files[-1], "--for-board"] + options(assets), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return files


def main():
    build = os.path.abspath(sys.argv[1])
    programs = os.path.join(build, "tests", "interop")
    folders = [unpack_corpus(build), os.environ.get("RK_VENDOR_FURTHER")]
    corpus, further = [folder if folder and os.path.isdir(folder) else None for folder in folders]
    commands = []
    if corpus:
        commands.append([os.path.join(programs, "register_compare"), corpus] + ([further] if further else []))
    else:
        print("MISSING the corpus of vendor files is absent: ../shared/assets/vendor-oracle")
    if further:
        commands.append([os.path.join(programs, "constant_compare"), further])
    else:
        print("MISSING RK_VENDOR_FURTHER is not set: no source models beside vendor files")
    own = board_files(build, lambda assets: ["--dataset", os.path.join(assets, "signs", "dataset.txt")])
    halves = board_files(build, lambda assets: ["--float"], "_f16")
    if own:
        pairs = [path + (f"={corpus}/rk3588/int8/{vendor}/model.rknn" if vendor and corpus else "")
                 for path, (_, vendor) in zip(own, NETWORKS)]
        commands.append([os.path.join(programs, "own_lists")] + pairs)
        commands.append([os.path.join(programs, "own_lists"), "--float16"] + halves)
        peer = os.environ.get("RK_VENDOR_PYTHON")
        if peer:
            commands.append([peer, os.path.join(HERE, "load_check.py")] + own + halves)
        else:
            print("SKIP load_rknn of the vendor's toolkit: RK_VENDOR_PYTHON names no Python that has it")
    else:
        print("MISSING networks are absent: ../shared/assets")
    commands.append([os.path.join(build, "src", "units_format"), "--gtest_filter=Scrypt.*:Gcm.*:EncryptedModel.*"])
    commands.append([os.path.join(programs, "interop_encryption")])
    for name, bar in UNWRITTEN:
        commands.append([sys.executable, "-c", f"print('FIGURE {name} | none | {bar} | SHORT')"])
    words = [sys.executable, os.path.join(HERE, "..", "check.py"), "check-interop"]
    for command in commands:
        words += ["--"] + command
    code = subprocess.run(words).returncode if commands else 1
    return code if corpus and further and own else 1


if __name__ == "__main__":
    sys.exit(main())

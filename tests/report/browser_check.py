#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens pages of `rknn report` in Debian's chromium, walks every view and selects layers.

    browser_check.py --rknn PROGRAM --work FOLDER MODEL...

A MODEL is anything `rknn report` takes with -t rk3588. One more page of 2,000 layers is made here. Prints
'FIGURE <name> | <value> | <bar> | ok/SHORT' lines and keeps screenshots (1280 and 390 pixels wide) in FOLDER.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

BAR_MS = 100
MOST_BYTES = 6 << 20
LAYERS = 2000
# Walks the views as a user would, and leaves what it saw in the title. The second visit counts: the first one includes
# the browser's own start.
PROBE = """<script>
const seen = [];
let slowest = 0, slowestView = '';
window.addEventListener('error', event => seen.push(event.message));
for (const round of [0, 1]) {
  for (const name of Object.keys(shownViews())) {
    for (const act of [() => { page.view = name; render(); }, () => select(Math.min(5, model().steps.length - 1)),
                       () => { page.wanted = 'conv'; render(); }, () => { page.wanted = ''; render(); }]) {
      const start = performance.now();
      act();
      void byId('view').offsetHeight;
      const took = performance.now() - start;
      if (round && took > slowest) { slowest = took; slowestView = name; }
    }
  }
}
page.view = new URLSearchParams(location.search).get('view') || 'Graph';
render();
document.title = `PROBE ${Object.keys(shownViews()).length} views, ${slowest.toFixed(1)} ms in ${slowestView}, ` +
  `errors: ${seen.length ? seen.join('; ') : 'none'}, wide: ${document.documentElement.scrollWidth - window.innerWidth}`;
</script></body>"""
short = 0


def figure(name, value, bar, ok):
    global short
    print(f"FIGURE {name} | {value} | {bar} | {'ok' if ok else 'SHORT'}", flush=True)
    short += not ok


def chromium(*arguments):
    return subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)


def wide_model(path):
    """A chain of additions and activations."""
    import onnx
    from onnx import TensorProto, helper
    nodes, last = [], "x"
    for i in range(LAYERS):
        # Neither folds into its neighbor, so that each stays a layer.
        op = ("Sigmoid", "Tanh")[i % 2] if i % 5 else "Sin"
        nodes.append(helper.make_node(op, [last], [f"v{i}"], name=f"node_{i}"))
        last = f"v{i}"
    graph = helper.make_graph(nodes, "wide", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 8, 8])],
                              [helper.make_tensor_value_info(last, TensorProto.FLOAT, [1, 16, 8, 8])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def check(page, name, work):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    outside = re.findall(r'(?:src|href)="[a-z]+:', text)
    figure(f"{name}: addresses that the page would load", len(outside), "0", not outside)
    probe = os.path.join(work, name + ".probe.html")
    with open(probe, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", PROBE))
    for width, height in ((1280, 900), (390, 844)):
        done = chromium(f"--window-size={width},{height}", "--enable-logging=stderr", "--virtual-time-budget=4000",
                        "--dump-dom", "file://" + os.path.abspath(probe))
        found = re.search(r"<title>PROBE (\d+) views, ([\d.]+) ms in (\w+), errors: (.*?), wide: (-?\d+)</title>", done.stdout)
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        figure(f"{name} at {width}: every view without an error", found.group(4) if found else "no answer", "none",
               bool(found) and found.group(4) == "none" and not console)
        if not found:
            continue
        figure(f"{name} at {width}: slowest interaction", f"{found.group(2)} ms ({found.group(3)})", f"{BAR_MS} ms",
               float(found.group(2)) <= BAR_MS)
        figure(f"{name} at {width}: pixels beyond the window", found.group(5), "0", int(found.group(5)) <= 0)
        for view in ("Graph", "Layers"):
            chromium(f"--window-size={width},{height}", f"--screenshot={os.path.join(work, f'{name}.{view}.{width}.png')}",
                     f"file://{os.path.abspath(probe)}?view={view}")
    figure(f"{name}: size of the page", f"{len(text.encode()) / 1048576:.2f} MiB", f"{MOST_BYTES >> 20} MiB",
           len(text.encode()) <= MOST_BYTES)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rknn", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("models", nargs="*")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    if shutil.which("chromium") is None:
        print("SKIP pages in a browser: the Debian package chromium is absent")
        return 1
    wide = os.path.join(args.work, "layers_2000.onnx")
    wide_model(wide)
    for model in [wide, *args.models]:
        name = os.path.splitext(os.path.basename(model))[0]
        page = os.path.join(args.work, name + ".html")
        built = [] if model.endswith(".rknn") else ["-t", "rk3588"]
        done = subprocess.run([args.rknn, "report", model, *built, "-o", page], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        figure(f"{name}: page made", done.stdout.strip().splitlines()[-1] if done.returncode else "yes", "yes",
               done.returncode == 0)
        if done.returncode == 0:
            check(page, name, args.work)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())

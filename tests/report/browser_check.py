#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens pages of `rknn report` in Debian's chromium, walks every view and selects layers.

    browser_check.py --rknn PROGRAM --work FOLDER [--axe axe.min.js] [--analyzed MODEL DATASET INPUT] MODEL...

A MODEL is anything `rknn report` takes with -t rk3588; --analyzed adds one with the error of each layer. One more page of
2,000 layers is made here. With axe-core (npm) every page is checked for accessibility in every view. Prints
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
# Walks the views as a user would, and leaves what it saw in the title. Of four visits the best of the last three counts:
# the first one includes the browser's own start, and what else the machine does is not the page's.
PROBE = """<script>
const seen = [];
let slowest = 0, slowestView = '';
window.addEventListener('error', event => seen.push(event.message));
const best = {};
for (const round of [0, 1, 2, 3]) {
  for (const name of Object.keys(shownViews())) {
    let number = 0;
    for (const act of [() => { page.view = name; render(); }, () => select(Math.min(5, model().steps.length - 1)),
                       () => { page.wanted = 'conv'; render(); }, () => { page.wanted = ''; render(); }]) {
      const start = performance.now();
      act();
      void byId('view').offsetHeight;
      const took = performance.now() - start;
      const key = `${name} ${number++}`;
      if (round) best[key] = Math.min(best[key] ?? took, took);
    }
  }
}
for (const [key, took] of Object.entries(best)) {
  if (took > slowest) { slowest = took; slowestView = key.split(' ')[0]; }
}
page.view = new URLSearchParams(location.search).get('view') || 'Graph';
render();
document.title = `PROBE ${Object.keys(shownViews()).length} views, ${slowest.toFixed(1)} ms in ${slowestView}, ` +
  `errors: ${seen.length ? seen.join('; ') : 'none'}, wide: ${document.documentElement.scrollWidth - window.innerWidth}`;
</script></body>"""
# Serious findings of axe-core in every view, in the title.
AXE = """<script>%s</script><script>
(async () => {
  const found = new Set();
  for (const name of Object.keys(shownViews())) {
    page.view = name;
    render();
    const result = await axe.run(document, {resultTypes: ['violations']});
    for (const one of result.violations) {
      if (['serious', 'critical'].includes(one.impact)) found.add(`${one.id} in ${name}: ${one.nodes[0].target}`);
    }
  }
  document.title = `AXE ${found.size}; ${[...found].join('; ')}.`;
})().catch(error => { document.title = `AXE 99; ${error}.`; });
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


def check_accessibility(page, name, work, axe):
    probe = os.path.join(work, name + ".axe.html")
    with open(page, encoding="utf-8") as file, open(axe, encoding="utf-8") as script, \
            open(probe, "w", encoding="utf-8") as out:
        out.write(file.read().replace("</body>", AXE % script.read().replace("</script", "<\\/script")))
    done = chromium("--window-size=1280,900", "--virtual-time-budget=60000", "--dump-dom", "file://" + os.path.abspath(probe))
    found = re.search(r"<title>AXE (\d+); (.*?)\.</title>", done.stdout, re.S)
    if found and found.group(1) != "0":
        print(name, found.group(2))
    figure(f"{name}: serious findings of axe-core", found.group(1) if found else "no answer", "0",
           bool(found) and found.group(1) == "0")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rknn", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--axe")
    parser.add_argument("--analyzed", nargs=3, metavar=("MODEL", "DATASET", "INPUT"))
    parser.add_argument("models", nargs="*")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    if shutil.which("chromium") is None:
        print("SKIP pages in a browser: the Debian package chromium is absent")
        return 1
    wide = os.path.join(args.work, "layers_2000.onnx")
    wide_model(wide)
    axe = args.axe if args.axe and os.path.exists(args.axe) else None
    if axe is None:
        print("SKIP accessibility of the pages: axe-core of npm is not installed here")
    analyzed = args.analyzed[:1] if args.analyzed else []
    for model in [wide, *analyzed, *args.models]:
        name = os.path.splitext(os.path.basename(model))[0]
        page = os.path.join(args.work, name + ".html")
        built = [] if model.endswith(".rknn") else ["-t", "rk3588"]
        if analyzed and model == analyzed[0]:
            built += ["--dataset", args.analyzed[1], "-i", args.analyzed[2], "--std", "255,255,255"]
        done = subprocess.run([args.rknn, "report", model, *built, "-o", page], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        figure(f"{name}: page made", done.stdout.strip().splitlines()[-1] if done.returncode else "yes", "yes",
               done.returncode == 0)
        if done.returncode == 0:
            check(page, name, args.work)
            if axe is not None and model != wide:  # it looks at every element against every other
                check_accessibility(page, name, args.work, axe)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())

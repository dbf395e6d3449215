#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: the pages of docs/ and those that are made here, by Debian's mkdocs, without a network.

    docs_site.py --rknn PROGRAM --libraries FOLDER:FOLDER --work FOLDER --output FOLDER

Made here: the reference of the command (what it says of itself), of the Python classes (their help texts) and of the C
headers (declarations and their comments), and questions and answers (docs/errors.md by message). Every link is
checked: mkdocs does it between pages and headings are checked here.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..")
DOCS = os.path.join(ROOT, "docs")
NAVIGATION = (
    ("First steps", ("getting-started", "guide", "how-to", "install", "coming-from-the-vendor")),
    ("Using it", ("python", "runtime", "quantization", "accuracy-ladder", "frontends", "onnx", "matmul", "custom-operators",
                  "board-model", "report", "remote", "vendor-demos", "limits", "differences")),
    ("Reference", ("reference-command", "reference-python", "reference-c", "options", "operators")),
    ("Questions", ("faq", "errors", "glossary")),
    ("How it computes", ("fidelity", "optimization", "performance", "container")),
    ("Working on it", ("architecture", "testing", "adding-an-operator", "adding-a-pass", "adding-a-kernel",
                       "adding-a-frontend", "adding-a-chip", "adding-a-query")),
)
CONFIG = """site_name: OpenRKNN
docs_dir: %s
site_dir: %s
use_directory_urls: false
theme:
  name: mkdocs
  highlightjs: false
  nav_style: dark
plugins: [search]
markdown_extensions: [tables, fenced_code, toc]
strict: true
nav:
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def command_page(program):
    return subprocess.run([sys.executable, "-B", os.path.join(HERE, "command_line.py"), program, "--page"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


PYTHON = """
import inspect
from rknn.api import RKNN
from rknnlite.api import RKNNLite
print("# Python reference\\n\\nThe help texts of the classes: `help(RKNN.config)` says the same.")
for cls in (RKNN, RKNNLite):
    print("\\n## %s\\n\\n%s" % (cls.__name__, inspect.getdoc(cls)))
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            print("\\n### %s.%s\\n\\n```\\n%s%s\\n\\n%s\\n```" % (cls.__name__, name, name, inspect.signature(method),
                                                                inspect.getdoc(method)))
"""


def python_page(libraries):
    env = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"), OPENRKNN_LIBRARY_DIR=libraries)
    return subprocess.run(["/usr/bin/python3", "-B", "-c", PYTHON], check=True, stdout=subprocess.PIPE, text=True, env=env).stdout


def c_page():
    """Functions with the comment above them."""
    out = "# C reference\n\nFrom the headers in `include`. [The C runtime](runtime.md) explains how the calls go together.\n"
    for name in ("rknn_api.h", "rknn_matmul_api.h", "rknn_custom_op.h"):
        text = read(os.path.join(ROOT, "include", name))
        out += "\n## %s\n" % name
        found = re.findall(r"((?:^//.*\n)*)^((?:int|void|rknn_tensor_mem\*) (rknn_\w+)\((?:.|\n)*?\);)", text, re.M)
        if not found:
            sys.exit("docs_site: %s has no functions" % name)
        for comment, declaration, function in found:
            words = " ".join(line.lstrip("/ ") for line in comment.splitlines())
            out += "\n### %s\n\n%s\n\n```c\n%s\n```\n" % (function, words, declaration)
    return out


def faq_page():
    """The rows of docs/errors.md that have a message, a cause and a fix, as questions."""
    out = "# Questions and answers\n\nMade of [messages, causes, fixes](errors.md).\n"
    count = 0
    section = ""
    for line in read(os.path.join(DOCS, "errors.md")).splitlines():
        if line.startswith("## "):
            section = "\n" + line + "\n"
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and cells[0].startswith(("`", "warning")):
            out += section + "\n**%s**\n\n%s. **What to do:** %s.\n" % (cells[0], cells[1][:1].upper() + cells[1][1:].rstrip("."),
                                                                    cells[2].rstrip("."))
            section = ""
            count += 1
    if count < 30:
        sys.exit("docs_site: docs/errors.md gave %d questions" % count)
    return out


def staged(args):
    """Writes the sources of the site, links that leave docs/ as plain text; the navigation."""
    shutil.rmtree(args.work, ignore_errors=True)
    os.makedirs(args.work)
    pages = {os.path.basename(path): read(path) for path in glob.glob(os.path.join(DOCS, "*.md"))}
    pages["index.md"] = pages.pop("README.md")
    pages["reference-command.md"] = command_page(args.rknn)
    pages["reference-python.md"] = python_page(args.libraries)
    pages["reference-c.md"] = c_page()
    pages["faq.md"] = faq_page()
    for name, text in pages.items():
        text = re.sub(r"\[([^\]]*)\]\((?:\.\./[^)]*|facts[^)]*)\)", r"\1", text)
        with open(os.path.join(args.work, name), "w", encoding="utf-8") as file:
            file.write(text)
    listed = {page + ".md" for _, group in NAVIGATION for page in group} | {"index.md"}
    lost = sorted(listed - set(pages))
    if lost:
        sys.exit("docs_site: pages of the navigation that are not there: " + ", ".join(lost))
    further = tuple(name[:-3] for name in sorted(set(pages) - listed))
    return NAVIGATION + ((("Further pages", further),) if further else ())


def check_site(folder):
    """(pages, links, problems): local links and their headings, and that nothing is loaded from elsewhere."""
    ids, links, problems = {}, [], []
    for path in glob.glob(os.path.join(folder, "**", "*.html"), recursive=True):
        text = read(path)
        ids[os.path.abspath(path)] = set(re.findall(r'\bid="([^"]+)"', text))
        for kind, target in re.findall(r'<(\w+)[^>]*?\s(?:href|src)="([^"]+)"', text):
            if re.match(r"https?:|//", target):
                if kind != "a":
                    problems.append("%s loads %s" % (os.path.basename(path), target))
            elif not target.startswith(("mailto:", "javascript:", "data:")):
                links.append((os.path.abspath(path), target))
    for path, target in links:
        file, _, heading = target.partition("#")
        full = os.path.abspath(os.path.join(os.path.dirname(path), file.split("?")[0])) if file else path
        if not os.path.exists(full):
            problems.append("%s: %s is not there" % (os.path.basename(path), target))
        elif heading and full in ids and heading not in ids[full]:
            problems.append("%s: no heading %s" % (os.path.basename(path), target))
    return len(ids), len(links), problems


def main():
    parser = argparse.ArgumentParser()
    for name in ("rknn", "libraries", "work", "output"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    args.work, args.output = os.path.abspath(args.work), os.path.abspath(args.output)
    navigation = staged(args)
    config = args.work + ".yml"
    with open(config, "w") as file:
        file.write(CONFIG % (args.work, args.output) + "  - Documentation: index.md\n")
        for title, group in navigation:
            file.write("  - %s:\n%s" % (title, "".join("    - %s.md\n" % page for page in group)))
    built = subprocess.run(["mkdocs", "build", "--quiet", "--strict", "--clean", "-f", config], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    if built.returncode == 0:
        os.remove(os.path.join(args.output, "404.html"))  # for a server's root only; these are files
    pages, links, problems = check_site(args.output) if built.returncode == 0 else (0, 0, [built.stdout])
    print("\n".join(problems[:30]))
    ok = not problems and pages >= 40
    print("FIGURE documentation as a site: pages, links, problems | %d, %d, %d | >= 40, any, 0 | %s" % (
        pages, links, len(problems), "ok" if ok else "SHORT"))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

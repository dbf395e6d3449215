#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which source files may be compiled together, as one translation unit.

Reads lines "target path" from standard input and prints "target path batch" for those that share a batch with others.
Two files of a target do so only where no name that one of them keeps to itself (in an unnamed namespace, or a static,
constant, type, alias or macro) is looked up in the other. So nothing is declared twice, and no name finds another
meaning.
"""
import functools
import os
import re
import sys

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
MOST_FILES = 24
MOST_BYTES = 150_000

# Comments and literals (raw ones too) are skipped; what is left is a macro's definition, another directive, a name or a mark.
TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    r'|^[ \t]*\#[ \t]*define[ \t]+(?P<macro>\w+)|^[ \t]*\#[ \t]*include[^\n]*'
    r'|^[ \t]*\#[ \t]*(?P<directive>(?!define)\w[^\n]*)'
    r'|(?P<name>[A-Za-z_]\w*)|\d[\w.\']*|(?P<mark>::|->|[^\s\w])', re.S | re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
# What is never joined: code for one instruction set, whole namespaces, settings that last until the end of a file.
ALONE = re.compile(r'RK_ISA_BEGIN|^\s*using namespace|^\s*#\s*pragma|^int main\(', re.M)
# Macros of GoogleTest that look like the declaration of a function.
NOT_DECLARED = re.compile(r'TEST|TEST_[FP]|TYPED_TEST\w*|INSTANTIATE_\w+|RK_\w+')

# Words that stand where a name would, in a return type or an attribute.
WORDS = frozenset("auto bool char class const double enum float int int64_t size_t struct uint8_t uint64_t void".split())


class Names:
    def __init__(self, text):
        self.used = set()  # without those after :: . -> which are found in a scope of their own
        self.headers = set()  # declared by headers, so that a static of another file must not be called the same
        self.scopes = set()  # those of `used` that stand before ::
        self.declared = set()  # at namespace level, for whoever includes this file
        self.opened = {}  # namespaces within others, by their last name
        self.kept = {}  # name -> what it stands for, where that is another name, or None
        self.size = len(text)
        self._scopes = []  # what each open brace belongs to: "namespace", "unnamed", "enum" or "other"
        self._statement = []  # names and marks since the last ; { } at namespace level, outside parentheses
        last, parentheses = "", 0
        for match in TOKENS.finditer(text):
            if match["macro"]:
                self.used.add(match["macro"])
                self.kept[match["macro"]] = None
                continue
            if match["directive"]:
                self.used.update(re.findall(r"[A-Za-z_]\w*", match["directive"]))
                continue
            token = match["name"] or match["mark"]
            if token is None:
                continue
            if token == "::" and last in self.used:
                self.scopes.add(last)
            if match["name"] and last not in ("::", ".", "->"):
                self.used.add(token)
                if self._scopes and self._scopes[-1] == "enum":
                    self.kept[token] = None
            last = token
            if token in ("(", "["):
                self._declare(parentheses)
                parentheses += 1
            elif token in (")", "]"):
                parentheses -= 1
            elif token in ("{", "}", ";") and parentheses == 0:
                self._declare(0)
                if token == "{":
                    self._scopes.append(self._kind())
                elif token == "}" and self._scopes:
                    self._scopes.pop()
                self._statement = []
            elif token == "=":
                self._declare(parentheses)
            if token not in ("{", "}", ";", ")", "]") and parentheses == 0 and self._outside():
                self._statement.append(token)

    def _outside(self):
        return all(scope in ("namespace", "unnamed") for scope in self._scopes)

    def _kind(self):
        if not self._outside():
            return "other"
        if "namespace" in self._statement:
            if self._statement[-1] == "namespace":
                return "unnamed"
            if "::" in self._statement:
                self.opened[self._statement[-1]] = "".join(self._statement[self._statement.index("namespace"):])
            return "namespace"
        return "enum" if self._statement[:1] == ["enum"] and "class" not in self._statement else "other"

    def _declare(self, parentheses):
        """Notes the name that the statement has just declared, where it is one that stays in this file."""
        words = self._statement
        if parentheses or not words or not self._outside() or NOT_DECLARED.fullmatch(words[-1]):
            return
        if words[0] == "using" and len(words) > 2 and "=" not in words:
            self.kept[words[-1]] = "".join(words)
            return
        if words[0] == "namespace" and words[-2:-1] == ["="]:
            return
        if "=" in words:
            if words[0] == "namespace":
                self.kept[words[1]] = "".join(words)
            return
        self.declared.add(words[-1])
        for before, name in zip(words, words[1:]):
            if before in ("struct", "class", "enum", "union") and name not in WORDS:
                self.kept[name] = None
                self.declared.add(name)
        local = "unnamed" in self._scopes or {"static", "constexpr", "const", "inline", "using"} & set(words)
        qualified = len(words) > 1 and words[-2] == "::"
        if local and words[0] != "namespace" and not qualified and re.match(r"[A-Za-z_]", words[-1]) \
                and words[-1] not in WORDS:
            self.kept[words[-1]] = None

    def disturbs(self, other):
        """Whether a name kept here is looked up there, unless it stands for the same there. A namespace is looked up where
        it stands before ::, what `using` names in the file's own text; anything else clashes with names of headers too."""
        for name, meaning in self.kept.items():
            if meaning is None:
                met = name in other.used or name in other.headers
            else:
                met = name in (other.scopes if meaning.startswith("namespace") else other.used)
            if met and (meaning is None or other.kept.get(name) != meaning):
                return True
        return False

    def add(self, other):
        self.used |= other.used
        self.headers |= other.headers
        self.scopes |= other.scopes
        self.kept.update(other.kept)
        self.size += other.size


@functools.lru_cache(maxsize=None)
def names_of_header(path):
    """(names declared, namespaces opened) by a header and those it includes; other projects' headers are left out."""
    if not os.path.exists(path):
        return frozenset(), {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    names = Names(text)
    declared, opened = set(names.declared), dict(names.opened)
    for further in INCLUDE.findall(text):
        more = names_of(further, path)
        declared |= more[0]
        opened.update(more[1])
    return frozenset(declared), opened


def names_of(include, includer):
    for folder in (SOURCES, os.path.dirname(SOURCES), os.path.dirname(includer)):
        path = os.path.join(folder, include)
        if os.path.exists(path):
            return names_of_header(os.path.realpath(path))
    return frozenset(), {}


def batches_of(paths):
    """The lists of files that go together; a file that goes with no other is in none."""
    batches = []  # (names, [files])
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if ALONE.search(text):
            continue
        names = Names(text)
        for header in INCLUDE.findall(text):
            declared, opened = names_of(header, path)
            names.headers |= declared
            names.kept.update(opened)
        names.kept.update(names.opened)
        for together, files in batches:
            if (len(files) < MOST_FILES and together.size + names.size <= MOST_BYTES
                    and not names.disturbs(together) and not together.disturbs(names)):
                together.add(names)
                files.append(path)
                break
        else:
            batches.append((names, [path]))
    return [files for _, files in batches if len(files) > 1]


def main():
    targets = {}
    for line in sys.stdin:
        target, path = line.split()
        targets.setdefault(target, []).append(path)
    for target, paths in targets.items():
        for number, files in enumerate(batches_of(paths)):
            for path in files:
                print(target, path, f"batch{number}")


if __name__ == "__main__":
    main()

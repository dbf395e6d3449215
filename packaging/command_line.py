#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages, completion for bash, zsh and fish, and the reference page of the rknn command, from what the command
says of itself (--help is printed from the option tables).

    command_line.py RKNN FOLDER        writes below FOLDER: man/man1, bash-completion/completions, zsh/..., fish/...
    command_line.py RKNN --page        prints the reference page in Markdown
"""
import datetime
import gzip
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bundled  # noqa: E402
from bundled import make_wheel  # noqa: E402

# Commands whose first word is a command again.
NESTED = {"hybrid": ("step1", "step2")}


def said(program, *words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


class Command:
    """One command: its words, what it does, usage lines, options [(short, long, value, text)]."""

    def __init__(self, program, words, summary):
        self.words, self.summary = words, summary
        lines = said(program, *words, "--help").splitlines()
        self.usage = [re.sub(r"^usage: ", "", line).strip() for line in lines if re.match(r"usage: |  {6}rknn ", line)]
        self.options = []
        for line in lines:
            found = re.match(r"  (?:(-\w), )?(--[\w-]+)(?: (\S+))?\s+(\S.*)$", line)
            if found:
                self.options.append(found.groups())
        if not self.usage or not self.options:
            raise SystemExit("command_line: rknn %s --help cannot be read:\n%s" % (" ".join(words), "\n".join(lines)))


def commands(program):
    out = []
    for name, summary in re.findall(r"^  (\w+) +(\S.*)$", said(program, "--help"), re.M):
        for words in [(name, step) for step in NESTED.get(name, ())] or [(name,)]:
            out.append(Command(program, words, summary))
    if not out:
        raise SystemExit("command_line: %s --help lists no commands" % program)
    return out


def roff(text):
    return re.sub(r"(?m)^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))


def manual(name, summary, body):
    day = datetime.datetime.fromtimestamp(bundled.release_time(), datetime.timezone.utc).strftime("%Y-%m-%d")
    return '.TH %s 1 "%s" "OpenRKNN %s" "OpenRKNN"\n.SH NAME\n%s \\- %s\n%s' % (
        roff(name.upper()), day, make_wheel.version(), roff(name), roff(summary), body)


def manual_of(command):
    body = ".SH SYNOPSIS\n.nf\n%s\n.fi\n.SH OPTIONS\n" % roff("\n".join(command.usage))
    for short, long, value, text in command.options:
        names = ", ".join("\\fB%s\\fR" % roff(n) for n in (short, long) if n)
        body += ".TP\n%s%s\n%s\n" % (names, " \\fI%s\\fR" % roff(value) if value else "", roff(text))
    return manual("rknn-" + "-".join(command.words), command.summary, body + ".SH SEE ALSO\n.BR rknn (1)\n")


def manual_of_all(found):
    body = ".SH SYNOPSIS\n.B rknn\n.I command\n[options]\n.SH COMMANDS\n"
    for command in found:
        body += ".TP\n.BR rknn\\-%s (1)\n%s\n" % (roff("-".join(command.words)), roff(command.summary))
    return manual("rknn", "converts, quantizes, analyzes and runs models for Rockchip NPUs", body)


def flags(command):
    return [name for short, long, _, _ in command.options for name in (short, long) if name]


def bash(found):
    cases = "".join("    %s) words='%s' ;;\n" % ("'%s'" % " ".join(c.words), " ".join(flags(c))) for c in found)
    names = " ".join(sorted({c.words[0] for c in found}))
    nested = "".join("    %s) COMPREPLY=($(compgen -W '%s' -- \"$current\")); return ;;\n" % (name, " ".join(steps))
                     for name, steps in NESTED.items())
    return """# completion of the rknn command for bash
_rknn() {
  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '%s --help --version' -- "$current"))
    return
  fi
  if [ "$COMP_CWORD" -eq 2 ]; then
    case $command in
%s    esac
  fi
  case $command in %s) command="$command ${COMP_WORDS[2]}" ;; esac
  case $command in
%s  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -o filenames -F _rknn rknn
""" % (names, nested, " | ".join(NESTED), cases)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(found):
    out = "#compdef rknn\n# completion of the rknn command for zsh\nlocal -a commands\ncommands=(\n"
    seen = set()
    for command in found:
        if command.words[0] not in seen:
            seen.add(command.words[0])
            out += "  %s\n" % quoted("%s:%s" % (command.words[0], command.summary.replace(":", "\\:")))
    out += ")\nif (( CURRENT == 2 )); then\n  _describe command commands\n  return\nfi\ncase $words[2] in\n"
    for name in sorted(seen):
        options = {long: (value, text) for c in found if c.words[0] == name for _, long, value, text in c.options}
        specs = []
        for long, (value, text) in options.items():
            text = re.sub(r"([\[\]:])", r"\\\1", text)
            specs.append(quoted("%s[%s]%s" % (long, text, ":%s:_files" % re.sub(r"[\[\]:]", "", value) if value else "")))
        out += "  %s) _arguments '*:file:_files' %s ;;\n" % (name, " ".join(specs))
    return out + "esac\n"


def fish(found):
    out = "# completion of the rknn command for fish\n"
    seen = set()
    for command in found:
        name = command.words[0]
        if name not in seen:
            seen.add(name)
            out += "complete -c rknn -n __fish_use_subcommand -a %s -d %s\n" % (name, quoted(command.summary))
        for short, long, value, text in command.options:
            out += "complete -c rknn -n '__fish_seen_subcommand_from %s'%s -l %s%s -d %s\n" % (
                name, " -s " + short[1:] if short else "", long[2:], " -r" if value else "", quoted(text))
    return out


def files(program):
    """[(path below share, bytes)]"""
    found = commands(program)
    for command in found:
        yield "man/man1/rknn-%s.1.gz" % "-".join(command.words), gzip.compress(manual_of(command).encode(), 9, mtime=0)
    yield "man/man1/rknn.1.gz", gzip.compress(manual_of_all(found).encode(), 9, mtime=0)
    yield "bash-completion/completions/rknn", bash(found).encode()
    yield "zsh/vendor-completions/_rknn", zsh(found).encode()
    yield "fish/vendor_completions.d/rknn.fish", fish(found).encode()


def page(program):
    out = "# The rknn command\n\nPrinted by the command itself: `rknn COMMAND --help` says the same.\n"
    for command in commands(program):
        out += "\n## rknn %s\n\n%s.\n\n" % (" ".join(command.words), command.summary[0].upper() + command.summary[1:])
        out += "".join("    %s\n" % line for line in command.usage) + "\n| Option | Meaning |\n|---|---|\n"
        for short, long, value, text in command.options:
            names = ", ".join("`%s`" % n for n in (short, long) if n)
            out += "| %s%s | %s |\n" % (names, " `%s`" % value if value else "", text.replace("|", "\\|").replace("<", "&lt;"))
    return out


def main():
    program, target = sys.argv[1:]
    if target == "--page":
        sys.stdout.write(page(program))
        return 0
    for path, data in files(program):
        full = os.path.join(target, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())

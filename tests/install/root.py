# SPDX-License-Identifier: Apache-2.0
"""Commands in a freshly installed Debian or Ubuntu: a folder made by packaging/clean_root.sh, under a layer of its own that
is thrown away, so that every try starts from the same system. Needs root, mmdebstrap and the distribution's archive."""
import os
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE = os.path.join(HERE, "..", "..", "packaging", "clean_root.sh")
# Debian and Ubuntu by the names of their archives.
SUITES = {"bullseye": "Debian 11", "bookworm": "Debian 12", "trixie": "Debian 13", "focal": "Ubuntu 20.04",
          "jammy": "Ubuntu 22.04", "noble": "Ubuntu 24.04", "resolute": "Ubuntu 26.04"}


def make_root(folder, suite, packages):
    """The folder, or None with the reason printed: an archive that cannot be reached is no fault of ours."""
    path = os.path.abspath(os.path.join(folder, suite + ("" if packages else "-bare")))
    made = subprocess.run([MAKE, path, suite] + list(packages), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0:
        print("%s cannot be installed here: %s" % (SUITES[suite], made.stdout.strip()[-300:]))
        return None
    return path


class Root:
    """with Root(folder) as root: root.put(...); root.run(...)"""

    def __init__(self, lower, work):
        os.makedirs(work, exist_ok=True)
        self.layer = tempfile.mkdtemp(dir=work)
        self.lower = lower
        for name in ("upper", "work", "merged"):
            os.makedirs(os.path.join(self.layer, name))
        self.put_folder = os.path.join(self.layer, "upper", "try")
        os.makedirs(self.put_folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.layer, ignore_errors=True)

    def put(self, path, name=None):
        """A file or folder of this machine, as /try/NAME."""
        target = os.path.join(self.put_folder, name or os.path.basename(path))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(path):
            shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(path, target)

    def path(self, name):
        return os.path.join(self.put_folder, name)

    def run(self, script, timeout=600):
        """A shell script in /try; what it left there can be read afterwards. The layer is mounted in a namespace of its own."""
        with open(os.path.join(self.put_folder, ".script"), "w") as file:
            file.write(script)
        mount = ("mount -t overlay overlay -o lowerdir={0},upperdir={1}/upper,workdir={1}/work {1}/merged && "
                 "mount -t proc proc {1}/merged/proc && mount --rbind /dev {1}/merged/dev && "
                 "cp -L /etc/resolv.conf {1}/merged/etc/resolv.conf && "
                 "exec chroot {1}/merged env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "
                 "DEBIAN_FRONTEND=noninteractive sh -ec 'cd /try && exec bash -e .script'").format(self.lower, self.layer)
        return subprocess.run(["unshare", "-m", "sh", "-ec", mount], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=timeout)

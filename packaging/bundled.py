# SPDX-License-Identifier: Apache-2.0
"""What the packages carry of other people's work: the table, the bill of materials (SPDX 2.3) and the notices.

    bundled.py --static FOLDER --output FOLDER      writes openrknn-VERSION.spdx.json and THIRD_PARTY_NOTICES
"""
import argparse
import datetime
import fnmatch
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import make_wheel  # noqa: E402  (the reader of version.h lives there)

# Debian source package, a binary package of it that has the notices, license, which of our files hold it.
LIBRARIES = (
    ("abseil", "libabsl-dev", "Apache-2.0", ("librknn_remote.so", "rknn_server")),
    ("boost1.74", "libboost1.74-dev", "BSL-1.0", ("rknn",)),
    ("c-ares", "libc-ares-dev", "MIT", ("librknn_remote.so", "rknn_server")),
    ("gcc-12", "libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1",
     ("librknnrt.so", "librknnmrt.so", "librknn_toolkit.so", "librknn_remote.so", "rknn", "rknn_server")),
    ("grpc", "libgrpc++-dev", "Apache-2.0", ("librknn_remote.so", "rknn_server")),
    ("libjpeg-turbo", "libjpeg62-turbo-dev", "IJG AND BSD-3-Clause AND Zlib", ("librknn_toolkit.so", "rknn")),
    ("libpng1.6", "libpng-dev", "libpng-2.0", ("librknn_toolkit.so", "rknn")),
    ("openssl", "libssl-dev", "Apache-2.0", ("librknn_remote.so", "rknn_server")),
    ("protobuf", "libprotobuf-dev", "BSD-3-Clause", ("librknn_toolkit.so", "librknn_remote.so", "rknn", "rknn_server")),
    ("re2", "libre2-dev", "BSD-3-Clause", ("librknn_remote.so", "rknn_server")),
    ("yaml-cpp", "libyaml-cpp-dev", "MIT", ("librknn_toolkit.so", "rknn")),
    ("zlib", "zlib1g-dev", "Zlib", ("librknn_toolkit.so", "librknn_remote.so", "rknn", "rknn_server")),
)

# The archives (without lib and .a) of each source package, as patterns.
ARCHIVES = {"abseil": "absl_*", "boost1.74": "boost", "c-ares": "cares", "gcc-12": "stdc++", "grpc": "grpc* gpr upb address_sorting",
            "libjpeg-turbo": "jpeg", "libpng1.6": "png16", "openssl": "ssl crypto", "protobuf": "protobuf*", "re2": "re2",
            "yaml-cpp": "yaml-cpp", "zlib": "z"}


def source_of(archive):
    """The source package of an archive that was linked in, None when the table lacks it."""
    for source, patterns in ARCHIVES.items():
        if any(fnmatch.fnmatch(archive, pattern) for pattern in patterns.split()):
            return source
    return None


def release_time():
    """The day of the release as seconds: every date in a package is this one."""
    day = datetime.datetime.fromisoformat(make_wheel.number("RK_RELEASE_DATE"))
    return int(day.replace(tzinfo=datetime.timezone.utc).timestamp())


def versions(static):
    """{source package: version}: what was compiled for the packages, else what is installed."""
    out = {}
    for source, binary, _, _ in LIBRARIES:
        out[source] = subprocess.run(["dpkg-query", "-W", "-f=${source:Version}", binary], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout
    with open(os.path.join(static, "sources.txt")) as file:
        out.update(line.split() for line in file)
    return out


def bill_of_materials(static):
    version = make_wheel.version()
    found = versions(static)
    packages = [{"SPDXID": "SPDXRef-openrknn", "name": "openrknn", "versionInfo": version, "licenseDeclared": "Apache-2.0",
                 "licenseConcluded": "Apache-2.0", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                 "copyrightText": "NOASSERTION", "supplier": "Organization: The OpenRKNN developers"}]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-openrknn"}]
    for source, _, license_, files in LIBRARIES:
        name = "SPDXRef-" + source
        packages.append({
            "SPDXID": name, "name": source, "versionInfo": found[source], "licenseDeclared": license_,
            "licenseConcluded": license_, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "copyrightText": "NOASSERTION", "supplier": "Organization: Debian", "comment": "in " + ", ".join(files),
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": "pkg:deb/debian/%s@%s?arch=source&distro=debian-12" % (
                                  source, found[source].replace("+", "%2B").replace(":", "%3A"))}]})
        relations.append({"spdxElementId": "SPDXRef-openrknn", "relationshipType": "STATIC_LINK",
                          "relatedSpdxElement": name})
    created = datetime.datetime.fromtimestamp(release_time(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": "openrknn-" + version, "documentNamespace": "https://spdx.org/spdxdocs/openrknn-" + version,
            "creationInfo": {"created": created, "creators": ["Tool: openrknn-packaging"]},
            "packages": packages, "relationships": relations}


def notices(static):
    found = versions(static)
    text = "The libraries and programs of this package contain the following work of others, compiled from Debian 12.\n"
    for source, binary, license_, files in LIBRARIES:
        with open("/usr/share/doc/%s/copyright" % binary, encoding="utf-8") as file:
            text += "\n%s\n%s %s (%s), in %s\n%s\n\n%s" % ("=" * 100, source, found[source], license_, ", ".join(files),
                                                       "=" * 100, file.read())
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--static", required=True)
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    os.makedirs(args.output, exist_ok=True)
    with open(os.path.join(args.output, "openrknn-%s.spdx.json" % make_wheel.version()), "w") as file:
        json.dump(bill_of_materials(args.static), file, indent=1, sort_keys=True)
    with open(os.path.join(args.output, "THIRD_PARTY_NOTICES"), "w", encoding="utf-8") as file:
        file.write(notices(args.static))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/: the manifest has the fields and types that KServe's schema asks for and no others, and every option that the
manifest and the Containerfile give is one of the server's. Prints FIGURE lines; no cluster is asked.

    deploy.py --server rknn_server
"""
import argparse
import os
import re
import subprocess
import sys

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEPLOY = os.path.join(ROOT, "deploy")

# The parts of the schemas of ServingRuntime (v1alpha1), InferenceService (v1beta1) and Kubernetes' Container that a
# manifest of ours may use. "!" marks what must be there; a list has one schema for its items.
TEXT, NUMBER, FLAG = str, int, bool
PROBE = {"grpc": {"port!": NUMBER}, "periodSeconds": NUMBER, "initialDelaySeconds": NUMBER}
CONTAINER = {
    "name!": TEXT, "image!": TEXT, "args": [TEXT], "command": [TEXT], "env": [{"name!": TEXT, "value": TEXT}],
    "ports": [{"name": TEXT, "containerPort!": NUMBER, "protocol": TEXT}], "readinessProbe": PROBE, "livenessProbe": PROBE,
    "resources": {"requests": {"cpu": TEXT, "memory": TEXT}, "limits": {"cpu": TEXT, "memory": TEXT}},
    "securityContext": {"runAsNonRoot": FLAG, "runAsUser": NUMBER, "runAsGroup": NUMBER, "allowPrivilegeEscalation": FLAG,
                        "readOnlyRootFilesystem": FLAG, "capabilities": {"drop": [TEXT]}},
    "volumeMounts": [{"name!": TEXT, "mountPath!": TEXT, "subPath": TEXT, "readOnly": FLAG}],
}
METADATA = {"name!": TEXT, "namespace": TEXT, "labels": dict, "annotations": dict}
SCHEMAS = {
    ("serving.kserve.io/v1alpha1", "ServingRuntime"): {
        "apiVersion!": TEXT, "kind!": TEXT, "metadata!": METADATA,
        "spec!": {"supportedModelFormats!": [{"name!": TEXT, "version": TEXT, "autoSelect": FLAG}], "multiModel": FLAG,
                  "protocolVersions": [TEXT], "containers!": [CONTAINER],
                  "volumes": [{"name!": TEXT, "secret": {"secretName!": TEXT, "defaultMode": NUMBER}}]}},
    ("serving.kserve.io/v1beta1", "InferenceService"): {
        "apiVersion!": TEXT, "kind!": TEXT, "metadata!": METADATA,
        "spec!": {"predictor!": {"minReplicas": NUMBER, "maxReplicas": NUMBER, "securityContext": {"fsGroup": NUMBER},
                                 "model!": {"modelFormat!": {"name!": TEXT, "version": TEXT}, "protocolVersion": TEXT,
                                            "runtime": TEXT, "storageUri": TEXT}}}},
}


def figure(name, value, bar, ok):
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return ok


def mistakes(value, schema, where):
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            return ["%s is not a mapping" % where]
        known = {key.rstrip("!"): (part, key.endswith("!")) for key, part in schema.items()}
        out = ["%s.%s is not in the schema" % (where, key) for key in value if key not in known]
        out += ["%s.%s is missing" % (where, key) for key, (_, needed) in known.items() if needed and key not in value]
        return out + [m for key in value if key in known for m in mistakes(value[key], known[key][0], where + "." + key)]
    if isinstance(schema, list):
        if not isinstance(value, list):
            return ["%s is not a list" % where]
        return [m for i, item in enumerate(value) for m in mistakes(item, schema[0], "%s[%d]" % (where, i))]
    right = isinstance(value, schema) and not (schema is NUMBER and isinstance(value, bool))
    return [] if right else ["%s is %r, expect %s" % (where, value, schema.__name__)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    with open(os.path.join(DEPLOY, "kserve.yaml")) as file:
        documents = list(yaml.safe_load_all(file))
    found = []
    for document in documents:
        kind = (document.get("apiVersion"), document.get("kind"))
        found += mistakes(document, SCHEMAS[kind], kind[1]) if kind in SCHEMAS else ["%s/%s is unknown" % kind]
    runtime, service = documents
    spec = runtime["spec"]
    if service["spec"]["predictor"]["model"]["runtime"] != runtime["metadata"]["name"]:
        found.append("the InferenceService names another runtime")
    volumes = {volume["name"] for volume in spec["volumes"]}
    for container in spec["containers"]:
        found += ["volume '%s' is not there" % m["name"] for m in container["volumeMounts"] if m["name"] not in volumes]
    for text in found:
        print(text)
    good = figure("deploy/kserve.yaml: %d documents, mistakes" % len(documents), len(found), "<= 0", not found)
    known = subprocess.run([args.server, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    with open(os.path.join(DEPLOY, "Containerfile")) as file:
        container = file.read()
    used = set(re.findall(r'"(--[a-z-]+)"', container))
    used |= {arg for c in spec["containers"] for arg in c["args"] if arg.startswith("--")}
    strange = sorted(option for option in used if not re.search(r"(?m)^ +%s\b" % option, known))
    good &= figure("deploy/: options of the server, unknown ones", "%d of %d" % (len(strange), len(used)), "0",
                   used and not strange)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

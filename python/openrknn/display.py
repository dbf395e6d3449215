# SPDX-License-Identifier: Apache-2.0
"""Tables for notebooks. Plain HTML, every text from a model escaped."""
from html import escape


def model_table(kind, stage, model):
    """A model's chip, inputs and outputs. `model`: {"chip": ..., "inputs": [{"name", "dims", ...}], "outputs": [...]} or None."""
    head = "<b>%s</b>: %s" % (escape(kind), escape(stage))
    if not model:
        return "<div>%s</div>" % head
    rows = ""
    for side in ("inputs", "outputs"):
        for tensor in model.get(side, ()):
            rows += "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>" % (
                side[:-1], escape(str(tensor.get("name", ""))), escape(" x ".join(map(str, tensor.get("dims", ())))),
                escape(str(tensor.get("format", ""))))
    chip = model.get("chip")
    return "<div>%s%s<table><tr><th></th><th>name</th><th>shape</th><th>layout</th></tr>%s</table></div>" % (
        head, ", " + escape(str(chip)) if chip else "", rows)

# SPDX-License-Identifier: Apache-2.0
"""What an operator written in Python may ask of its node."""


def get_node_attr(node, name):
    """The attribute `name` of the node that shape_infer and compute were given, None when it has none."""
    attributes = getattr(node, "attributes", None)
    if attributes is None:
        raise ValueError("get_node_attr needs the node that shape_infer() and compute() are called with")
    return attributes.get(name)

# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python: what reg_custom_op() makes of a class, and what its methods may ask of their node."""
import inspect
import json

import numpy as np

from . import native


class Node:
    """One node that uses the operator. Names of outputs are empty while shapes are inferred."""

    def __init__(self, described):
        self.name = described["name"]
        self.op_type = described["op_type"]
        self.input = described["input"]
        self.output = described["output"]
        self.attributes = {name: _attribute(value) for name, value in described["attributes"].items()}


def _attribute(value):
    if not isinstance(value, dict):
        return value
    return np.array(value["values"], native.NUMPY_OF[value["dtype"]]).reshape(value["dims"])


def get_node_attr(node, name):
    """The attribute `name` of the node that shape_infer and compute were given, None when it has none."""
    attributes = getattr(node, "attributes", None)
    if attributes is None:
        raise ValueError("get_node_attr needs the node that shape_infer() and compute() are called with")
    return attributes.get(name)


class Operator:
    """The user's shape_infer and compute behind the toolkit's callbacks (native.Toolkit.reg_custom_op)."""

    def __init__(self, implementation):
        self._implementation = implementation

    def infer(self, node, shapes, dtypes, output_count):
        answer = self._implementation.shape_infer(Node(node), shapes, dtypes)
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise TypeError("expected (out_shapes, out_dtypes), got %r" % (answer,))
        out_shapes, out_dtypes = answer
        if len(out_shapes) != output_count or len(out_dtypes) != output_count:
            raise ValueError("%d shapes and %d dtypes for %d output(s)"
                             % (len(out_shapes), len(out_dtypes), output_count))
        return json.dumps({"shapes": [[int(n) for n in shape] for shape in out_shapes],
                           "dtypes": [_number_of(dtype) for dtype in out_dtypes]}).encode()

    def compute(self, node, inputs, outputs):
        results = self._implementation.compute(Node(node), inputs)
        if not isinstance(results, (tuple, list)) or len(results) != len(outputs):
            raise ValueError("expected a list of %d array(s), got %s"
                             % (len(outputs), len(results) if isinstance(results, (tuple, list)) else type(results)))
        for i, (result, output) in enumerate(zip(results, outputs)):
            result = np.asarray(result)
            if result.shape != output.shape:
                raise ValueError("output %d has shape %s, shape_infer said %s" % (i, result.shape, output.shape))
            np.copyto(output, result, casting="unsafe")
        return b""


def _number_of(dtype):
    dtype = np.dtype(dtype)
    if dtype not in native.NUMBER_OF:
        raise ValueError("dtype '%s' cannot be used; expect in %s!" % (dtype, sorted(native.NUMPY_OF.values())))
    return native.NUMBER_OF[dtype]


_SIGNATURES = {"shape_infer": ["node", "in_shapes", "in_dtypes"], "compute": ["node", "inputs"]}


def checked(custom_op):
    """(op_type, Operator or None for a mark on a standard operator) of a class or instance; ValueError otherwise."""
    op_type = getattr(custom_op, "op_type", None)
    if not isinstance(op_type, str) or not op_type:
        raise ValueError("custom_op needs the attribute op_type, a text that names the operator")
    implementation = custom_op() if isinstance(custom_op, type) else custom_op
    given = [name for name in _SIGNATURES if getattr(implementation, name, None) is not None]
    for name in given:
        method = getattr(implementation, name)
        if not callable(method):
            raise ValueError("custom_op.%s has to be a method" % name)
        parameters = inspect.signature(method).parameters
        # They are called by position, so names are free.
        try:
            inspect.signature(method).bind(*_SIGNATURES[name])
        except TypeError:
            raise ValueError("custom_op.%s(%s) has to be %s(self, %s)!"
                             % (name, ", ".join(parameters), name, ", ".join(_SIGNATURES[name]))) from None
    if len(given) == 1:
        raise ValueError("custom_op '%s' has %s only; expect shape_infer and compute, or neither to mark a standard "
                         "operator!" % (op_type, given[0]))
    return op_type, Operator(implementation) if given else None

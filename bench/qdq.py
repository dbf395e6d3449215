# SPDX-License-Identifier: Apache-2.0
"""A float ONNX network as QDQ: u8 activations, s8 weights symmetric per output channel, s32 biases, pairs placed as ONNX
Runtime's quantize_static places them: one behind every result of an operator that has an integer form, none inside a GELU,
a ReLU behind an operator is the saturation of its result, an operator that only moves numbers keeps their scale.

Ranges are not calibrated: networks.py draws weights that keep the mean square of their input, and ranges follow from that.
Speed does not depend on it.
"""
import numpy as np
import onnx
from onnx import helper, numpy_helper

SIGMAS = 4.5  # as in models.py
MOVING = ("MaxPool", "Reshape", "Transpose", "Slice", "Resize", "Expand")
INTEGER = MOVING + ("Conv", "MatMul", "Gemm", "Add", "Mul", "Relu", "Sigmoid", "Concat", "AveragePool", "GlobalAveragePool",
                    "Softmax", "LayerNormalization", "BatchNormalization")
WEIGHT_AXIS = {"Conv": 0, "MatMul": 1}  # the output channels of a constant second input


class Range:
    """What is known of a tensor's numbers."""

    def __init__(self, square, low=None, high=None):
        sigma = SIGMAS * float(np.sqrt(square))
        self.square, self.low, self.high = square, min(0.0, -sigma if low is None else low), sigma if high is None else high

    def step(self):
        scale = (self.high - self.low) / 255
        return scale, int(np.clip(round(-self.low / scale), 0, 255))


class Writer:
    def __init__(self, model):
        self.source, self.nodes, self.constants = model.graph, [], []
        self.values = {c.name: numpy_helper.to_array(c) for c in model.graph.initializer}
        self.producer = {o: n for n in model.graph.node for o in n.output}
        self.readers = {}
        for node in model.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.real = {n.output[0] for erf in model.graph.node if erf.op_type == "Erf" for n in self.gelu(erf)[:-1]}
        self.ranges, self.steps, self.copied = {}, {}, set()

    def gelu(self, erf):
        """Division, error function, addition, products; the last one is the result."""
        chain = [self.producer[erf.input[0]], erf]
        while len(chain) < 5:
            chain.append(self.readers[chain[-1].output[0]][0])
        return chain

    def constant(self, name, array):
        if name not in self.copied:
            self.copied.add(name)
            self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def pair(self, raw, name, step):
        """raw -> QuantizeLinear -> DequantizeLinear -> name."""
        self.steps[name] = step
        names = [self.constant(name + "_scale", np.float32(step[0])), self.constant(name + "_zero", np.uint8(step[1]))]
        self.nodes.append(helper.make_node("QuantizeLinear", [raw] + names, [name + "_q"], name + "_quantize"))
        self.nodes.append(helper.make_node("DequantizeLinear", [name + "_q"] + names, [name], name + "_dequantize"))

    def stored(self, name, array, scale, axis=None, zero=0):
        """A constant as integers behind a DequantizeLinear."""
        zero = np.full(np.shape(scale), zero, array.dtype)
        names = [self.constant(name + "_q", array), self.constant(name + "_scale", scale), self.constant(name + "_zero", zero)]
        attrs = {} if axis is None else {"axis": axis}
        self.nodes.append(helper.make_node("DequantizeLinear", names, [name + "_dq"], name + "_dequantize", **attrs))
        return name + "_dq"

    def weight(self, node):
        """Inputs of a layer with constant weights: x, weights, bias."""
        axis, w = WEIGHT_AXIS[node.op_type], self.values[node.input[1]]
        others = tuple(i for i in range(w.ndim) if i != axis)
        scale = (np.abs(w).max(others) / 127).astype(np.float32)
        whole = np.rint(w / np.expand_dims(scale, others)).astype(np.int8)
        inputs = [node.input[0], self.stored(node.input[1], whole, scale, axis)]
        if len(node.input) > 2:
            scale = (scale * np.float32(self.steps[node.input[0]][0])).astype(np.float32)
            inputs.append(self.stored(node.input[2], np.rint(self.values[node.input[2]] / scale).astype(np.int32), scale, 0))
        return inputs

    def operand(self, name):
        """A constant that meets an activation, in its type."""
        array = self.values[name]
        scale = np.float32(max(np.abs(array).max(), 1e-6) / 127)
        return self.stored(name, (np.rint(array / scale) + 128).astype(np.uint8), scale, zero=128)

    def result(self, node):
        """The range of a node's result."""
        op, inputs = node.op_type, [self.ranges.get(name) for name in node.input]
        x, y = inputs[0] or inputs[1], inputs[1] if len(inputs) > 1 else None
        other = next((self.values[n] for n in node.input[:2] if n in self.values), None)
        if op == "Relu":
            return Range(x.square / 2, 0.0, x.high)
        if op == "Sigmoid":
            return Range(0.3, 0.0, 1.0)
        if op == "Softmax":
            return Range(0.01, 0.0, 1.0)
        if op in ("LayerNormalization", "BatchNormalization"):
            return Range(1.0 if op[0] == "L" else x.square + 0.01)
        if op == "GlobalAveragePool":
            return Range(x.square / 4, x.low / 2, x.high / 2)
        if op == "Concat":
            known = [r for r in inputs if r]
            return Range(max(r.square for r in known), min(r.low for r in known), max(r.high for r in known))
        if op == "Mul":
            square = x.square * (y.square if inputs[0] and y else float(np.mean(np.square(other))))
            return Range(square, 0.0 if x.low >= 0 and (not y or y.low >= 0) and other is None else None)
        if op == "Add":
            square = x.square + (y.square if inputs[0] and y else float(np.mean(np.square(other))))
            return Range(square, 0.0 if inputs[0] and y and x.low >= 0 and y.low >= 0 else None)
        if op == "MatMul" and other is None:
            # Scores of unit tokens, or a mean of values: neither grows.
            return Range(x.square if y.square < x.square else y.square) if x.low >= 0 else Range(x.square * y.square * 64)
        if op in ("Conv", "MatMul"):
            return Range(x.square + 0.01)
        return Range(x.square, x.low, x.high)

    def node(self, node):
        """Writes a node; the name of its result, which is that of a ReLU behind it where it has one."""
        inner = node.output[0] in self.real
        last_of_gelu = node.op_type == "Mul" and any(self.producer[i].output[0] in self.real for i in node.input if i in self.producer)
        if inner or last_of_gelu:
            for name in node.input:
                if name in self.values:
                    self.constant(name, self.values[name])
            inputs = list(node.input)
            square = next(self.ranges[n].square for n in node.input if n in self.ranges)
            self.ranges[node.output[0]] = Range(square) if inner else Range(square, -0.2)
        else:
            if node.op_type not in INTEGER:
                raise SystemExit(f"qdq: no rule for {node.op_type}")
            self.ranges[node.output[0]] = self.result(node)
            inputs = self.inputs_of(node)
        name = node.output[0]
        following = self.readers.get(name, [])
        fused = len(following) == 1 and following[0].op_type == "Relu"
        if fused:
            name = following[0].output[0]
            self.ranges[name] = self.result(following[0])
        raw = name if inner else name + "_raw"
        made = helper.make_node(node.op_type, inputs, [raw], node.name)
        made.attribute.extend(node.attribute)
        self.nodes.append(made)
        if not inner:
            moved = node.op_type in MOVING and not fused
            self.pair(raw, name, self.steps[node.input[0]] if moved else self.ranges[name].step())
        return name

    def inputs_of(self, node):
        if node.op_type in WEIGHT_AXIS and node.input[1] in self.values:
            return self.weight(node)
        names = []
        for name in node.input:
            if name not in self.values:
                names.append(name)
            elif self.values[name].dtype == np.float32 and node.op_type in ("Add", "Mul", "Concat"):
                names.append(self.operand(name))
            else:
                names.append(self.constant(name, self.values[name]))
        return names

    def write(self):
        self.ranges["input"] = Range(1 / 3, 0.0, 1.0)
        self.pair("input", "input_rounded", self.ranges["input"].step())
        self.ranges["input_rounded"], done = self.ranges["input"], set()
        for node in self.source.node:
            for i, name in enumerate(node.input):
                if name == "input":
                    node.input[i] = "input_rounded"
        for node in self.source.node:
            if node.output[0] not in done:
                done.add(self.node(node))
        return self


def to_qdq(model):
    writer = Writer(model).write()
    graph = helper.make_graph(writer.nodes, model.graph.name, model.graph.input, model.graph.output, writer.constants)
    out = helper.make_model(graph, opset_imports=model.opset_import, producer_name="bench")
    out.ir_version = model.ir_version
    return onnx.shape_inference.infer_shapes(out, strict_mode=True)

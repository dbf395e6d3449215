# SPDX-License-Identifier: Apache-2.0
"""help() of every public method tells something, with an example, and is in step with the option table; what notebooks show."""
import ast
import inspect
import pydoc
import unittest

from rknn.api import RKNN, help_text
from rknnlite.api import RKNNLite

import models


def public_methods(cls):
    return {name: method for name, method in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")}


class Help(unittest.TestCase):
    def test_every_public_method_tells_what_it_does_with_an_example_that_calls_it(self):
        told = 0
        for cls in (RKNN, RKNNLite):
            for name, method in public_methods(cls).items():
                text = pydoc.render_doc(method, renderer=pydoc.plaintext)
                self.assertIn("Example:", text, "%s.%s" % (cls.__name__, name))
                example = text.split("Example:")[1].strip()
                calls = [node for node in ast.walk(ast.parse(example)) if isinstance(node, ast.Call)
                         and isinstance(node.func, ast.Attribute)]
                self.assertIn(method.__name__, [call.func.attr for call in calls])
                # Its keywords are parameters, its arguments fit.
                call = next(c for c in calls if c.func.attr == method.__name__)
                inspect.signature(method).bind(None, *call.args, **{k.arg: None for k in call.keywords})
                told += 1
        self.assertTrue(models.figure("help() of public methods with text and example, of RKNN and RKNNLite", told,
                                      "= all %d" % told, told >= 30))

    def test_parameters_are_those_of_the_option_table(self):
        table = RKNN()._toolkit.call("options", {})
        count = 0
        for name, part in help_text.TABLES.items():
            method = getattr(RKNN, name)
            text = " ".join(pydoc.render_doc(method, renderer=pydoc.plaintext).split())
            parameters = inspect.signature(method).parameters
            for row in table[part]:
                if row["name"] not in parameters:
                    continue
                count += 1
                self.assertIn(" ".join(row["doc"].split()), text, "%s: %s" % (name, row["name"]))
                default = parameters[row["name"]].default
                if default is not inspect.Parameter.empty:
                    self.assertIn("%s (default %r)" % (row["name"], default), text)
                if row["accepted"]:
                    self.assertIn("accepted: " + ", ".join(map(str, row["accepted"])), text)
        self.assertTrue(models.figure("options told by help() as in the option table", count, ">= 40", count >= 40))


class Notebooks(unittest.TestCase):
    def test_a_model_shows_its_chip_inputs_and_outputs_escaped(self):
        from openrknn import display
        text = display.model_table("RKNN", "ready", {"chip": "rk3588", "inputs": [{"name": "<b>x", "dims": [1, 2]}],
                                                     "outputs": [{"name": "y", "dims": [3]}]})
        for part in ("rk3588", "&lt;b&gt;x", "1 x 2", "<td>output</td><td>y</td><td>3</td>"):
            self.assertIn(part, text)
        with models.digits() as rknn:
            self.assertIn("not running yet", rknn._repr_html_())
            self.assertEqual(rknn.init_runtime(), 0)
            self.assertIn("1 x 28 x 28", rknn._repr_html_().replace(" x 1<", "<"))
        self.assertIn("released", rknn._repr_html_())
        with RKNNLite() as lite:
            self.assertIn("no model", lite._repr_html_())


if __name__ == "__main__":
    unittest.main()

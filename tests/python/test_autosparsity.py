# SPDX-License-Identifier: Apache-2.0
"""autosparsity: patterns of zeros, kept in training, and found again by config(sparse_infer=True)."""
import itertools
import os
import tempfile
import unittest

import numpy as np

from autosparsity import sparsity

try:
    import torch
except ImportError:
    torch = None


def best_of_block(block):
    """The largest sum of 4 weights of 4 by 4 with at most 2 in a row, where a row keeps its 2 largest: by trying all."""
    rows = [sorted(np.abs(row), reverse=True)[:2] for row in block]
    return max(sum(sum(row[:count]) for row, count in zip(rows, counts))
               for counts in itertools.product(range(3), repeat=4) if sum(counts) == 4)


class Pattern(unittest.TestCase):
    def test_two_of_four_along_inputs(self):
        mask = sparsity.pattern([[1, -4, 3, 2, 0, 5, 5, 5], [0, 0, 0, 0, -1, -2, 1, 0]], 0)
        self.assertEqual(mask.astype(int).tolist(), [[0, 1, 1, 0, 0, 1, 1, 0], [1, 1, 0, 0, 1, 1, 0, 0]])

    def test_two_of_four_along_outputs(self):
        mask = sparsity.pattern([[1, 9], [2, 8], [3, 7], [4, 6], [5, 5]], 1)
        self.assertEqual(mask.astype(int).tolist(), [[0, 1], [0, 1], [1, 0], [1, 0], [1, 1]])

    def test_kernels_are_judged_tap_by_tap(self):
        weight = np.random.default_rng(1).standard_normal((3, 7, 2, 3))
        mask = sparsity.pattern(weight, 0)
        for y, x in itertools.product(range(2), range(3)):
            self.assertEqual(mask[:, :, y, x].tolist(), sparsity.pattern(weight[:, :, y, x], 0).tolist())

    def test_four_of_sixteen_is_the_best_that_both_orders_allow(self):
        weight = np.random.default_rng(2).standard_normal((8, 8))
        for mode in (2, 3):
            mask, values = sparsity.pattern(weight, mode), weight
            if mode == 3:
                mask, values = mask.T, weight.T
            for i, j in itertools.product((0, 4), repeat=2):
                kept, block = mask[i:i + 4, j:j + 4], values[i:i + 4, j:j + 4]
                self.assertEqual(kept.sum(), 4)
                self.assertLessEqual(kept.sum(axis=1).max(), 2)
                self.assertAlmostEqual(np.abs(block[kept]).sum(), best_of_block(block))

    def test_wrong_arguments_say_what_is_taken(self):
        with self.assertRaisesRegex(ValueError, "mode is 4, expected 0 .4:2 along input channels."):
            sparsity.pattern(np.zeros((4, 4)), 4)
        with self.assertRaisesRegex(ValueError, "1 axes"):
            sparsity.pattern(np.zeros(4), 0)


@unittest.skipIf(torch is None, "torch is not installed (Debian's python3-torch)")
class Training(unittest.TestCase):
    def model(self):
        torch.manual_seed(3)
        nn = torch.nn
        return nn.Sequential(nn.Conv2d(32, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3, groups=64), nn.Conv2d(64, 32, 1),
                             nn.Flatten(), nn.Linear(32 * 4, 10))

    def test_zeros_stay_zeros(self):
        for mode, kind in itertools.product(range(4), ("SGD", "Adam")):
            model = self.model()
            options = {"momentum": 0.9, "weight_decay": 0.1} if kind == "SGD" else {}
            optimizer = getattr(torch.optim, kind)(model.parameters(), lr=0.01, **options)
            x, y = torch.randn(4, 32, 6, 6), torch.randn(4, 10)

            def step():
                optimizer.zero_grad()
                ((model(x) - y) ** 2).mean().backward()
                optimizer.step()
            step()  # leaves momentum in all weights
            sparsity.sparsity_model(model, optimizer, mode, verbose=0)
            zeros = [model[i].weight == 0 for i in (0, 3, 5)]
            before = model[0].weight.clone()
            for _ in range(3):
                step()
            self.assertFalse(torch.equal(before, model[0].weight))
            for zero, i in zip(zeros, (0, 3, 5)):
                # The last layer has 10 outputs: groups that reach beyond them lose fewer.
                least = (0.5, 0.5, 0.75, 0.75)[mode] if i != 5 else 0.4
                self.assertGreaterEqual(float(zero.float().mean()), least)
                self.assertTrue(bool((model[i].weight[zero] == 0).all()), (mode, kind, i))
            self.assertTrue(bool((model[2].weight != 0).all()))  # groups are left alone

    def test_lists_of_layers(self):
        model = self.model()
        sparsity.sparsity_model(model, mode=1, verbose=0, whitelist=[torch.nn.Conv2d], disallowed_layer_names=["0"])
        self.assertEqual([bool((model[i].weight == 0).any()) for i in (0, 3, 5)], [False, True, False])
        model = self.model()
        sparsity.sparsity_model(model, None, 0, 0, allowed_layer_names=["5"], fast=True)
        self.assertEqual([bool((model[i].weight == 0).any()) for i in (0, 3, 5)], [False, False, True])
        with self.assertRaisesRegex(ValueError, "no layer 'conv9'"):
            sparsity.sparsity_model(model, allowed_layer_names=["conv9"])
        with self.assertRaisesRegex(ValueError, "expected torch.nn.Module"):
            sparsity.sparsity_model([1])

    def test_attention(self):
        attention = torch.nn.MultiheadAttention(32, 4)
        sparsity.sparsity_model(attention, verbose=0, whitelist=[torch.nn.MultiheadAttention, torch.nn.Linear])
        for weight in (attention.in_proj_weight, attention.out_proj.weight):
            self.assertEqual(float((weight == 0).float().mean()), 0.5)

    def test_the_build_finds_what_training_made(self):
        from rknn.api import RKNN
        for mode, ratio in enumerate(("50%(IC)", "50%(OC)", "75%", "75%")):
            net = torch.nn.Sequential(torch.nn.Conv2d(32, 64, 3), torch.nn.ReLU(), torch.nn.Conv2d(64, 32, 1)).eval()
            sparsity.sparsity_model(net, mode=mode, verbose=0)
            with tempfile.TemporaryDirectory() as folder:
                model, log = os.path.join(folder, "net.pt"), os.path.join(folder, "log")
                torch.jit.trace(net, torch.zeros(1, 32, 8, 8)).save(model)
                sample = os.path.join(folder, "sample.npy")
                np.save(sample, np.random.default_rng(4).standard_normal((1, 32, 8, 8)).astype(np.float32))
                with open(os.path.join(folder, "dataset.txt"), "w") as file:
                    file.write(sample + "\n")
                rknn = RKNN(verbose=True, verbose_file=log)
                self.assertEqual(rknn.config(target_platform="rk3576", sparse_infer=True), 0)
                if rknn.load_pytorch(model, input_size_list=[[1, 32, 8, 8]]) != 0:
                    self.skipTest("the reader of TorchScript files is not here")
                self.assertEqual(rknn.build(do_quantization=True, dataset=os.path.join(folder, "dataset.txt")), 0)
                rknn.release()
                with open(log) as file:
                    self.assertEqual(file.read().count(ratio), 2, (mode, ratio))


if __name__ == "__main__":
    unittest.main()

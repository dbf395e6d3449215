# SPDX-License-Identifier: Apache-2.0
"""Zeros in the pattern that RK3576 takes advantage of, kept while a torch model is trained.

Of each 4 consecutive weights along one axis 2 stay (4:2), or of each 4 by 4 weights 4 (16:4). Those that stay are the largest; where
an axis is no multiple of 4 the rest counts as zeros. `config(sparse_infer=True)` finds the pattern again in the exported model.
torch is imported only when a model is given.
"""
import logging

import numpy as np

MODES = ("4:2 along input channels", "4:2 along output channels", "16:4, input channels first", "16:4, output channels first")
GROUP, KEPT = 4, 2  # of a line
KEPT_OF_BLOCK = 4  # of GROUP x GROUP
CHANNEL_MULTIPLE = 32  # the chip's condition on both channel counts
LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)

logger = logging.getLogger("autosparsity")


def largest(values, count):
    """True at the `count` largest of the last axis; of equal ones the first."""
    order = np.argsort(-values, axis=-1, kind="stable")[..., :count]
    mask = np.zeros(values.shape, bool)
    np.put_along_axis(mask, order, True, axis=-1)
    return mask


def padded(values):
    """[outputs][inputs][rest] with both channel counts rounded up to groups."""
    more = [(0, -size % GROUP) for size in values.shape[:2]]
    return np.pad(values, more + [(0, 0)])


def pattern(weight, mode):
    """Which weights stay: an array of bool in the shape of `weight`, [outputs][inputs] or [outputs][inputs][kernel...]."""
    weight = np.asarray(weight)
    if weight.ndim < 2:
        raise ValueError("weights have %d axes, expected outputs, inputs and those of the kernel" % weight.ndim)
    if mode not in range(len(MODES)):
        raise ValueError("mode is %r, expected %s" % (mode, ", ".join("%d (%s)" % item for item in enumerate(MODES))))
    size = np.abs(weight.astype(np.float64)).reshape(weight.shape[0], weight.shape[1], -1)
    size = padded(size).transpose(2, 0, 1)  # [kernel][outputs][inputs]
    if mode in (1, 3):
        size = size.swapaxes(1, 2)
    taps, lines, length = size.shape  # groups lie along the last axis
    mask = largest(size.reshape(taps, lines, -1, GROUP), KEPT).reshape(size.shape)
    if mode >= 2:
        # The second 4:2 may keep any four of the eight that the first leaves in a block: a line has at most two of them.
        size = np.where(mask, size, -1)
        blocks = size.reshape(taps, lines // GROUP, GROUP, length // GROUP, GROUP).swapaxes(2, 3)
        kept = largest(blocks.reshape(blocks.shape[:3] + (GROUP * GROUP,)), KEPT_OF_BLOCK)
        mask = kept.reshape(blocks.shape).swapaxes(2, 3).reshape(size.shape)
    if mode in (1, 3):
        mask = mask.swapaxes(1, 2)
    return mask.transpose(1, 2, 0)[:weight.shape[0], :weight.shape[1]].reshape(weight.shape)


class KeepZeros:
    """Sets weights outside the pattern to zero again before a module computes."""

    def __init__(self, masks):
        self.masks = masks  # of the module's parameters, by name

    def __call__(self, module, inputs):
        for name, mask in self.masks.items():
            weight = getattr(module, name)
            mask = self.masks[name] = mask.to(weight.device)
            weight.data.mul_(mask)


def weight_names(torch, module):
    """The parameters of a module that hold products of inputs and outputs."""
    if isinstance(module, torch.nn.MultiheadAttention):
        return [name for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight")
                if getattr(module, name, None) is not None]
    return ["weight"]


def useless_on_chip(torch, module):
    """Why RK3576 computes this module no faster, or None."""
    if not isinstance(module, torch.nn.Conv2d):
        return "not a 2-D convolution"
    if module.in_channels % CHANNEL_MULTIPLE or module.out_channels % CHANNEL_MULTIPLE:
        return "channels %d -> %d are not multiples of %d" % (module.in_channels, module.out_channels, CHANNEL_MULTIPLE)
    return None


def chosen(torch, model, whitelist, allowed, disallowed):
    """(name, module) of the layers to make sparse."""
    names = [name for name, _ in model.named_modules()]
    for name in list(allowed or []) + list(disallowed):
        if name not in names:
            raise ValueError("the model has no layer '%s'; named_modules() lists them" % name)
    for name, module in model.named_modules():
        if not isinstance(module, tuple(whitelist)) or name in disallowed or (allowed is not None and name not in allowed):
            continue
        if getattr(module, "groups", 1) != 1:
            logger.warning("%s stays as it is: its groups are %d, sparse layers have one", name, module.groups)
            continue
        yield name, module


def make_sparse(torch, module, mode):
    """Zeros in the module's weights, kept from now on; (weights that are zero, weights)."""
    masks, zeros, total = {}, 0, 0
    for parameter in weight_names(torch, module):
        weight = getattr(module, parameter)
        mask = pattern(weight.detach().cpu().float().numpy(), mode)
        zeros, total = zeros + int((~mask).sum()), total + mask.size
        kept = torch.from_numpy(mask).to(device=weight.device, dtype=weight.dtype)
        weight.data.mul_(kept)
        if weight.requires_grad:
            weight.register_hook(lambda gradient, kept=kept: gradient * kept.to(gradient))
        masks[parameter] = kept
    module.register_forward_pre_hook(KeepZeros(masks))
    return zeros, total


def sparsity_model(model, optimizer=None, mode=0, verbose=2, whitelist=None, allowed_layer_names=None, disallowed_layer_names=(),
                   fast=False):
    """Sets weights of `model` to zero in the pattern of `mode` and keeps them zero while it is trained.

    Call it on a trained model before further training, or before export. `optimizer` is optional: its state of weights that
    become zero is cleared. `whitelist` holds classes of modules, by default Linear and Conv2d. `fast` is accepted for programs that
    pass it: there is one method, and it is exact.
    """
    import torch
    if mode not in range(len(MODES)):
        pattern(np.zeros((1, 1)), mode)  # says which modes there are
    if verbose not in range(len(LEVELS)):
        raise ValueError("verbose is %r, expected 0 (errors) to 3 (all)" % (verbose,))
    if not isinstance(model, torch.nn.Module):
        raise ValueError("model is of type %s, expected torch.nn.Module" % type(model).__name__)
    logger.setLevel(LEVELS[verbose])
    if not logger.handlers and not logging.getLogger().handlers:
        logger.addHandler(logging.StreamHandler())
    whitelist = whitelist or [torch.nn.Linear, torch.nn.Conv2d]
    layers = 0
    with torch.no_grad():
        for name, module in chosen(torch, model, whitelist, allowed_layer_names, disallowed_layer_names):
            zeros, total = make_sparse(torch, module, mode)
            layers += 1
            reason = useless_on_chip(torch, module)
            if reason:
                logger.warning("%s: %d of %d weights are zero, but RK3576 gains nothing: %s", name, zeros, total, reason)
            else:
                logger.info("%s: %d of %d weights are zero (%s)", name, zeros, total, MODES[mode])
        clear_state(torch, optimizer, model)
    if not layers:
        logger.warning("no layer was made sparse: none is of %s and among the allowed names",
                       ", ".join(kind.__name__ for kind in whitelist))


def clear_state(torch, optimizer, model):
    """Momentum of weights that are zero now would move them."""
    if optimizer is None:
        return
    for module in model.modules():
        for hook in module._forward_pre_hooks.values():
            for name, mask in hook.masks.items() if isinstance(hook, KeepZeros) else ():
                for value in optimizer.state.get(getattr(module, name), {}).values():
                    if torch.is_tensor(value) and value.shape == mask.shape:
                        value.mul_(mask.to(value))

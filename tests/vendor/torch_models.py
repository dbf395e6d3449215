# SPDX-License-Identifier: Apache-2.0
"""Networks of torchvision and timm with random weights and small inputs, exported to ONNX for make_files.py.

Both packages are optional: without one its networks are left out.
"""
import io

import numpy as np

# Name in the package, side of the picture.
TORCHVISION = (
    ("squeezenet1_1", 64), ("mobilenet_v3_small", 64), ("mobilenet_v3_large", 64), ("shufflenet_v2_x0_5", 64),
    ("mnasnet0_5", 64), ("efficientnet_b0", 64), ("regnet_y_400mf", 64), ("regnet_x_400mf", 64), ("resnet18", 64),
    ("resnet34", 64), ("googlenet", 64), ("densenet121", 64),
)
TIMM = (
    ("ghostnet_050", 64), ("lcnet_035", 64), ("tinynet_e", 64), ("mobilevit_xxs", 64), ("mobilevitv2_050", 64),
    ("edgenext_xx_small", 64), ("repvgg_a0", 64), ("resnet10t", 64), ("semnasnet_075", 64), ("mixnet_s", 64),
    ("fbnetc_100", 64), ("hardcorenas_a", 64), ("mobileone_s0", 64), ("mobilenetv4_conv_small_035", 64),
    ("efficientvit_b0", 64), ("efficientnet_lite0", 64), ("starnet_s1", 64), ("poolformer_s12", 64),
    ("resnest14d", 64), ("dla46_c", 64), ("hrnet_w18_small", 64), ("cs3darknet_focus_s", 64),
    ("vit_tiny_patch16_224", 224), ("test_vit", 160), ("test_vit3", 160), ("test_byobnet", 64), ("test_convnext", 64),
    ("test_convnext2", 64), ("test_convnext3", 64), ("test_efficientnet", 64), ("test_efficientnet_gn", 64),
    ("test_efficientnet_ln", 64), ("test_efficientnet_evos", 64), ("test_mambaout", 64), ("test_nfnet", 64),
    ("test_resnet", 64),
)


def export(network, side, opset):
    import onnx
    import torch
    torch.manual_seed(20261116)
    network = network().eval()
    # Statistics of a trained network are not zero and one.
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.6, 1.4)
    data = io.BytesIO()
    picture = torch.randn(1, 3, side, side)
    torch.onnx.export(network, picture, data, opset_version=opset, input_names=["x0"], output_names=["y0"])
    model = onnx.load_from_string(data.getvalue())
    return onnx.shape_inference.infer_shapes(model), [picture.numpy().astype(np.float32)]


def networks():
    """name: function that returns (ModelProto, inputs)."""
    out = {}
    try:
        import torchvision
        for name, side in TORCHVISION:
            make = getattr(torchvision.models, name)
            options = {"init_weights": True, "aux_logits": False} if name == "googlenet" else {}
            out[f"torchvision_{name}"] = lambda m=make, s=side, o=options: export(lambda: m(weights=None, **o), s, 12)
    except ImportError:
        print("torchvision is not installed: its networks are left out")
    try:
        import timm
        for name, side in TIMM:
            if not timm.is_model(name):
                continue
            out[f"timm_{name}"] = lambda n=name, s=side: export(
                lambda: timm.create_model(n, pretrained=False, exportable=True), s, 14)
    except ImportError:
        print("timm is not installed: its networks are left out")
    return out

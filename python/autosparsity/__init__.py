# SPDX-License-Identifier: Apache-2.0
"""Weights of a torch model with the zeros that RK3576 computes with: from autosparsity.sparsity import sparsity_model"""

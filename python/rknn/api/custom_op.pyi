# SPDX-License-Identifier: Apache-2.0
from typing import Any, Dict, List

class Node:
    name: str
    op_type: str
    input: List[str]
    output: List[str]
    attributes: Dict[str, Any]

def get_node_attr(node: Node, name: str) -> Any: ...

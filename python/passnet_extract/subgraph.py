"""Cut: a range [start, end) of a captured graph's operators as a graph of its own.

In: a `Captured` and the range. Out: a `Subgraph`. Values that enter the range become inputs, sorted by the parent's variable name;
values used after it, or returned, become the returned tuple, sorted the same way. The inputs' values come from a real run.
"""
import hashlib
from dataclasses import dataclass

import torch
from torch.fx.node import _get_qualified_name, map_arg

from .capture import run_node


@dataclass
class Input:
    original_name: str
    value: torch.Tensor
    is_argument: bool  # an argument of the parent (a weight, a model input), not a value computed in it


@dataclass
class Subgraph:
    graph: torch.fx.Graph  # placeholders in the order of `inputs`, calls, one output of a tuple
    inputs: list
    leaving: list  # the parent's nodes whose values the outputs are
    casts: int = 0  # how many `.to` the dtype generalisation had to insert

    @property
    def calls(self):
        return [node for node in self.graph.nodes if node.op.startswith("call_")]

    def run(self):
        """The outputs, on copies of the inputs."""
        values, env = iter([item.value.clone() for item in self.inputs]), {}
        for node in self.graph.nodes:
            if node.op == "output":
                return [env[n] for n in node.args[0]]
            env[node] = next(values) if node.op == "placeholder" else run_node(node, env)


def parent_name(node):
    """The name in the parent's printed text: an argument keeps the spelling of its target."""
    return node.target if node.op == "placeholder" else node.name


def cut(captured, start, end):
    if not 0 <= start < end <= len(captured.operators):
        raise ValueError(f"range [{start}, {end}) is not within the graph's {len(captured.operators)} operators")
    inside = captured.operators[start:end]
    chosen = set(inside)
    entering = sorted({n for node in inside for n in node.all_input_nodes if n not in chosen}, key=parent_name)
    leaving = sorted((n for n in inside if any(user not in chosen for user in n.users)), key=parent_name)
    graph, copies = torch.fx.Graph(), {}
    for node in entering:
        copies[node] = graph.placeholder(parent_name(node))
    for node in inside:
        copies[node] = graph.node_copy(node, lambda n: copies[n])
    graph.output(tuple(copies[n] for n in leaving))
    values = captured.values_at(start, entering)
    inputs = [Input(parent_name(n), v, n.op == "placeholder") for n, v in zip(entering, values)]
    for item in inputs:
        if not isinstance(item.value, torch.Tensor):
            raise ValueError(f"{item.original_name} enters the range and is a {type(item.value).__name__}, not a tensor")
    return Subgraph(graph, inputs, leaving)


def computation(subgraph):
    """A hash of what is computed, whatever the sizes: targets and wiring count, integers and inserted casts do not.

    Graphs with the same computation belong to one task.
    """
    number, parts = {}, []

    def shown(value):
        if isinstance(value, torch.fx.Node):
            return number[value]
        if isinstance(value, (tuple, list)):
            return "(" + ",".join(shown(v) for v in value) + ")"
        if isinstance(value, slice):
            return shown((value.start, value.stop, value.step))
        return "int" if type(value) is int else repr(value)

    for node in subgraph.graph.nodes:
        if node.meta.get("cast"):
            number[node] = number[node.args[0]]
            continue
        number[node] = f"%{len(set(number.values()))}"
        if node.op != "placeholder":
            keywords = ",".join(f"{k}={shown(v)}" for k, v in node.kwargs.items())
            target = node.target if isinstance(node.target, str) else _get_qualified_name(node.target)
            parts.append(f"{number[node]}={node.op} {target} {shown(node.args)} {keywords}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def with_inserted(subgraph, insert):
    """A copy of the subgraph's graph; `insert(graph, node, env)` runs each call and may add nodes before it."""
    graph, copies, env = torch.fx.Graph(), {}, {}
    values = iter([item.value.clone() for item in subgraph.inputs])
    for node in subgraph.graph.nodes:
        copy = copies[node] = graph.node_copy(node, lambda n: copies[n])
        if node.op == "placeholder":
            env[copy] = next(values)
        elif node.op != "output":
            env[copy] = insert(graph, copy, env)
    return graph


def replace_arguments(node, old_to_new):
    node.args, node.kwargs = map_arg((node.args, node.kwargs), lambda n: old_to_new.get(n, n))

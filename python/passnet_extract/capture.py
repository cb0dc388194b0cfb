"""Capture: every graph that torch.compile hands to a backend, and the values it really ran on.

In: an `Example`. Out: a `Captured` per graph, in the order of the graph breaks: the FX graph and the tensors it was called with.
`values_at` runs it again up to an operator, because an in-place operator may change a value between its making and the cut.
"""
import warnings
from dataclasses import dataclass

import torch
from torch.fx.node import map_arg

OPERATOR_KINDS = ("call_function", "call_method", "get_attr", "call_module")


@dataclass
class Captured:
    module: torch.fx.GraphModule
    inputs: list

    @property
    def operators(self):
        """The nodes that [start, end) counts: neither placeholders nor the output."""
        return [node for node in self.module.graph.nodes if node.op in OPERATOR_KINDS]

    def values_at(self, stop, wanted):
        """Copies of the wanted nodes' values, as they are just before operator `stop` (the operators' count: after all of them)."""
        inputs = iter([value.clone() if isinstance(value, torch.Tensor) else value for value in self.inputs])
        env, ahead = {}, set(self.operators[stop:])
        for node in self.module.graph.nodes:
            if node in ahead or node.op == "output":
                break
            env[node] = next(inputs) if node.op == "placeholder" else run_node(node, env)
        return [env[node].clone() if isinstance(env[node], torch.Tensor) else env[node] for node in wanted]


def run_node(node, env):
    """One function or method call on the values of `env`."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda n: env[n])
    if node.op == "call_function":
        return node.target(*args, **kwargs)
    if node.op == "call_method":
        return getattr(args[0], node.target)(*args[1:], **kwargs)
    raise ValueError(f"{node.op} {node.target}: only functions and methods can be run; the module was not inlined")


def capture(example):
    """All graphs of one call, without gradients and with fixed sizes."""
    graphs = []

    def backend(module, inputs):
        graphs.append(Captured(module, [value.detach().clone() if isinstance(value, torch.Tensor) else value for value in inputs]))
        return module.forward

    torch._dynamo.reset()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Dynamo detected a call to a `functools.lru_cache`")
        torch.compile(example.module, backend=backend, dynamic=False)(**example.inputs)
    return graphs

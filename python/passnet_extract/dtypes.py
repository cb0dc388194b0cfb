"""Dtype generalisation: the same computation on float16 or bfloat16 inputs.

In: a float32 subgraph and a dtype. Out: a subgraph whose float32 inputs (batch-norm statistics included) have that dtype. The text
is left as it is; a `.to(dtype)` is inserted only before an operator that refuses to mix the dtypes it meets.
"""
import torch

from .capture import run_node
from .subgraph import Input, Subgraph, replace_arguments, with_inserted

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def generalise(subgraph, name):
    dtype = DTYPES[name]
    if dtype == torch.float32:
        return subgraph
    inputs = [Input(i.original_name, i.value.to(dtype) if i.value.dtype == torch.float32 else i.value, i.is_argument) for i in subgraph.inputs]
    result = Subgraph(subgraph.graph, inputs, subgraph.leaving)

    def run_or_cast(graph, node, env):
        try:
            return run_node(node, env)
        except RuntimeError:
            wide = [n for n in node.all_input_nodes if isinstance(env[n], torch.Tensor) and env[n].dtype == torch.float32]
            if not wide:
                raise
        casts = {}
        with graph.inserting_before(node):
            for argument in wide:
                casts[argument] = cast = graph.call_method("to", (argument, dtype))
                cast.meta["cast"] = True
                env[cast] = run_node(cast, env)
        replace_arguments(node, casts)
        result.casts += len(casts)
        return run_node(node, env)

    result.graph = with_inserted(result, run_or_cast)
    return result

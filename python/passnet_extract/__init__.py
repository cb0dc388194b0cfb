"""passnet_extract: real models in, graph folders out.

The way of the data, one file a step:

    architectures   name and sizes          -> a small model with random weights, and example inputs
    capture         model and inputs        -> the graphs torch.compile hands to a backend, with real values
    subgraph        graph and [start, end)  -> the range as a graph of its own, and the values that enter it
    dtypes          subgraph and dtype      -> the same subgraph on float16 or bfloat16 inputs
    printer         subgraph                -> the text of model.py, in either of the two print styles
    folder          subgraph                -> graph folder, task folder, lists
    check           graph folder            -> the outputs of a replayed run, or what is wrong with them
"""

import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = torch.nn.functional.embedding(in_0, in_1)
        tmp_1 = tmp_0 * 2.0
        return (tmp_1,)

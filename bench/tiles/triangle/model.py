import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = torch.tril(in_0)
        tmp_1 = tmp_0.sum(-1)
        return (tmp_1,)

import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 * 0.5
        tmp_1 = tmp_0 + in_1
        tmp_2 = torch.nn.functional.silu(tmp_1)
        tmp_3 = tmp_2 * in_1
        return (tmp_3,)

import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0
        tmp_1 = in_1
        tmp_2 = in_2
        tmp_3 = in_3.view(1, 16, 16, 16)
        tmp_4 = tmp_3[slice(None, None, None), slice(0, None, 2), slice(0, None, 2), slice(None, None, None)]
        tmp_5 = tmp_3[slice(None, None, None), slice(1, None, 2), slice(0, None, 2), slice(None, None, None)]
        tmp_6 = tmp_3[slice(None, None, None), slice(0, None, 2), slice(1, None, 2), slice(None, None, None)]
        tmp_7 = tmp_3[slice(None, None, None), slice(1, None, 2), slice(1, None, 2), slice(None, None, None)]
        tmp_3 = None
        tmp_8 = torch.cat([tmp_4, tmp_5, tmp_6, tmp_7], dim=-1)
        tmp_4 = tmp_5 = tmp_6 = tmp_7 = None
        tmp_9 = tmp_8.view(1, -1, 64)
        tmp_8 = None
        tmp_10 = torch.nn.functional.layer_norm(tmp_9, (64,), tmp_1, tmp_0, 1e-05)
        tmp_9 = tmp_1 = tmp_0 = None
        tmp_11 = torch.nn.functional.linear(tmp_10, tmp_2, None)
        tmp_10 = tmp_2 = None
        return (tmp_11,)
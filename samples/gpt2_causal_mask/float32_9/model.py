import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0
        tmp_1 = tmp_0.view(2, -1)
        tmp_0 = None
        tmp_2 = tmp_1.to(device=device(type='cpu'), dtype=torch.bool)
        tmp_1 = None
        tmp_3 = torch.arange(2, device=device(type='cpu'))
        tmp_4 = torch.arange(1, device=device(type='cpu'))
        tmp_4 = None
        tmp_5 = torch.arange(16, device=device(type='cpu'))
        tmp_6 = tmp_5 + 0
        tmp_5 = None
        tmp_7 = torch.arange(16, device=device(type='cpu'))
        tmp_8 = tmp_7 + 0
        tmp_7 = None
        tmp_9 = tmp_3[slice(None, None, None), None, None, None]
        tmp_3 = None
        tmp_10 = tmp_6[None, None, slice(None, None, None), None]
        tmp_6 = None
        tmp_11 = tmp_8[None, None, None, slice(None, None, None)]
        tmp_8 = None
        tmp_12 = tmp_10.new_ones((), dtype=torch.bool)
        tmp_13 = tmp_11 <= tmp_10
        tmp_10 = None
        tmp_14 = tmp_13.to(device(type='cpu'))
        tmp_13 = None
        tmp_15 = tmp_12 & tmp_14
        tmp_12 = tmp_14 = None
        tmp_16 = tmp_2[tmp_9, tmp_11]
        tmp_2 = tmp_9 = tmp_11 = None
        tmp_17 = tmp_16.to(device(type='cpu'))
        tmp_16 = None
        tmp_18 = tmp_15 & tmp_17
        tmp_15 = tmp_17 = None
        tmp_19 = tmp_18.expand(2, -1, 16, 16)
        tmp_18 = None
        tmp_20 = torch.zeros((), device=device(type='cpu'), dtype=torch.float32)
        tmp_21 = torch.where(tmp_19, tmp_20, -3.4028234663852886e+38)
        tmp_19 = tmp_20 = None
        return (tmp_21,)
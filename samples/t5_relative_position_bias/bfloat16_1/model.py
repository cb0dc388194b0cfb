import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0
        tmp_1 = torch.arange(12, dtype=torch.int64, device=device(type='cpu'))
        tmp_2 = tmp_1[slice(None, None, None), None]
        tmp_1 = None
        tmp_3 = tmp_2 + 0
        tmp_2 = None
        tmp_4 = torch.arange(12, dtype=torch.int64, device=device(type='cpu'))
        tmp_5 = tmp_4[None, slice(None, None, None)]
        tmp_4 = None
        tmp_6 = tmp_5 - tmp_3
        tmp_5 = tmp_3 = None
        tmp_7 = tmp_6 > 0
        tmp_8 = tmp_7.to(torch.int64)
        tmp_7 = None
        tmp_9 = tmp_8 * 16
        tmp_8 = None
        tmp_10 = 0 + tmp_9
        tmp_9 = None
        tmp_11 = torch.abs(tmp_6)
        tmp_6 = None
        tmp_12 = tmp_11 < 8
        tmp_13 = tmp_11.float()
        tmp_14 = tmp_13 / 8
        tmp_13 = None
        tmp_15 = torch.log(tmp_14)
        tmp_14 = None
        tmp_16 = tmp_15 / 2.772588722239781
        tmp_15 = None
        tmp_17 = tmp_16 * 8
        tmp_16 = None
        tmp_18 = tmp_17.to(torch.int64)
        tmp_17 = None
        tmp_19 = 8 + tmp_18
        tmp_18 = None
        tmp_20 = torch.full_like(tmp_19, 15)
        tmp_21 = torch.min(tmp_19, tmp_20)
        tmp_19 = tmp_20 = None
        tmp_22 = torch.where(tmp_12, tmp_11, tmp_21)
        tmp_12 = tmp_11 = tmp_21 = None
        tmp_10 += tmp_22
        tmp_23 = tmp_10
        tmp_10 = tmp_22 = None
        tmp_24 = torch.nn.functional.embedding(tmp_23, tmp_0, None, None, 2.0, False, False)
        tmp_23 = tmp_0 = None
        tmp_25 = tmp_24.permute([2, 0, 1])
        tmp_24 = None
        return (tmp_25,)
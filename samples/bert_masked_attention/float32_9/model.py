import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7):
        tmp_0 = in_0
        tmp_1 = in_1
        tmp_2 = in_2
        tmp_3 = in_3
        tmp_4 = in_4
        tmp_5 = in_5
        tmp_6 = in_7.expand(2, -1, 16, 16)
        tmp_7 = torch.zeros((), device=device(type='cpu'), dtype=torch.float32)
        tmp_8 = torch.where(tmp_6, tmp_7, -3.4028234663852886e+38)
        tmp_6 = tmp_7 = None
        tmp_9 = torch.nn.functional.linear(in_6, tmp_3, tmp_2)
        tmp_3 = tmp_2 = None
        tmp_10 = tmp_9.view(2, 16, -1, 16)
        tmp_9 = None
        tmp_11 = tmp_10.transpose(1, 2)
        tmp_10 = None
        tmp_12 = torch.nn.functional.linear(in_6, tmp_1, tmp_0)
        tmp_1 = tmp_0 = None
        tmp_13 = tmp_12.view(2, 16, -1, 16)
        tmp_12 = None
        tmp_14 = tmp_13.transpose(1, 2)
        tmp_13 = None
        tmp_15 = torch.nn.functional.linear(in_6, tmp_5, tmp_4)
        tmp_5 = tmp_4 = None
        tmp_16 = tmp_15.view(2, 16, -1, 16)
        tmp_15 = None
        tmp_17 = tmp_16.transpose(1, 2)
        tmp_16 = None
        tmp_18 = tmp_14.transpose(2, 3)
        tmp_14 = None
        tmp_19 = torch.matmul(tmp_11, tmp_18)
        tmp_11 = tmp_18 = None
        tmp_20 = tmp_19 * 0.25
        tmp_19 = None
        tmp_21 = tmp_20 + tmp_8
        tmp_20 = tmp_8 = None
        tmp_22 = torch.nn.functional.softmax(tmp_21, dim=-1)
        tmp_21 = None
        tmp_23 = torch.nn.functional.dropout(tmp_22, p=0.0, training=False)
        tmp_22 = None
        tmp_24 = torch.matmul(tmp_23, tmp_17)
        tmp_23 = tmp_17 = None
        tmp_25 = tmp_24.transpose(1, 2)
        tmp_24 = None
        return (tmp_25,)
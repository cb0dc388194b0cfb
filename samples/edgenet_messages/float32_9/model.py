import torch
from torch import inf

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = in_0
        tmp_1 = in_1
        tmp_2 = in_2
        tmp_3 = tmp_2.new_zeros(20)
        tmp_4 = torch.ones_like(in_4, dtype=torch.float32)
        tmp_5 = tmp_3.scatter_add_(0, in_4, tmp_4)
        tmp_3 = tmp_4 = None
        tmp_6 = tmp_5.pow(-0.5)
        tmp_5 = None
        tmp_7 = tmp_6 == inf
        tmp_8 = tmp_6.masked_fill(tmp_7, 0)
        tmp_6 = tmp_7 = None
        tmp_9 = tmp_2.index_select(0, in_3)
        tmp_10 = tmp_2.index_select(0, in_4)
        tmp_11 = torch.cat([tmp_9, tmp_10], dim=-1)
        tmp_9 = tmp_10 = None
        tmp_12 = torch.nn.functional.linear(tmp_11, tmp_1, tmp_0)
        tmp_11 = tmp_1 = tmp_0 = None
        tmp_13 = torch.relu(tmp_12)
        tmp_12 = None
        tmp_14 = tmp_8[in_3]
        tmp_15 = tmp_8[in_4]
        tmp_8 = None
        tmp_16 = tmp_14 * tmp_15
        tmp_14 = tmp_15 = None
        tmp_17 = tmp_16.unsqueeze(-1)
        tmp_16 = None
        tmp_18 = tmp_13 * tmp_17
        tmp_13 = tmp_17 = None
        tmp_19 = in_4.unsqueeze(-1)
        tmp_20 = tmp_19.expand_as(tmp_18)
        tmp_19 = None
        tmp_21 = torch.zeros_like(tmp_2)
        tmp_2 = None
        tmp_22 = tmp_21.scatter_reduce(0, tmp_20, tmp_18, reduce='amax')
        tmp_21 = tmp_20 = tmp_18 = None
        return (tmp_22,)
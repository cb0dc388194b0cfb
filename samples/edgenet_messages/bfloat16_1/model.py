import torch

from torch import inf

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor, in_3 : torch.Tensor, in_4 : torch.Tensor):
        tmp_3 = in_2.new_zeros(96)
        tmp_4 = torch.ones_like(in_4, dtype = torch.float32)
        to = tmp_4.to(torch.bfloat16);  tmp_4 = None
        tmp_5 = tmp_3.scatter_add_(0, in_4, to);  tmp_3 = to = None
        tmp_6 = tmp_5.pow(-0.5);  tmp_5 = None
        tmp_7 = tmp_6 == inf
        tmp_8 = tmp_6.masked_fill(tmp_7, 0);  tmp_6 = tmp_7 = None
        tmp_9 = in_2.index_select(0, in_3)
        tmp_10 = in_2.index_select(0, in_4)
        tmp_11 = torch.cat([tmp_9, tmp_10], dim = -1);  tmp_9 = tmp_10 = None
        linear = torch.nn.functional.linear(tmp_11, in_1, in_0);  tmp_11 = in_1 = in_0 = None
        tmp_13 = torch.relu(linear);  linear = None
        tmp_14 = tmp_8[in_3];  in_3 = None
        tmp_15 = tmp_8[in_4];  tmp_8 = None
        tmp_16 = tmp_14 * tmp_15;  tmp_14 = tmp_15 = None
        tmp_17 = tmp_16.unsqueeze(-1);  tmp_16 = None
        tmp_18 = tmp_13 * tmp_17;  tmp_13 = tmp_17 = None
        tmp_19 = in_4.unsqueeze(-1);  in_4 = None
        tmp_20 = tmp_19.expand_as(tmp_18);  tmp_19 = None
        tmp_21 = torch.zeros_like(in_2);  in_2 = None
        tmp_22 = tmp_21.scatter_reduce(0, tmp_20, tmp_18, reduce = 'amax');  tmp_21 = tmp_20 = tmp_18 = None
        return (tmp_22,)
        
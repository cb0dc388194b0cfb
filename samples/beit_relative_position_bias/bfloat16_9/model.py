import torch

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor):
        tmp_0 = in_0[(slice(None, None, None), slice(None, None, None), None)]
        tmp_1 = in_0[(slice(None, None, None), None, slice(None, None, None))];  in_0 = None
        tmp_2 = tmp_0 - tmp_1;  tmp_0 = tmp_1 = None
        tmp_3 = tmp_2.permute(1, 2, 0);  tmp_2 = None
        tmp_4 = tmp_3.contiguous();  tmp_3 = None
        tmp_5 = tmp_4[(slice(None, None, None), slice(None, None, None), 0)]
        tmp_5 += 3;  tmp_6 = tmp_5;  tmp_5 = None
        tmp_4[(slice(None, None, None), slice(None, None, None), 0)] = tmp_6;  setitem = tmp_4;  tmp_6 = setitem = None
        tmp_8 = tmp_4[(slice(None, None, None), slice(None, None, None), 1)]
        tmp_8 += 3;  tmp_9 = tmp_8;  tmp_8 = None
        tmp_4[(slice(None, None, None), slice(None, None, None), 1)] = tmp_9;  setitem_1 = tmp_4;  tmp_9 = setitem_1 = None
        tmp_11 = tmp_4[(slice(None, None, None), slice(None, None, None), 0)]
        tmp_11 *= 7;  tmp_12 = tmp_11;  tmp_11 = None
        tmp_4[(slice(None, None, None), slice(None, None, None), 0)] = tmp_12;  setitem_2 = tmp_4;  tmp_12 = setitem_2 = None
        tmp_14 = torch.zeros(size = (17, 17), dtype = torch.int64)
        tmp_15 = tmp_4.sum(-1);  tmp_4 = None
        tmp_14[(slice(1, None, None), slice(1, None, None))] = tmp_15;  setitem_3 = tmp_14;  tmp_15 = setitem_3 = None
        tmp_14[(0, slice(0, None, None))] = 49;  setitem_4 = tmp_14;  setitem_4 = None
        tmp_14[(slice(0, None, None), 0)] = 50;  setitem_5 = tmp_14;  setitem_5 = None
        tmp_14[(0, 0)] = 51;  setitem_6 = tmp_14;  setitem_6 = None
        tmp_20 = tmp_14.view(-1);  tmp_14 = None
        tmp_21 = in_1[tmp_20];  in_1 = tmp_20 = None
        tmp_22 = tmp_21.view(17, 17, -1);  tmp_21 = None
        tmp_23 = tmp_22.permute(2, 0, 1);  tmp_22 = None
        tmp_24 = tmp_23.contiguous();  tmp_23 = None
        return (tmp_24,)
        
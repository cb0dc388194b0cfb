import torch

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor, in_3 : torch.Tensor, in_4 : torch.Tensor, in_5 : torch.Tensor, in_6 : torch.Tensor, in_7 : torch.Tensor):
        tmp_8 = in_1[(slice(None, None, None), slice(0, 16, None))];  in_1 = None
        tmp_9 = in_2.expand(1, -1);  in_2 = None
        tmp_10 = torch.gather(tmp_9, dim = 1, index = tmp_8);  tmp_9 = None
        tmp_11 = tmp_10.expand(2, 16);  tmp_10 = None
        tmp_12 = torch.nn.functional.embedding(in_0, in_7, 0, None, 2.0, False, False);  in_0 = in_7 = None
        tmp_13 = torch.nn.functional.embedding(tmp_11, in_6, None, None, 2.0, False, False);  tmp_11 = in_6 = None
        tmp_14 = tmp_12 + tmp_13;  tmp_12 = tmp_13 = None
        tmp_15 = torch.nn.functional.embedding(tmp_8, in_5, None, None, 2.0, False, False);  tmp_8 = in_5 = None
        tmp_16 = tmp_14 + tmp_15;  tmp_14 = tmp_15 = None
        tmp_17 = torch.nn.functional.layer_norm(tmp_16, (64,), in_4, in_3, 1e-12);  tmp_16 = in_4 = in_3 = None
        tmp_18 = torch.nn.functional.dropout(tmp_17, 0.1, False, False);  tmp_17 = None
        return (tmp_18,)
        
import torch

from torch import device

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor, in_3 : torch.Tensor, in_4 : torch.Tensor, in_5 : torch.Tensor):
        conv1d = torch.conv1d(in_0, in_2, in_1, (1,), (1,), (1,), 1);  in_0 = in_2 = in_1 = None
        tmp_7 = torch._C._nn.gelu(conv1d);  conv1d = None
        conv1d_1 = torch.conv1d(tmp_7, in_4, in_3, (2,), (1,), (1,), 1);  tmp_7 = in_4 = in_3 = None
        tmp_9 = torch._C._nn.gelu(conv1d_1);  conv1d_1 = None
        tmp_10 = tmp_9.permute(0, 2, 1);  tmp_9 = None
        tmp_11 = torch.arange(32, device = device(type='cpu'))
        tmp_12 = torch.nn.functional.embedding(tmp_11, in_5, None, None, 2.0, False, False);  tmp_11 = in_5 = None
        tmp_13 = tmp_10 + tmp_12;  tmp_10 = tmp_12 = None
        tmp_14 = torch.nn.functional.dropout(tmp_13, p = 0.0, training = False);  tmp_13 = None
        return (tmp_14,)
        
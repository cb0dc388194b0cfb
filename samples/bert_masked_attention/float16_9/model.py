import torch

from torch import device

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor, in_3 : torch.Tensor, in_4 : torch.Tensor, in_5 : torch.Tensor, in_6 : torch.Tensor, in_7 : torch.Tensor):
        tmp_6 = in_7.expand(2, -1, 16, 16);  in_7 = None
        tmp_7 = torch.zeros((), device = device(type='cpu'), dtype = torch.float32)
        tmp_8 = torch.where(tmp_6, tmp_7, -3.4028234663852886e+38);  tmp_6 = tmp_7 = None
        linear = torch.nn.functional.linear(in_6, in_3, in_2);  in_3 = in_2 = None
        tmp_10 = linear.view(2, 16, -1, 16);  linear = None
        tmp_11 = tmp_10.transpose(1, 2);  tmp_10 = None
        linear_1 = torch.nn.functional.linear(in_6, in_1, in_0);  in_1 = in_0 = None
        tmp_13 = linear_1.view(2, 16, -1, 16);  linear_1 = None
        tmp_14 = tmp_13.transpose(1, 2);  tmp_13 = None
        linear_2 = torch.nn.functional.linear(in_6, in_5, in_4);  in_6 = in_5 = in_4 = None
        tmp_16 = linear_2.view(2, 16, -1, 16);  linear_2 = None
        tmp_17 = tmp_16.transpose(1, 2);  tmp_16 = None
        tmp_18 = tmp_14.transpose(2, 3);  tmp_14 = None
        matmul = torch.matmul(tmp_11, tmp_18);  tmp_11 = tmp_18 = None
        tmp_20 = matmul * 0.25;  matmul = None
        tmp_21 = tmp_20 + tmp_8;  tmp_20 = tmp_8 = None
        tmp_22 = torch.nn.functional.softmax(tmp_21, dim = -1);  tmp_21 = None
        tmp_23 = torch.nn.functional.dropout(tmp_22, p = 0.0, training = False);  tmp_22 = None
        to = tmp_23.to(torch.float16);  tmp_23 = None
        matmul_1 = torch.matmul(to, tmp_17);  to = tmp_17 = None
        tmp_25 = matmul_1.transpose(1, 2);  matmul_1 = None
        return (tmp_25,)
        
import torch

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor, in_3 : torch.Tensor, in_4 : torch.Tensor):
        linear = torch.nn.functional.linear(in_4, in_1, None);  in_1 = None
        tmp_4 = torch.nn.functional.silu(linear);  linear = None
        linear_1 = torch.nn.functional.linear(in_4, in_2, None);  in_4 = in_2 = None
        tmp_6 = tmp_4 * linear_1;  tmp_4 = linear_1 = None
        linear_2 = torch.nn.functional.linear(tmp_6, in_0, None);  tmp_6 = in_0 = None
        tmp_8 = in_3 + linear_2;  in_3 = linear_2 = None
        return (tmp_8,)
        
import torch

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor, in_3 : torch.Tensor):
        tmp_2 = torch.nn.functional.dropout(in_3, 0.1, False, False);  in_3 = None
        tmp_3 = tmp_2 + in_2;  tmp_2 = in_2 = None
        tmp_4 = torch.nn.functional.layer_norm(tmp_3, (64,), in_1, in_0, 1e-12);  tmp_3 = in_1 = in_0 = None
        return (tmp_4,)
        
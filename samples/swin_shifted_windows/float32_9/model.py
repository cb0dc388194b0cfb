import torch

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor):
        tmp_2 = torch.nn.functional.layer_norm(in_2, (16,), in_1, in_0, 1e-05);  in_2 = in_1 = in_0 = None
        tmp_3 = tmp_2.view(1, 16, 16, 16);  tmp_2 = None
        tmp_4 = torch.nn.functional.pad(tmp_3, (0, 0, 0, 0, 0, 0), 'constant', None);  tmp_3 = None
        tmp_5 = torch.roll(tmp_4, shifts = (-2, -2), dims = (1, 2));  tmp_4 = None
        tmp_6 = tmp_5.view(1, 4, 4, 4, 4, 16);  tmp_5 = None
        tmp_7 = tmp_6.transpose(2, 3);  tmp_6 = None
        tmp_8 = tmp_7.contiguous();  tmp_7 = None
        tmp_9 = tmp_8.view(-1, 4, 4, 16);  tmp_8 = None
        tmp_10 = tmp_9.view(-1, 16, 16);  tmp_9 = None
        return (tmp_10,)
        
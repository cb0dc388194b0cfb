import torch

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor, in_3 : torch.Tensor, in_4 : torch.Tensor, in_5 : torch.Tensor):
        conv2d = torch.conv2d(in_5, in_4, None, (2, 2), (3, 3), (1, 1), 1);  in_5 = in_4 = None
        tmp_7 = torch.nn.functional.batch_norm(conv2d, in_0, in_1, in_3, in_2, False, 0.1, 1e-05);  conv2d = in_0 = in_1 = in_3 = in_2 = None
        tmp_8 = torch.nn.functional.relu(tmp_7, inplace = True);  tmp_7 = None
        tmp_9 = torch.nn.functional.max_pool2d(tmp_8, 3, 2, 1, 1, ceil_mode = False, return_indices = False);  tmp_8 = None
        return (tmp_9,)
        
import torch

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor):
        tmp_2 = in_2.chunk(2, dim = 1);  in_2 = None
        tmp_3 = tmp_2[0]
        tmp_4 = tmp_2[1];  tmp_2 = None
        tmp_5 = in_1.squeeze(1);  in_1 = None
        tmp_6 = tmp_3.to(torch.float32);  tmp_3 = None
        tmp_7 = tmp_5.unsqueeze(1);  tmp_5 = None
        to = tmp_6.to(torch.bfloat16);  tmp_6 = None
        conv1d = torch.conv1d(to, weight = tmp_7, bias = in_0, padding = 3, groups = 64);  to = tmp_7 = in_0 = None
        tmp_9 = conv1d[(slice(None, None, None), slice(None, None, None), slice(None, 8, None))];  conv1d = None
        tmp_10 = torch._C._log_api_usage_once('python.nn_module');  tmp_10 = None
        tmp_11 = torch.nn.functional.silu(tmp_9);  tmp_9 = None
        tmp_12 = tmp_11.to(torch.float32);  tmp_11 = None
        tmp_13 = tmp_12.transpose(1, 2);  tmp_12 = None
        return (tmp_4, tmp_13)
        
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0
        tmp_1 = in_1
        tmp_2 = in_2.chunk(2, dim=1)
        tmp_3 = tmp_2[0]
        tmp_4 = tmp_2[1]
        tmp_2 = None
        tmp_5 = tmp_1.squeeze(1)
        tmp_1 = None
        tmp_6 = tmp_3.to(torch.float32)
        tmp_3 = None
        tmp_7 = tmp_5.unsqueeze(1)
        tmp_5 = None
        tmp_8 = torch.conv1d(tmp_6, weight=tmp_7, bias=tmp_0, padding=3, groups=64)
        tmp_6 = tmp_7 = tmp_0 = None
        tmp_9 = tmp_8[slice(None, None, None), slice(None, None, None), slice(None, 16, None)]
        tmp_8 = None
        tmp_10 = torch._C._log_api_usage_once('python.nn_module')
        tmp_10 = None
        tmp_11 = torch.nn.functional.silu(tmp_9)
        tmp_9 = None
        tmp_12 = tmp_11.to(torch.float32)
        tmp_11 = None
        tmp_13 = tmp_12.transpose(1, 2)
        tmp_12 = None
        return (tmp_4, tmp_13)
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9):
        tmp_0 = in_0
        tmp_1 = in_1
        tmp_2 = in_2
        tmp_3 = in_3
        tmp_4 = in_4
        tmp_5 = in_5
        tmp_6 = in_6
        tmp_7 = in_7
        tmp_8 = in_8
        tmp_9 = in_9.permute(0, 3, 1, 2)
        tmp_10 = torch.conv2d(tmp_9, tmp_1, tmp_0, (1, 1), (3, 3), (1, 1), 24)
        tmp_1 = tmp_0 = None
        tmp_11 = tmp_10.permute(0, 2, 3, 1)
        tmp_10 = None
        tmp_12 = torch.nn.functional.layer_norm(tmp_11, (24,), tmp_3, tmp_2, 1e-06)
        tmp_11 = tmp_3 = tmp_2 = None
        tmp_13 = torch.nn.functional.linear(tmp_12, tmp_5, tmp_4)
        tmp_12 = tmp_5 = tmp_4 = None
        tmp_14 = torch.nn.functional.gelu(tmp_13)
        tmp_13 = None
        tmp_15 = torch.nn.functional.linear(tmp_14, tmp_7, tmp_6)
        tmp_14 = tmp_7 = tmp_6 = None
        tmp_16 = tmp_8 * tmp_15
        tmp_8 = tmp_15 = None
        tmp_17 = tmp_16.permute(0, 3, 1, 2)
        tmp_16 = None
        tmp_18 = tmp_9 + tmp_17
        tmp_9 = tmp_17 = None
        return (tmp_18,)
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15):
        tmp_0 = in_0
        tmp_1 = in_1
        tmp_2 = in_2
        tmp_3 = in_3
        tmp_4 = in_4
        tmp_5 = in_5
        tmp_6 = in_6
        tmp_7 = in_7
        tmp_8 = in_8
        tmp_9 = in_9
        tmp_10 = in_10
        tmp_11 = in_11
        tmp_12 = in_12
        tmp_13 = in_13
        tmp_14 = torch.conv2d(in_15, tmp_0, None, (1, 1), (1, 1), (1, 1), 64)
        tmp_0 = None
        tmp_15 = torch.nn.functional.batch_norm(tmp_14, tmp_1, tmp_2, tmp_4, tmp_3, False, 0.1, 1e-05)
        tmp_14 = tmp_1 = tmp_2 = tmp_4 = tmp_3 = None
        tmp_16 = torch.nn.functional.hardswish(tmp_15, False)
        tmp_15 = None
        tmp_17 = torch.nn.functional.adaptive_avg_pool2d(tmp_16, 1)
        tmp_18 = torch.conv2d(tmp_17, tmp_11, tmp_10, (1, 1), (0, 0), (1, 1), 1)
        tmp_17 = tmp_11 = tmp_10 = None
        tmp_19 = torch.nn.functional.relu(tmp_18, inplace=False)
        tmp_18 = None
        tmp_20 = torch.conv2d(tmp_19, tmp_13, tmp_12, (1, 1), (0, 0), (1, 1), 1)
        tmp_19 = tmp_13 = tmp_12 = None
        tmp_21 = torch.nn.functional.hardsigmoid(tmp_20, False)
        tmp_20 = None
        tmp_22 = tmp_21 * tmp_16
        tmp_21 = tmp_16 = None
        tmp_23 = torch.conv2d(tmp_22, tmp_5, None, (1, 1), (0, 0), (1, 1), 1)
        tmp_22 = tmp_5 = None
        tmp_24 = torch.nn.functional.batch_norm(tmp_23, tmp_6, tmp_7, tmp_9, tmp_8, False, 0.1, 1e-05)
        tmp_23 = tmp_6 = tmp_7 = tmp_9 = tmp_8 = None
        tmp_25 = in_14 + tmp_24
        tmp_24 = None
        return (tmp_25,)
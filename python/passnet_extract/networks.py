"""The networks that are not in transformers: plain torch.nn modules, each the shape of a well-known family.

In: widths. Out: modules whose captured graphs hold what those families are made of (batch_norm with an in-place residual,
depthwise convolution with a squeeze-excite gate, gather and scatter along edges). They are small on purpose.
"""
import torch
from torch import nn


class ResidualBlock(nn.Module):
    """conv-bn-relu-conv-bn, plus the shortcut added in place."""

    def __init__(self, width_in, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(width_in, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = nn.Sequential(nn.Conv2d(width_in, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.downsample(x)
        return self.relu(out)


class ResidualNet(nn.Module):
    """A ResNet in miniature: stem with pooling, two blocks, pooled classifier."""

    def __init__(self, width=16, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = ResidualBlock(width, width, 1)
        self.layer2 = ResidualBlock(width, 2 * width, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(2 * width, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.avgpool(self.layer2(self.layer1(x)))
        return self.fc(torch.flatten(x, 1))


class SqueezeExcite(nn.Module):
    """A gate per channel, computed from the channel means."""

    def __init__(self, width, squeezed):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(width, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, width, 1)
        self.activation = nn.ReLU()
        self.gate = nn.Hardsigmoid()

    def forward(self, x):
        return self.gate(self.fc2(self.activation(self.fc1(self.avgpool(x))))) * x


class InvertedResidual(nn.Module):
    """Expand, depthwise, squeeze-excite, project, add."""

    def __init__(self, width, expanded):
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(width, expanded, 1, bias=False), nn.BatchNorm2d(expanded), nn.Hardswish())
        self.depthwise = nn.Sequential(
            nn.Conv2d(expanded, expanded, 3, 1, 1, groups=expanded, bias=False), nn.BatchNorm2d(expanded), nn.Hardswish()
        )
        self.se = SqueezeExcite(expanded, expanded // 4)
        self.project = nn.Sequential(nn.Conv2d(expanded, width, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return x + self.project(self.se(self.depthwise(self.expand(x))))


class MobileNet(nn.Module):
    """A MobileNetV3 in miniature: stem, two inverted residuals, pooled classifier."""

    def __init__(self, width=16, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.Hardswish())
        self.blocks = nn.Sequential(InvertedResidual(width, 4 * width), InvertedResidual(width, 4 * width))
        self.classifier = nn.Linear(width, classes)

    def forward(self, x):
        return self.classifier(self.blocks(self.stem(x)).mean((2, 3)))


class EdgeConv(nn.Module):
    """One message-passing layer: degree-normalised messages along edges, the largest kept per node.

    Degrees are sums of ones and messages are reduced by maximum, so the result does not depend on the order of the edges.
    """

    def __init__(self, width):
        super().__init__()
        self.message = nn.Linear(2 * width, width)
        self.update = nn.Linear(width, width)

    def forward(self, x, edge_index):
        source, target = edge_index[0], edge_index[1]
        degree = x.new_zeros(x.size(0)).scatter_add_(0, target, torch.ones_like(target, dtype=x.dtype))
        scale = degree.pow(-0.5)
        scale = scale.masked_fill(scale == float("inf"), 0)
        pair = torch.cat([x.index_select(0, source), x.index_select(0, target)], dim=-1)
        message = torch.relu(self.message(pair)) * (scale[source] * scale[target]).unsqueeze(-1)
        index = target.unsqueeze(-1).expand_as(message)
        pooled = torch.zeros_like(x).scatter_reduce(0, index, message, reduce="amax")
        return x + self.update(pooled)


class EdgeNet(nn.Module):
    """Two message-passing layers over one graph."""

    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.ModuleList([EdgeConv(width), EdgeConv(width)])

    def forward(self, x, edge_index):
        for layer in self.layers:
            x = torch.relu(layer(x, edge_index))
        return x

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.triplet = torch.nn.TripletMarginLoss(margin=1.0)

    def forward(self, predictions, targets, labels, sign):
        hinge = torch.mean(torch.clamp(1 - predictions[:, 0] * sign, min=0))
        cosine = torch.mean(1 - F.cosine_similarity(predictions, targets, dim=1))
        return (torch.mean((predictions - targets) ** 2), F.smooth_l1_loss(predictions, targets), F.cross_entropy(predictions, labels),
                hinge, cosine, F.kl_div(torch.log(predictions), targets, reduction="batchmean"),
                self.triplet(predictions, targets, targets.flip(0)), F.mse_loss(predictions, targets),
                F.binary_cross_entropy_with_logits(predictions, targets), nn.HuberLoss(delta=0.5)(predictions, targets))


def get_inputs():
    scale = torch.rand(())
    return [torch.rand(32, 10) * scale, torch.rand(32, 10).softmax(dim=-1), torch.randint(0, 10, (32,)),
            torch.randint(0, 2, (32,)).float() * 2 - 1]

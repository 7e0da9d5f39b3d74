"""Losses with their options."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EXPRESSIONS = [
    'F.mse_loss(x, y)',
    "F.mse_loss(x, y, reduction='sum')",
    "F.mse_loss(x, y, reduction='none')",
    'F.l1_loss(x, y)',
    'F.smooth_l1_loss(x, y)',
    'F.smooth_l1_loss(x, y, beta=0.5)',
    'F.huber_loss(x, y, delta=0.7)',
    "F.kl_div(x.log_softmax(1), y.softmax(1), reduction='batchmean')",
    'F.kl_div(x.log_softmax(1), y.softmax(1))',
    "F.kl_div(x, y, log_target=True, reduction='sum')",
    'F.cross_entropy(x, t)',
    "F.cross_entropy(x, t, reduction='none')",
    'F.cross_entropy(x, t, weight=w)',
    'F.cross_entropy(x, t, ignore_index=2)',
    'F.cross_entropy(x, t, label_smoothing=0.1)',
    'F.cross_entropy(x, y.softmax(1))',
    'F.nll_loss(x.log_softmax(1), t)',
    "F.nll_loss(x.log_softmax(1), t, weight=w, reduction='sum')",
    'F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y))',
    'F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))',
    'F.binary_cross_entropy_with_logits(x, torch.sigmoid(y), weight=w, pos_weight=w)',
    'F.hinge_embedding_loss(x, torch.sign(y))',
    'F.margin_ranking_loss(x, y, torch.sign(y), margin=0.3)',
    'F.soft_margin_loss(x, torch.sign(y))',
    'F.triplet_margin_loss(x, y, x.flip(0))',
    'F.triplet_margin_loss(x, y, x.flip(0), margin=0.5, swap=True)',
    'F.triplet_margin_loss(x, y, x.flip(0), p=1)',
    'F.cosine_embedding_loss(x, y, torch.sign(y[:, 0]))',
    'F.cosine_similarity(x, y)',
    'F.cosine_similarity(x, y, dim=0)',
    'F.pairwise_distance(x, y)',
    'F.pairwise_distance(x, y, p=1, keepdim=True)',
    'F.poisson_nll_loss(x, y.abs())',
    'F.gaussian_nll_loss(x, y, x.abs() + 0.1)',
    'nn.MSELoss()(x, y)',
    'nn.L1Loss(reduction="sum")(x, y)',
    'nn.CrossEntropyLoss()(x, t)',
    'nn.KLDivLoss(reduction="batchmean")(x.log_softmax(1), y.softmax(1))',
    'nn.SmoothL1Loss()(x, y)',
    'nn.HuberLoss(delta=2.0)(x, y)',
    'nn.CosineSimilarity(dim=1)(x, y)',
    'nn.TripletMarginLoss()(x, y, x.flip(0))',
    'nn.NLLLoss()(x.log_softmax(1), t)',
    'nn.BCELoss()(torch.sigmoid(x), torch.sigmoid(y))',
    'nn.BCEWithLogitsLoss()(x, torch.sigmoid(y))',
    'nn.MarginRankingLoss()(x, y, torch.sign(y))',
    'nn.CosineEmbeddingLoss()(x, y, torch.sign(y[:, 0]))',
    'nn.HingeEmbeddingLoss()(x, torch.sign(y))',
    'nn.SoftMarginLoss()(x, torch.sign(y))',
    'nn.PairwiseDistance()(x, y)',
    'F.cross_entropy(x3, t3)',
    'F.nll_loss(x3.log_softmax(1), t3)',
]


class Model(nn.Module):
    def forward(self, x, y, t, w, x3, t3):
        names = dict(globals(), **{k: v for k, v in locals().items() if k != "self"}, self=self)
        return {e: eval(e, names) for e in EXPRESSIONS}


def get_inputs():
    return [torch.randn(6, 5), torch.randn(6, 5), torch.randint(0, 5, (6,)), torch.rand(5), torch.randn(3, 5, 4), torch.randint(0, 5, (3, 4))]


def get_init_inputs():
    return []

"""Metrics of classification, regression and images, collected over batches."""

import torch
import torchmetrics
from torchmetrics import classification, image, regression


def work():
    torch.manual_seed(0)
    scores = torchmetrics.MetricCollection(
        {
            "accuracy": classification.MulticlassAccuracy(4),
            "f1": classification.MulticlassF1Score(4),
            "auroc": classification.MulticlassAUROC(4, thresholds=None),
            "calibration": classification.MulticlassCalibrationError(4),
            "confusion": classification.MulticlassConfusionMatrix(4),
        }
    )
    for _ in range(3):
        scores.update(torch.randn(20, 4).softmax(-1), torch.randint(0, 4, (20,)))
    found = dict(scores.compute())
    x, y = torch.randn(30), torch.randn(30)
    found["pearson"] = regression.PearsonCorrCoef()(x, y)
    found["spearman"] = regression.SpearmanCorrCoef()(x, y)
    found["r2"] = regression.R2Score()(x, y)
    one = torch.rand(1, 3, 32, 32)
    found["ssim"] = image.StructuralSimilarityIndexMeasure(data_range=1.0)(one, (one * 0.9))
    found["psnr"] = image.PeakSignalNoiseRatio(data_range=1.0)(one, one * 0.9)
    return found

"""Whether chains have converged: potential scale reduction and effective sample size.

Source: Vehtari, Gelman, Simpson, Carpenter, Bürkner, "Rank-normalization, folding, and localization: An
improved R-hat for assessing convergence of MCMC" (Bayesian Analysis 16(2), 2021, doi:10.1214/20-BA1221),
sections 2 and 3.
"""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import FloatArray


def scale_reduction(means: FloatArray, variances: FloatArray, draws: int) -> FloatArray:
    """Return R-hat of each quantity from parts of chains, 1 if nothing varies, shape (quantities,).

    Parameters
    ----------
    means, variances: of each quantity over the draws of each part, by draws - 1, shape (parts, quantities).
    draws: in each part, at least 2.
    """
    within = variances.mean(axis=0)
    between = means.var(axis=0, ddof=1)
    total = (draws - 1) / draws * within + between
    # A quantity that varies between chains but not within one has not converged at all.
    still = np.where(between > 0, np.inf, 1.0)
    reduction: FloatArray = np.sqrt(np.divide(total, within, out=still, where=within > 0))
    return reduction


def split_scale_reduction(traces: FloatArray) -> float:
    """Return R-hat of one quantity with each chain cut in half.

    Parameters
    ----------
    traces: shape (chains, draws); at least 4 draws.
    """
    half = traces.shape[1] // 2
    parts = np.concatenate([traces[:, :half], traces[:, -half:]])
    means, variances = parts.mean(axis=1), parts.var(axis=1, ddof=1)
    return float(scale_reduction(means[:, None], variances[:, None], half)[0])


def effective_draws(traces: FloatArray) -> float:
    """Return the effective sample size of the mean, by Geyer's initial monotone sequence.

    Parameters
    ----------
    traces: shape (chains, draws); at least 4 draws.
    """
    chains, draws = traces.shape
    centered = traces - traces.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centered, n=2 * draws, axis=1)
    covariance = np.fft.irfft(spectrum * spectrum.conj(), n=2 * draws, axis=1)[:, :draws].mean(axis=0) / draws
    within = covariance[0] * draws / (draws - 1)
    between = float(traces.mean(axis=1).var(ddof=1)) if chains > 1 else 0.0
    total = within * (draws - 1) / draws + between
    if total <= 0:
        return float(chains * draws)
    correlation = 1 - (within - covariance * draws / (draws - 1)) / total
    correlation[0] = 1
    pairs = correlation[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[: negative[0] if len(negative) else len(pairs)])
    # Negative correlation increases the effective sample size; the minimum length limits it.
    length = max(2 * float(pairs.sum()) - 1, 1 / np.log10(chains * draws))
    return float(chains * draws / length)

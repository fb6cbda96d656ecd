"""The mathematics once more: slow, in plain Python floats, straight from the definitions.

What `losses` and `advantages` must agree with. Rows are lists of floats (float64), one inner list
per sequence; sums are written out as the papers print them, nothing is shared with the fast code.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

Rows = Sequence[Sequence[float]]
Mask = Sequence[Sequence[bool]]
Tiers = Sequence[Sequence[int]]


def actions(mask: Mask) -> list[tuple[int, int]]:
    """Every (row, place) that counts."""
    return [(b, t) for b, row in enumerate(mask) for t, counts in enumerate(row) if counts]


def mean(values: Sequence[float]) -> float:
    """The mean, 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def clamp(value: float, low: float, high: float) -> float:
    """The nearest number in the interval."""
    return low if value < low else high if value > high else value


def log_sigmoid(x: float) -> float:
    """log(1 / (1 + exp(-x))) without overflow."""
    return -math.log1p(math.exp(-x)) if x > 0 else x - math.log1p(math.exp(x))


def kl(logp: float, ref_logp: float, estimator: str) -> float:
    """k1 = -log x, k2 = (log x)^2 / 2, k3 = x - 1 - log x, with x = reference / policy."""
    log_x = ref_logp - logp
    if estimator == "k1":
        return -log_x
    if estimator == "k2":
        return log_x**2 / 2
    return math.exp(clamp(log_x, -20, 20)) - 1 - log_x


def average_over(
    term: Callable[[int, int], float], mask: Mask, average: str, denominator: float | None
) -> float:
    """A term per token as one number; the three averages."""
    if average == "sequence":
        rows = [
            [term(b, t) for t, counts in enumerate(row) if counts] for b, row in enumerate(mask)
        ]
        means = [mean(row) for row in rows if row]
        return math.fsum(means) / (denominator or max(len(means), 1))
    terms = [term(b, t) for b, t in actions(mask)]
    return math.fsum(terms) / (denominator or max(len(terms), 1))


@dataclass(frozen=True)
class PolicyLoss:
    """The fields of `losses.PolicyLoss`."""

    loss: float
    clip_fraction: float
    clip_fraction_low: float
    clip_fraction_high: float
    approx_kl: float
    ratio_mean: float
    ratio_max: float


def policy_loss(
    logp: Rows,
    old_logp: Rows,
    advantage: Rows,
    mask: Mask,
    *,
    clip_low: float,
    clip_high: float,
    dual_clip: float | None,
    average: str,
    denominator: float | None,
) -> PolicyLoss:
    """PPO, eq. 7, negated; where A < 0 at most dual_clip * |A|."""

    def log_ratio(b: int, t: int) -> float:
        return clamp(logp[b][t] - old_logp[b][t], -20, 20)

    def free(b: int, t: int) -> float:
        return math.exp(log_ratio(b, t)) * advantage[b][t]

    def clipped(b: int, t: int) -> float:
        return clamp(math.exp(log_ratio(b, t)), 1 - clip_low, 1 + clip_high) * advantage[b][t]

    def loss(b: int, t: int) -> float:
        value = -min(free(b, t), clipped(b, t))
        if dual_clip is not None and advantage[b][t] < 0:
            value = min(value, dual_clip * -advantage[b][t])
        return value

    where = actions(mask)
    hit = [(b, t) for b, t in where if clipped(b, t) < free(b, t)]
    ratios = [math.exp(log_ratio(b, t)) for b, t in where]
    n = max(len(where), 1)
    return PolicyLoss(
        loss=average_over(loss, mask, average, denominator),
        clip_fraction=len(hit) / n,
        clip_fraction_low=sum(advantage[b][t] < 0 for b, t in hit) / n,
        clip_fraction_high=sum(advantage[b][t] > 0 for b, t in hit) / n,
        approx_kl=mean([math.exp(log_ratio(*at)) - 1 - log_ratio(*at) for at in where]),
        ratio_mean=mean(ratios),
        ratio_max=max(ratios, default=0.0),
    )


def value_loss(
    value: Rows,
    old_value: Rows,
    target: Rows,
    mask: Mask,
    *,
    clip: float,
    denominator: float | None,
) -> tuple[float, float]:
    """Half the worse of two squared errors, averaged over tokens; and how often the clip won."""

    def errors(b: int, t: int) -> tuple[float, float]:
        low, high = old_value[b][t] - clip, old_value[b][t] + clip
        held = clamp(value[b][t], low, high)
        return (value[b][t] - target[b][t]) ** 2, (held - target[b][t]) ** 2

    loss = average_over(lambda b, t: max(errors(b, t)) / 2, mask, "token", denominator)
    return loss, mean([float(errors(*at)[1] > errors(*at)[0]) for at in actions(mask)])


def ranking_loss(score: Sequence[float], tiers: Tiers, margin: float = 0.0) -> float:
    """The mean over pairs of -log sigmoid(better - worse - margin times the tiers between them).

    A tie counts half in each direction.
    """
    place = {index: p for p, tier in enumerate(tiers) for index in tier}
    losses = []
    for i in place:
        for j in place:
            if i < j:
                win = 0.5 if place[i] == place[j] else float(place[i] < place[j])
                demanded = margin * abs(place[i] - place[j])
                difference = score[i] - score[j]
                losses.append(
                    -win * log_sigmoid(difference - demanded)
                    - (1 - win) * log_sigmoid(-difference - demanded)
                )
    return mean(losses)


def listwise_loss(score: Sequence[float], tiers: Tiers) -> float:
    """The mean of -log P(choice); a choice is made among all that are not ranked better."""
    losses = []
    for p, tier in enumerate(tiers):
        left = [index for later in tiers[p:] for index in later]
        for index in tier:
            if len(left) > 1:
                losses.append(math.log(math.fsum(math.exp(score[i] - score[index]) for i in left)))
    return mean(losses)


def centering_loss(score: Sequence[float], tiers: Tiers) -> float:
    """The square of the mean, over pairs of ranked responses, of the sum of both scores."""
    placed = [index for tier in tiers for index in tier]
    return mean([score[i] + score[j] for i in placed for j in placed if i < j]) ** 2


def step_loss(score: Rows, label: Rows) -> float:
    """The mean over all steps of all solutions of the cross-entropy of label and sigmoid(score)."""
    losses = [
        -y * log_sigmoid(x) - (1 - y) * log_sigmoid(-x)
        for scores, labels in zip(score, label, strict=True)
        for x, y in zip(scores, labels, strict=True)
    ]
    return mean(losses)


def dpo_loss(
    chosen: Sequence[float],
    rejected: Sequence[float],
    ref_chosen: Sequence[float],
    ref_rejected: Sequence[float],
    *,
    beta: float,
    label_smoothing: float,
    loss: str,
) -> float:
    """DPO eq. 7 with flipped labels, or IPO eq. 17."""
    losses = []
    for c, r, ref_c, ref_r in zip(chosen, rejected, ref_chosen, ref_rejected, strict=True):
        h = (c - r) - (ref_c - ref_r)
        if loss == "ipo":
            losses.append((h - 1 / (2 * beta)) ** 2)
        else:
            right, flipped = -log_sigmoid(beta * h), -log_sigmoid(-beta * h)
            losses.append((1 - label_smoothing) * right + label_smoothing * flipped)
    return fmean(losses)


def estimate(
    estimator: str,
    *,
    reward: Sequence[float],
    kl_rows: Rows,
    mask: Mask,
    group: Sequence[int],
    kl_coef: float,
    gamma: float = 1.0,
    lam: float = 1.0,
    value: Rows | None = None,
    greedy_reward: Sequence[float] | None = None,
    shaped_clip: float = math.inf,
) -> tuple[list[list[float]], list[list[float]]]:
    """Advantages and returns (ppo: the critic's targets), zero at places that do not count."""
    greedy = greedy_reward or [0.0] * len(reward)
    usable = [
        any(mask[b]) and math.isfinite(reward[b]) and math.isfinite(greedy[b])
        for b in range(len(reward))
    ]
    mask = [[counts and usable[b] for counts in row] for b, row in enumerate(mask)]
    advantage = [[0.0] * len(row) for row in mask]
    returns = [[0.0] * len(row) for row in mask]
    for b, row in enumerate(mask):
        if not usable[b]:
            continue
        peers = [reward[i] for i in range(len(reward)) if usable[i] and group[i] == group[b]]
        places = [t for t, counts in enumerate(row) if counts]
        rewards = [-kl_coef * kl_rows[b][t] for t in places]
        rewards[-1] += clamp(
            shaped(estimator, reward[b], peers, greedy[b]), -shaped_clip, shaped_clip
        )
        values = [value[b][t] for t in places] if value is not None else None
        for i, t in enumerate(places):
            if values is None:
                advantage[b][t] = discounted(rewards[i:], gamma)
                returns[b][t] = advantage[b][t]
            else:
                advantage[b][t] = discounted(deltas(rewards, values, gamma)[i:], gamma * lam)
                returns[b][t] = advantage[b][t] + values[i]
    if estimator in ("reinforce_pp", "reinforce_pp_baseline", "ppo"):
        advantage = whiten(advantage, mask)
    return advantage, returns


def shaped(estimator: str, reward: float, peers: Sequence[float], greedy: float) -> float:
    """A response's reward less its baseline; `peers` are the rewards of its group, its own too."""
    if estimator in ("reinforce_pp", "ppo"):
        return reward
    if estimator == "remax":
        return reward - greedy
    if are_equal(peers):
        return 0.0
    n, total = len(peers), math.fsum(peers)
    if estimator == "rloo":
        return reward - (total - reward) / (n - 1)
    centred = reward - total / n
    if estimator == "grpo":
        deviation = math.sqrt(math.fsum((r - total / n) ** 2 for r in peers) / (n - 1))
        return centred / (deviation + 1e-9)
    return centred


def discounted(terms: Sequence[float], discount: float) -> float:
    """The sum over l of discount^l times the l-th term."""
    return math.fsum(discount**place * term for place, term in enumerate(terms))


def deltas(rewards: Sequence[float], values: Sequence[float], gamma: float) -> list[float]:
    """Temporal differences; the value after the last action is 0."""
    following = [*values[1:], 0.0]
    return [r + gamma * after - v for r, v, after in zip(rewards, values, following, strict=True)]


def whiten(rows: Rows, mask: Mask) -> list[list[float]]:
    """Mean 0 and variance 1 over all places that count; the variance is at least 1e-8."""
    where = actions(mask)
    values = [rows[b][t] for b, t in where]
    white = [[0.0] * len(row) for row in mask]
    if are_equal(values):
        return white
    middle = mean(values)
    variance = max(mean([(value - middle) ** 2 for value in values]), 1e-8)
    for b, t in where:
        white[b][t] = (rows[b][t] - middle) / math.sqrt(variance)
    return white


def are_equal(values: Sequence[float]) -> bool:
    """Equal up to rounding: a spread of at most 1e-6, or of 1e-6 times the mean if that is more."""
    if len(values) < 2:
        return True
    return max(values) - min(values) <= 1e-6 * max(1.0, abs(mean(values)))

"""Numbers worked by hand, one test each: what an implementation of the papers must give."""

import math

import pytest
import torch
from torch import Tensor

from backend.schemas.vocabulary import CRITIC_ESTIMATORS, GREEDY_ESTIMATORS, Estimator
from worker.trainer.advantages import estimate, gae
from worker.trainer.losses import kl, ranking_loss

POLICY, REFERENCE = (0.5, 0.3, 0.2), (0.2, 0.5, 0.3)


def log_of(*probability: float) -> Tensor:
    """Logits of a distribution, float64."""
    return torch.tensor(probability, dtype=torch.float64).log()


def gradient(loss: Tensor, logits: Tensor) -> list[float]:
    """Derivative of the loss by the logits."""
    values: list[float] = torch.autograd.grad(loss, logits, retain_graph=True)[0].tolist()
    return values


def test_reinforce_pp() -> None:
    """KL .2 -.2 .1 | .2 -.5, coef .1, rewards 1 and -.5: mean .414, variance .509344 (ddof 0)."""
    logp = torch.tensor([[-1, -2, -0.5], [-0.7, -1.5, math.nan]])
    ref = torch.tensor([[-1.2, -1.8, -0.6], [-0.9, -1.0, 0.0]])

    result = estimate(
        "reinforce_pp",
        reward_B=torch.tensor([1.0, -0.5]),
        kl_B_T=kl(logp, ref, "k1"),
        mask_B_T=torch.tensor([[1, 1, 1], [1, 1, 0]]),
        group_B=torch.tensor([0, 1]),
        kl_coef=0.1,
    )

    assert result.return_B_T.tolist() == [
        pytest.approx([0.99, 1.01, 0.99]),
        pytest.approx([-0.47, -0.45, 0.0]),
    ]
    assert result.advantage_B_T.tolist() == [
        pytest.approx([0.807081, 0.835104, 0.807081], abs=1e-6),
        pytest.approx([-1.238644, -1.210621, 0.0], abs=1e-6),
    ]


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        ("rloo", [1.333333, -1.333333, 0, 0]),
        ("grpo", [1.224745, -1.224745, 0, 0]),
        ("dr_grpo", [1, -1, 0, 0]),
        ("reinforce_pp_baseline", [1, -1, 0, 0]),
    ],
)
def test_groups(estimator: str, expected: list[float]) -> None:
    """Rewards 2 0 1 1; only the baseline's are whitened after that, by their deviation sqrt(.5)."""
    result = estimate(
        estimator,
        reward_B=torch.tensor([2.0, 0.0, 1.0, 1.0]),
        kl_B_T=torch.zeros(4, 1),
        mask_B_T=torch.ones(4, 1),
        group_B=torch.zeros(4),
        kl_coef=0.0,
    )
    scale = math.sqrt(2) if estimator == "reinforce_pp_baseline" else 1.0
    assert result.return_B_T[:, 0].tolist() == pytest.approx(expected, abs=1e-6)
    assert result.advantage_B_T[:, 0].tolist() == pytest.approx(
        [scale * value for value in expected], abs=1e-6
    )


@pytest.mark.parametrize(
    ("mask", "reward", "value", "expected"),
    [
        ([1, 1, 1], [0, 0, 1], [0.2, 0.4, 0.6], [0.751, 0.58, 0.4]),
        ([1, 0, 1], [0, 9, 1], [0.2, 9, 0.6], [0.78, 0, 0.4]),
    ],
)
def test_generalized_advantages(
    mask: list[int], reward: list[float], value: list[float], expected: list[float]
) -> None:
    """gamma 1, lambda .95; the second row has a hole that neither discounts nor bootstraps."""
    advantage_B_T = gae(
        torch.tensor([reward], dtype=torch.float64),
        torch.tensor([value], dtype=torch.float64),
        torch.tensor([mask]).bool(),
        gamma=1.0,
        lam=0.95,
    )
    assert advantage_B_T[0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("mask", "value", "expected"),
    [
        ([1, 1, 1], [0.2, 0.4, 0.6], [0.951, 0.98, 1.0]),
        ([1, 0, 1], [0.2, 9.0, 0.6], [0.98, 0, 1.0]),
    ],
)
def test_the_critics_targets(mask: list[int], value: list[float], expected: list[float]) -> None:
    """The same two rows through `estimate`: A + V, which whitening does not touch."""
    result = estimate(
        "ppo",
        reward_B=torch.tensor([1.0]),
        kl_B_T=torch.full((1, 3), 9.0),
        mask_B_T=torch.tensor([mask]),
        group_B=torch.tensor([0]),
        kl_coef=0.0,
        lam=0.95,
        value_B_T=torch.tensor([value]),
    )
    action = torch.tensor(mask).bool()
    advantage = torch.tensor(expected)[action] - torch.tensor(value)[action]
    white = (advantage - advantage.mean()) / advantage.std(correction=0)
    assert result.return_B_T[0].tolist() == pytest.approx(expected)
    assert result.advantage_B_T[0][action].tolist() == pytest.approx(white.tolist(), abs=1e-5)
    assert not result.advantage_B_T[0][~action].any()


def test_kl_estimators() -> None:
    """d = 0.2: .2, .02, .018731; d = -1: -1, .5, .718282."""
    logp, ref = torch.tensor([-1.0, -2.0]), torch.tensor([-1.2, -1.0])

    assert kl(logp, ref, "k1").tolist() == pytest.approx([0.2, -1.0])
    assert kl(logp, ref, "k2").tolist() == pytest.approx([0.02, 0.5])
    assert kl(logp, ref, "k3").tolist() == pytest.approx([0.018731, 0.718282], abs=1e-6)


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        ("k1", [0.0, 0.0, 0.0]),
        ("k2", [0.34624, -0.22039, -0.12585]),
        ("k3", [0.3, -0.2, -0.1]),
    ],
)
def test_expected_gradients_of_the_kl_estimators_as_losses(
    estimator: str, expected: list[float]
) -> None:
    """k1 has none, k2 that of KL(policy || reference), k3 that of KL(reference || policy)."""
    logits, ref = log_of(*POLICY).requires_grad_(), log_of(*REFERENCE)
    logp = logits.log_softmax(-1)
    exact = {
        "k1": 0 * logp.sum(),
        "k2": (logp.exp() * (logp - ref)).sum(),
        "k3": (ref.exp() * (ref - logp)).sum(),
    }

    found = gradient((logp.detach().exp() * kl(logp, ref, estimator)).sum(), logits)

    assert found == pytest.approx(expected, abs=1e-5)
    assert gradient(exact[estimator], logits) == pytest.approx(found, abs=1e-12)


def test_k1_in_the_reward_has_the_gradient_of_the_reverse_kl() -> None:
    """One action: the detached -k1 as its advantage, expected over the policy."""
    logits, ref = log_of(*POLICY).requires_grad_(), log_of(*REFERENCE)
    logp = logits.log_softmax(-1)
    advantage = -kl(logp, ref, "k1").detach()
    loss = -(logp.detach().exp() * advantage * logp).sum()
    assert gradient(loss, logits) == pytest.approx([0.34624, -0.22039, -0.12585], abs=1e-5)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("exact", 0.0708),
        ("k1 in the reward, with the sum over what follows", 0.0708),
        ("k2 of the response's summed log-ratio", 0.0708),
        ("k1 in the reward, of each token alone", 0.0973),
        ("k2 of each token as a loss", 0.0973),
    ],
)
def test_kl_over_a_response_of_two_tokens(kind: str, expected: float) -> None:
    """p1 = (.6, .4), p2 = (.7, .3) or (.2, .8), reference uniform; gradient by p1's logits."""
    logits = log_of(0.6, 0.4).requires_grad_()
    second_V_V = log_of(0.7, 0.3, 0.2, 0.8).view(2, 2)
    first_V = logits.log_softmax(-1)
    terms = []
    for i in range(2):
        for j in range(2):
            logp_T = torch.stack([first_V[i], second_V_V[i, j]])
            terms.append(response_loss(kind, logp_T))

    assert gradient(torch.stack(terms).sum(), logits) == pytest.approx(
        [expected, -expected], abs=1e-4
    )


def response_loss(kind: str, logp_T: Tensor) -> Tensor:
    """One response's share of the expected loss."""
    ref_T = torch.full_like(logp_T, math.log(0.5))
    kl_T = kl(logp_T, ref_T, "k1").detach()
    probability = logp_T.sum().exp()
    if kind == "exact":
        return probability * (logp_T - ref_T).sum()
    if kind == "k2 of each token as a loss":
        return probability.detach() * kl(logp_T, ref_T, "k2").sum()
    if kind == "k2 of the response's summed log-ratio":
        return probability.detach() * kl(logp_T.sum(), ref_T.sum(), "k2")
    return_T = -kl_T
    if "what follows" in kind:
        return_T = estimate(
            "reinforce_pp",
            reward_B=torch.zeros(1),
            kl_B_T=kl_T[None],
            mask_B_T=torch.ones(1, 2),
            group_B=torch.tensor([0]),
            kl_coef=1.0,
        ).return_B_T[0]
    return -probability.detach() * (return_T * logp_T).sum()


def test_three_ranked_scores_give_the_mean_of_three_pair_losses() -> None:
    scores = torch.tensor([1.2, 0.3, -0.4])
    assert ranking_loss(scores, [[0], [1], [2]]).item() == pytest.approx(0.309414, abs=1e-6)


def test_a_margin_is_asked_for_once_per_tier_between_two_responses() -> None:
    """Ahead by .9 - .5, .7 - .5 and 1.6 - 1: the mean of log(1 + exp(-x)) at .4, .2 and .6."""
    scores = torch.tensor([1.2, 0.3, -0.4])
    loss = ranking_loss(scores, [[0], [1], [2]], margin=0.5)
    assert loss.item() == pytest.approx(0.516214, abs=1e-6)
    # A tie asks for nothing: log 2 at equal scores.
    tie = ranking_loss(torch.zeros(2), [[1, 0]], margin=0.5)
    assert tie.item() == pytest.approx(0.693147, abs=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [one for one in Estimator if one not in CRITIC_ESTIMATORS | GREEDY_ESTIMATORS],
)
@pytest.mark.parametrize("value", [0.7, -1.3, 0.1])
@pytest.mark.parametrize("n", range(3, 9))
def test_equal_rewards_give_exactly_nothing(estimator: str, value: float, n: int) -> None:
    """In fp32 the mean rounds, and the rounding divided by itself would be up to .96."""
    result = estimate(
        estimator,
        reward_B=torch.full((n,), value),
        kl_B_T=torch.zeros(n, 1),
        mask_B_T=torch.ones(n, 1),
        group_B=torch.zeros(n),
        kl_coef=0.0,
    )
    assert not result.advantage_B_T.any()


def test_the_return_passes_over_masked_tokens_in_the_middle() -> None:
    """Mask 1 1 0 0 1 1, reward 1 at the end, a huge KL where masked: 1 at all four actions."""
    mask = torch.tensor([[1, 1, 0, 0, 1, 1]])
    result = estimate(
        "rloo",
        reward_B=torch.tensor([1.0, 0.0]),
        kl_B_T=torch.where(mask.bool(), 0.0, 1000.0).repeat(2, 1),
        mask_B_T=mask.repeat(2, 1),
        group_B=torch.tensor([0, 0]),
        kl_coef=0.1,
    )
    assert result.return_B_T[0].tolist() == [1, 1, 0, 0, 1, 1]

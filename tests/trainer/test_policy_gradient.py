"""The loss of an update, wired from config, rollout and advantages: that of the slow reference.

In one, in two and in as many micro-batches as rows: the parts add up to the whole, gradients too.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from backend.schemas.policy_gradient import Clip, Importance, Kl, PolicyGradientConfig
from backend.schemas.training import parse_run_config
from backend.schemas.vocabulary import FinishReason
from tests.tiny_model import make_tiny_model
from tests.trainer import reference
from tests.trainer.conftest import policy_gradient_config, write_inputs
from worker.trainer.advantages import Advantages
from worker.trainer.data.tokens import Tokens
from worker.trainer.methods.policy_gradient import report as rollout_report
from worker.trainer.methods.policy_gradient.critic import Critic
from worker.trainer.methods.policy_gradient.kl_control import KlControl
from worker.trainer.methods.policy_gradient.loop import PolicyGradient
from worker.trainer.methods.policy_gradient.rollout import Rollout
from worker.trainer.models.logprobs import TokenLogp
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.rewards.scorer import Scores
from worker.trainer.run import StopWish, open_run
from worker.trainer.sampling.decoding import Response

TEMPERATURE, MAX_NEW_TOKENS, HIDDEN_SIZE = 0.7, 8, 32
CLIP_LOW, CLIP_HIGH, VALUE_CLIP, VALUE_COEF = 0.1, 0.4, 0.3, 0.6
KL_COEF = 0.3  # of the controller; the config's own is another
STEP = 1e-6

# Tokens of each response of the rollout. Row 1 is left out, row 5 has a hole, and row 3 belongs to
# another minibatch.
SIZES = [5, 2, 4, 1, 3, 4]
MASK_B_T = torch.tensor(
    [
        [1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 0, 1, 1, 0],
    ]
).bool()
ROWS = [4, 0, 5, 2, 1]
ACTIONS = [(row, t) for row in sorted(ROWS) for t in range(5) if MASK_B_T[row, t]]
# Rows of the minibatch that count: one of its five is left out.
N_COUNTED = 4
SPLITS = {
    "whole": [[4, 0, 5, 2, 1]],
    "halves": [[4, 0], [5, 2, 1]],
    "rows": [[4], [0], [5], [2], [1]],
}


@dataclass(frozen=True)
class Case:
    """What the loss is made of; `kl` is the estimator where the KL is in the loss."""

    dual: float | None = None
    kl: Any = None
    entropy_coef: float = 0.0
    is_weighted: bool = False
    is_single_update: bool = False
    has_critic: bool = False


CASES = {
    "clip": Case(),
    "dual": Case(dual=1.5),
    "weights": Case(is_weighted=True),
    "k2": Case(kl="k2"),
    "k3": Case(kl="k3"),
    "entropy": Case(entropy_coef=0.2),
    "critic": Case(has_critic=True),
    "single": Case(is_single_update=True, is_weighted=True),
    "all": Case(1.5, "k3", 0.2, is_weighted=True, has_critic=True),
}


def normal(name: str, *, scale: float = 1.0) -> Tensor:
    """Normal numbers in float64 where tokens count, B x T, elsewhere a number that would show."""
    generator = torch.Generator().manual_seed(sum(name.encode()))
    value_B_T = torch.randn(MASK_B_T.shape, generator=generator, dtype=torch.float64)
    return (scale * value_B_T).masked_fill(~MASK_B_T, 1000.0)


OLD, ADVANTAGE, REF = normal("old") - 2, normal("advantage"), normal("ref") - 2
LOGP, ENTROPY, WEIGHT = OLD + normal("step", scale=0.6), normal("entropy"), normal("w").abs()
OLD_VALUE, RETURN = normal("old value"), normal("return")


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicyGradient]:
    """A policy and its critic, the head on the policy's own trunk; trained by nobody."""
    folder = tmp_path_factory.mktemp("policy_gradient")
    write_inputs(folder / "inputs", n_prompts=4)
    config = policy_gradient_config(
        make_tiny_model(folder / "model", hidden_size=HIDDEN_SIZE),
        estimator="ppo",
        critic={"trunk": "shared", "clip": VALUE_CLIP, "loss_coef": VALUE_COEF},
        clip={"low": CLIP_LOW, "high": CLIP_HIGH},
        precision="fp32",
        resources={"threads": 1},
    )
    config["rollout"] |= {"temperature": TEMPERATURE, "max_new_tokens": MAX_NEW_TOKENS}
    complete = parse_run_config(json.loads(json.dumps(config)))
    assert isinstance(complete, PolicyGradientConfig)
    deterministic = torch.are_deterministic_algorithms_enabled()
    run = open_run(folder, complete, StopWish())
    yield PolicyGradient(run, complete)
    run.events.close()
    torch.use_deterministic_algorithms(deterministic)


@pytest.fixture(scope="module")
def critic(training: PolicyGradient) -> Critic:
    """Its critic, with a head that is not zero."""
    assert training.critic is not None
    weight, bias = head_of(training.critic)
    weight.copy_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(0)))
    bias.fill_(0.4)
    return training.critic


def head_of(critic: Critic) -> tuple[Tensor, Tensor]:
    """Weight and bias of the value head."""
    tensors = critic.tensors()
    return tensors["weight/head.weight"].detach(), tensors["weight/head.bias"].detach()


def rollout_of(case: Case) -> Rollout:
    """A rollout of which everything is known, also of the row that belongs to another update."""
    answers = [
        SampledResponse(
            Tokens([50, 51 + row, 52], [60 + row + i for i in range(n)]), "", FinishReason.STOP
        )
        for row, n in enumerate(SIZES)
    ]
    return Rollout(
        prompts=[],
        responses=[Response(a.tokens.response, [], a.finish_reason) for a in answers],
        answers=answers,
        scores=Scores({}, [], [], []),
        group_B=torch.arange(len(SIZES)),
        mask_B_T=MASK_B_T,
        sampler_logp_B_T=(LOGP if case.is_single_update else OLD) - WEIGHT.log(),
        seconds={},
        n_sampled=sum(SIZES),
        value_B_T=OLD_VALUE if case.has_critic else None,
        logp_B_T=OLD,
        ref_logp_B_T=REF,
    )


@dataclass(frozen=True)
class Leaves:
    """What the model gives and the loss has a gradient to, for all rows of the rollout."""

    logp_B_T: Tensor
    entropy_B_T: Tensor
    hidden_B_T_H: Tensor

    @classmethod
    def new(cls) -> "Leaves":
        """In float64, as far as there is a choice: the head of the critic computes in fp32."""
        generator = torch.Generator().manual_seed(1)
        hidden_B_T_H = torch.randn(*LOGP.shape, HIDDEN_SIZE, generator=generator) / 4
        leaves = cls(LOGP.clone(), ENTROPY.clone(), hidden_B_T_H)
        for leaf in vars(leaves).values():
            leaf.requires_grad_()
        return leaves

    def of(self, group: list[int]) -> TokenLogp:
        """As the forward of a micro-batch gives it."""
        return TokenLogp(
            *(torch.cat([leaf[row, : SIZES[row]] for row in group]) for leaf in vars(self).values())
        )


def rows_of(value_B_T: Tensor) -> list[list[float]]:
    """The rows of the minibatch as plain numbers."""
    return [value_B_T[row].tolist() for row in ROWS]


@dataclass(frozen=True)
class Slow:
    """The loss of the whole minibatch, written out; each part an average of its own."""

    case: Case
    average: str

    def policy(self, logp_B_T: Tensor) -> reference.PolicyLoss:
        """Clipped, and weighted where another program has sampled."""
        weight_B_T = WEIGHT if self.case.is_weighted else torch.ones_like(WEIGHT)
        return reference.policy_loss(
            rows_of(logp_B_T),
            rows_of(LOGP if self.case.is_single_update else OLD),
            rows_of(ADVANTAGE * weight_B_T),
            rows_of(MASK_B_T),
            clip_low=CLIP_LOW,
            clip_high=CLIP_HIGH,
            dual_clip=self.case.dual,
            average=self.average,
            denominator=N_COUNTED * MAX_NEW_TOKENS if self.average == "constant" else None,
        )

    def value(self, value_B_T: Tensor) -> tuple[float, float]:
        """The critic's loss and how often the clip won."""
        old, target, mask = rows_of(OLD_VALUE), rows_of(RETURN), rows_of(MASK_B_T)
        return reference.value_loss(
            rows_of(value_B_T), old, target, mask, clip=VALUE_CLIP, denominator=None
        )

    def own(self, logp_B_T: Tensor, entropy_B_T: Tensor) -> float:
        """What the metric `loss` is: the policy loss, the KL where it is in it, less the bonus."""
        loss = self.policy(logp_B_T).loss
        if self.case.kl is not None:
            kl = [reference.kl(float(logp_B_T[at]), float(REF[at]), self.case.kl) for at in ACTIONS]
            loss += KL_COEF * reference.mean(kl)
        entropy = reference.mean([float(entropy_B_T[at]) for at in ACTIONS])
        return loss - self.case.entropy_coef * entropy

    def total(self, logp_B_T: Tensor, entropy_B_T: Tensor, value_B_T: Tensor) -> float:
        """What is minimised: the value loss of a shared trunk belongs to it."""
        loss = self.own(logp_B_T, entropy_B_T)
        return loss + VALUE_COEF * self.value(value_B_T)[0] if self.case.has_critic else loss

    def gradient(self, *arguments: Tensor) -> list[Tensor]:
        """Central differences of the total by each of its arguments, 0 where nothing counts."""
        found = [torch.zeros_like(argument) for argument in arguments]
        for argument, gradient in zip(arguments, found, strict=True):
            for at in ACTIONS:
                middle, values = float(argument[at]), []
                for step in (STEP, -STEP):
                    argument[at] = middle + step
                    values.append(self.total(*arguments))
                argument[at] = middle
                gradient[at] = (values[0] - values[1]) / (2 * STEP)
        return found


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("average", ["token", "sequence", "constant"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_loss_gradient_and_metrics_of_an_update_are_those_of_the_reference(
    training: PolicyGradient, critic: Critic, case: Case, average: Any, split: str
) -> None:
    prepare(training, critic, case, average)
    leaves, rollout, parts, total = Leaves.new(), rollout_of(case), [], 0.0
    for group in SPLITS[split]:
        rows = [row for part in SPLITS[split] for row in part]
        loss, report = training._loss(
            rollout, Advantages(ADVANTAGE, RETURN), group, leaves.of(group), rows
        )
        loss.backward()
        total += loss.item()
        parts.append((int(MASK_B_T[group].sum()) / len(ACTIONS), report))

    weight_1_H, bias = (tensor.double() for tensor in head_of(critic))
    value_B_T = leaves.hidden_B_T_H.detach().double() @ weight_1_H[0] + bias
    slow = Slow(case, average)
    expected = slow.gradient(LOGP.clone(), ENTROPY.clone(), value_B_T)
    to_hidden_B_T_H = expected[2][:, :, None] * weight_1_H
    for leaf, gradient in zip(
        vars(leaves).values(), [expected[0], expected[1], to_hidden_B_T_H], strict=True
    ):
        found = torch.zeros_like(gradient) if leaf.grad is None else leaf.grad.double()
        torch.testing.assert_close(found, gradient, rtol=1e-4, atol=1e-6)
    assert total == pytest.approx(slow.total(LOGP, ENTROPY, value_B_T), rel=1e-5)
    policy, (value_loss, value_clipped) = slow.policy(LOGP), slow.value(value_B_T)
    metrics = {
        "loss": slow.own(LOGP, ENTROPY),
        "clip_fraction/low": policy.clip_fraction_low,
        "clip_fraction/high": policy.clip_fraction_high,
        "approx_kl": policy.approx_kl,
        "ratio/mean": policy.ratio_mean,
        "ratio/max": policy.ratio_max,
    }
    if case.has_critic:
        metrics |= {"value/loss": value_loss, "value/clip_fraction": value_clipped}
    assert rollout_report.combine(parts) == pytest.approx(metrics, rel=1e-5, abs=1e-6)


def prepare(training: PolicyGradient, critic: Critic, case: Case, average: Any) -> None:
    """Set the training up as a config of this case would; the KL's weight has moved since."""
    place: Any = "reward" if case.kl is None else "loss"
    training.config = training.config.model_copy(
        update={
            "loss_average": average,
            "kl": Kl(coef=0.05, place=place, estimator=case.kl or "k1"),
            "clip": Clip(low=CLIP_LOW, high=CLIP_HIGH, dual=case.dual),
            "entropy_coef": case.entropy_coef,
            "importance": Importance(cap=100) if case.is_weighted else None,
            "rollout": training.config.rollout.model_copy(update={"engine": "vllm"}),
        }
    )
    training.kl_control = KlControl(Kl(coef=KL_COEF), n_samples=len(SIZES))
    training.is_single_update = case.is_single_update
    training.critic = critic if case.has_critic else None


def test_the_batch_of_the_reference_is_clipped_on_both_sides_and_doubly() -> None:
    """Otherwise bounds could be swapped or dropped, and nothing above would notice."""
    clipped, dual = (Slow(Case(dual=bound), "token").policy(LOGP) for bound in (None, 1.5))
    assert clipped.clip_fraction_low > 0
    assert clipped.clip_fraction_high > 0
    assert dual.loss < clipped.loss - 1e-3


@pytest.mark.parametrize("entropy_coef", [0.0, 0.2])
def test_the_forward_divides_by_the_temperature_of_the_rollout(
    training: PolicyGradient, entropy_coef: float
) -> None:
    """Log-probability and entropy of softmax(z / 0.7); a bonus alone asks for its gradient."""
    training.config = training.config.model_copy(update={"entropy_coef": entropy_coef})
    rollout, group = rollout_of(Case()), [2, 0]

    found = training._forward(training.policy.causal, rollout, group)

    logp_N, entropy_N = [], []
    for row in group:
        tokens = rollout.answers[row].tokens
        ids_T = torch.tensor(tokens.prompt + tokens.response)
        with torch.no_grad():
            logits_T_V = training.policy.causal(ids_T[None]).logits[0].double()
        logp_T_V = (logits_T_V[len(tokens.prompt) - 1 : -1] / TEMPERATURE).log_softmax(-1)
        logp_N += logp_T_V.gather(-1, torch.tensor(tokens.response)[:, None])[:, 0].tolist()
        entropy_N += (-(logp_T_V.exp() * logp_T_V).sum(-1)).tolist()
    assert found.logp_N.tolist() == pytest.approx(logp_N, abs=1e-4)
    assert found.entropy_N.tolist() == pytest.approx(entropy_N, abs=1e-4)
    assert found.logp_N.requires_grad
    assert found.entropy_N.requires_grad is (entropy_coef > 0)

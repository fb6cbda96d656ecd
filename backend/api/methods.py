"""What the New run form is made from: methods, their schemas, presets, reward kinds."""

import json
from functools import lru_cache
from typing import Any, get_args

from backend.deps import CurrentUser, api_router
from backend.schemas.presets import presets
from backend.schemas.references import wanted
from backend.schemas.rewards import AnyRewardTerm
from backend.schemas.runs import MethodAnswer, MethodsAnswer
from backend.schemas.training import METHOD_CONFIGS
from backend.schemas.vocabulary import Method

router = api_router("methods")

_TITLES = {
    Method.SFT: "Supervised fine-tuning",
    Method.REWARD_MODEL: "Reward model",
    Method.PROCESS_REWARD_MODEL: "Process reward model",
    Method.DPO: "Direct preference optimization",
    Method.POLICY_GRADIENT: "Policy gradient",
    Method.GENERATE: "Generate responses",
    Method.EVALUATE: "Evaluate",
}


@router.get("/methods")
def list_methods(caller: CurrentUser) -> MethodsAnswer:
    """For each method its JSON Schema (units, ranges, defaults), its presets and its references."""
    return _methods()


@lru_cache(maxsize=1)
def _methods() -> MethodsAnswer:
    kinds = [str(term.model_fields["kind"].default) for term in _reward_terms()]
    return MethodsAnswer(methods=[_method(method) for method in Method], reward_kinds=kinds)


def _reward_terms() -> tuple[Any, ...]:
    union, _ = get_args(AnyRewardTerm)
    return get_args(union)


def _method(method: Method) -> MethodAnswer:
    config = METHOD_CONFIGS[method]
    return MethodAnswer(
        method=method,
        title=_TITLES[method],
        description=config.__doc__ or "",
        # Through JSON, so that defaults are what a client would send.
        json_schema=json.loads(json.dumps(config.model_json_schema())),
        presets=presets(method),
        references={path: str(wants.kind) for path, wants in wanted(config).items()},
    )

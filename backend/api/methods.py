"""What there is to run: methods, their schemas, presets and metrics, reward kinds."""

import json
from functools import lru_cache

from backend.domain.presets.registry import presets
from backend.domain.verdict.gold import headlines
from backend.routes import api_router
from backend.schemas.methods import METHODS, MethodSpec
from backend.schemas.metrics.registry import metrics_of
from backend.schemas.presets import MethodAnswer, MethodsAnswer, NextStepAnswer
from backend.schemas.references import wanted
from backend.schemas.rewards import REWARD_TERMS
from backend.schemas.vocabulary import Method

router = api_router("methods")


@router.get("/methods")
def list_methods() -> MethodsAnswer:
    """The JSON Schema of each method (units, ranges, defaults), its presets and its metrics."""
    return _methods()


@lru_cache(maxsize=1)
def _methods() -> MethodsAnswer:
    answers = [_method(Method(method), spec) for method, spec in METHODS.items()]
    return MethodsAnswer(methods=answers, reward_kinds=list(REWARD_TERMS))


def _method(method: Method, spec: MethodSpec) -> MethodAnswer:
    return MethodAnswer(
        method=method,
        title=spec.title,
        description=spec.config.__doc__ or "",
        # Through JSON, so that defaults are what a client would send.
        json_schema=json.loads(json.dumps(spec.config.model_json_schema())),
        presets=presets(method),
        references={path: str(wants.kind) for path, wants in wanted(spec.config).items()},
        result=spec.result,
        next_steps=[
            NextStepAnswer(
                kind=step.kind,
                field=spec.field_for(step.kind),
                label=step.label,
                is_main=step.is_main,
            )
            for step in spec.next_steps
        ],
        headlines=headlines(method),
        metrics=list(metrics_of(method)),
    )

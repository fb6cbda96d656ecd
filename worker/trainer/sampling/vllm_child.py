"""Sample with vLLM, in the interpreter that has it.

    PYTHON vllm_child.py

Started by `vllm_engine`. One JSON object a line: the settings come first, then `load` and `sample`,
each is answered by one line; the end of the input is the end. Knows nothing else of Podium, whose
packages that interpreter does not have. What the libraries print goes to stderr.
"""

import json
import os
import sys
import traceback
from typing import Any, TextIO


def main() -> None:
    """Answer every line until there are no more; the first error is told and ends it."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        serve(answers)
    except Exception as error:  # noqa: BLE001 - the last place where an error can be told
        traceback.print_exc()
        say(answers, {"error": f"{type(error).__name__}: {error}"[:4000]})
        raise SystemExit(1) from None


def serve(answers: TextIO) -> None:
    """The words of the protocol."""
    import vllm  # type: ignore[import-not-found]  # of the other interpreter

    engine = open_engine(vllm, json.loads(sys.stdin.readline()))
    say(answers, {"version": vllm.__version__})
    for line in sys.stdin:
        word = json.loads(line)
        if "load" in word:
            engine.collective_rpc("reload_weights", kwargs={"weights_path": word["load"]})
            engine.reset_prefix_cache()  # what was computed with other weights
            say(answers, {"loaded": word["load"]})
        else:
            say(answers, {"responses": sample(vllm, engine, word["sample"])})


def open_engine(vllm: Any, settings: dict[str, Any]) -> Any:
    """The engine of one model on the device that this process sees.

    The model's own generation settings, which could cut the distribution, are not read.
    """
    return vllm.LLM(
        model=settings["folder"],
        load_format="safetensors",
        trust_remote_code=False,
        skip_tokenizer_init=True,
        generation_config="vllm",
        dtype=settings["dtype"],
        max_model_len=settings["max_tokens"],
        max_num_seqs=settings["max_rows"],
        gpu_memory_utilization=settings["memory"],
        logprobs_mode=settings["logprobs_mode"],
        enforce_eager=settings["is_eager"],
        seed=settings["seed"],
    )


def sample(vllm: Any, engine: Any, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """A response per row, in their order: ids with the end token, log-probabilities, and why."""
    rows, how = asked["rows"], asked["sampling"]
    outputs = engine.generate(
        [{"prompt_token_ids": row["prompt"]} for row in rows],
        [
            vllm.SamplingParams(
                **how, seed=row["seed"], logprobs=0, ignore_eos=True, detokenize=False
            )
            for row in rows
        ],
        use_tqdm=False,
    )
    return [response(output.outputs[0]) for output in outputs]


def response(output: Any) -> dict[str, Any]:
    """Turn an output of vLLM into a response as JSON."""
    ids = list(output.token_ids)
    logp = [place[token].logprob for token, place in zip(ids, output.logprobs, strict=True)]
    return {"ids": ids, "logp": logp, "finish_reason": output.finish_reason}


def say(answers: TextIO, answer: dict[str, Any]) -> None:
    """Write an answer as one line of JSON."""
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()

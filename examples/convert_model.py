"""Converts the GGUF file of a small chat model into a folder of safetensors, once.

`demo_model` starts it as a program of its own, so that the client that speaks to the service never
loads torch. It trains nothing and knows nothing of the service.

    python examples/convert_model.py MODEL.gguf FOLDER
"""

import os
import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging


def convert(gguf: Path, folder: Path) -> None:
    """Write weights (bfloat16), tokenizer and chat template to `folder`: whole, or not at all."""
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16
    )
    _forget_quantization(model)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    partial.rename(folder)


def _forget_quantization(model: torch.nn.Module) -> None:
    # The weights are plain numbers by now, yet the library still takes the model for a quantized
    # one and refuses to save it.
    for name in ("hf_quantizer", "is_quantized", "quantization_method"):
        if hasattr(model, name):
            delattr(model, name)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config


def main() -> int:
    """Convert argv[1] into the folder argv[2]; exit code 2 if the arguments are wrong."""
    if len(sys.argv) != 3 or not Path(sys.argv[1]).is_file():
        sys.stderr.write(f"{__doc__}\nThe first argument must be a GGUF file.\n")
        return 2
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    logging.set_verbosity_error()
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

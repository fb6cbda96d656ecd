"""A Llama after its formulas: which token may follow others."""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

Array = NDArray[np.float64]
# Keys and values of the tokens so far, by the name of their layer.
Kept = dict[str, tuple[Array, Array]]


class Llama:
    """The model of a folder, in float64, so that it is nobody's rounding that is compared with."""

    def __init__(self, folder: str) -> None:
        said = json.loads((Path(folder) / "config.json").read_text())
        self._n_layers, self._n_heads = said["num_hidden_layers"], said["num_attention_heads"]
        self._n_kept_heads, self._epsilon = said["num_key_value_heads"], said["rms_norm_eps"]
        self._theta = said["rope_parameters"]["rope_theta"]
        weights = load_file(Path(folder) / "model.safetensors")
        self._weights = {name: weight.astype(np.float64) for name, weight in weights.items()}

    def logits(self, ids: list[int], kept: Kept) -> Array:
        """Of the token after these, which come after those that are kept; they are kept, too."""
        embedded_V_H = self._weights["model.embed_tokens.weight"]
        x_T_H = embedded_V_H[ids]
        for layer in range(self._n_layers):
            place = f"model.layers.{layer}"
            x_T_H = x_T_H + self._attended(
                f"{place}.self_attn", self._normed(f"{place}.input_layernorm", x_T_H), kept
            )
            y_T_H = self._normed(f"{place}.post_attention_layernorm", x_T_H)
            gate = self._through(f"{place}.mlp.gate_proj", y_T_H)
            gated = gate / (1 + np.exp(-gate)) * self._through(f"{place}.mlp.up_proj", y_T_H)
            x_T_H = x_T_H + self._through(f"{place}.mlp.down_proj", gated)
        last_H = self._normed("model.norm", x_T_H[-1])
        return last_H @ self._weights.get("lm_head.weight", embedded_V_H).T

    def _attended(self, place: str, x_T_H: Array, kept: Kept) -> Array:
        before = kept[place][0].shape[1] if place in kept else 0
        query_A_T_D = self._turned(self._heads(f"{place}.q_proj", x_T_H, self._n_heads), before)
        key_A_T_D = self._turned(self._heads(f"{place}.k_proj", x_T_H, self._n_kept_heads), before)
        value_A_T_D = self._heads(f"{place}.v_proj", x_T_H, self._n_kept_heads)
        if before:
            key_A_T_D = np.concatenate([kept[place][0], key_A_T_D], 1)
            value_A_T_D = np.concatenate([kept[place][1], value_A_T_D], 1)
        kept[place] = key_A_T_D, value_A_T_D
        times = self._n_heads // self._n_kept_heads
        key_A_T_D, value_A_T_D = (np.repeat(one, times, 0) for one in (key_A_T_D, value_A_T_D))
        score_A_T_T = query_A_T_D @ key_A_T_D.swapaxes(1, 2) / np.sqrt(query_A_T_D.shape[-1])
        score_A_T_T += np.triu(np.full(score_A_T_T.shape[1:], -np.inf), 1 + before)
        share_A_T_T = np.exp(score_A_T_T - score_A_T_T.max(-1, keepdims=True))
        share_A_T_T /= share_A_T_T.sum(-1, keepdims=True)
        seen_T_A_D = (share_A_T_T @ value_A_T_D).swapaxes(0, 1)
        return self._through(f"{place}.o_proj", seen_T_A_D.reshape(len(x_T_H), -1))

    def _heads(self, name: str, x_T_H: Array, n_heads: int) -> Array:
        return self._through(name, x_T_H).reshape(len(x_T_H), n_heads, -1).swapaxes(0, 1)

    def _turned(self, x_A_T_D: Array, before: int) -> Array:
        """Turned by its place: the first half of the features with the second."""
        half = x_A_T_D.shape[-1] // 2
        place_T = before + np.arange(x_A_T_D.shape[1])
        angle = np.outer(place_T, self._theta ** (-np.arange(half) / half))
        first, second = x_A_T_D[..., :half], x_A_T_D[..., half:]
        cos, sin = np.cos(angle), np.sin(angle)
        return np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)

    def _normed(self, name: str, x_H: Array) -> Array:
        size = np.sqrt(np.square(x_H).mean(-1, keepdims=True) + self._epsilon)
        normed: Array = x_H / size * self._weights[f"{name}.weight"]
        return normed

    def _through(self, name: str, x_H: Array) -> Array:
        return x_H @ self._weights[f"{name}.weight"].T

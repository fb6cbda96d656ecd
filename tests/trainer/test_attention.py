"""Attention of single tokens against torch's own."""

import pytest
import torch

from worker.trainer.models.attention import decode


@pytest.mark.parametrize("n_key_heads", [1, 3, 9])
@pytest.mark.parametrize("is_masked", [False, True])
def test_one_token_per_row_attends_as_torch_computes_it(n_key_heads: int, is_masked: bool) -> None:
    random = torch.Generator().manual_seed(n_key_heads)
    query = torch.randn(4, 9, 1, 8, generator=random)
    key, value = (torch.randn(4, n_key_heads, 7, 8, generator=random) for _ in range(2))
    mask = None
    if is_masked:
        mask = (torch.arange(7) >= torch.tensor([0, 2, 5, 6])[:, None])[:, None, None]

    found = decode(query, key, value, mask, 0.3)

    repeated = (x.repeat_interleave(9 // n_key_heads, dim=1) for x in (key, value))
    expected = torch.nn.functional.scaled_dot_product_attention(
        query, *repeated, attn_mask=mask, scale=0.3
    )
    assert torch.allclose(found, expected.transpose(1, 2), atol=1e-6)


def test_half_precision_stays_close_to_the_exact_mixture() -> None:
    random = torch.Generator().manual_seed(0)
    query = torch.randn(4, 9, 1, 64, generator=random)
    key, value = (torch.randn(4, 3, 100, 64, generator=random) for _ in range(2))
    exact = decode(query, key, value, None, 64**-0.5)
    rounded = decode(*(x.bfloat16() for x in (query, key, value)), None, 64**-0.5)
    assert rounded.dtype == torch.bfloat16
    assert torch.allclose(rounded.float(), exact, atol=0.02)

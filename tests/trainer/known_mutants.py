"""Mutants that no test can notice, with the reason why they change nothing."""

_SQUARE = "the square of a difference has no direction"
_ZERO = "a sum of zeros"

KNOWN: dict[str, str] = {
    "losses.policy_loss: objective_B_T = torch.where(advantage_B_T < 0, bounded_B_T, objective_B_T)"
    "  ->  objective_B_T = torch.where(advantage_B_T <= 0, bounded_B_T, objective_B_T)": (
        "at advantage 0 both are 0, and the ratio has no gradient"
    ),
    "losses.policy_loss: clip_fraction_low="
    "masked_mean(was_clipped_B_T & (advantage_B_T < 0), mask_B_T)"
    "  ->  clip_fraction_low=masked_mean(was_clipped_B_T & (advantage_B_T <= 0), mask_B_T)": (
        "at advantage 0 nothing is clipped: both terms are 0"
    ),
    "losses.policy_loss: clip_fraction_high="
    "masked_mean(was_clipped_B_T & (advantage_B_T > 0), mask_B_T)"
    "  ->  clip_fraction_high=masked_mean(was_clipped_B_T & (advantage_B_T >= 0), mask_B_T)": (
        "at advantage 0 nothing is clipped: both terms are 0"
    ),
    "losses.value_loss: free_error_B_T = (value_B_T - return_B_T).square()"
    "  ->  free_error_B_T = (return_B_T - value_B_T).square()": _SQUARE,
    "losses.value_loss: held_error_B_T = (held_B_T - return_B_T).square()"
    "  ->  held_error_B_T = (return_B_T - held_B_T).square()": _SQUARE,
    "losses.ranking_loss: return _keep(score_K, torch.zeros_like(score_K, dtype=torch.bool)).sum()"
    "  ->  return -_keep(score_K, torch.zeros_like(score_K, dtype=torch.bool)).sum()": _ZERO,
    "losses.ranking_loss: return _keep(score_K, torch.zeros_like(score_K, dtype=torch.bool)).sum()"
    "  ->  return _keep(score_K, torch.zeros_like(score_K, dtype=torch.bool)).mean()": _ZERO,
    "losses.listwise_loss: losses += [score_R.logsumexp(0) - score_K[index] for index in tier]"
    "  ->  losses += [score_R.logsumexp(-1) - score_K[index] for index in tier]": (
        "one axis: the last one is the first"
    ),
    "losses.centering_loss: return ranking_loss(score_K, [])"
    "  ->  return -ranking_loss(score_K, [])": _ZERO,
}

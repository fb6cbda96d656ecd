"""Mutants that no test can notice, with the reason why they change nothing."""

_SQUARE = "the square of a difference has no direction"
_VARIANCE = "the variance of what is turned round is the same"
_ZERO = "a sum of zeros"
_NO_BONUS = "a bonus of weight 0 adds nothing, and weights are at least 0"

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
    "losses.policy_loss: ratio_max=_keep(ratio_B_T, mask_B_T).amax()"
    " if mask_B_T.any() else loss.new_zeros(())"
    "  ->  ratio_max=_keep(ratio_B_T, mask_B_T).amax()"
    " if torch.ones_like(mask_B_T).any() else loss.new_zeros(())": (
        "where no token counts every kept ratio is 0, and so is the largest"
    ),
    "losses.value_loss: free_error_B_T = (value_B_T - return_B_T).square()"
    "  ->  free_error_B_T = (return_B_T - value_B_T).square()": _SQUARE,
    "losses.value_loss: held_error_B_T = (held_B_T - return_B_T).square()"
    "  ->  held_error_B_T = (return_B_T - held_B_T).square()": _SQUARE,
    "losses.ranking_loss: return _keep(score_K, torch.zeros_like(score_K, dtype=torch.bool)).sum()"
    "  ->  return -_keep(score_K, torch.zeros_like(score_K, dtype=torch.bool)).sum()": _ZERO,
    "losses.ranking_loss: return _keep(score_K, torch.zeros_like(score_K, dtype=torch.bool)).sum()"
    "  ->  return _keep(score_K, torch.zeros_like(score_K, dtype=torch.bool)).mean()": _ZERO,
    "losses.ranking_loss: strict=True  ->  strict=False": (
        "tier_pairs gives as many second responses as first ones"
    ),
    "losses.listwise_loss: losses += [left_K.logsumexp(0) - score_K[index] for index in tier]"
    "  ->  losses += [left_K.logsumexp(-1) - score_K[index] for index in tier]": (
        "one axis: the last one is the first"
    ),
    "losses.dpo_loss: loss_B = (margin_B - 1 / (2 * beta)).square()"
    "  ->  loss_B = (1 / (2 * beta) - margin_B).square()": _SQUARE,
    "losses.centering_loss: return ranking_loss(score_K, [])"
    "  ->  return -ranking_loss(score_K, [])": _ZERO,
    "advantages.masked_whiten: variance = "
    "(value_N - mean).square().mean().clamp(min=SMALLEST_VARIANCE)"
    "  ->  variance = (mean - value_N).square().mean().clamp(min=SMALLEST_VARIANCE)": _SQUARE,
    "methods.policy_gradient.critic.explained_variance: error_N = return_N - value_B_T[mask_B_T]"
    "  ->  error_N = -(return_N - value_B_T[mask_B_T])": _VARIANCE,
    "methods.policy_gradient.critic.explained_variance: error_N = return_N - value_B_T[mask_B_T]"
    "  ->  error_N = value_B_T[mask_B_T] - return_N": _VARIANCE,
    "methods.policy_gradient.loop._loss: if config.entropy_coef > 0  ->  if True": _NO_BONUS,
    "methods.policy_gradient.loop._loss: if config.entropy_coef > 0"
    "  ->  if config.entropy_coef >= 0": _NO_BONUS,
    "methods.policy_gradient.loop._loss: if config.entropy_coef > 0"
    "  ->  if config.entropy_coef > -1": _NO_BONUS,
    "methods.policy_gradient.loop._loss: if self.critic is None or rollout.value_B_T is None"
    "  ->  if self.critic is None and rollout.value_B_T is None": (
        "a rollout has values where there is a critic, and nowhere else"
    ),
    "evaluation.calibration._favourites: win_E = torch.tensor(wins, dtype=torch.float64)"
    "  ->  win_E = torch.tensor(wins)": (
        "0, 1/2 and 1 are exact in fp32, and what follows is float64"
    ),
    "evaluation.calibration.calibration_error: "
    "return sum((one.n_pairs * abs(one.predicted - one.won) for one in curve)) / max(n_pairs, 1)"
    "  ->  "
    "return sum((one.n_pairs * abs(one.won - one.predicted) for one in curve)) / max(n_pairs, 1)": (
        "a distance has no direction"
    ),
    "evaluation.length_bias.length_bias: strict=True  ->  strict=False  (once more)": (
        "strict_pairs gives as many losers as winners"
    ),
    "evaluation.length_bias.length_bias: is_longer = bool(length_K[winner] > length_K[loser])"
    "  ->  is_longer = bool(length_K[winner] >= length_K[loser])": (
        "pairs of one length have been left out"
    ),
}

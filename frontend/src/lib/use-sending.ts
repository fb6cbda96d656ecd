/**
 * A mutation of a form that closes, or changes, when it is sent.
 *
 * The callbacks that are given to useMutation() are called whatever happened since: the form may be
 * gone by then, and another one may stand in its place. `onSent` is called only if the form that
 * asked is still there; it is as it was when it asked, and trying again keeps it.
 */
import { useMutation, type UseMutationOptions } from "@tanstack/react-query";

export function useSending<Answer, Input>(
  options: UseMutationOptions<Answer, Error, Input>,
  onSent: (answer: Answer, input: Input) => void,
) {
  const { mutate, ...asked } = useMutation(options);
  return {
    ...asked,
    mutate: (input: Input) => mutate(input, { onSuccess: (answer) => onSent(answer, input) }),
  };
}

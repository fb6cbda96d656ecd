/**
 * A mutation of a form that closes, or changes, when it is sent.
 *
 * The callbacks that are given to useMutation() are called whatever happened since: the form may be
 * gone by then, and another one may stand in its place. `onSent` is called only if the form that
 * asked is still there; it is as it was when it asked, and trying again keeps it.
 *
 * `notDone` is a sentence, such as "The notes were not saved.": if the form is gone when it is
 * refused, the frame of the pages says so, and offers another try while that is of use: where the
 * answer has to be seen, while the page that shows it is there.
 */
import { useMutation, useQueryClient, type UseMutationOptions } from "@tanstack/react-query";

import { Problem } from "@/api/client";
import { tellUnseen } from "@/lib/unseen";

import { useIsShown } from "./use-is-shown";

/** The page asks who is signed in, and says that by itself. */
const isSignedOut = (error: Error) => error instanceof Problem && error.status === 401;

export function useSending<Answer, Input>(
  notDone: string,
  options: UseMutationOptions<Answer, Error, Input>,
  onSent: (answer: Answer, input: Input) => void,
  isOfUse: () => boolean = () => true,
) {
  const client = useQueryClient();
  const isShown = useIsShown();
  const asking: typeof options = {
    ...options,
    onError: async (...refused) => {
      const [error, input] = refused;
      try {
        await options.onError?.(...refused);
      } finally {
        if (!isShown() && !isSignedOut(error))
          tellUnseen({ what: notDone, error, again: () => askAgain(input), isOfUse });
      }
    },
  };
  const askAgain = (input: Input) => {
    const full = client.defaultMutationOptions(asking);
    // Refused again, it is told again.
    void client
      .getMutationCache()
      .build(client, full)
      .execute(input)
      .catch(() => undefined);
  };
  const { mutate, ...asked } = useMutation(asking);
  return {
    ...asked,
    mutate: (input: Input) => mutate(input, { onSuccess: (answer) => onSent(answer, input) }),
  };
}

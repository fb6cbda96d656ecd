/** The button that signs out, and what one has to know where Podium did not confirm it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";

import { Problem } from "@/api/client";
import { signOut } from "@/api/session";
import type { User } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { Icon } from "@/components/icons";
import { PendingButton } from "@/components/form/pending-button";
import { Failure } from "@/components/states";

export function SignOut({ user }: { user: User }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  // Stays while it is tried again.
  const [refusal, setRefusal] = useState<Error | null>(null);
  const leaving = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      client.clear();
      await navigate("/sign-in");
    },
    // 401: this browser is no longer signed in as this person; the page asks who is.
    onError: (error) => setRefusal(error instanceof Problem && error.status === 401 ? null : error),
  });
  return (
    <>
      <PendingButton
        className="btn ghost icon"
        aria-label="Sign out"
        title="Sign out"
        isPending={leaving.isPending}
        onPress={() => leaving.mutate()}
      >
        <Icon name="out" />
      </PendingButton>
      {refusal !== null && (
        <NotSignedOut
          name={user.name}
          refusal={refusal}
          isPending={leaving.isPending}
          onRetry={() => leaving.mutate()}
          onClose={() => setRefusal(null)}
        />
      )}
    </>
  );
}

/** A dialog: whoever walks away from a shared computer has to see it first. */
function NotSignedOut(props: {
  name: string;
  refusal: Error;
  isPending: boolean;
  onRetry: () => void;
  onClose: () => void;
}) {
  const { isPending, onRetry } = props;
  return (
    <Dialog
      title="You are not signed out yet"
      onClose={props.onClose}
      footer={
        <PendingButton className="btn primary" isPending={isPending} onPress={onRetry}>
          {isPending ? "Signing out…" : "Try again"}
        </PendingButton>
      }
    >
      <div className="stack">
        <p>
          Podium has not confirmed that you are signed out. Until it does, whoever uses this browser
          next can work as {props.name}.
        </p>
        <Failure error={props.refusal} />
        <p>
          Try again when Podium answers. If you have to leave before, lock the computer or delete
          the cookies of this site; most browsers then delete unsent judgments and skips, too.
        </p>
      </div>
    </Dialog>
  );
}

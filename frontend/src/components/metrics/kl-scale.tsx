/** Whether KL is drawn as it is or by its square root. */
import { Segmented } from "@/components/segmented";

interface KlScaleProps {
  readonly isRoot: boolean;
  /** Gets the value of `kl` in the address; null for KL as it is. */
  readonly onChange: (kl: "root" | null) => void;
}

export function KlScale({ isRoot, onChange }: KlScaleProps) {
  return (
    <Segmented
      label="KL scale"
      value={isRoot ? "root" : "nats"}
      options={[
        ["nats", "KL"],
        ["root", "√KL"],
      ]}
      onChange={(value) => onChange(value === "root" ? value : null)}
    />
  );
}

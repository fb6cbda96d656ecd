/** A password to give to somebody: made at random, and easy to read aloud or to type. */

/** Letters and digits that are not mistaken for one another: no l, 1, o or 0. */
const SIGNS = "abcdefghijkmnpqrstuvwxyz23456789";
const GROUPS = 4;
const GROUP = 5;

/** Four groups of five, such as `k3hsm-9vtqa-xw2dn-c7rjp`: 32 signs, so 100 random bits. */
export function randomPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(GROUPS * GROUP));
  // 32 divides 256, so that every sign is as likely as any other.
  const signs = Array.from(bytes, (byte) => SIGNS[byte % SIGNS.length]).join("");
  return signs.replace(/.{5}(?=.)/g, "$&-");
}

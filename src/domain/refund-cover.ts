/** The part of a payment's received money that a refund takes, or would take. In the token's smallest units. */
export interface RefundClaim {
  readonly id: string;
  readonly units: bigint;
  /** `paid`: a transaction pays it, mined or not, whatever the refund's status. `open`: it may still be paid. */
  readonly kind: 'paid' | 'open';
}

/**
 * The open refunds that the confirmed money covers. Paid refunds are subtracted first; then the open ones, in the order
 * of `claims`. One that is not covered reserves nothing, so that a smaller, newer one may still be covered.
 */
export function coveredRefunds(confirmedUnits: bigint, claims: readonly RefundClaim[]): ReadonlySet<string> {
  let left = claims.reduce((rest, { kind, units }) => (kind === 'paid' ? rest - units : rest), confirmedUnits);
  const covered = new Set<string>();
  for (const { id, units, kind } of claims) {
    if (kind === 'paid' || units > left) continue;
    left -= units;
    covered.add(id);
  }
  return covered;
}

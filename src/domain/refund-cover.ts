/** What a refund takes, or would take, of the money that its payment received in its token. In the smallest units. */
export interface RefundClaim {
  readonly id: string;
  readonly units: bigint;
  /** `paid`: by a transaction, in a block or waiting, whatever became of the refund. `open`: it may be paid still. */
  readonly kind: 'paid' | 'open';
}

/**
 * The open refunds that what is confirmed covers: what was paid comes first, and then one after the other, in the order of
 * `claims`. One that is not covered holds nothing of the rest, so that a smaller, newer one may be covered.
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

/**
 * The shown rows as they are now, and how many came before the first of them. Both newest first.
 *
 * @param further rows of later pages that were read again, in any order
 */
export function withNewest<Row extends { readonly id: string }>(
  shown: readonly Row[],
  newest: readonly Row[],
  further: readonly Row[] = [],
): { readonly rows: readonly Row[]; readonly arrived: number } {
  const fresh = new Map([...further, ...newest].map((row) => [row.id, row]));
  const known = new Set(shown.map(({ id }) => id));
  const firstKnown = newest.findIndex(({ id }) => known.has(id));
  return {
    rows: shown.map((row) => fresh.get(row.id) ?? row),
    arrived: firstKnown === -1 ? newest.length : firstKnown,
  };
}

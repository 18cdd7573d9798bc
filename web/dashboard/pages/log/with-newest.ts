/** The shown rows as they are now, and how many came before the first of them. Both newest first. */
export function withNewest<Row extends { readonly id: string }>(
  shown: readonly Row[],
  newest: readonly Row[],
): { readonly rows: readonly Row[]; readonly arrived: number } {
  const fresh = new Map(newest.map((row) => [row.id, row]));
  const known = new Set(shown.map(({ id }) => id));
  const firstKnown = newest.findIndex(({ id }) => known.has(id));
  return {
    rows: shown.map((row) => fresh.get(row.id) ?? row),
    arrived: firstKnown === -1 ? newest.length : firstKnown,
  };
}

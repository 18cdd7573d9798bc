/** Lines of `label  value` with aligned values; fields without a value are left out. */
export function fields(rows: readonly (readonly [label: string, value: string | null])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([label]) => label.length));
  return rows.flatMap(([label, value]) => (value === null ? [] : [`${label.padEnd(width)}  ${value}`]));
}

/** The set with the value if it was not there, without it if it was. */
export function toggled<Value>(set: ReadonlySet<Value>, value: Value): ReadonlySet<Value> {
  const changed = new Set(set);
  if (!changed.delete(value)) changed.add(value);
  return changed;
}

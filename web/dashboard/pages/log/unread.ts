/** The filters of an address that are none of a log, or malformed. */
export function unreadOf(given: Readonly<Record<string, unknown>>, read: object): readonly string[] {
  return Object.keys(given).filter((name) => given[name] !== undefined && given[name] !== '' && !(name in read));
}

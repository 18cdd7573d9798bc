/** Names up to this length are abbreviations. */
const MAX_ABBREVIATION = 3;

/** A network's display name, given its name in the API. */
export function networkName(network: string): string {
  if (network.length <= MAX_ABBREVIATION) return network.toUpperCase();
  return network.slice(0, 1).toUpperCase() + network.slice(1);
}

/** The longest name that is an abbreviation. */
const MAX_ABBREVIATION = 3;

/** A network as people write it, of its name on the wire. */
export function networkName(network: string): string {
  if (network.length <= MAX_ABBREVIATION) return network.toUpperCase();
  return network.slice(0, 1).toUpperCase() + network.slice(1);
}

/** How many characters of a name are compared. */
const MAX_NAME = 64;
/** How many edits count as a typing error; with more, it is a different name. */
const MAX_TYPOS = 2;

/**
 * The known name that was probably meant by another name, such as `successUrl` or `sucess_url`; null if none is close.
 */
export function nearestName(known: Iterable<string>, name: string): string | null {
  const given = letters(name);
  let nearest: string | null = null;
  let least = Math.min(MAX_TYPOS, Math.floor(given.length / 3)) + 1;
  for (const one of known) {
    const typos = distance(given, letters(one));
    if (typos < least) [nearest, least] = [one, typos];
  }
  return nearest;
}

/** `successUrl` and `Success-URL` mean `success_url`. */
function letters(name: string): string {
  return name
    .slice(0, MAX_NAME)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
}

/**
 * How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one text into the other.
 */
export function distance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      line.push(
        Math.min(
          (last[column] ?? Infinity) + 1,
          (line[column - 1] ?? Infinity) + 1,
          (last[column - 1] ?? Infinity) + (isSame ? 0 : 1),
          isSwapped ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
        ),
      );
    }
    [beforeLast, last] = [last, line];
  }
  return last[to.length] ?? Infinity;
}

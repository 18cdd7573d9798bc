/**
 * The characters of descriptors in three groups of 32, so that a wrong case or a neighbouring key is always detected.
 */
const INPUT_CHARACTERS =
  '0123456789()[],\'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
/** The characters of bech32. */
const CHECKSUM_CHARACTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const CHECKSUM_LENGTH = 8;
const GENERATOR = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];

/**
 * The eight characters that BIP 380 puts after a descriptor and `#`. Null: the descriptor contains a character that no
 * descriptor may have.
 */
export function descriptorChecksum(descriptor: string): string | null {
  const symbols = symbolsOf(descriptor);
  if (symbols === null) return null;
  const remainder = [...symbols, ...Array<number>(CHECKSUM_LENGTH).fill(0)].reduce(nextRemainder, 1n) ^ 1n;
  const characters = Array.from({ length: CHECKSUM_LENGTH }, (_, place) => {
    const shift = BigInt(5 * (CHECKSUM_LENGTH - 1 - place));
    return CHECKSUM_CHARACTERS.charAt(Number((remainder >> shift) & 31n));
  });
  return characters.join('');
}

/** Five bits of each character, and after every third character the groups of those three. */
function symbolsOf(descriptor: string): readonly number[] | null {
  const symbols: number[] = [];
  let groups: number[] = [];
  for (const character of descriptor) {
    const position = INPUT_CHARACTERS.indexOf(character);
    if (position === -1) return null;
    symbols.push(position % 32);
    groups.push(Math.floor(position / 32));
    if (groups.length < 3) continue;
    symbols.push(inBaseThree(groups));
    groups = [];
  }
  return groups.length === 0 ? symbols : [...symbols, inBaseThree(groups)];
}

function inBaseThree(digits: readonly number[]): number {
  return digits.reduce((sum, digit) => sum * 3 + digit, 0);
}

function nextRemainder(remainder: bigint, symbol: number): bigint {
  const top = remainder >> 35n;
  const shifted = ((remainder & 0x7ffffffffn) << 5n) ^ BigInt(symbol);
  return GENERATOR.reduce((sum, term, bit) => ((top >> BigInt(bit)) & 1n ? sum ^ term : sum), shifted);
}

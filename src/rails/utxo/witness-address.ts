const CHARACTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const CHECKSUM_LENGTH = 6;

/**
 * A version 0 witness program, given in hex, as bech32 (BIP 173). Written out here because every test order makes one,
 * and a general encoder took most of the time that making it takes; what it makes is checked against one by the tests.
 */
export function witnessAddress(prefix: string, program: string): string {
  let check = 1;
  const take = (value: number): void => {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    if (top & 1) check ^= 0x3b6a57b2;
    if (top & 2) check ^= 0x26508e6d;
    if (top & 4) check ^= 0x1ea119fa;
    if (top & 8) check ^= 0x3d4233dd;
    if (top & 16) check ^= 0x2a1462b3;
  };
  for (let index = 0; index < prefix.length; index += 1) take(prefix.charCodeAt(index) >> 5);
  take(0);
  for (let index = 0; index < prefix.length; index += 1) take(prefix.charCodeAt(index) & 31);
  let text = `${prefix}1`;
  const write = (value: number): void => {
    take(value);
    text += CHARACTERS.charAt(value);
  };
  write(0);
  let held = 0;
  let bits = 0;
  for (let index = 0; index < program.length; index += 1) {
    const code = program.charCodeAt(index);
    held = (held << 4) | (code < 58 ? code - 48 : code - 87);
    bits += 4;
    if (bits < 5) continue;
    bits -= 5;
    write(held >> bits);
    held &= (1 << bits) - 1;
  }
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) take(0);
  check ^= 1;
  for (let shift = 25; shift >= 0; shift -= 5) text += CHARACTERS.charAt((check >>> shift) & 31);
  return text;
}

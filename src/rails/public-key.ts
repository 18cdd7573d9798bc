import { HARDENED_OFFSET, type HDKey } from '@scure/bip32';

/** The first hardened index of BIP 32; indexes below it can be derived without a private key. */
export const HARDENED = HARDENED_OFFSET;

/** The child with an index from 0 to 2^31 - 1 of an extended public key; throws RangeError for any other index. */
export function childKey(parent: HDKey, index: number): HDKey {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED) {
    throw new RangeError(`an address index is an integer from 0 to 2^31 - 1, not ${index}`);
  }
  return parent.deriveChild(index);
}

/** The 33 bytes of a compressed key. */
export function publicKeyOf({ publicKey }: HDKey): Uint8Array {
  if (publicKey === null) throw new Error('an extended key without a public key');
  return publicKey;
}

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { addMultiplesOfBase } from './point-sums.ts';

const { Point } = secp256k1;
type CurvePoint = ReturnType<typeof Point.fromBytes>;

/** The first hardened index of BIP 32; those below it can be derived without a private key. */
export const HARDENED = 2 ** 31;

/** A public key of BIP 32, opened for deriving. */
export interface KeyNode {
  readonly point: CurvePoint;
  /** Compressed, 33 bytes. */
  readonly publicKey: Uint8Array;
  readonly chainCode: Uint8Array;
}

/** Throws when the 33 bytes are not a point of the curve. */
export function keyNode(publicKey: Uint8Array, chainCode: Uint8Array): KeyNode {
  return { point: Point.fromBytes(publicKey), publicKey, chainCode };
}

/**
 * CKDpub of BIP 32 for an index below 2^31. It works on the opened point, which takes half the time of `deriveChild` of
 * @scure/bip32: that one reads the parent's and the child's point from bytes again, a square root each. Nothing here is
 * secret, so that time may depend on the values. Throws where the index has no key, which happens once in 2^127.
 */
export function childKey(parent: KeyNode, index: number): KeyNode {
  const { scalar, chainCode } = childScalar(parent, index, hmacKey(parent));
  return nodeOf(parent.point.add(Point.BASE.multiplyUnsafe(scalar)), chainCode);
}

/**
 * The children number `from` on, `count` of them: the same as `childKey` makes one by one, each in a fraction of the
 * time where there are several. Throws as `childKey` does, for all if for any.
 */
export function childKeys(parent: KeyNode, from: number, count: number): readonly KeyNode[] {
  const point = parent.point.toAffine();
  const key = hmacKey(parent);
  const steps = Array.from({ length: count }, (_, place) => childScalar(parent, from + place, key));
  const sums = addMultiplesOfBase(steps.map(({ scalar }) => ({ point, scalar })));
  return sums.map((sum, place) => {
    const chainCode = steps[place]?.chainCode;
    if (chainCode === undefined) throw new Error('a child is missing');
    return nodeOf(Point.fromAffine(sum), chainCode);
  });
}

/** The x coordinates, 32 bytes each, that Taproot outputs of one key and no scripts carry (BIP 341, as BIP 86 asks). */
export function taprootOutputKeys(nodes: readonly KeyNode[]): readonly Uint8Array[] {
  const sums = addMultiplesOfBase(
    nodes.map((node) => ({ point: internalKey(node).toAffine(), scalar: taprootTweak(node) })),
  );
  return sums.map((sum) => Point.fromAffine(sum).toBytes(true).subarray(1));
}

/** Of one node alone, as `taprootOutputKeys` has it. */
export function taprootOutputKey(node: KeyNode): Uint8Array {
  const tweaked = internalKey(node).add(Point.BASE.multiplyUnsafe(taprootTweak(node)));
  return tweaked.toBytes(true).subarray(1);
}

/** Throws for a point that is not on the curve, so that a fault of the sums makes no address. */
function nodeOf(point: CurvePoint, chainCode: Uint8Array): KeyNode {
  return { point, publicKey: point.toBytes(true), chainCode };
}

/** Made once for many children: given as bytes, the key would cost more than the hashing. */
function hmacKey({ chainCode }: KeyNode): KeyObject {
  return createSecretKey(chainCode);
}

function childScalar({ publicKey }: KeyNode, index: number, key: KeyObject) {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED) {
    throw new RangeError(`an address index is an integer from 0 to 2^31 - 1, not ${index}`);
  }
  const data = new Uint8Array(37);
  data.set(publicKey);
  new DataView(data.buffer).setUint32(33, index);
  const digest = createHmac('sha512', key).update(data).digest();
  return { scalar: Point.Fn.fromBytes(digest.subarray(0, 32)), chainCode: new Uint8Array(digest.subarray(32)) };
}

/** The point with the same x coordinate and an even y coordinate. */
function internalKey({ point }: KeyNode): CurvePoint {
  return point.toAffine().y % 2n === 0n ? point : point.negate();
}

function taprootTweak({ publicKey }: KeyNode): bigint {
  return Point.Fn.fromBytes(schnorr.utils.taggedHash('TapTweak', publicKey.subarray(1)));
}

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { addMultiplesOfBase } from './point-sums.ts';

const { Point } = secp256k1;
type CurvePoint = ReturnType<typeof Point.fromBytes>;

/** The first hardened index of BIP 32; indexes below it can be derived without a private key. */
export const HARDENED = 2 ** 31;

/** A BIP 32 public key, prepared for deriving. */
export interface KeyNode {
  readonly point: CurvePoint;
  /** Compressed, 33 bytes. */
  readonly publicKey: Uint8Array;
  readonly chainCode: Uint8Array;
}

/** Throws if the 33 bytes are not a point on the curve. */
export function keyNode(publicKey: Uint8Array, chainCode: Uint8Array): KeyNode {
  return { point: Point.fromBytes(publicKey), publicKey, chainCode };
}

/**
 * CKDpub of BIP 32 for an index below 2^31. It works on the decoded point, which takes half the time of `deriveChild`
 * of
 * @scure/bip32: that one decodes the parent's and the child's point again, with a square root each. Nothing here is
 * secret, so the time may depend on the values. Throws if the index has no key, which happens once in 2^127.
 */
export function childKey(parent: KeyNode, index: number): KeyNode {
  const { scalar, chainCode } = childScalar(parent, index, hmacKey(parent));
  return nodeOf(parent.point.add(Point.BASE.multiplyUnsafe(scalar)), chainCode);
}

/**
 * `count` children from index `from` on: the same as `childKey` returns one by one, but several at once take a fraction
 * of the time. Throws as `childKey` does, if any of them has no key.
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

/** The x coordinates, 32 bytes each, of Taproot outputs with one key and no scripts (BIP 341, as BIP 86 requires). */
export function taprootOutputKeys(nodes: readonly KeyNode[]): readonly Uint8Array[] {
  const sums = addMultiplesOfBase(
    nodes.map((node) => ({ point: internalKey(node).toAffine(), scalar: taprootTweak(node) })),
  );
  return sums.map((sum) => Point.fromAffine(sum).toBytes(true).subarray(1));
}

/** For a single node, as `taprootOutputKeys` does. */
export function taprootOutputKey(node: KeyNode): Uint8Array {
  const tweaked = internalKey(node).add(Point.BASE.multiplyUnsafe(taprootTweak(node)));
  return tweaked.toBytes(true).subarray(1);
}

/** Throws for a point that is not on the curve, so that an error in the sums yields no address. */
function nodeOf(point: CurvePoint, chainCode: Uint8Array): KeyNode {
  return { point, publicKey: point.toBytes(true), chainCode };
}

/** Created once for many children: importing the key from bytes each time would take longer than the hashing. */
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

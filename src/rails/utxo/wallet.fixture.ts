import { pbkdf2Sync } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import type { Transaction } from '@scure/btc-signer';
import { refusalText } from '../../app/rejected.ts';
import type { UtxoNetwork } from '../../domain/networks.ts';
import { utxoParams, type UtxoParams } from './params.ts';
import type { UtxoChain } from '../family.ts';
import { parseUtxoWallet, type UtxoWalletCheck, type UtxoWalletSource } from './wallet.ts';

/** The phrase of the published vectors of BIP 49, 84 and 86 and of SLIP-132. */
export const MNEMONIC = `${'abandon '.repeat(11)}about`;

// BIP 39: the seed is PBKDF2 of the phrase, its salt the word "mnemonic" (and the passphrase, here none).
export const MASTER = HDKey.fromMasterSeed(pbkdf2Sync(MNEMONIC, 'mnemonic', 2048, 64, 'sha512'));

/** The version bytes of public keys (SLIP-132). */
export const VERSIONS = {
  xpub: 0x0488b21e,
  ypub: 0x049d7cb2,
  zpub: 0x04b24746,
  Ypub: 0x0295b43f,
  Zpub: 0x02aa7ed3,
  tpub: 0x043587cf,
  upub: 0x044a5262,
  vpub: 0x045f1cf6,
  Upub: 0x024289ef,
  Vpub: 0x02575483,
  Ltub: 0x019da462,
  Mtub: 0x01b26ef6,
  ttub: 0x0436f6e1,
};

const base58check = createBase58check(sha256);

/** The same key with other version bytes, checksum right. */
export function withVersion(key: string, version: number): string {
  const bytes = base58check.decode(key);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, version);
  return base58check.encode(bytes);
}

/** The extended public key at a path below the phrase's master key. */
export function publicKeyAt(path: string, prefix: keyof typeof VERSIONS): string {
  return withVersion(MASTER.derive(path).publicExtendedKey, VERSIONS[prefix]);
}

export function paramsOf(network: UtxoNetwork, chain: UtxoChain): UtxoParams {
  const params = utxoParams(network, chain);
  if (!params) throw new Error(`${network} has no ${chain}`);
  return params;
}

type Taken = Extract<UtxoWalletCheck, { kind: 'ok' }>;

export function walletOf(params: UtxoParams, kind: UtxoWalletSource['kind'], text: string): Taken {
  const check = parseUtxoWallet(params, { kind, text });
  if (check.kind === 'invalid') throw new Error(refusalText(check.fault));
  return check;
}

/** Why it is refused. */
export function refusalOf(params: UtxoParams, kind: UtxoWalletSource['kind'], text: string): string {
  const check = parseUtxoWallet(params, { kind, text });
  if (check.kind === 'ok') throw new Error('it was taken');
  return refusalText(check.fault);
}

export function addressesOf({ deriver }: Taken, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => deriver.addressAt(index));
}

/** Signs every input with every key that its own derivation paths lead to from the phrase's master key. */
export function signAll(transaction: Transaction): void {
  for (let place = 0; place < transaction.inputsLength; place += 1) {
    const { bip32Derivation = [], tapBip32Derivation = [] } = transaction.getInput(place);
    const origins = [...bip32Derivation.map(([, origin]) => origin), ...tapBip32Derivation.map(([, { der }]) => der)];
    for (const { fingerprint, path } of origins) {
      if (fingerprint !== MASTER.fingerprint) throw new Error('a key of another wallet');
      const { privateKey } = path.reduce((key: HDKey, step: number) => key.deriveChild(step), MASTER);
      if (!privateKey || !transaction.signIdx(privateKey, place)) throw new Error('the key does not sign');
    }
  }
}

import { NETWORK_FACTS, type UtxoNetwork } from '../../domain/networks.ts';
import { invalid } from '../../domain/sentence.ts';
import type { NetworkFamily, WalletCheck, WalletSource, UtxoChains, UtxoChain, ScriptType } from '../family.ts';
import { utxoParams, type UtxoParams, coinTypeOf } from './params.ts';
import { checkUtxoPayout } from './address.ts';
import { createUtxoCaller, type UtxoCaller } from './caller.ts';
import { createUtxoSource } from './source.ts';
import { parseUtxoWallet, type SpendingFacts } from './wallet.ts';

const CHARACTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const CHECKSUM_LENGTH = 6;

/**
 * A version 0 witness program, given in hex, as bech32 (BIP 173). Written out here because every test order needs an
 * address, and a general encoder took most of the time of making one; tests check the result against such an encoder.
 */
function witnessAddress(prefix: string, program: string): string {
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

/** The derivation path of the account for each address type: BIP 44, 49, 84, 86 and 48. */
const ACCOUNTS: Readonly<Record<ScriptType, (coin: number) => string>> = {
  p2pkh: (coin) => `44h/${coin}h/0h`,
  'p2sh-p2wpkh': (coin) => `49h/${coin}h/0h`,
  p2wpkh: (coin) => `84h/${coin}h/0h`,
  p2tr: (coin) => `86h/${coin}h/0h`,
  p2wsh: (coin) => `48h/${coin}h/0h/2h`,
};
const FORMS: Readonly<Record<ScriptType, (key: string) => string>> = {
  p2pkh: (key) => `pkh(${key})`,
  'p2sh-p2wpkh': (key) => `sh(wpkh(${key}))`,
  p2wpkh: (key) => `wpkh(${key})`,
  p2tr: (key) => `tr(${key})`,
  p2wsh: (key) => `wsh(sortedmulti(2,${key},…))`,
};

/** The data missing in a wallet's source that the merchant will need to spend from it, each with the way out. */
function spendingWarnings(
  params: Pick<UtxoParams, 'network' | 'chain'>,
  { scriptType, hasOrigins, hasChange }: SpendingFacts,
): readonly string[] {
  const coin = coinTypeOf(params);
  const prefix = params.chain === 'main' ? 'xpub' : 'tpub';
  const whole = FORMS[scriptType](`[fingerprint/${ACCOUNTS[scriptType](coin)}]${prefix}…/<0;1>/*`);
  const wayOut = `Set the wallet again as the descriptor "${whole}". Its addresses stay the same.`;
  return [
    ...(hasOrigins
      ? []
      : [
          'The key comes without its origin, which is the fingerprint of its master key and the path to it. Hardware wallets identify keys by this ' +
            `fingerprint. They will not sign a refund's PSBT, because it contains the account key's own fingerprint instead. ${wayOut}`,
        ]),
    ...(hasChange
      ? []
      : [
          `The descriptor does not say where your wallet keeps its change, so no PSBT can be made for refunds. ${wayOut}`,
        ]),
  ];
}

export interface UtxoNodes {
  readonly family: 'utxo';
  readonly network: UtxoNetwork;
  readonly urls: readonly string[];
  /** The chain that the nodes must be on. */
  readonly chain: UtxoChain;
  /** For URLs without credentials; null if there is no file. */
  readonly cookieFile: string | null;
}

/** Bitcoin and the chains whose nodes are derived from Bitcoin Core. */
export const utxoFamily = {
  rulesOf: (network) => {
    const testPrefix = existing(network, 'test').address.bech32;
    return {
      checkPayoutAddress: (text, chain) => checkUtxoPayout(network, text, chain),
      matchingAddress: (address) => address,
      shownAddress: (address) => address,
      transactionHash: (digits) => digits,
      testAddress: (digits) => witnessAddress(testPrefix, digits),
      parseWallet: (source, chains) => parseWallet(network, source, chains),
      payoutChain: (chains) => chains[network],
    };
  },
  createSource: ({ network, chain, urls, cookieFile }, access) => {
    const { asset } = NETWORK_FACTS[network].coin;
    return createUtxoSource({ ...access, params: existing(network, chain), asset, urls, cookieFile });
  },
  createCaller: ({ network, chain, urls, cookieFile }, access) => {
    const params = existing(network, chain);
    return { ...createUtxoCaller({ ...access, params, urls, cookieFile }), params };
  },
} satisfies NetworkFamily<UtxoNetwork, UtxoNodes, UtxoCaller & { readonly params: UtxoParams }>;

function existing(network: UtxoNetwork, chain: UtxoChain): UtxoParams {
  const params = utxoParams(network, chain);
  if (params === null) throw new Error(`${network} has no chain ${chain}`);
  return params;
}

function parseWallet(network: UtxoNetwork, { kind, text }: WalletSource, chains: UtxoChains): WalletCheck {
  const { label } = NETWORK_FACTS[network];
  if (kind === 'treasury') return invalid('no_deposit_contracts', { network: label });
  const params = utxoParams(network, chains[network]);
  if (params === null) return invalid('no_chain', { network: label, chain: chains[network] });
  const parsed = parseUtxoWallet(params, { kind, text });
  if (parsed.kind === 'invalid') return parsed;
  const { source, scriptType: addressKind, note, deriver } = parsed;
  return { kind: 'ok', source, addressKind, note, warnings: spendingWarnings(params, parsed.spending), deriver };
}

import type { ScriptType } from './output.ts';
import { coinTypeOf, type UtxoParams } from './params.ts';
import type { SpendingFacts } from './wallet.ts';

/** Where wallets keep the account of an address type: BIP 44, 49, 84, 86 and 48. */
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

/** What a merchant will lack when spending from a wallet as it was given, each with the way out. */
export function spendingWarnings(
  params: Pick<UtxoParams, 'network' | 'chain'>,
  { scriptType, hasOrigins, hasChange }: SpendingFacts,
): readonly string[] {
  const coin = coinTypeOf(params);
  const prefix = params.chain === 'main' ? 'xpub' : 'tpub';
  const whole = FORMS[scriptType](`[fingerprint/${ACCOUNTS[scriptType](coin)}]${prefix}…/<0;1>/*`);
  const wayOut = `Set the wallet again with --descriptor "${whole}"; its addresses stay the same.`;
  return [
    ...(hasOrigins
      ? []
      : [
          'The key comes without its origin: the fingerprint of its master key, and the path to it. Hardware wallets, which go by the ' +
            `fingerprint, will not sign a refund's PSBT, for the account key's own stands in it. ${wayOut}`,
        ]),
    ...(hasChange
      ? []
      : [
          `The descriptor does not say where your wallet keeps its change, so no PSBT can be made for refunds. ${wayOut}`,
        ]),
  ];
}

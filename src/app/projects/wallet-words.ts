import type { Wallet } from '../../store/wallets/wallets.ts';
import { DEFAULT_TOLERANCE_BASIS_POINTS } from '../../modes/rail.ts';
import { formatPercent } from '../../domain/percent.ts';

/** Advice for the owner of a wallet before its first payment. */
export const NEW_ACCOUNT =
  'Use an account of your wallet that nothing else uses, because payments get its addresses from number 0 on. If the account was used before, set the wallet again with a first index, which is the number of its first unused address. ' +
  "Otherwise, an earlier customer who pays to an old address pays somebody else's order.";

/** The same advice for a treasury, whose deposit contracts every installation numbers alike. */
export const NEW_TREASURY =
  'Payments get the deposit contracts of this treasury from number 0 on. If another installation used the treasury before, set it again with a first index, which is the number of its first unused deposit. ' +
  "Otherwise, an earlier customer who pays to an old address pays somebody else's order.";

/** The differences to the wallet before, in sentences. */
export function walletChanges(before: Wallet, after: Wallet): readonly string[] {
  const same = before.firstAddress === after.firstAddress;
  const changes = [
    ...(same
      ? []
      : [
          `This is not the same wallet as before (${before.kind} ${before.source}). New payments go to the new wallet, and existing payments keep their addresses.`,
        ]),
    ...(same && (before.source !== after.source || before.kind !== after.kind)
      ? [
          `This is the same wallet in another form (before: ${before.kind} ${before.source}). Its addresses stay the same, and the next address is number ${after.nextIndex}.`,
        ]
      : []),
    ...(before.confirmations === after.confirmations
      ? []
      : [`Confirmations from now on: ${confirmationsText(after)} (before: ${confirmationsText(before)}).`]),
    ...(toleranceText(before) === toleranceText(after)
      ? []
      : [`Tolerance from now on: ${toleranceText(after)} (before: ${toleranceText(before)}).`]),
  ];
  return changes.length > 0 ? changes : ['The wallet already had these settings.'];
}

function confirmationsText({ confirmations }: Wallet): string {
  return confirmations === null ? 'the default for the amount' : String(confirmations);
}

function toleranceText({ toleranceBasisPoints }: Wallet): string {
  return `${formatPercent(toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS)} %`;
}

/** The effect of a requested first index. */
export function indexChange(nextIndex: number, firstIndex: number): readonly string[] {
  if (firstIndex === nextIndex) return [];
  return [
    firstIndex > nextIndex
      ? `The next address is number ${firstIndex}. Numbers ${nextIndex} to ${firstIndex - 1} are skipped.`
      : `The next address is still number ${nextIndex}, because lower numbers were already handed out or skipped. A first index can only be raised.`,
  ];
}

const END = 8;

/** A wallet's kind and both ends of its source, such as `xpub zpub6rFR…Bqcvk7uL`: enough to tell two apart. */
export function shortWallet({ kind, source }: Pick<Wallet, 'kind' | 'source'>): string {
  return `${kind} ${source.length <= 2 * END + 1 ? source : `${source.slice(0, END)}…${source.slice(-END)}`}`;
}

import { fiatDecimals, formatDecimal } from '../../domain/money.ts';
import { fields } from '../../wire/fields.ts';
import { isoTime } from '../../wire/time.ts';
import { refusalText } from '../rejected.ts';
import type { RefundInstructions } from './refund-instructions.ts';
import type { PsbtAdvice } from './refund-psbt.ts';

/** The instructions to sign for a refund, as lines of text. */
export function instructionLines({
  refund,
  paymentUri,
  call,
  psbt,
  problem,
  warnings,
}: RefundInstructions): readonly string[] {
  const amount = (units: bigint): string => `${formatDecimal(units, refund.decimals)} ${refund.asset}`;
  const head = fields([
    ['Status', refund.status + (refund.failureReason === null ? '' : ` (${refund.failureReason})`)],
    ['Amount', `${amount(refund.units)} on ${refund.network}`],
    ['Worth', `${formatDecimal(refund.amountMinor, fiatDecimals(refund.currency))} ${refund.currency}`],
    ['To', refund.address ?? 'not known yet, because the customer has to enter an address on the claim page'],
    ['Made', isoTime(refund.createdAt)],
    ...(refund.transactionHash === null ? [] : [['Paid by', refund.transactionHash] as const]),
  ]);
  if (refund.status === 'failed' && problem !== null) return [...head, '', refusalText(problem)];
  if (refund.status !== 'pending' || refund.address === null) return head;
  if (refund.mode === 'test')
    return [...head, '', 'This is a test refund. There is nothing to pay, and the refund ends automatically.'];
  if (problem !== null) return [...head, '', refusalText(problem)];
  return [
    ...head,
    '',
    ...warnings.map((warning) => refusalText(warning)),
    `Send exactly ${amount(refund.units)}. The refund completes when exactly this amount is confirmed on the chain.`,
    ...(paymentUri === null ? [] : ['', 'Payment URI:', `  ${paymentUri}`]),
    ...(call === null
      ? []
      : [
          '',
          ...fields([
            ['Chain', String(call.chainId)],
            ['To', call.to],
            ['Value', `${call.value} wei`],
            ['Data', call.data],
          ]),
        ]),
    ...(psbt === null ? [] : ['', ...psbtLines(psbt, amount)]),
  ];
}

function psbtLines(psbt: PsbtAdvice, amount: (units: bigint) => string): readonly string[] {
  if (psbt.kind !== 'ok') return [refusalText(psbt.message)];
  return [
    'PSBT, to be signed and sent:',
    `  ${psbt.psbt}`,
    `  Its transaction pays a fee of ${amount(psbt.feeUnits)} and returns ${amount(psbt.changeUnits)} as change.`,
    ...psbt.warnings.map((warning) => `  ${refusalText(warning)}`),
  ];
}

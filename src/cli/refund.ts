import type { Command } from 'commander';
import { refundInstructions, type RefundInstructions } from '../app/refunds/refund-instructions.ts';
import type { PsbtAdvice, UtxoAccess } from '../app/refunds/refund-psbt.ts';
import { cancelRefund } from '../app/refunds/cancel-refund.ts';
import type { Cointill } from '../service/core.ts';
import type { Network } from '../domain/networks.ts';
import { fiatDecimals, formatDecimal } from '../domain/money.ts';
import { isoTime } from '../wire/time.ts';
import { refundView } from '../wire/refund.ts';
import { ChainUnavailableError } from '../rails/chain.ts';
import type { UtxoCaller } from '../rails/utxo/caller.ts';
import { utxoFamily } from '../rails/utxo/family.ts';
import { refundIdOf } from './arguments.ts';
import { CommandFailure, done } from './failure.ts';
import { withCointill } from './open.ts';
import { fields, print, printsRecord, type OutputOptions } from './output.ts';

const NODE_TIMEOUT_MS = 10_000;

type ShowOptions = OutputOptions & { readonly notPaidBy?: readonly string[] };

/** `cointill refund show`. */
export function addRefundCommands(program: Command): void {
  const refund = program.command('refund').description('see what to sign for a refund, or withdraw it');
  printsRecord(refund.command('show').description('show a refund, and exactly what to sign in your wallet for it'))
    .argument('<id>', "the refund's id, re_…")
    .option('--not-paid-by <hash...>', 'transactions that seem to have paid a refund that was cancelled, and did not')
    .action((text: string, options: ShowOptions) => {
      const id = refundIdOf(text);
      return withCointill((cointill) => showRefund(cointill, id, options));
    });
  printsRecord(refund.command('cancel').description('withdraw a refund that nothing pays'))
    .argument('<id>', "the refund's id, re_…")
    .option('--force', 'even though the newest blocks were not read, and may pay it')
    .action((text: string, options: OutputOptions & { readonly force?: boolean }) => {
      const id = refundIdOf(text);
      return withCointill(async (cointill) => {
        const outcome = await cancelRefund(cointill.app, { id, isForced: options.force === true });
        if (outcome.kind === 'refused') throw new CommandFailure(outcome.message);
        if (outcome.kind !== 'done')
          throw new CommandFailure('There is no such refund. List them with: GET /v1/refunds');
        print(options, refundView(outcome.refund, cointill.app.links), () => [`Cancelled ${text}.`]);
      });
    });
}

async function showRefund(cointill: Cointill, id: string, options: ShowOptions): Promise<void> {
  const callers: UtxoCaller[] = [];
  try {
    const open = (network: Network): UtxoAccess | null => {
      const access = utxoAccess(cointill, network);
      if (access !== null) callers.push(access.caller);
      return access;
    };
    const shown = done(await refundInstructions(cointill.app, id, open, options.notPaidBy ?? []));
    print(options, record(shown, cointill), () => lines(shown));
  } catch (error) {
    if (error instanceof ChainUnavailableError) throw new CommandFailure(error.message, { cause: error });
    throw error;
  } finally {
    await Promise.all(callers.map((caller) => caller.close()));
  }
}

function utxoAccess({ networkConfigs, maxFeeRate, troubles }: Cointill, network: Network): UtxoAccess | null {
  const config = networkConfigs.find((one) => one.network === network);
  if (config?.family !== 'utxo') return null;
  const caller = utxoFamily.createCaller(config, { timeoutMs: NODE_TIMEOUT_MS, troubles });
  return { params: caller.params, caller, maxFeeRate };
}

function record({ refund, paymentUri, call, psbt, problem, warnings }: RefundInstructions, { app }: Cointill): object {
  const amount = (units: bigint): string => formatDecimal(units, refund.decimals);
  return {
    ...refundView(refund, app.links),
    payment_uri: paymentUri,
    call: call && { chain_id: call.chainId, to: call.to, value: String(call.value), data: call.data },
    psbt: psbt?.kind === 'ok' ? psbt.psbt : null,
    psbt_fee: psbt?.kind === 'ok' ? amount(psbt.feeUnits) : null,
    psbt_problem: psbt?.kind === 'none' ? psbt.message : problem,
    psbt_warnings: psbt?.kind === 'ok' ? psbt.warnings : [],
    warnings,
  };
}

function lines({ refund, paymentUri, call, psbt, problem, warnings }: RefundInstructions): readonly string[] {
  const amount = (units: bigint): string => `${formatDecimal(units, refund.decimals)} ${refund.asset}`;
  const head = fields([
    ['Status', refund.status + (refund.failureReason === null ? '' : ` (${refund.failureReason})`)],
    ['Amount', `${amount(refund.units)} on ${refund.network}`],
    ['Worth', `${formatDecimal(refund.amountMinor, fiatDecimals(refund.currency))} ${refund.currency}`],
    ['To', refund.address ?? 'not known yet: the customer gives an address on the claim page'],
    ['Made', isoTime(refund.createdAt)],
    ...(refund.transactionHash === null ? [] : [['Paid by', refund.transactionHash] as const]),
  ]);
  if (refund.status === 'failed' && problem !== null) return [...head, '', problem];
  if (refund.status !== 'pending' || refund.address === null) return head;
  if (refund.mode === 'test') return [...head, '', 'A test refund: nothing is to be paid, it ends by itself.'];
  if (problem !== null) return [...head, '', problem];
  return [
    ...head,
    '',
    ...warnings,
    `Send exactly ${amount(refund.units)}: the refund completes when that amount is seen on the chain.`,
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
  if (psbt.kind !== 'ok') return [psbt.message];
  return [
    'PSBT, to be signed and sent:',
    `  ${psbt.psbt}`,
    `  It pays a fee of ${amount(psbt.feeUnits)}; ${amount(psbt.changeUnits)} come back.`,
    ...psbt.warnings.map((warning) => `  ${warning}`),
  ];
}

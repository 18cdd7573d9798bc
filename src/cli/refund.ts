import type { Command } from 'commander';
import { refusalText } from '../app/rejected.ts';
import { instructionLines } from '../app/refunds/instruction-lines.ts';
import type { RefundInstructions } from '../app/refunds/refund-instructions.ts';
import { showInstructions } from '../service/show-instructions.ts';
import { cancelRefund } from '../app/refunds/change-refund.ts';
import type { Cointill } from '../service/core.ts';
import { encodeId } from '../domain/id.ts';
import { formatDecimal } from '../domain/money.ts';
import { messageOf } from '../http/ways-out.ts';
import { refundView } from '../wire/refund.ts';
import { refundIdOf } from './arguments.ts';
import { CommandFailure } from './failure.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

type ShowOptions = OutputOptions & { readonly notPaidBy?: readonly string[] };

/** `cointill refund show`. */
export function addRefundCommands(refund: Command): void {
  printsRecord(refund.command('show').description('show a refund, and the exact transaction to sign in your wallet'))
    .argument('<id>', "the refund's id, re_…", refundIdOf)
    .option('--not-paid-by <hash...>', 'transactions that seem to have paid a cancelled refund, but did not')
    .action((id: string, options: ShowOptions) => withCointill((cointill) => showRefund(cointill, id, options)));
  printsRecord(refund.command('cancel').description('cancel a refund that has not been paid'))
    .argument('<id>', "the refund's id, re_…", refundIdOf)
    .option('--force', 'cancel even though newer blocks that Cointill has not read may contain the payout')
    .action((id: string, options: OutputOptions & { readonly force?: boolean }) =>
      withCointill(async (cointill) => {
        const outcome = await cancelRefund(cointill.app, { id, isForced: options.force === true });
        if (outcome.kind === 'refused') throw new CommandFailure(messageOf(outcome));
        if (outcome.kind !== 'done')
          throw new CommandFailure('There is no refund with this id. List refunds with: GET /v1/refunds');
        print(options, refundView(outcome.refund, cointill.app.links), () => [`Cancelled ${encodeId('refund', id)}.`]);
      }),
    );
}

async function showRefund(cointill: Cointill, id: string, options: ShowOptions): Promise<void> {
  const outcome = await showInstructions(cointill, id, options.notPaidBy);
  if (outcome.kind === 'unavailable') throw new CommandFailure(outcome.message, { cause: outcome.error });
  const shown = done(outcome);
  print(options, record(shown, cointill), () => instructionLines(shown));
}

function record({ refund, paymentUri, call, psbt, problem, warnings }: RefundInstructions, { app }: Cointill): object {
  const amount = (units: bigint): string => formatDecimal(units, refund.decimals);
  const why = psbt?.kind === 'none' ? psbt.message : problem;
  return {
    ...refundView(refund, app.links),
    payment_uri: paymentUri,
    call: call && { chain_id: call.chainId, to: call.to, value: String(call.value), data: call.data },
    psbt: psbt?.kind === 'ok' ? psbt.psbt : null,
    psbt_fee: psbt?.kind === 'ok' ? amount(psbt.feeUnits) : null,
    psbt_problem: why === null ? null : refusalText(why),
    psbt_warnings: psbt?.kind === 'ok' ? psbt.warnings.map((warning) => refusalText(warning)) : [],
    warnings: warnings.map((warning) => refusalText(warning)),
  };
}

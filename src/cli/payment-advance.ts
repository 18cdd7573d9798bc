import { PAYMENT_ID_FORMS } from '../domain/payment-kind.ts';
import { Option, type Command } from 'commander';
import type { PaymentSelector } from '../app/payments/change-payment.ts';
import { advancePayment, type Advance, type AdvanceOutcome, type Advanced } from '../app/sandbox/advance.ts';
import { alreadyAt, nothingDue, readSpan } from '../http/advance-route.ts';
import { isoTime } from '../wire/time.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import { paymentSelectorOf } from './arguments.ts';
import { CommandFailure, reasonOf, UsageFailure } from './failure.ts';
import { noPayment } from './refusal.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, table, type OutputOptions } from './output.ts';

interface AdvanceOptions extends OutputOptions {
  readonly by?: Advance;
  readonly toFinal?: true;
}

/** `cointill payment advance`: by default to the next moment. */
export function addAdvanceCommand(payment: Command): void {
  printsRecord(
    payment
      .command('advance')
      .description('make what is due of a test payment happen now: by default, up to the next thing that happens'),
  )
    .argument('<id>', PAYMENT_ID_FORMS)
    .option('--by <duration>', 'what is due within this time, such as PT61M or P7D', spanOf)
    .addOption(new Option('--to-final', 'everything, until nothing happens by itself any more').conflicts('by'))
    .action((id: string, { by, toFinal, ...options }: AdvanceOptions) => {
      const advance = by ?? (toFinal === true ? ({ kind: 'to_final' } as const) : ({ kind: 'to_next' } as const));
      return run(paymentSelectorOf(id), id, advance, options);
    });
}

function run(selector: PaymentSelector, id: string, advance: Advance, options: OutputOptions): Promise<void> {
  return withCointill(async ({ app, sealingKeys: keyOf, policyOf }) => {
    const sealingKeys = await keyOf();
    const { createWebhookSender } = await import('../webhooks/send.ts');
    const sender = createWebhookSender({ policyOf, now: () => performance.now() });
    try {
      const answer = { present: () => '', idempotency: null, budgetMs: Infinity };
      const { now, moments, events, isFinal } = advancedOf(
        await advancePayment(app, { sender, sealingKeys }, selector, advance, answer),
        id,
      );
      const rows = moments.map((moment) => ({ ...moment, at: isoTime(moment.at) }));
      print(options, { now: isoTime(now), moments: rows, events, final: isFinal }, () => [
        ...table(
          ['time', 'what', 'object'],
          rows.map(({ at, what, object }) => [at, what, object]),
          'Nothing was due in this time.',
        ),
        `It is now ${isoTime(now)} for ${id}.${isFinal ? ' Nothing of it happens by itself any more.' : ''}`,
      ]);
    } finally {
      await sender.close();
    }
  });
}

function spanOf(text: string): Advance {
  try {
    return readSpan(text);
  } catch (error) {
    throw new UsageFailure(`--by: ${reasonOf(error)}`);
  }
}

function advancedOf(outcome: AdvanceOutcome, id: string): Advanced {
  if (outcome.kind === 'done') return outcome.advanced;
  if (outcome.kind === 'not_found') throw noPayment(id);
  throw new CommandFailure(refusal(outcome, id));
}

function refusal(outcome: Exclude<AdvanceOutcome, { readonly kind: 'done' | 'not_found' }>, id: string): string {
  switch (outcome.kind) {
    case 'not_sandbox':
      return `${id} is a live payment. Only the time of test payments can be advanced.`;
    case 'nothing_due':
      return `${publicPaymentId(outcome.payment)} ${nothingDue(outcome.payment.status)}`;
    case 'busy':
      return `${id} is being advanced by another call. Run the command again when that is done.`;
    case 'too_far':
      return `The time would be more than ten years ahead. ${alreadyAt(outcome.now)}`;
    default:
      throw new Error('A command carries no idempotency key.');
  }
}

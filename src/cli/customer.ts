import type { Command } from 'commander';
import {
  previewCustomerData,
  removeCustomerData,
  type CustomerDataCounts,
  type CustomerRequest,
} from '../app/projects/customer-data.ts';
import { fields } from '../wire/fields.ts';
import { projectIdOf, wholeNumber } from './arguments.ts';
import { UsageFailure } from './failure.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

interface DeleteOptions extends OutputOptions {
  readonly project: string;
  readonly email?: string;
  readonly olderThan?: number;
  readonly yes?: true;
}

const MAX_DAYS = 3_650;

/** `cointill customer delete`. */
export function addCustomerCommands(customer: Command): void {
  const remove = customer.command('delete');
  remove.description(
    "delete customers' e-mail addresses, names, descriptions, metadata, links back to the shop, notes and refund reasons; amounts and order IDs stay for your books",
  );
  printsRecord(remove)
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .option('--email <address>', 'the customer with this e-mail address')
    .option(
      '--older-than <days>',
      "customers' data of payments that were created more than this many days ago and have ended",
      wholeNumber(1, MAX_DAYS),
    )
    .option('--yes', 'delete the data; without --yes, the command only counts the data')
    .action(({ project: projectId, email, olderThan: days, yes, ...options }: DeleteOptions) => {
      if ((email === undefined) === (days === undefined))
        throw new UsageFailure('Give either --email or --older-than.');
      return withCointill(async ({ app }) => {
        const wanted: CustomerRequest = { email, days };
        const { counts, hasMore, open } = done(await previewCustomerData(app, projectId, wanted));
        const cleared = { payments: 0, invoices: 0 };
        for (let after: string | null = null; yes === true;) {
          const step: { readonly counts: CustomerDataCounts; readonly next: string | null } = done(
            await removeCustomerData(app, projectId, wanted, after),
          );
          cleared.payments += step.counts.payments;
          cleared.invoices += step.counts.invoices;
          after = step.next;
          if (after === null) break;
        }
        const ended = { cleared: cleared.payments, cleared_invoices: cleared.invoices };
        print(options, { ...record(counts), has_more: hasMore, open, ...ended }, () => [
          ...lines(counts, hasMore, open),
          '',
          yes === true
            ? `Deleted the data of ${counted(cleared.payments, 'payment')} and the e-mail addresses of ${counted(cleared.invoices, 'invoice')}. Older backups and exported files still contain this data.`
            : 'Nothing was deleted. To delete the data for good, add --yes.',
        ]);
      });
    });
}

const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? '' : 's'}`;

function record({ payments, events, notes, refundReasons, answers, invoices }: CustomerDataCounts): object {
  return { payments, events, notes, refund_reasons: refundReasons, answers, invoices };
}

function lines(
  { payments, events, notes, refundReasons, answers, invoices }: CustomerDataCounts,
  hasMore: boolean,
  open: number,
): readonly string[] {
  return fields([
    ['Payments', `${payments}${hasMore ? ' counted so far; there are more' : ''}`],
    ['Events', String(events)],
    ['Notes', String(notes)],
    ['Refund reasons', String(refundReasons)],
    ['Endpoint responses', String(answers)],
    ['Invoices kept without the e-mail address', String(invoices)],
    ['Still open, kept', open === 0 ? null : String(open)],
  ]);
}

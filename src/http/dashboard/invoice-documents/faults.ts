import type { Unprintable } from '../../../app/payment-requests/try-rendering.ts';
import { amountRange } from '../../../domain/amount-range.ts';
import { FIATS, isFiat, MIN_AMOUNT_MINOR } from '../../../domain/money.ts';
import type { InvoiceFault } from '../../../domain/parse-invoice.ts';
import type { RequestError } from '../../errors.ts';
import { sentenceError } from '../../page-sentences.ts';
import { badField } from '../refusal-words.ts';

/** The answer to a wrong field of an invoice or of the settings for invoices. */
export function faultError(fault: InvoiceFault, currency: string): RequestError {
  const { field: named } = fault;
  const field = fieldOf(named);
  const isPrice = named.endsWith('unit_minor');
  const isLine = /lines\.\d+$/.test(named);
  switch (fault.rule) {
    case 'empty':
      return badField(field, named === 'items' ? 'items_empty' : 'text_empty', {});
    case 'characters':
      return badField(field, 'plain_text', {});
    case 'currency':
      return badField(field, 'currency', { names: FIATS.join(', ') });
    case 'day':
    case 'before_issue':
    case 'far_supply':
    case 'far_due':
    case 'vat_rate':
      return badField(field, fault.rule, {});
    case 'quantity':
      return badField(field, fault.rule, { max: fault.limit });
    case 'too_long':
      return badField(field, isLine ? 'line_long' : 'too_long', { max: fault.limit });
    case 'too_many':
      return badField(field, named === 'items' ? 'too_many_items' : 'too_many_lines', { max: fault.limit });
    case 'too_little':
    case 'too_much':
      return isFiat(currency)
        ? badField(
            field,
            isPrice ? 'amount_range' : 'sum_range',
            amountRange(currency, isPrice ? 0n : MIN_AMOUNT_MINOR),
          )
        : badField('currency', 'currency', { names: FIATS.join(', ') });
  }
}

/** The field of the form: an item's amount is blamed on its price. */
function fieldOf(named: string): string {
  const item = /^items\.(\d+)(?:\.unit_minor)?$/.exec(named);
  if (item !== null) return `items.${item[1]}.price`;
  return named.replace(/^(buyer|seller)\.(lines|tax_id).*$/, '$1_$2');
}

/** The answer to an invoice, or settings for invoices, that cannot be rendered. */
export function unprintableError(outcome: Unprintable): RequestError {
  if (outcome.kind === 'busy') return sentenceError('service_unavailable', 'documents_busy');
  const characters = outcome.characters.slice(0, 20).join(' ');
  return badField(fieldOf(outcome.field), 'invoice_characters', { characters });
}

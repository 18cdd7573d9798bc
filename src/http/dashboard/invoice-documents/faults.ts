import { fiatDecimals, FIATS, formatDecimal, isFiat, maxAmountMinor, type Fiat } from '../../../domain/money.ts';
import type { InvoiceFault } from '../../../domain/parse-invoice.ts';
import type { SentenceValues } from '../../../domain/sentence.ts';
import type { RequestError } from '../../errors.ts';
import { badField } from '../refusal-words.ts';

/** The answer to a wrong field of an invoice or of the settings for invoices. */
export function faultError(fault: InvoiceFault, currency: string): RequestError {
  const { field: named } = fault;
  const field = fieldOf(named);
  const isLine = /lines\.\d+$/.test(named);
  switch (fault.rule) {
    case 'empty':
      return badField(field, named === 'items' ? 'list_empty' : 'text_empty', {});
    case 'characters':
      return badField(field, 'plain_text', {});
    case 'currency':
      return badField(field, 'currency', { names: FIATS.join(', ') });
    case 'day':
    case 'before_issue':
    case 'quantity':
    case 'vat_rate':
      return badField(field, fault.rule, {});
    case 'too_long':
      return badField(field, isLine ? 'line_long' : 'too_long', { max: fault.limit });
    case 'too_many':
      return badField(field, 'too_many_entries', { max: fault.limit });
    case 'too_little':
    case 'too_much':
      return isFiat(currency)
        ? badField(field, named.endsWith('unit_minor') ? 'amount_range' : 'sum_range', bounds(named, currency))
        : badField('currency', 'currency', { names: FIATS.join(', ') });
  }
}

/** The field of the form: an item's amount is blamed on its price. */
function fieldOf(named: string): string {
  const item = /^items\.(\d+)(?:\.unit_minor)?$/.exec(named);
  if (item !== null) return `items.${item[1]}.price`;
  return named.replace(/^(buyer|seller)\.(lines|tax_id).*$/, '$1_$2');
}

function bounds(named: string, currency: Fiat): SentenceValues {
  const decimals = fiatDecimals(currency);
  const least = named.endsWith('unit_minor') ? 0n : 1n;
  return {
    least: formatDecimal(least, decimals),
    most: formatDecimal(maxAmountMinor(currency), decimals),
    currency,
    decimals,
  };
}

import { searchTermsOf } from '../../../app/dashboard/search.ts';
import { ASSET_CODES } from '../../../domain/asset-code.ts';
import { allTokens } from '../../../domain/asset.ts';
import {
  FIATS,
  fiatDecimals,
  formatDecimal,
  greatestAmountMinor,
  parseDecimal,
  type Fiat,
} from '../../../domain/money.ts';
import { NETWORKS } from '../../../domain/networks.ts';
import { EXCEPTIONS } from '../../../domain/payment.ts';
import { PAYMENT_STATUSES } from '../../../domain/status.ts';
import type { AmountRange } from '../../../store/payments/amount-steps.ts';
import type { PaymentSearch } from '../../../store/payments/payment-filter.ts';
import { invalid } from '../../errors.ts';
import { badField } from '../refusal-words.ts';
import type { FilterFields } from './contract.ts';
import { readCreated } from '../../dates.ts';

/**
 * Reads the list's filters.
 *
 * @throws RequestError if a word is not one that payments can have
 */
export function readFilters(query: FilterFields): PaymentSearch {
  const { status, exception, api, asset, network, amount_min, amount_max, currency, ...others } = query;
  const { created_after, created_before, label, search, customer_email, ...unread } = others;
  // A parameter that this function forgets does not compile.
  void (unread satisfies Readonly<Record<string, never>>);
  return {
    statuses: wordsOf('status', status, PAYMENT_STATUSES),
    exceptions: wordsOf('exception', exception, EXCEPTIONS),
    api: api ?? null,
    tokens: tokensOf(asset, network),
    ...readCreated({ created_after, created_before }),
    amounts: amountsOf({ amount_min, amount_max, currency }),
    label: textOf(label),
    customerEmail: textOf(customer_email),
    ids: null,
    terms: searchTermsOf(search ?? ''),
  };
}

function textOf(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

function tokensOf(asset: string | undefined, network: string | undefined): PaymentSearch['tokens'] {
  const assets = wordsOf('asset', asset, ASSET_CODES);
  const networks = wordsOf('network', network, NETWORKS);
  if (assets === null && networks === null) return null;
  return allTokens().filter(
    (token) => (assets?.includes(token.asset) ?? true) && (networks?.includes(token.network) ?? true),
  );
}

/** Words separated by commas, without duplicates; null if there are none. */
function wordsOf<Word extends string>(
  name: string,
  text: string | undefined,
  known: readonly Word[],
): readonly Word[] | null {
  const given = (text ?? '').split(',').filter((word) => word !== '');
  if (given.length === 0) return null;
  const unknown = given.find((word) => !known.some((one) => one === word));
  if (unknown !== undefined) {
    throw invalid(name, `${name} must be one or more of ${known.join(', ')}, separated by commas.`);
  }
  return known.filter((word) => given.includes(word));
}

/** Amounts in the payments' own currency: 100 means 100 dollars, euros or yen, unless a currency is chosen. */
function amountsOf({
  amount_min,
  amount_max,
  currency,
}: Readonly<Record<'amount_min' | 'amount_max' | 'currency', string | undefined>>): readonly AmountRange[] | null {
  const currencies = wordsOf('currency', currency, FIATS) ?? FIATS;
  if (amount_min === undefined && amount_max === undefined && currency === undefined) return null;
  // Validate once with two decimals, so that a bad amount gives one error instead of one per currency.
  const [least, most] = [readAmount('amount_min', amount_min), readAmount('amount_max', amount_max)];
  if (least !== null && most !== null && least > most) {
    throw badField('amount_min', 'amounts_swapped', {});
  }
  const byDecimals = Map.groupBy(currencies, (one: Fiat) => fiatDecimals(one));
  return [...byDecimals].map(([decimals, some]) => ({
    currencies: some,
    fromMinor: least === null ? 0n : inMinor(least, decimals, 'up'),
    toMinor: most === null ? greatestAmountMinor(some) : inMinor(most, decimals, 'down'),
  }));
}

/** The most decimals that a currency has. */
const DECIMALS = 2;

/** More than any currency allows, in hundredths of its unit. */
const MOST = greatestAmountMinor(FIATS) * 100n;

/** An amount in hundredths of the currency's unit. */
function readAmount(name: string, text: string | undefined): bigint | null {
  if (text === undefined) return null;
  const hundredths = parseDecimal(text, DECIMALS);
  if (hundredths !== null && hundredths <= MOST) return hundredths;
  throw invalid(
    name,
    `${name} must be an amount such as 49.99, from 0 to ${formatDecimal(MOST, DECIMALS)}, with at most two decimals.`,
  );
}

function inMinor(hundredths: bigint, decimals: number, rounded: 'up' | 'down'): bigint {
  if (decimals === DECIMALS) return hundredths;
  return rounded === 'up' ? (hundredths + 99n) / 100n : hundredths / 100n;
}

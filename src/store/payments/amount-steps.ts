import { sql, type RawBuilder } from 'kysely';
import { greatestAmountMinor, MIN_AMOUNT_MINOR, type Fiat } from '../../domain/money.ts';

/** Amounts of some currencies in their minor units, both ends included. */
export interface AmountRange {
  readonly currencies: readonly Fiat[];
  readonly fromMinor: bigint;
  readonly toMinor: bigint;
}

/** The step of an amount in the index `payments_ended_by_amount`: how many digits, then the first two. */
export const AMOUNT_STEP = sql`(length(amount_minor::text) * 100 + left(amount_minor::text, 2)::integer)`;

/** The steps that contain the amounts of a range. */
export function amountSteps({ currencies, fromMinor, toMinor }: AmountRange): readonly number[] {
  const steps: number[] = [];
  const greatest = greatestAmountMinor(currencies);
  const last = stepOf(toMinor > greatest ? greatest : toMinor);
  let step = stepOf(fromMinor < MIN_AMOUNT_MINOR ? MIN_AMOUNT_MINOR : fromMinor);
  while (step <= last) {
    steps.push(step);
    step = nextStep(step);
  }
  return steps;
}

function stepOf(minor: bigint): number {
  const digits = String(minor);
  return digits.length * 100 + Number(digits.slice(0, 2));
}

function nextStep(step: number): number {
  const [length, first] = [Math.floor(step / 100), step % 100];
  const isLast = first === (length === 1 ? 9 : 99);
  return isLast ? (length + 1) * 100 + 10 : step + 1;
}

export function amountCondition(ranges: readonly AmountRange[]): RawBuilder<unknown> {
  return anyOf(
    ranges.map(
      ({ currencies, fromMinor, toMinor }) =>
        sql`(currency = any (${currencies}::text[]) and amount_minor between ${fromMinor} and ${toMinor})`,
    ),
  );
}

export function anyOf(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`false` : sql`(${sql.join(conditions, sql` or `)})`;
}

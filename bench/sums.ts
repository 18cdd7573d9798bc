import type { Client } from 'pg';
import { divHalfUp, formatDecimal, parseDecimal } from '../src/domain/money.ts';
import type { Figure } from './report.ts';

/** Payments or receipts with these columns: own currency and amount, US cents, and the moment of their rate. */
interface Sums {
  readonly name: string;
  readonly shown: string;
  /** Rows `currency`, `minor`, `usd_cents` and `at`. */
  readonly rows: string;
  readonly values: readonly unknown[];
}

/** Compares a sum of the dashboard in euro with exact arithmetic over its rows. */
export async function sumFigure(client: Client, { name, shown, rows, values }: Sums): Promise<Figure> {
  const { rows: groups } = await client.query<Record<'price' | 'cents' | 'own', string>>(
    `select prices ->> 'EUR' as price, coalesce(sum(usd_cents) filter (where currency <> 'EUR'), 0) as cents,
       coalesce(sum(minor) filter (where currency = 'EUR'), 0) as own
     from (${rows}) row join currency_rates on mode = 'test' and hour = date_trunc('hour', at) group by 1`,
    [...values],
  );
  let [top, bottom] = [0n, 1n];
  for (const { price, cents, own } of groups) {
    const over = BigInt(own) * BigInt(price) + BigInt(cents) * 10n ** 8n;
    [top, bottom] = [top * BigInt(price) + over * bottom, bottom * BigInt(price)];
  }
  const exact = divHalfUp(top, bottom);
  return {
    name: `dashboard: ${name} in euro, payments in four currencies`,
    measured: `${shown}, exactly ${formatDecimal(exact, 2)}`,
    target: 'the same',
    holds: parseDecimal(shown, 2) === exact && exact > 0n,
  };
}

interface Home {
  readonly from: string;
  readonly until: string;
  readonly volume: { readonly value: string };
}

/** Home's value of a year against that of its payments. */
export async function homeSum(client: Client, api: string, headers: Readonly<Record<string, string>>): Promise<Figure> {
  const answer = await fetch(`${api}/home?period=365d&zone=Europe/Berlin`, { headers });
  const { from, until, volume } = (await answer.json()) as Home;
  return sumFigure(client, {
    name: 'value of a year on Home',
    shown: volume.value,
    rows: `select currency, amount_minor as minor, amount_usd_cents as usd_cents, created_at as at from payments
      where status = 'completed' and created_at >= $1 and created_at < $2`,
    values: [from, until],
  });
}

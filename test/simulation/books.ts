import type { Client } from 'pg';
import { statementOf, type Statement } from '../../src/domain/books.ts';
import { readBooks } from '../../src/store/reports/report-books.ts';
import { holds } from './always.ts';
import type { World } from './world.ts';

/**
 * The books of the whole history, in two periods that meet at any moment of it: every unit that is confirmed became
 * something, no payment's sum is another than that of its transfers, and the second opens with what the first closed.
 */
export async function checkBooks(world: World, client: Client): Promise<void> {
  const { transfers, payments } = await world.look();
  const [first] = payments;
  if (first === undefined) return;
  const { projectId, mode } = first;
  const end = world.clock() + 1;
  const middle = transfers[world.random.below(transfers.length)]?.first_seen_at ?? end;
  const made = async (startAt: number, endAt: number): Promise<Statement> => {
    const books = await readBooks(
      client,
      { projectId, mode, withSweeps: true, currency: 'USD' },
      { startAt, endAt },
      () => Promise.resolve(),
    );
    return statementOf(books, () => 0);
  };
  const [before, after] = [await made(0, middle), await made(middle, end)];
  for (const { tokens, books } of [before, after]) {
    const wrong = tokens.find(({ unexplained }) => unexplained !== 0n);
    holds('what came became something, to the last unit', wrong === undefined, () => `${wrong?.unexplained}`);
    const [difference] = books.differences.rows;
    holds(
      'a payment has what its transfers brought',
      difference === undefined,
      () => `${difference?.paymentId}: ${difference?.transfers}, not ${difference?.payment}`,
    );
    holds('all money has an owner', books.lost.length === 0, () => `${books.lost.length} tokens`);
  }
  const of = ({ tokens }: Statement, key: string) => tokens.find(({ network, asset }) => `${network} ${asset}` === key);
  for (const [key, rows] of Map.groupBy(transfers, ({ network, asset }) => `${network} ${asset}`)) {
    const came = rows.reduce((sum, row) => sum + (row.state === 'confirmed' ? row.amount_units : 0n), 0n);
    const [one, two] = [of(before, key), of(after, key)];
    const booked = (one?.received.received ?? 0n) + (two?.received.received ?? 0n);
    holds('the periods have all that came, once', came === booked, () => `${key}: ${came}, booked ${booked}`);
    const [closing, opening] = [one?.closing ?? 0n, two?.opening ?? 0n];
    holds(
      'a period opens with what the one before closed',
      closing === opening,
      () => `${key}: ${closing}, ${opening}`,
    );
  }
}

import type { Client } from 'pg';
import { baseOf, signIn } from './dashboard.ts';
import { exportFigures, postOf } from './export.ts';
import { fillProject } from './fill-project.ts';
import { withOneOrder } from './many-payments.ts';
import type { Figure } from './report.ts';
import { sumFigure } from './sums.ts';

const MANY = Number(process.env['PAYMENTS'] ?? 1_000_000);
const MIN_ROWS_PER_SECOND = 50_000;
const MAX_STATEMENT_S = 30;
/** Two years hold all payments. */
const DAYS = { from: '2024-01-01', to: '2099-12-31', zone: 'Europe/Berlin' };

/** Files and a reconciled statement of a project with 1,000,000 payments. */
export function reports(): Promise<readonly Figure[]> {
  const env = { RATE_LIMIT_DASHBOARD: '1000000000', SANDBOX_COMPLETE_AFTER_SECONDS: '86400' };
  return withOneOrder(env, async ({ service, client, projectId }) => {
    console.error(`Making ${MANY} payments …`);
    await fillProject(client, projectId, MANY, PAID);
    await addTransfers(client, projectId);
    const signedIn = await signIn(service);
    const url = `${baseOf(service, projectId)}/reports`;
    const figures: Figure[] = [];
    for (const report of ['payments', 'transfers'] as const) {
      figures.push(
        ...(await exportFigures(service, `${url}/export`, signedIn, {
          name: `report of ${report}`,
          body: { ...DAYS, report },
          minRowsPerSecond: MIN_ROWS_PER_SECOND,
          maxFirstByteMs: null,
        })),
      );
    }
    return [...figures, ...(await statementFigures(client, `${url}/statement`, signedIn))];
  });
}

/** Two thirds are paid, a few of them overpaid, and some of the others too late. */
const CONFIRMED = 'case when n % 3000 = 0 then 25000 when n % 3 = 0 then 0 when n % 100 = 1 then 26000 else 25000 end';
const PAID: Readonly<Record<string, string>> = {
  owed_units: '25000',
  tolerance_units: '125',
  seen_units: CONFIRMED,
  mined_units: CONFIRMED,
  confirmed_units: CONFIRMED,
  completed_at: "case when n % 3 > 0 then now() - n * interval '31 seconds' end",
  completed_on_units: 'case when n % 3 > 0 then 24875 end',
};

async function addTransfers(client: Client, projectId: string): Promise<void> {
  await client.query(
    `insert into transfers (network, transaction_hash, output_index, payment_id, address, asset, amount_units, state, first_seen_at, block_height,
       block_at, receipt_minor, receipt_usd_cents)
     select network, coalesce(transaction_hash, md5(id::text) || md5(id::text)), 0, id, address, asset, confirmed_units, 'confirmed', created_at, 1,
       created_at, amount_minor, case when amount_minor % 7 > 0 then amount_usd_cents end
     from payments where project_id = $1 and confirmed_units > 0 order by created_at`,
    [projectId],
  );
  await client.query('vacuum analyze transfers');
}

interface Statement {
  readonly verdict: string;
  readonly tokens: readonly {
    readonly coin: string;
    readonly transfers: number;
    readonly value_at_receipt: { readonly amount: string };
  }[];
}

async function statementFigures(
  client: Client,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  const startedAt = performance.now();
  const answer = await fetch(url, postOf(url, headers, DAYS));
  const text = await answer.text();
  const seconds = (performance.now() - startedAt) / 1_000;
  const last = JSON.parse(text.trim().split('\n').at(-1) ?? '{}') as { readonly statement?: Statement };
  const { verdict = 'none', tokens = [] } = last.statement ?? {};
  const transfers = tokens.reduce((sum, one) => sum + one.transfers, 0);
  const sums: Figure[] = [];
  for (const { coin, value_at_receipt: value } of tokens) {
    sums.push(
      await sumFigure(client, {
        name: `statement's value of ${coin}`,
        shown: value.amount,
        rows: `select currency, receipt_minor as minor, receipt_usd_cents as usd_cents, first_seen_at as at
          from transfers join payments on payments.id = payment_id where transfers.asset = $1`,
        values: [coin],
      }),
    );
  }
  return [
    {
      name: `statement of ${MANY} payments`,
      measured: `${seconds.toFixed(1)} s, ${transfers} transfers, ${verdict}`,
      target: `${MAX_STATEMENT_S} s, balanced`,
      holds: seconds <= MAX_STATEMENT_S && verdict === 'balanced' && transfers > MANY / 2,
    },
    ...sums,
  ];
}

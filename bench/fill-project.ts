import type { Client } from 'pg';

/** Most payments are alike; payments that filters find are rare and spread over the whole time. */
const SPREAD = {
  status: `case when n % 10000 = 1 then 'processing' when n % 1000 = 0 then 'failed' when n % 3 = 0 then 'expired'
    when $3 = 'completed' then $3 else 'completed' end`,
  exception: "case when n % 5000 = 1 then 'reorged' when n % 500 = 0 then 'underpaid' else 'none' end",
  network: "case when n % 1000 = 3 then 'ethereum' when n % 10 = 0 then 'litecoin' else 'bitcoin' end",
  asset: "case when n % 1000 = 3 then 'USDT' when n % 10 = 0 then 'LTC' else 'BTC' end",
  merchant_order_id: "'A-' || $2 || n",
  customer_email: "'Customer' || n || '@example.com'",
  description:
    "case when n % 2 = 0 then 'Order ' || n || ', two tickets' else 'Subscription of ' || $2 || ' ' || n end",
  amount_minor: 'case when n % 5000 = 7 then 777777 else 1000 + (n::bigint * 7919) % 40000 end',
  amount_usd_cents: '1000 + (n::bigint * 7907) % 40000',
  currency: "case when n % 1000 = 9 then 'CHF' else (array['USD', 'EUR', 'JPY'])[1 + n % 3] end",
  address: "'tb1q' || md5($2 || n)",
  transaction_hash: 'case when n % 3 > 0 then md5($2 || n) || md5(n || $2) end',
};

/** USD × 10^8 for a euro, another price for each hour of the day; of an expression `hour`. */
const EUR_PRICE = "108000001 + 20002 * extract(hour from hour at time zone 'UTC')::bigint";

/** One payment in this many has the label. */
const LABELS = { regular: 5, vip: 20_000 };

/** Copies the one real order into payments made at other times, and brings the counters up to date. */
export async function copyOrders(
  client: Client,
  options: {
    readonly projectId: string;
    readonly count: number;
    readonly api: string;
    readonly status: string;
    readonly createdAt: string;
    readonly dueAt: string;
    /** Further differences of each copy: columns and their expressions of its number `n`. */
    readonly replaced?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select column_name as name from information_schema.columns where table_name = 'payments' order by ordinal_position",
  );
  const columns = rows.map((row) => row.name);
  const replaced: Readonly<Record<string, string>> = {
    // Ids begin with the time of creation.
    id: `(lpad(to_hex((extract(epoch from ${options.createdAt}) * 1000)::bigint), 12, '0') || '7'
      || substr(md5(random()::text), 1, 19))::uuid`,
    surface: '$2',
    status: '$3',
    created_at: options.createdAt,
    expires_at: 'now()',
    completes_at: 'null',
    due_at: options.dueAt,
    transaction_number: "case when $2 = 'transaction' then 'TXN-2000-' || n end",
    ...options.replaced,
  };
  await client.query(
    `insert into payments (${columns.join(', ')})
     select ${columns.map((name) => replaced[name] ?? name).join(', ')}
     from (select * from payments where project_id = $4 limit 1) original, generate_series(1, $1) n`,
    [options.count, options.api, options.status, options.projectId],
  );
  await client.query(
    `insert into payment_day_counts
     select project_id, mode, surface, (created_at at time zone 'UTC')::date, status, 3, count(*), sum(amount_usd_cents)
     from payments where surface = $1 and status = $2 group by 1, 2, 3, 4, 5
     on conflict (project_id, mode, surface, day, status, shard) do update
     set payments = excluded.payments, usd_cents = excluded.usd_cents`,
    [options.api, options.status],
  );
}

/**
 * Fills a project that has one test order and counts in euro with many payments of test mode in four currencies, one in
 * 15 seconds up to now, and waits until they are added up. `replaced` are columns with other values than usual, as
 * expressions of `n`.
 */
export async function fillProject(
  client: Client,
  projectId: string,
  count: number,
  replaced: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const api of ['transaction', 'order']) {
    await copyOrders(client, {
      projectId,
      count: count / 2,
      api,
      status: 'completed',
      createdAt: "now() - (n * interval '31 seconds')",
      dueAt: 'null',
      replaced: { ...SPREAD, ...replaced },
    });
  }
  for (const [name, every] of Object.entries(LABELS)) {
    const { rows } = await client.query<{ id: string }>(
      'insert into labels (id, project_id, name, created_at) values (gen_random_uuid(), $1, $2, now()) returning id',
      [projectId, name],
    );
    await client.query(
      `insert into payment_labels select id, $1, mode from payments
       where merchant_order_id is not null and substring(merchant_order_id from '[0-9]+$')::integer % $2 = 1`,
      [rows[0]?.id, every],
    );
  }
  await client.query("update projects set default_currency = 'EUR' where id = $1", [projectId]);
  await client.query(
    `insert into currency_rates select 'test', hour, jsonb_build_object('EUR', (${EUR_PRICE})::text)
     from generate_series(date_trunc('hour', now() - $1 * interval '31 seconds'), now() + interval '1 hour', '1 hour') hour
     on conflict (mode, hour) do update set prices = excluded.prices`,
    [count / 2],
  );
  await client.query('vacuum analyze payments, payment_labels, currency_rates');
  await untilAddedUp(client);
}

/** Adds up the copies as after an upgrade, because their hours are over. */
export async function untilAddedUp(client: Client): Promise<void> {
  await client.query('update figures_progress set closed_until = null');
  const startedAt = performance.now();
  for (;;) {
    const { rows } = await client.query<{ done: boolean | null }>(
      "select closed_until > now() - interval '75 minutes' as done from figures_progress",
    );
    if (rows[0]?.done === true) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  console.error(`Added up in ${((performance.now() - startedAt) / 1000).toFixed(0)} s.`);
  await client.query('vacuum analyze payment_figures, completion_times');
}

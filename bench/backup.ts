import { spawn } from 'node:child_process';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { percentile } from './load.ts';
import { addWebhook, makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { freshDataDir, startBenchService, startScript, type BenchService, type Script } from './service.ts';

const PAYMENTS = Number(process.env['PAYMENTS'] ?? 1_000_000);
const SECONDS = 20;
/** A shop of eight million orders a day. */
const ORDERS_PER_SECOND = 100;
const ROOT = path.join(import.meta.dirname, '..');

/**
 * A backup of a million complete payments while orders are made, and its restore. The payments were made over a year,
 * so that a quarter of them has deliveries, which are deleted after 90 days.
 */
export async function backup(): Promise<readonly Figure[]> {
  const folder = await freshDataDir();
  const receiver = await startScript('receiver.ts', { WANTED: '2' });
  const service = await startBenchService();
  try {
    const headers = await fillWithLives(service, receiver, PAYMENTS);

    const forSeconds = (seconds: number) => (made: number) => made < seconds * ORDERS_PER_SECOND;
    await sell(service.test, headers, forSeconds(5));
    const quiet = await sell(service.test, headers, forSeconds(SECONDS));
    const file = path.join(folder, 'bench.backup');
    const startedAt = performance.now();
    let isCopying = true;
    const copying = service.cli('backup', file).then(({ rows }) => ({
      payments: (rows as { payments: number }).payments,
      seconds: (performance.now() - startedAt) / 1000,
    }));
    void copying.finally(() => (isCopying = false));
    const during = await sell(service.test, headers, () => isCopying);
    // The backup also holds orders that were made meanwhile.
    const { payments, seconds } = await copying;
    const { size } = await stat(file);
    const [before, meanwhile] = [percentile(quiet, 0.99), percentile(during, 0.99)];
    const ratio = meanwhile / before;

    const restoredAt = performance.now();
    await cointill(service.dataDir, 'restore', file, '--data-dir', path.join(folder, 'restored'));
    const restoreSeconds = (performance.now() - restoredAt) / 1000;
    const bytes = size / payments;
    return [
      {
        name: `backup of ${payments} payments while orders are made`,
        measured: `${seconds.toFixed(1)} s, ${bytes.toFixed(0)} bytes a payment`,
        target: '90 s, 500 bytes',
        holds: seconds <= 90 && bytes <= 500,
      },
      {
        name: `p99 of ${ORDERS_PER_SECOND} creations a second while a backup is made`,
        measured: `${meanwhile.toFixed(1)} ms beside ${before.toFixed(1)} ms (${ratio.toFixed(1)} times)`,
        target: '2 times',
        holds: ratio <= 2,
      },
      {
        name: `restore of ${payments} payments`,
        measured: `${restoreSeconds.toFixed(1)} s`,
        target: '120 s',
        holds: restoreSeconds <= 120,
      },
    ];
  } finally {
    await service.stop();
    await receiver.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes a complete payment with all that belongs to it, and so many copies. Returns the headers for more orders. */
export async function fillWithLives(
  service: BenchService,
  receiver: Script,
  payments: number,
): Promise<Record<string, string>> {
  const { projectId, headers } = await makeMerchant(service);
  await addWebhook(service, projectId, String(receiver.hello['url']));
  const made = await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
  const { id } = (await made.json()) as { id: string };
  await service.cli('payment', 'complete', id);
  await receiver.next();
  const client = new Client(service.database);
  await client.connect();
  await copyLives(client, payments);
  await client.end();
  return headers;
}

/** Makes orders at a steady pace, whatever the service answers; returns the time of each in ms. */
async function sell(
  url: string,
  headers: Record<string, string>,
  goesOn: (made: number) => boolean,
): Promise<readonly number[]> {
  const latencies: number[] = [];
  const under: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let made = 0; goesOn(made); made += 1) {
    const at = startedAt + (made * 1_000) / ORDERS_PER_SECOND;
    await setTimeout(Math.max(0, at - performance.now()));
    under.push(order(url, headers).then(() => void latencies.push(performance.now() - at)));
  }
  await Promise.all(under);
  return latencies;
}

async function order(url: string, headers: Record<string, string>): Promise<void> {
  const answer = await fetch(`${url}/v1/orders`, { method: 'POST', headers, body: ORDER });
  await answer.text();
  if (!answer.ok) throw new Error(`an order was answered with ${answer.status}`);
}

function cointill(dataDir: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(path.join(ROOT, 'bin/cointill'), args, {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${args.join(' ')} ended with ${code}`))));
  });
}

const UUID = (at: string): string =>
  `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 19))::uuid`;
const HEX = `md5(random()::text) || md5(random()::text)`;

/**
 * Copies the one real payment with its steps, address, transfer and two events, and if it is of the last 90 days with
 * two deliveries and their attempts. Every copy has ids, hashes and signatures of its own, over the last year.
 */
async function copyLives(client: Client, count: number): Promise<void> {
  const columnsOf = async (table: string, replaced: Readonly<Record<string, string>>): Promise<[string, string]> => {
    const { rows } = await client.query<{ name: string }>(
      'select column_name as name from information_schema.columns where table_name = $1 order by ordinal_position',
      [table],
    );
    const names = rows.map(({ name }) => name).filter((name) => replaced[name] !== 'generated');
    return [names.join(', '), names.map((name) => replaced[name] ?? `o.${name}`).join(', ')];
  };
  const copy = async (table: string, from: string, replaced: Readonly<Record<string, string>>): Promise<void> => {
    const [names, values] = await columnsOf(table, replaced);
    await client.query(`insert into ${table} (${names}) select ${values} from ${from}`);
  };
  await client.query('begin');
  await client.query(`create temp table lives as
    select n, created_at, ${UUID('created_at')} as id, ${UUID('created_at')} as first_event, ${UUID("created_at + interval '1 minute'")} as last_event,
      ${HEX} as hash, 'bc1q' || substr(${HEX}, 1, 38) as address
    from (select n, now() - interval '365 days' * (1 - n::float / ${count}) as created_at from generate_series(1, ${count}) n) moments`);
  const original = "(select * from payments where status = 'completed' limit 1) o cross join lives l";
  await copy('payments', original, {
    id: 'l.id',
    address: 'l.address',
    transaction_hash: 'l.hash',
    deciding_hash: 'l.hash',
    created_at: 'l.created_at',
    expires_at: "l.created_at + interval '30 minutes'",
    completed_at: "l.created_at + interval '1 minute'",
  });
  await client.query(`insert into payment_arrows (payment_id, from_status, to_status, cause, at)
    select l.id, o.from_status, o.to_status, o.cause, l.created_at + interval '1 minute' from payment_arrows o cross join lives l`);
  await client.query(`insert into payment_addresses (network, address, payment_id, wallet_id, address_index, asset, decimals, owed_units, tolerance_units,
      issued_at, watch_until, confirmations)
    select 'bitcoin', l.address, l.id, '00000000-0000-7000-8000-000000000000', l.n, 'BTC', 8, 25000, 125, l.created_at, l.created_at + interval '7 days', 2 from lives l`);
  await client.query(`insert into transfers (network, transaction_hash, output_index, payment_id, address, asset, amount_units, state, first_seen_at, block_height, block_hash, block_at, block_position)
    select 'bitcoin', l.hash, 0, l.id, l.address, 'BTC', 25000, 'confirmed', l.created_at, 800000 + l.n / 80, md5((l.n / 80)::text) || md5((l.n / 80 + 1)::text), l.created_at, l.n % 3000 from lives l`);
  for (const [type, column] of [
    ['order.created', 'first_event'],
    ['order.completed', 'last_event'],
  ] as const) {
    const event = `(select e.*, p.address as old_address from events e join payments p on p.id = e.payment_id where e.type = '${type}' limit 1) o cross join lives l`;
    const body = [`o.body`, `'evt_[0-9a-z]{26}'`, `'evt_01m81b' || substr(${HEX}, 1, 20)`];
    const order = `regexp_replace(regexp_replace(${body.join(', ')}), 'ord_[0-9a-z]{26}', 'ord_01m81b' || substr(md5(l.id::text), 1, 20), 'g')`;
    await copy('events', event, {
      id: `l.${column}`,
      payment_id: 'l.id',
      body: `replace(regexp_replace(${order}, '"transaction_hash":"[^"]*"', '"transaction_hash":"' || l.hash || '"'), o.old_address, l.address)`,
      created_at: 'l.created_at',
    });
    await client.query(`insert into deliveries (event_id, endpoint_id, state, attempts, created_at, delivered_at)
      select l.${column}, o.endpoint_id, 'delivered', 1, l.created_at, l.created_at from (select * from deliveries limit 1) o cross join lives l
      where l.created_at > now() - interval '90 days'`);
  }
  const attempt = '(select * from delivery_attempts limit 1) o cross join deliveries d';
  await copy('delivery_attempts', `${attempt} where d.id > 2`, {
    id: 'generated',
    delivery_id: 'd.id',
    started_at: 'd.created_at',
    request_headers: `jsonb_build_object('content-type', 'application/json', 'user-agent', 'Cointill/0.1.0', 'webhook-id', 'evt_01m81b' || substr(${HEX}, 1, 20),
      'webhook-timestamp', extract(epoch from d.created_at)::bigint::text, 'webhook-signature', 'v1,' || encode(decode(${HEX}, 'hex'), 'base64'),
      'x-service-signature', ${HEX}, 'x-service-event', 'order.completed')`,
  });
  await client.query('commit');
  await client.query('vacuum analyze');
  // Writes that the copies left pending would be measured as the shop's own.
  await client.query('checkpoint');
}

import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { Agent, request } from 'undici';
import { load, percentile } from './load.ts';
import { makeKey, makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, type BenchService } from './service.ts';

const KEYS = 50;
const READERS_OF_A_KEY = 20;
const IDLE_SECONDS = 20;
const WOKEN = 40;
const LATENCIES = 300;
const CREATIONS = 5_000;
const EVENTS = 5_000_000;
const PAGES = 400;
const EARLIER = 1_000_000;
/** Clock ticks of `/proc` in a second. */
const TICKS = 100;

/** The costs of waiting for the log of events, and of creating payments with it. */
export async function eventLog(): Promise<readonly Figure[]> {
  return [...(await waitingReaders()), ...(await bytesOfCreations())];
}

/** The costs of reading a large log, and of numbering the events of an upgraded database. */
export async function largeEventLog(): Promise<readonly Figure[]> {
  return [...(await upgrade()), ...(await pages())];
}

async function waitingReaders(): Promise<readonly Figure[]> {
  const service = await startBenchService({ env: { SANDBOX_COMPLETE_AFTER_SECONDS: '86400' } });
  const agent = new Agent({ connections: KEYS * READERS_OF_A_KEY + 1, headersTimeout: 60_000 });
  try {
    const { projectId, headers } = await makeMerchant(service);
    const create = () =>
      request(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER, dispatcher: agent });
    const delays: number[] = [];
    for (let number = 0; number < LATENCIES; number += 1)
      delays.push(await delayOf(service, headers, agent, create, 1));
    const keys = [headers];
    while (keys.length < KEYS) keys.push(await makeKey(service, projectId, 'test'));
    const base = await idleShare(service);
    const readers = keys.flatMap((key) => Array.from({ length: READERS_OF_A_KEY }, () => key));
    const after = String(await headOf(service, headers));
    const waiting = readers.map((key) => read(service, key, agent, after));
    const share = await idleShare(service);
    const restDelays: number[] = [];
    for (let number = 0; number < WOKEN; number += 1) {
      if (number === 0) {
        restDelays.push(...(await wokenAfter(waiting, create)));
        continue;
      }
      const from = String(await headOf(service, headers));
      const again = readers.map((key) => read(service, key, agent, from));
      await setTimeout(500);
      restDelays.push(...(await wokenAfter(again, create)));
    }
    const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
    const woken = percentile(restDelays, 0.99);
    return [
      {
        name: 'an order is created until its event is read by one who waits',
        measured: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
        target: 'p50 60 ms, p99 300 ms',
        holds: p50 <= 60 && p99 <= 300,
      },
      {
        name: `CPU of an idle service, more with ${readers.length} waiting readers`,
        measured: `${(share - base).toFixed(1)} % of a core (${share.toFixed(1)} against ${base.toFixed(1)} %)`,
        target: '2 %',
        holds: share - base <= 2,
      },
      {
        name: `one event until ${readers.length} readers have it`,
        measured: `p99 ${woken.toFixed(0)} ms`,
        target: '250 ms',
        holds: woken <= 250,
      },
    ];
  } finally {
    await Promise.all([agent.destroy(), service.stop()]);
  }
}

type Headers = Record<string, string>;

async function headOf(service: BenchService, headers: Headers): Promise<number> {
  for (;;) {
    const answer = await fetch(`${service.test}/v1/events?after=now`, { headers });
    const { head } = (await answer.json()) as { readonly head: number };
    await setTimeout(100);
    const again = (await (await fetch(`${service.test}/v1/events?after=now`, { headers })).json()) as { head: number };
    if (head === again.head) return head;
  }
}

/** Waits for the next event, and resolves with the time when it was there. */
async function read(service: BenchService, headers: Headers, dispatcher: Agent, after: string): Promise<number> {
  const { body } = await request(`${service.test}/v1/events?wait=30&after=${after}`, { headers, dispatcher });
  const { data } = (await body.json()) as { readonly data: readonly unknown[] };
  return data.length === 0 ? Infinity : performance.now();
}

/** The time from the answer to a creation, which is sent after its commit, to each reader's answer. */
async function wokenAfter(waiting: readonly Promise<number>[], create: () => Promise<unknown>): Promise<number[]> {
  await create();
  const createdAt = performance.now();
  return (await Promise.all(waiting)).map((at) => at - createdAt);
}

async function delayOf(
  service: BenchService,
  headers: Headers,
  agent: Agent,
  create: () => Promise<unknown>,
  readers: number,
): Promise<number> {
  const after = String(await headOf(service, headers));
  const waiting = Array.from({ length: readers }, () => read(service, headers, agent, after));
  await setTimeout(20);
  const [delay = Infinity] = await wokenAfter(waiting, create);
  return delay;
}

/** The share of a core, in percent, that a service takes while nothing happens. */
async function idleShare({ pid }: BenchService): Promise<number> {
  await setTimeout(2_000);
  const before = await ticksOf(pid);
  await setTimeout(IDLE_SECONDS * 1_000);
  return (((await ticksOf(pid)) - before) / TICKS / IDLE_SECONDS) * 100;
}

/** User and system time of a process, in clock ticks. */
async function ticksOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

/** A service with a key and one order, whose event has its position. */
async function shopWithEvent(role: 'api' | 'all' = 'all') {
  const service = await startBenchService({ env: { SANDBOX_COMPLETE_AFTER_SECONDS: '86400', ROLE: role } });
  const client = await connected(service);
  const { headers } = await makeMerchant(service);
  await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
  await headOf(service, headers);
  const end = async (): Promise<void> => {
    await client.end();
    await service.stop();
  };
  return { service, client, headers, end };
}

async function connected(service: BenchService): Promise<Client> {
  const client = new Client(service.database);
  await client.connect();
  return client;
}

/** The write-ahead log of creations with the queue of events, against the same without it; no worker runs. */
async function bytesOfCreations(): Promise<readonly Figure[]> {
  const { service, client, headers, end } = await shopWithEvent('api');
  try {
    const url = `${service.test}/v1/orders`;
    const walOf = async (): Promise<number> => {
      await client.query('checkpoint');
      // Pages are written whole after a checkpoint: the first creations pay for that.
      await load({ url, method: 'POST', headers, body: ORDER, seconds: 1, amount: CREATIONS, connections: 16 });
      const { rows: from } = await client.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn');
      await load({ url, method: 'POST', headers, body: ORDER, seconds: 1, amount: CREATIONS, connections: 16 });
      const { rows } = await client.query<{ bytes: string }>('select pg_current_wal_lsn() - $1::pg_lsn as bytes', [
        from[0]?.lsn,
      ]);
      return Number(rows[0]?.bytes) / CREATIONS;
    };
    const [withLog, without]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3; round += 1) {
      withLog.push(await walOf());
      await client.query('alter table events disable trigger events_are_queued');
      without.push(await walOf());
      await client.query('alter table events enable trigger events_are_queued');
    }
    const [a, b] = [percentile(withLog, 0.5), percentile(without, 0.5)];
    return [
      {
        name: 'write-ahead log of a creation with the queue, against none',
        measured: `${Math.round(a)} of ${Math.round(b)} bytes: +${((a / b - 1) * 100).toFixed(0)} %`,
        target: '+10 %',
        holds: a / b <= 1.1,
      },
    ];
  } finally {
    await end();
  }
}

/** Copies the one real event of a project; `positions`: with its place in the log. */
async function copyEvents(client: Client, count: number, positions: boolean): Promise<void> {
  await client.query('alter table events disable trigger events_are_queued');
  const lot = 500_000;
  for (let from = 1; from <= count; from += lot) {
    await client.query(
      `insert into events (id, project_id, mode, payment_id, type, body, created_at, request_id)
       select (lpad(to_hex(1780000000000 + n), 12, '0') || '7' || lpad(to_hex(n), 19, '0'))::uuid, project_id, mode, payment_id, type, body,
         created_at, request_id
       from (select * from events order by id desc limit 1) one, generate_series($1::bigint, $2) n`,
      [from, Math.min(count, from + lot - 1)],
    );
    console.error(`  ${Math.min(count, from + lot - 1)} events`);
  }
  await client.query('alter table events enable trigger events_are_queued');
  if (!positions) return;
  await client.query(`
    with numbered as (
      select e.id, e.project_id, e.mode, row_number() over (order by e.id) + h.head as position
      from events e join event_heads h using (project_id, mode)
      where not exists (select from event_positions p where p.event_id = e.id)
    ), moved as (update event_heads h set head = (select max(position) from numbered))
    insert into event_positions (project_id, mode, position, event_id) select project_id, mode, position, id from numbered`);
  await client.query('vacuum analyze events');
  await client.query('vacuum analyze event_positions');
}

async function pages(): Promise<readonly Figure[]> {
  const { service, client, headers, end } = await shopWithEvent();
  try {
    await copyEvents(client, EVENTS, true);
    const pageMs = async (position: number): Promise<number> => {
      const startedAt = performance.now();
      const answer = await fetch(`${service.test}/v1/events?limit=500&after=${position}`, { headers });
      const text = await answer.text();
      if (!answer.ok || !text.includes('"position"')) throw new Error(text.slice(0, 200));
      return performance.now() - startedAt;
    };
    for (let warm = 0; warm < 50; warm += 1) await pageMs(Math.floor(Math.random() * (EVENTS - 500)));
    const times: number[] = [];
    for (let number = 0; number < PAGES; number += 1)
      times.push(await pageMs(Math.floor(Math.random() * (EVENTS - 500))));
    const p99 = percentile(times, 0.99);
    return [
      {
        name: `a page of 500 from any position of ${EVENTS.toLocaleString('en')} events`,
        measured: `p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
        target: 'p99 30 ms',
        holds: p99 <= 30,
      },
    ];
  } finally {
    await end();
  }
}

/** Numbers the events of a database that was upgraded, beside creations. */
async function upgrade(): Promise<readonly Figure[]> {
  const { service, client, headers, end } = await shopWithEvent();
  try {
    await copyEvents(client, EARLIER, false);
    await client.query('vacuum analyze events');
    let isOver = false;
    let longest = 0;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const startedAt = performance.now();
        const answer = await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
        await answer.arrayBuffer();
        longest = Math.max(longest, performance.now() - startedAt);
        await setTimeout(10);
      }
    });
    await setTimeout(2_000);
    longest = 0;
    const startedAt = performance.now();
    // The migration waits for the writers of events too.
    await client.query(`begin; lock table events in share row exclusive mode;
      truncate event_positions, event_heads, unnumbered_events;
      insert into event_numbering (id, number_to) select 1, id from events order by id desc limit 1; commit`);
    while ((await client.query('select from event_numbering')).rowCount !== 0) await setTimeout(100);
    const seconds = (performance.now() - startedAt) / 1_000;
    isOver = true;
    await Promise.all(writers);
    return [
      {
        name: `an upgrade numbers ${EARLIER.toLocaleString('en')} events beside writers`,
        measured: `${seconds.toFixed(1)} s, longest creation ${longest.toFixed(0)} ms`,
        target: '60 s, 250 ms',
        holds: seconds <= 60 && longest <= 250,
      },
    ];
  } finally {
    await end();
  }
}

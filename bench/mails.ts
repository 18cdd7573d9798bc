import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { Pool } from 'undici';
import { startMailServer, WEATHERS, type MailServer } from './mail-server.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { freshDataDir, startBenchService, type BenchService } from './service.ts';

const PAYMENTS = Number(process.env['PAYMENTS'] ?? 10_000);
const KILLS = 20;
const CLIENTS = 16;
/** Test mode mails nobody but people who have an account. */
const OWNER = 'owner@shop.example';
/** One payment of so many is a live one, which an owner is mailed about. */
const LIVE_EVERY = 10;
/** Mails that were being sent at a kill wait for the end of their lease, others for their next attempt. */
const PATIENCE_MS = 45 * 60_000;
/** How long a kill waits for the first mail that the server takes. */
const SENDING_MS = 20_000;
/** How long before a kill the server may have taken a mail of which the process had no time to record that. */
const RECORDING_MS = 5_000;

/**
 * Completed payments whose mails go to a server that fails, hangs and is away, by a process that is killed again and
 * again: every mail is taken once, and twice only if the server had taken it just before a kill. PAYMENTS is their
 * number.
 */
export async function mails(): Promise<readonly Figure[]> {
  const secret = { SECRET_KEY: randomBytes(32).toString('hex'), SANDBOX_COMPLETE_AFTER_SECONDS: '1' };
  const server = await startMailServer();
  // It keeps the database and takes orders; everything else is of the process that is killed.
  const api = await startBenchService({ env: { ...secret, ROLE: 'api' } });
  const client = new Client(api.database);
  await client.connect();
  const mailing = { ...secret, SMTP_URL: `smtp://127.0.0.1:${server.port}`, MAIL_FROM: 'payments@shop.example' };
  // A killed process cannot remove its folder.
  const dataDir = await freshDataDir();
  const start = (): Promise<BenchService> => startBenchService({ env: mailing, beside: api, dataDir });
  let service = await start();
  try {
    const { projectId, headers } = await makeMerchant(api);
    await chooseMails(client, projectId);
    // The worker has begun to follow before the first payment.
    await until(client, 'select exists (select from mail_progress) as done');
    const kills: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await server.become(WEATHERS[kill % WEATHERS.length] ?? 'works');
      const count = Math.floor((PAYMENTS * (kill + 1)) / KILLS) - Math.floor((PAYMENTS * kill) / KILLS);
      await pay(api, client, projectId, headers, count);
      // Kills come at any moment of following and sending; where the server takes mails, some are taken before.
      const before = server.taken.size;
      const until = Date.now() + (server.weather() === 'works' ? SENDING_MS : 0);
      while (server.taken.size === before && Date.now() < until) await setTimeout(50);
      await setTimeout(Math.random() * 3_000);
      kills.push(Date.now());
      process.kill(service.pid, 'SIGKILL');
      service = await start();
      console.error(`  kill ${kill + 1} of ${KILLS}, ${server.taken.size} mails`);
    }
    await server.become('works');
    await untilSent(client);
    return await figuresOf(client, server, kills);
  } finally {
    await client.end();
    await service.stop();
    await api.stop();
    await rm(dataDir, { recursive: true, force: true });
    await server.become('away');
  }
}

/** Lets the project mail its customers, and an owner get each live payment. */
async function chooseMails(client: Client, projectId: string): Promise<void> {
  await client.query(
    `with person as (insert into people (id, email, created_at, joined_at, password_hash)
       values (gen_random_uuid(), $1, now(), now(), 'x') returning id),
     member as (insert into memberships (id, person_id, project_id, role, created_at)
       select gen_random_uuid(), id, null, 'owner', now() from person),
     customers as (insert into project_customer_mails (project_id, is_on, since, language) values ($2, true, now(), 'en'))
     insert into project_notifications (person_id, project_id, payments, refunds, monthly, payments_since, refunds_since)
     select id, $2, 'at_once', false, false, now(), now() from person`,
    [OWNER, projectId],
  );
}

/** Makes payments, which the sandbox completes; the live ones are written as a chain's worker would. */
async function pay(
  api: BenchService,
  client: Client,
  projectId: string,
  headers: Record<string, string>,
  count: number,
): Promise<void> {
  const live = Math.floor(count / LIVE_EVERY);
  const body = JSON.stringify({ ...(JSON.parse(ORDER) as object), customer_email: OWNER });
  const pool = new Pool(api.test, { connections: CLIENTS });
  let left = count - live;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (left-- > 0) {
      const answer = await pool.request({ path: '/v1/orders', method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode >= 300) throw new Error(`An order was answered with ${answer.statusCode}.`);
    }
  });
  await Promise.all(clients);
  await pool.destroy();
  await client.query(
    `with made as (
       insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'mode', 'live',
         'status', 'completed', 'completed_at', now(), 'due_at', null, 'completes_at', null, 'customer_email', null))).*
       from payments p where p.id in (
         select id from payments where project_id = $1 and mode = 'test' order by id desc limit $2) returning id)
     insert into payment_arrows (payment_id, from_status, to_status, cause, at)
     select id, 'confirming', 'completed', 'money', now() from made`,
    [projectId, live],
  );
}

async function until(client: Client, query: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const { rows } = await client.query<{ done: boolean }>(query);
    if (rows[0]?.done === true) return;
    await setTimeout(500);
  }
}

/** Waits until every payment is completed and has its mail, and no mail waits. */
async function untilSent(client: Client): Promise<void> {
  await until(
    client,
    `select not exists (select from payments where status <> 'completed')
      and (select count(*) from mails) >= (select count(*) from payments)
      and not exists (select from mails where next_attempt_at is not null) as done`,
  );
}

async function figuresOf(client: Client, server: MailServer, kills: readonly number[]): Promise<readonly Figure[]> {
  const { rows } = await client.query<{ id: string | null; mails: number }>(
    `select min(m.id::text) as id, count(m.id)::integer as mails from payments p
     left join mails m on m.payment_id = p.id or m.occasion = 'payment ' || p.id group by p.id`,
  );
  const timesOf = (id: string | null): readonly number[] => server.taken.get(`<${id}@shop.example>`) ?? [];
  const lost = rows.filter(({ id }) => timesOf(id).length === 0).length;
  const twice = rows.filter(({ id, mails: made }) => made > 1 || timesOf(id).length > 1);
  const isExplained = (times: readonly number[]): boolean =>
    times
      .slice(0, -1)
      .every((at, index) =>
        kills.some((kill) => at <= kill && at >= kill - RECORDING_MS && (times[index + 1] ?? 0) > kill),
      );
  const unexplained = twice.filter(({ id, mails: made }) => made > 1 || !isExplained(timesOf(id))).length;
  const of = `of ${rows.length} completed payments`;
  const name = `with a mail server that fails, hangs and is away, and ${kills.length} kills`;
  return [
    {
      name: `mails lost ${name}`,
      measured: `${lost} ${of}`,
      target: '0',
      holds: lost === 0 && rows.length >= PAYMENTS,
    },
    {
      name: `mails taken twice ${name}, although the server had not taken them just before a kill`,
      measured: `${unexplained} ${of}; ${twice.length - unexplained} were taken just before one`,
      target: '0',
      holds: unexplained === 0,
    },
  ];
}

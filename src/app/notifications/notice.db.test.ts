import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WAIT } from '../../../test/deadline.ts';
import type { AttentionSources, SweepWorth } from '../dashboard/attention.ts';
import { createServiceHealth } from '../dashboard/health.ts';
import type { NotificationChoices } from '../../domain/notification.ts';
import { listen } from '../../store/notifications.ts';
import { openNoticedItems } from '../../store/figures/noticed-items.ts';
import { setRole } from '../people/people.ts';
import { changeChoices } from './choices.ts';
import { mailApp, type MailApp } from './mails.fixture.ts';
import { createNoticing } from './notice.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Mails, and networks with deposits worth a sweep, which the test says. */
async function noticingApp() {
  const mails = await mailApp();
  const worth: SweepWorth[] = [];
  const sources: AttentionSources = {
    serviceHealth: createServiceHealth(mails.app, [], 0),
    sweeps: () => Promise.resolve(worth),
  };
  const notice = () => createNoticing(mails.app, sources, 'test').notice();
  const round = async (): Promise<void> => {
    await notice();
    await mails.mailer.sendDue();
  };
  return {
    ...mails,
    worth,
    notice,
    round,
    /** A live payment that got too little. */
    underpaid: async (name: string) => {
      const payment = await mails.app.pay({ mode: 'live', merchantOrderId: name });
      await sql`update payments set exception = 'underpaid', seen_units = owed_units / 2, status = 'pending'
        where id = ${payment.id}`.execute(mails.app.db);
      return payment.id;
    },
    endPayment: (id: string) =>
      sql`update payments set exception = 'none', status = 'completed' where id = ${id}`.execute(mails.app.db),
  };
}

/** With a viewer who chose so. */
async function viewerWith(choices: Partial<NotificationChoices>) {
  const shop = await noticingApp();
  const ann = await shop.join('ann@shop.example', 'viewer');
  await changeChoices(shop.app, ann, choices);
  return { shop, ann };
}

const subjects = ({ smtp }: MailApp) => smtp.taken.map(({ headers }) => headers.get('subject'));
const textOf = ({ smtp }: MailApp, index = -1) => (smtp.taken.at(index)?.raw ?? '').replaceAll(/=\r?\n/g, '');

it('each occurrence is noticed once, told to the open tabs, and over when it is over', async () => {
  const shop = await noticingApp();
  const notifications = listen(shop.app.database);
  onTestFinished(() => notifications.stop());
  const told: string[] = [];
  notifications.on('attention', ([projectId, mode]) => void told.push(`${projectId} ${mode}`));
  await vi.waitFor(() => expect(notifications.healthy()).toBe(true), WAIT);
  const id = await shop.underpaid('A-1');
  await shop.round();
  await shop.round();
  const [first, ...others] = await openNoticedItems(shop.app.db);
  expect(first).toMatchObject({ kind: 'underpaid', name: 'A-1', mode: 'live' });
  expect(others).toEqual([]);
  await shop.endPayment(id);
  await shop.round();
  expect(await openNoticedItems(shop.app.db)).toEqual([]);
  await vi.waitFor(() => expect(told).toEqual(Array(2).fill(`${shop.app.projectId} live`)), WAIT);
});

it('another deposit that waits for the same sweep is no news', async () => {
  const shop = await noticingApp();
  const ann = await shop.join('ann@shop.example', 'owner');
  await changeChoices(shop.app, ann, { attention: 'at_once' });
  shop.worth.push({ network: 'base', newest: 1, deposits: 3, usdCents: 5_000n });
  await shop.round();
  shop.worth.splice(0, 1, { network: 'base', newest: 2, deposits: 4, usdCents: 6_000n });
  shop.app.clock.advance(HOUR_MS);
  await shop.round();
  expect(subjects(shop)).toEqual(['Needs attention: Worth a sweep: Base']);
});

it('at once: what comes is mailed once, what was there before never, and a storm is one mail more', async () => {
  const shop = await noticingApp();
  const ann = await shop.join('ann@shop.example', 'owner');
  await shop.underpaid('A-0');
  await shop.round();
  await changeChoices(shop.app, ann, { attention: 'at_once' });
  await shop.round();
  expect(subjects(shop)).toEqual([]);
  await shop.underpaid('A-1');
  await shop.round();
  expect(subjects(shop)).toHaveLength(1);
  expect(subjects(shop)[0]).toContain('A-1');
  for (const name of ['A-2', 'A-3']) {
    await shop.underpaid(name);
    await shop.round();
  }
  const reorged = await shop.underpaid('A-4');
  await sql`update payments set exception = 'reorged' where id = ${reorged}`.execute(shop.app.db);
  await shop.round();
  expect(subjects(shop)).toHaveLength(1);
  shop.app.clock.advance(11 * MINUTE_MS);
  await shop.round();
  await shop.round();
  expect(subjects(shop)).toHaveLength(2);
  // The most urgent first.
  expect(textOf(shop)).toMatch(/A-4[\s\S]*A-2[\s\S]*A-3/);
  expect(textOf(shop)).not.toContain('A-1');
});

it('daily: at eight in the person’s zone comes what is new and still open, and nothing on days without news', async () => {
  // 12:00 in UTC is 14:00 in Berlin: today's is over.
  const { shop } = await viewerWith({ attention: 'daily', zone: 'Europe/Berlin' });
  await shop.round();
  await shop.underpaid('A-1');
  const over = await shop.underpaid('A-2');
  await shop.round();
  await shop.endPayment(over);
  shop.app.clock.advance(17 * HOUR_MS);
  await shop.round();
  expect(subjects(shop)).toEqual([]);
  shop.app.clock.advance(HOUR_MS);
  await shop.round();
  await shop.round();
  expect(subjects(shop)).toHaveLength(1);
  expect(subjects(shop)[0]).toContain('A-1');
  shop.app.clock.advance(DAY_MS);
  await shop.round();
  expect(subjects(shop)).toHaveLength(1);
});

it('whoever changes from at once to daily and back gets each occurrence once', async () => {
  const shop = await noticingApp();
  const ann = await shop.join('ann@shop.example', 'owner');
  await changeChoices(shop.app, ann, { attention: 'at_once' });
  await shop.underpaid('A-1');
  await shop.round();
  await changeChoices(shop.app, ann, { attention: 'daily' });
  await shop.round();
  await shop.underpaid('A-2');
  await shop.round();
  shop.app.clock.advance(HOUR_MS);
  await changeChoices(shop.app, ann, { attention: 'at_once' });
  await shop.round();
  shop.app.clock.advance(DAY_MS);
  await changeChoices(shop.app, ann, { attention: 'daily' });
  await shop.round();
  expect(subjects(shop)).toHaveLength(2);
  expect(subjects(shop).map((subject) => /A-\d/.exec(subject ?? '')?.[0])).toEqual(['A-1', 'A-2']);
});

it('nobody is mailed what their role does not let them see, also not after it was taken away', async () => {
  const shop = await noticingApp();
  const ann = await shop.join('ann@shop.example', 'viewer');
  await shop.join('ben@shop.example', 'owner');
  await changeChoices(shop.app, ann, { attention: 'at_once' });
  shop.worth.push({ network: 'base', newest: 1, deposits: 3, usdCents: 5_000n });
  await shop.round();
  expect(subjects(shop)).toEqual([]);
  await shop.underpaid('A-1');
  shop.worth.splice(0);
  await shop.notice();
  await setRole(shop.app, { email: 'ann@shop.example' }, { role: null, projectId: null });
  await shop.mailer.sendDue();
  expect(subjects(shop)).toEqual([]);
});

it('whose role was narrowed meanwhile is mailed only what the new one lets them see', async () => {
  const shop = await noticingApp();
  const ann = await shop.join('ann@shop.example', 'admin');
  await changeChoices(shop.app, ann, { attention: 'at_once', weeklyOn: 1 });
  shop.worth.push({ network: 'base', newest: 1, deposits: 3, usdCents: 5_000n });
  await shop.underpaid('A-1');
  await shop.notice();
  await setRole(shop.app, { email: 'ann@shop.example' }, { role: 'support', projectId: null });
  await shop.mailer.sendDue();
  expect(subjects(shop)).toHaveLength(2);
  expect(subjects(shop)).toEqual(
    expect.arrayContaining([expect.stringContaining('A-1'), 'Your week, Jun 8, 2026 to Jun 14, 2026']),
  );
  for (const { raw } of shop.smtp.taken) expect(raw).not.toContain('sweep');

  shop.worth.splice(0);
  await setRole(shop.app, { email: 'ann@shop.example' }, { role: 'admin', projectId: null });
  shop.app.clock.advance(HOUR_MS);
  await shop.notice();
  shop.worth.push({ network: 'base', newest: 2, deposits: 1, usdCents: 5_000n });
  await shop.notice();
  await setRole(shop.app, { email: 'ann@shop.example' }, { role: 'support', projectId: null });
  await shop.mailer.sendDue();
  expect(subjects(shop)).toHaveLength(2);
});

it('no mail has the query of an endpoint’s address, in which some carry a token', async () => {
  const shop = await noticingApp();
  const dev = await shop.join('dev@shop.example', 'developer');
  await changeChoices(shop.app, dev, { weeklyOn: 1 });
  const { failing } = await endpointOf(shop, 'https://shop.example/hooks?token=hunter2');
  await failing();
  await shop.round();
  shop.app.clock.advance(6 * MINUTE_MS);
  await shop.round();
  expect(subjects(shop)).toHaveLength(2);
  for (const index of [0, 1]) {
    expect(textOf(shop, index)).toContain('https://shop.example/hooks?');
    expect(textOf(shop, index)).not.toContain('hunter2');
  }
});

it('a failing endpoint is mailed once for each failure, and when it works again to those who know', async () => {
  const shop = await noticingApp();
  await shop.join('dev@shop.example', 'developer');
  await shop.join('sue@shop.example', 'support');
  const { failing, works } = await endpointOf(shop);
  await failing();
  await shop.round();
  shop.app.clock.advance(6 * MINUTE_MS);
  await shop.round();
  await shop.round();
  expect(subjects(shop)).toEqual(['Endpoint failing: shop.example']);
  await works();
  await shop.round();
  await shop.round();
  expect(subjects(shop)).toEqual(['Endpoint failing: shop.example', 'Endpoint works again: shop.example']);
  // It flaps: the next mail waits for an hour.
  await failing();
  shop.app.clock.advance(6 * MINUTE_MS);
  await shop.round();
  shop.app.clock.advance(6 * MINUTE_MS);
  await shop.round();
  expect(subjects(shop)).toHaveLength(2);
  shop.app.clock.advance(HOUR_MS);
  await shop.round();
  expect(subjects(shop)).toHaveLength(3);
  await sql`update webhook_endpoints set disabled_at = ${new Date(shop.app.clock())}, disabled_reason = 'HTTP 410'`.execute(
    shop.app.db,
  );
  await shop.round();
  expect(subjects(shop).slice(3)).toEqual(['Endpoint disabled: shop.example']);
  await sql`update webhook_endpoints set deleted_at = ${new Date(shop.app.clock())}`.execute(shop.app.db);
  await shop.round();
  expect(subjects(shop)).toHaveLength(4);
  expect(new Set(shop.smtp.taken.flatMap(({ to }) => to))).toEqual(new Set(['dev@shop.example']));
});

it('the weekly summary has the figures of the week, on the chosen day at eight in the chosen zone, once', async () => {
  // The clock begins on Monday, 2026-06-15, at 12:00 in UTC.
  const { shop } = await viewerWith({ weeklyOn: 2, zone: 'Asia/Tokyo' });
  for (const name of ['A-1', 'A-2']) await shop.app.pay({ mode: 'live', merchantOrderId: name });
  await shop.round();
  expect(subjects(shop)).toEqual([]);
  shop.app.clock.advance(11 * HOUR_MS);
  await shop.round();
  await shop.round();
  expect(subjects(shop)).toEqual(['Your week, Jun 9, 2026 to Jun 15, 2026']);
  expect(textOf(shop)).toContain('New payments: 2 (the week before: 0)');
  shop.app.clock.advance(7 * DAY_MS);
  await shop.round();
  expect(subjects(shop)).toHaveLength(2);
});

it('the summary of a day on which the service was away comes on a later one, once, and none of before it was chosen', async () => {
  // The clock begins on a Monday: Sunday is over, and was not chosen then.
  const { shop, ann } = await viewerWith({ weeklyOn: 7 });
  const subjectsAfter = async (days: number) => {
    shop.app.clock.advance(days * DAY_MS);
    for (let round = 0; round < 2; round += 1) await shop.round();
    return subjects(shop);
  };
  expect(await subjectsAfter(0)).toEqual([]);
  expect(await subjectsAfter(8)).toEqual(['Your week, Jun 14, 2026 to Jun 20, 2026']);
  await changeChoices(shop.app, ann, { weeklyOn: 1 });
  expect(await subjectsAfter(4)).toHaveLength(1);
});

it('eight o’clock is eight o’clock also on the days on which clocks change', async () => {
  const { shop } = await viewerWith({ attention: 'daily', zone: 'Europe/Berlin' });
  await shop.round();
  await shop.underpaid('A-1');
  // 7:59 of the day on which 3:00 comes twice.
  shop.app.clock.advance(Date.UTC(2026, 9, 25, 6, 59) - shop.app.clock());
  await shop.notice();
  await shop.mailer.sendDue();
  expect(subjects(shop)).toEqual([]);
  shop.app.clock.advance(MINUTE_MS);
  await shop.round();
  expect(subjects(shop)).toHaveLength(1);
});

/** A live endpoint, whose newest delivery failed three times or was taken, without its hours of waiting. */
async function endpointOf({ app }: MailApp, url = 'https://shop.example/hooks') {
  const endpoint = '0190a000-0000-7000-8000-0000000000aa';
  await sql`insert into webhook_endpoints (id, project_id, mode, url, events, secret, created_at)
    values (${endpoint}, ${app.projectId}, 'live', ${url}, '{order.completed}', 'x', now())`.execute(app.db);
  const delivery = async (state: string, attempts: number): Promise<void> => {
    await sql`
      insert into deliveries (event_id, endpoint_id, state, attempts, created_at)
      select id, ${endpoint}, ${state}, ${attempts}, now() from events order by id desc limit 1`.execute(app.db);
  };
  await app.pay({ mode: 'live' });
  return { failing: () => delivery('waiting', 3), works: () => delivery('delivered', 1) };
}

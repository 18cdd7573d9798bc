import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { AnswerOf } from '../../src/http/dashboard/contract.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import type { Browser } from '../dashboard.ts';
import { actsTest } from './acts.fixture.ts';

const { test, app, acts, owner, support } = await actsTest();
const PROJECT = `/dashboard/api/projects/${app.projectId}/test`;
type Labelled = AnswerOf<'POST /dashboard/api/projects/:project/:mode/labels'>;

const labelMany = (browser: Browser, payments: readonly string[], label: string, what: 'add' | 'remove' = 'add') =>
  browser.call<Labelled>({ method: 'POST', path: `${PROJECT}/labels`, body: { what, label, payments } });
const newPayments = async (count: number): Promise<readonly string[]> => {
  const payments: string[] = [];
  for (let made = 0; made < count; made += 1) payments.push(publicPaymentId(await app.pay()));
  return payments;
};
const labelsOf = async (id: string) => (await acts.read(owner.browser, id)).labels;

describe('a label on several payments at once', () => {
  it('is added and removed, each change with its author in the history of its payment, and once alone', async () => {
    const ids = await newPayments(3);
    const first = await labelMany(support.browser, ids, '  Summer   sale ');
    expect(first).toMatchObject({ status: 200, body: { failed: [] } });
    expect(new Set(first.body.changed)).toEqual(new Set(ids));
    const [one = ''] = ids;
    expect(await labelsOf(one)).toEqual(['Summer sale']);
    // In any case of its letters; nothing is left to do.
    expect((await labelMany(owner.browser, ids, 'SUMMER SALE')).body).toEqual({ changed: [], failed: [] });
    app.clock.advance(1_000);
    const removed = await labelMany(owner.browser, [one], 'summer sale', 'remove');
    expect(removed.body).toEqual({ changed: [one], failed: [] });
    expect((await acts.read(owner.browser, one)).timeline.filter(({ kind }) => kind === 'action')).toMatchObject([
      { action: 'payment.label', by: support.email },
      { action: 'payment.label_remove', by: owner.email },
    ]);
    await labelMany(owner.browser, ids, 'summer sale', 'remove');
    const left = await owner.browser.call({ path: `/dashboard/api/projects/${app.projectId}/labels` });
    expect(left.body).toEqual({ data: [] });
  });

  it('leaves out what cannot be changed, and says what and why', async () => {
    const [good = ''] = await newPayments(1);
    const full = publicPaymentId(await app.pay({ merchantOrderId: 'NW-20' }));
    for (let made = 0; made < 20; made += 1) await labelMany(owner.browser, [full], `Label ${made}`);
    const live = publicPaymentId(await app.pay({ mode: 'live' }));
    const other = publicPaymentId(await app.pay({ projectId: (await test.http.shop()).projectId }));
    const { body } = await labelMany(owner.browser, [good, full, live, other, 'nonsense'], 'vip');
    expect(body.changed).toEqual([good]);
    const missing = (id: string) => ({ id, name: null, reason: 'missing' });
    expect(body.failed).toHaveLength(4);
    expect(body.failed).toEqual(
      expect.arrayContaining([
        { id: full, name: 'NW-20', reason: 'full' },
        missing(live),
        missing(other),
        missing('nonsense'),
      ]),
    );
    expect(await labelsOf(good)).toEqual(['vip']);
    expect(await labelMany(owner.browser, [good], 'a, b')).toMatchObject({ status: 400 });
    const tooMany = Array.from({ length: 101 }, () => good);
    expect(await labelMany(owner.browser, tooMany, 'vip')).toMatchObject({ status: 400 });
  });

  it('survives two people who act on the same payments, one by one and all together', async () => {
    const ids = await newPayments(6);
    const single = (browser: Browser, what: string) => ids.map((id) => acts.post(browser, id, what, { label: 'rush' }));
    const answers = await Promise.all([
      labelMany(owner.browser, ids, 'rush'),
      labelMany(support.browser, ids.toReversed(), 'Rush'),
      ...single(support.browser, 'labels'),
      labelMany(owner.browser, ids, 'rush', 'remove'),
      ...single(owner.browser, 'labels/remove'),
      labelMany(support.browser, ids, 'rush'),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const last = await labelMany(owner.browser, ids, 'rush');
    expect(last.body.failed).toEqual([]);
    // In the letters of whoever added it last.
    for (const id of ids) expect(await labelsOf(id)).toEqual([expect.stringMatching(/^rush$/i)]);
    // Each change is in the log once: what was added and not removed is one.
    const { rows } = await sql<{ added: number; removed: number }>`
      select count(*) filter (where action = 'payment.label')::integer as added,
        count(*) filter (where action = 'payment.label_remove')::integer as removed
      from audit_log where subject_id = any (${[...ids]})`.execute(app.db);
    expect((rows[0]?.added ?? 0) - (rows[0]?.removed ?? 0)).toBe(ids.length);
  });

  it('waits for no payment that is changing, and lets none wait', async () => {
    const ids = await newPayments(2);
    await app.db.transaction().execute(async (trx) => {
      await sql`update payments set description = 'changing' where project_id = ${app.projectId}`.execute(trx);
      expect((await labelMany(owner.browser, ids, 'quick')).body.changed).toHaveLength(2);
    });
  });
});

describe('a selection of payments', () => {
  it('of all that match is given by the ids, newest first, and a file has the chosen ones alone', async () => {
    const { projectId } = await test.http.shop();
    const made: string[] = [];
    for (const merchantOrderId of ['A-1', 'A-2', 'B-3']) {
      app.clock.advance(1_000);
      made.push(publicPaymentId(await app.pay({ projectId, merchantOrderId })));
    }
    const path = `/dashboard/api/projects/${projectId}/test/payments`;
    const ids = async (query = '') => (await owner.browser.call({ path: `${path}/ids${query}` })).body;
    expect(await ids()).toEqual({ ids: made.toReversed(), is_more: false });
    expect(await ids('?search=a-2')).toEqual({ ids: [made[1]], is_more: false });
    const [first = '', , third = ''] = made;
    const body = { format: 'jsonl', columns: ['order_id'], payments: [third, first, 'nonsense'] };
    const file = await owner.browser.call({ method: 'POST', path: `${path}/export`, body });
    expect(
      file.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([{ order_id: 'B-3' }, { order_id: 'A-1' }]);
    const { rows } = await sql<{ after: object }>`
      select after from audit_log where action = 'payment.export' and project_id = ${projectId}`.execute(app.db);
    expect(rows).toMatchObject([{ after: { payments: 3 } }]);
  });
});

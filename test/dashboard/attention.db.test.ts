import { afterAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/app/projects/keys.ts';
import type { AttentionKind } from '../../src/domain/attention.ts';
import { encodeId } from '../../src/domain/id.ts';
import type { AttentionView } from '../../src/http/dashboard/attention/contract.ts';
import { closeEndpoint } from '../../src/store/webhooks/webhook-endpoints.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import { dashboardTest, type Browser } from '../dashboard.ts';
import type { Answer } from '../http.ts';
import { actsIn, anEndpoint } from './acts.fixture.ts';

const SWEEP = { network: 'ethereum', newest: 4, deposits: 2, usdCents: 12_345n } as const;
let sweeps: readonly (typeof SWEEP)[] = [];
const test = await dashboardTest({ networks: ['bitcoin', 'ethereum'], sweeps: () => Promise.resolve(sweeps) });
const { app } = test.http;
afterAll(() => test.http.close());
const owner = await test.join('owner');
const support = await test.join('support');
const ADDRESS = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

interface List {
  readonly data: readonly AttentionView[];
  readonly people: readonly { readonly id: string; readonly email: string }[];
}

/** A project of its own, so that nothing but what a test makes needs attention. */
async function shopping(mode = 'test') {
  const { projectId } = await test.http.shop();
  const base = `/dashboard/api/projects/${projectId}/${mode}/attention`;
  const acts = actsIn(test, mode, projectId);
  const list = async (browser: Browser = owner.browser): Promise<List> => {
    const { status, body, text } = await browser.call<List>({ path: base });
    if (status !== 200) throw new Error(text);
    return body;
  };
  const kinds = async (browser: Browser = owner.browser): Promise<readonly AttentionKind[]> => {
    const { data } = await list(browser);
    const { body } = await browser.call<{ count: number }>({ path: `${base}/count` });
    expect(body.count).toBe(data.length);
    return data.map(({ kind }) => kind);
  };
  return {
    projectId,
    acts,
    list,
    kinds,
    only: async (): Promise<AttentionView> => {
      const { data } = await list();
      const [first] = data;
      if (first === undefined || data.length > 1) throw new Error(`There are ${data.length}.`);
      return first;
    },
    mark: (item: AttentionView, change: object, browser: Browser = owner.browser): Promise<Answer<List>> => {
      const { kind, subject, occurrence, version } = item;
      return browser.call<List>({
        method: 'POST',
        path: `${base}/mark`,
        body: { kind, subject, occurrence, version, ...change },
      });
    },
    simulated: async (...outcomes: readonly string[]): Promise<string> => {
      const id = publicPaymentId(await app.pay({ projectId, merchantOrderId: 'A-1' }));
      for (const outcome of outcomes) {
        const answer = await acts.post(owner.browser, id, 'simulate', { outcome });
        if (answer.status !== 200) throw new Error(answer.text);
      }
      return id;
    },
  };
}

const form = { request: 'form-of-attention', asset: 'BTC', network: 'bitcoin', address: ADDRESS };

describe('a payment', () => {
  it('paid late needs attention until its money is accepted', async () => {
    const { simulated, acts, kinds, only } = await shopping();
    const id = await simulated('late');
    expect(await only()).toMatchObject({
      kind: 'paid_late',
      payment: { id, name: 'A-1' },
      asset: 'BTC',
      network: 'bitcoin',
      version: 0,
    });
    expect((await acts.post(owner.browser, id, 'accept')).status).toBe(200);
    expect(await kinds()).toEqual([]);
  });

  it('paid after it was cancelled needs attention until its money is refunded', async () => {
    const { projectId, simulated, acts, kinds, only } = await shopping();
    const id = await simulated();
    expect((await acts.post(owner.browser, id, 'cancel')).status).toBe(200);
    expect(await kinds()).toEqual([]);
    // Only a chain can bring money to a cancelled payment: the state that it leaves.
    const units = { seen_units: 5_000n, mined_units: 5_000n, confirmed_units: 5_000n };
    const late = { exception: 'paid_late', ...units } as const;
    await app.db.updateTable('payments').set(late).where('project_id', '=', projectId).execute();
    const item = await only();
    expect(item).toMatchObject({ kind: 'paid_after_cancel', amount: '0.00005' });
    const refund = await acts.post(owner.browser, id, 'refunds', { ...form, crypto_amount: '0.00005' });
    expect(refund.status).toBe(200);
    expect(await kinds()).toEqual([]);
  });

  it('underpaid says what is missing until the rest comes, and once failed until the part is accepted', async () => {
    const { simulated, acts, kinds, only } = await shopping();
    const id = await simulated('part');
    const item = await only();
    expect(item).toMatchObject({ kind: 'underpaid', until: expect.any(String) });
    const { money } = await acts.read(owner.browser, id);
    expect(Number(item.amount)).toBeCloseTo(Number(money?.expected) - Number(money?.received), 8);
    expect((await acts.post(owner.browser, id, 'simulate', { outcome: 'paid' })).status).toBe(200);
    expect(await kinds()).not.toContain('underpaid');
    const failed = await simulated('part', 'expired');
    expect(await kinds()).toContain('underpaid');
    expect((await acts.post(owner.browser, failed, 'accept')).status).toBe(200);
    expect(await kinds()).not.toContain('underpaid');
  });

  it('overpaid says what is too much until that is refunded', async () => {
    const { simulated, acts, kinds, only } = await shopping();
    const id = await simulated('over');
    const item = await only();
    const [money] = (await acts.read(owner.browser, id)).refundable;
    expect(item).toMatchObject({ kind: 'overpaid', amount: money?.excess });
    const body = { ...form, request: 'form-over-1', crypto_amount: money?.excess };
    expect((await acts.post(owner.browser, id, 'refunds', body)).status).toBe(200);
    expect(await kinds()).toEqual([]);
  });
});

describe('what people write', () => {
  it('assigns, notes and marks as done one occurrence, which can be taken back', async () => {
    const { simulated, only, mark, kinds, list } = await shopping();
    await simulated('late');
    const { people } = await list();
    const [first] = people;
    const assigned = await mark(await only(), { assigned_to: first?.id, note: ' Ask <b>Ann</b> \r\nfirst ' });
    expect(assigned.body.data).toMatchObject([{ assigned_to: first, note: 'Ask <b>Ann</b> \nfirst', version: 1 }]);
    const item = await only();
    expect((await mark(item, { done: true })).body.data).toEqual([]);
    expect(await kinds()).toEqual([]);
    expect((await mark({ ...item, version: 2 }, { done: false })).body.data).toHaveLength(1);
    expect(await only()).toMatchObject({ version: 3, assigned_to: first });
  });

  it('of two at once the second is refused, and nothing of the first is lost', async () => {
    const { simulated, only, mark } = await shopping();
    await simulated('late');
    const item = await only();
    const both = await Promise.all([mark(item, { note: 'one' }), mark(item, { note: 'two' })]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect((await mark(item, { done: true })).status).toBe(409);
    expect(['one', 'two']).toContain((await only()).note);
  });

  it('of several at once changes what it can, says what somebody else changed, and is taken back', async () => {
    const { projectId, simulated, list, kinds, mark } = await shopping();
    for (const outcome of ['late', 'over', 'part']) await simulated(outcome);
    const { data } = await list();
    const [first] = data;
    if (first === undefined) throw new Error('Nothing needs attention.');
    // An item of late money has the value of the whole payment.
    expect(data.find(({ kind }) => kind === 'paid_late')?.worth).toMatchObject({ currency: 'USD' });
    const path = `/dashboard/api/projects/${projectId}/test/attention/mark-many`;
    const many = (items: readonly AttentionView[], change: object, browser: Browser = owner.browser) =>
      browser.call<{ readonly list: List; readonly failed: readonly object[] }>({
        method: 'POST',
        path,
        body: {
          items: items.map(({ kind, subject, occurrence, version }) => ({
            kind,
            subject,
            occurrence,
            version,
            ...change,
          })),
        },
      });
    await mark(first, { note: 'Asked her.' }, support.browser);
    const gone = { ...first, subject: 'nothing' };
    const { body } = await many([...data, gone], { done: true });
    expect(body.failed).toHaveLength(2);
    expect(body.failed).toEqual(
      expect.arrayContaining([
        { identity: first.identity, reason: 'changed' },
        { identity: expect.any(String), reason: 'over' },
      ]),
    );
    expect(body.list.data).toMatchObject([{ identity: first.identity, note: 'Asked her.' }]);
    const marked = data.slice(1).map((item) => ({ ...item, version: item.version + 1 }));
    expect((await many(marked, { done: false })).body.failed).toEqual([]);
    expect(await kinds()).toHaveLength(3);
    const { data: now, people } = await list();
    const both = await Promise.all([
      many(now, { assigned_to: people[0]?.id }),
      many(now.toReversed(), { assigned_to: people[1]?.id }, support.browser),
    ]);
    // Each item is assigned by one of the two, and the other is told.
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(both.flatMap(({ body: { failed } }) => failed)).toHaveLength(now.length);
    // A request that names one person who may not be assigned changes nothing.
    const stranger = await test.join('support', app.projectId);
    const { data: open } = await list();
    const mixed = open.map(({ kind, subject, occurrence, version }, at) => {
      const to = at === 0 ? stranger.id : null;
      return { kind, subject, occurrence, version, assigned_to: to };
    });
    const refused = await owner.browser.call({ method: 'POST', path, body: { items: mixed } });
    expect(refused.status).toBe(400);
    expect((await list()).data).toEqual(open);
  });

  it('holds for one fault: another of the same payment is shown again', async () => {
    const { simulated, acts, only, mark, kinds } = await shopping();
    const id = await simulated('part');
    const item = await only();
    expect((await mark(item, { done: true })).status).toBe(200);
    expect(await kinds()).toEqual([]);
    expect((await acts.post(owner.browser, id, 'simulate', { outcome: 'over' })).status).toBe(200);
    expect(await kinds()).toEqual(['overpaid']);
  });

  it('is refused once it is over, of another project, to a stranger, and from who may only read', async () => {
    const { simulated, acts, only, mark, projectId, list } = await shopping();
    const id = await simulated('late');
    const item = await only();
    const viewer = await test.join('viewer', projectId);
    expect((await mark(item, { note: 'x' }, viewer.browser)).status).toBe(403);
    const stranger = await test.join('support', app.projectId);
    expect((await mark(item, { assigned_to: stranger.id })).status).toBe(400);
    expect((await list()).people.map(({ email }) => email)).not.toContain(stranger.email);
    const other = await shopping();
    expect((await other.mark(item, { done: true })).status).toBe(409);
    expect((await mark(item, { note: 'n'.repeat(2_001) })).status).toBe(400);
    expect((await acts.post(owner.browser, id, 'accept')).status).toBe(200);
    expect((await mark(item, { done: true })).status).toBe(409);
  });
});

describe('beside payments', () => {
  it('an endpoint that fails or is disabled needs the attention of who may see webhooks, until it answers again', async () => {
    const { projectId, kinds, only, mark, simulated } = await shopping();
    const endpoint = await anEndpoint(app, projectId);
    const url = 'https://hooks.example/?token=hushhush';
    await app.db.updateTable('webhook_endpoints').set({ url }).where('id', '=', endpoint).execute();
    await simulated('paid');
    expect(await kinds()).toEqual([]);
    const failed = { attempts: 3 };
    await app.db.updateTable('deliveries').set(failed).where('endpoint_id', '=', endpoint).execute();
    expect(await only()).toMatchObject({ kind: 'endpoint_failing', url: 'https://hooks.example/?…' });
    const support = await test.join('support', projectId);
    expect(await kinds(support.browser)).toEqual([]);
    expect((await mark(await only(), { done: true })).status).toBe(200);
    const taken = { state: 'delivered' as const };
    await app.db.updateTable('deliveries').set(taken).where('endpoint_id', '=', endpoint).execute();
    expect(await kinds()).toEqual([]);
    // It fails again.
    await simulated('paid');
    const again = { attempts: 3 };
    await app.db
      .updateTable('deliveries')
      .set(again)
      .where('endpoint_id', '=', endpoint)
      .where('state', '=', 'waiting')
      .execute();
    expect(await kinds()).toEqual(['endpoint_failing']);
    const gone = { kind: 'disabled', reason: 'it answered 410' } as const;
    await app.db.transaction().execute((trx) => closeEndpoint(trx, endpoint, gone, app.clock()));
    expect(await only()).toMatchObject({
      kind: 'endpoint_disabled',
      detail: 'it answered 410',
      command: `cointill webhook enable ${encodeId('endpoint', endpoint)}`,
    });
  });

  it('live mode names keys that may do more than the role of who made them, until they are replaced', async () => {
    const { projectId, list, kinds } = await shopping('live');
    const maker = await test.join('admin', projectId);
    const member = await test.join('developer', projectId);
    const path = `/dashboard/api/projects/${projectId}/live/keys`;
    const { body } = await maker.browser.call<{ key: { id: string } }>({
      method: 'POST',
      path,
      body: { name: 'Server', kind: 'secret', permission: 'full' },
    });
    const keyKinds = async () => (await kinds()).filter((kind) => kind === 'key_beyond_role');
    expect(await keyKinds()).toEqual([]);
    await app.db.updateTable('memberships').set({ role: 'developer' }).where('person_id', '=', maker.id).execute();
    expect(await keyKinds()).toEqual(['key_beyond_role']);
    expect(await kinds(member.browser)).toEqual([]);
    const found = (await list()).data.find(({ kind }) => kind === 'key_beyond_role');
    expect(found).toMatchObject({ detail: 'Server', change: { by: { name: maker.email } } });
    const roll = { method: 'POST', path: `${path}/${body.key.id}/roll`, body: { overlap_hours: 0 } };
    const browser = await test.signIn(owner.email);
    expect((await browser.call(roll)).status).toBe(200);
    expect(await keyKinds()).toEqual([]);
  });

  it('live mode names coins without a wallet once there is a live key, nodes that are behind, and deposits worth a sweep', async () => {
    const { projectId, kinds, list, mark } = await shopping('live');
    expect(await kinds()).toEqual([]);
    await createKey(app, { projectId, name: 'Live', mode: 'live', kind: 'secret', permission: 'full' });
    const { data } = await list();
    expect(data.map(({ kind, network }) => [kind, network])).toEqual([
      ['no_wallet', 'bitcoin'],
      ['no_wallet', 'ethereum'],
    ]);
    await app.db
      .insertInto('wallets')
      .values({
        id: projectId,
        project_id: projectId,
        network: 'ethereum',
        kind: 'treasury',
        source: '0x0',
        first_address: `0x${projectId}`,
        created_at: new Date(app.clock()),
      })
      .execute();
    sweeps = [SWEEP];
    const shown = (await list()).data;
    expect(shown.find(({ kind }) => kind === 'node_behind')).toMatchObject({
      network: 'ethereum',
      detail: expect.stringContaining('no worker follows this network'),
    });
    expect(shown.find(({ kind }) => kind === 'sweep')).toMatchObject({
      usd: '123.45',
      detail: '2',
      command: `cointill sweep plan --project ${projectId} --network ethereum`,
    });
    const support = await test.join('support', projectId);
    expect(await kinds(support.browser)).toEqual([]);
    const worth = shown.find(({ kind }) => kind === 'sweep');
    if (worth === undefined) throw new Error('No sweep is worth it.');
    expect((await mark(worth, { done: true })).status).toBe(200);
    // Who does not see it does not bring it back.
    expect((await mark({ ...worth, version: 1 }, { done: false, note: 'mine' }, support.browser)).status).toBe(409);
    expect(await kinds()).not.toContain('sweep');
    sweeps = [];
    expect(await kinds()).not.toContain('sweep');
  });
});

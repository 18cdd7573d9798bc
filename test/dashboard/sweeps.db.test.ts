import { afterAll, expect, it } from 'vitest';
import { LOST_MS } from '../../src/app/sweeps/follow-sweeps.ts';
import { NO_REPORTS } from '../../src/domain/problems.ts';
import { createEvmCaller } from '../../src/rails/evm/caller.ts';
import { DEPOSIT_FACTORY, depositAddress } from '../../src/rails/evm/deposit.ts';
import { saveDepositCheck } from '../../src/store/sweeps/deposit-balances.ts';
import { dashboardTest, type Browser } from '../dashboard.ts';

const TREASURY = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const HASH = `0x${'ab'.repeat(32)}`;
/** A node that does not answer: no route but the refresh may ask one. */
const caller = createEvmCaller({
  network: 'ethereum',
  urls: ['http://127.0.0.1:9'],
  chainId: 1,
  timeoutMs: 1_000,
  problems: NO_REPORTS,
});
let isBusy = false;
const test = await dashboardTest({
  deposits: {
    chains: (network) => (network === 'ethereum' ? { network, chainId: 1, tokens: new Map(), caller } : null),
    refresh: async () => (isBusy ? 'busy' : 'done'),
  },
});
afterAll(async () => {
  await caller.close();
  await test.http.close();
});
const { app } = test.http;
const PATH = `/dashboard/api/projects/${app.projectId}/live/sweeps`;
const owner = await test.join('owner');
const admin = await test.join('admin');

interface Overview {
  readonly minimum_usd: string;
  readonly networks: readonly {
    readonly calls: readonly { readonly key: string }[];
    readonly holdings: readonly object[];
    readonly below: readonly object[];
  }[];
  readonly open: readonly object[];
}

const get = <Body>(browser: Browser, path = '') => browser.call<Body>({ method: 'GET', path: `${PATH}${path}` });
const post = <Body = { readonly id: string }>(browser: Browser, path: string, body: object) =>
  browser.call<Body>({ method: 'POST', path: `${PATH}${path}`, body: JSON.stringify(body) });

/** Saves a check that found deposits of these worths in cents, each of 0.01 ether. */
async function checked(...worths: readonly bigint[]): Promise<void> {
  const balances = worths.map((usdCents, index) => ({
    address: depositAddress(TREASURY, index).toLowerCase(),
    index,
    treasury: TREASURY,
    paymentId: `00000000-0000-7000-8000-00000000000${index}`,
    token: null,
    asset: 'ETH' as const,
    units: 10n ** 16n,
    usdCents,
    pricedBy: 'quote' as const,
  }));
  const factories = [DEPOSIT_FACTORY.address];
  const at = app.clock();
  const check = { projectId: app.projectId, network: 'ethereum', at, height: 9, gasPrice: 2_000_000_000n } as const;
  await app.db.transaction().execute((trx) => saveDepositCheck(trx, { ...check, factories, balances }));
}

async function offered(): Promise<string> {
  const { body } = await get<Overview>(owner.browser);
  return body.networks[0]?.calls[0]?.key ?? '';
}

it('what a check found is shown without asking a node: what is worth a sweep, what is not, and what it costs', async () => {
  expect((await get<Overview>(owner.browser)).body).toEqual({ minimum_usd: '0', networks: [], open: [] });
  await app.db.updateTable('projects').set({ sweep_min_usd_cents: '1000' }).execute();
  await checked(3_000n, 999n, 1_000n);
  const { status, body } = await get<Overview>(owner.browser);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    minimum_usd: '10',
    networks: [
      {
        network: 'ethereum',
        chain: { name: 'Ethereum', currency: 'ETH' },
        gas_price_gwei: '2',
        problem: null,
        holdings: [{ treasury: TREASURY, asset: 'ETH', amount: '0.02', usd: '40', deposits: 2 }],
        below: [{ treasury: TREASURY, asset: 'ETH', amount: '0.01', usd: '9.99', deposits: 1 }],
        calls: [
          {
            purpose: 'sweep',
            ready: true,
            amounts: [{ asset: 'ETH', amount: '0.02', usd: '40' }],
            call: { chain_id: 1, to: DEPOSIT_FACTORY.address, value: '0', data: expect.stringMatching(/^0x3d105d84/) },
            cost: '0.00037',
          },
        ],
      },
    ],
  });
});

it('test mode has no sweeps, and says why', async () => {
  const path = PATH.replace('/live/', '/test/');
  const { status, text } = await owner.browser.call({ method: 'GET', path });
  expect(status).toBe(404);
  expect(text).toContain('Test payments move no money');
});

it('one of two people gets a call, the other is refused; who gave it up or sent it is in the audit log', async () => {
  await checked(3_000n);
  const key = await offered();
  const both = await Promise.all([owner, admin].map(({ browser }) => post(browser, '', { network: 'ethereum', key })));
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  const id = both.find(({ status }) => status === 200)?.body.id ?? '';
  expect((await get<Overview>(admin.browser)).body).toMatchObject({ networks: [{ calls: [] }], open: [{ id }] });
  expect(await post(admin.browser, `/${id}/give-up`, {})).toMatchObject({ status: 200, body: { state: 'ended' } });
  const again = await post(owner.browser, '', { network: 'ethereum', key: await offered() });
  expect(again.status).toBe(200);
  const sent = await post(owner.browser, `/${again.body.id}/sent`, { hash: HASH.toUpperCase().replace('0X', '0x') });
  expect(sent).toMatchObject({ status: 200, body: { state: 'sent', hash: HASH, sent_by: owner.email } });
  expect((await post(admin.browser, `/${again.body.id}/give-up`, {})).status).toBe(409);
  const log = await app.db.selectFrom('audit_log').select(['action', 'actor_name']).orderBy('id').execute();
  const ofSweeps = log.filter(({ action }) => action.startsWith('sweep.'));
  expect(ofSweeps.map(({ action }) => action).toSorted()).toEqual([
    'sweep.ask',
    'sweep.ask',
    'sweep.end',
    'sweep.send',
  ]);
});

it('a wrong hash is corrected by anybody who may send, with both in the audit log, and given up once no node knows it for minutes', async () => {
  await app.db.updateTable('sweeps').set({ state: 'ended' }).execute();
  await checked(3_000n);
  const { id } = (await post(owner.browser, '', { network: 'ethereum', key: await offered() })).body;
  const [wrong, right] = ['ac', 'ad'].map((two) => `0x${two.repeat(32)}`);
  expect((await post(owner.browser, `/${id}/sent`, { hash: wrong })).status).toBe(200);
  const corrected = await post(admin.browser, `/${id}/sent`, { hash: right });
  expect(corrected).toMatchObject({ status: 200, body: { state: 'sent', hash: right } });
  const log = await app.db.selectFrom('audit_log').select(['before', 'after']).where('subject_id', '=', id).execute();
  expect(log).toContainEqual({
    before: { network: 'ethereum', transaction_hash: wrong },
    after: { network: 'ethereum', transaction_hash: right },
  });
  expect((await post(owner.browser, `/${id}/give-up`, {})).status).toBe(409);
  await app.db.updateTable('sweeps').set({ state: 'seen' }).where('id', '=', id).execute();
  expect((await post(owner.browser, `/${id}/sent`, { hash: wrong })).status).toBe(409);
  await app.db.updateTable('sweeps').set({ state: 'sent' }).where('id', '=', id).execute();
  app.clock.advance(LOST_MS);
  const lost = await post(owner.browser, `/${id}/give-up`, {});
  expect(lost).toMatchObject({ status: 200, body: { state: 'ended', problem: 'lost' } });
  expect(await offered()).not.toBe('');
});

it('a plan that changed since the page showed it is refused', async () => {
  await app.db.updateTable('sweeps').set({ state: 'ended' }).execute();
  await checked(3_000n);
  const key = await offered();
  await checked(3_000n, 2_000n);
  const { status, text } = await post(owner.browser, '', { network: 'ethereum', key });
  expect(status).toBe(409);
  expect(text).toContain('no longer available');
});

it('a refresh is refused while another runs', async () => {
  isBusy = true;
  expect((await post(owner.browser, '/check', {})).status).toBe(409);
  isBusy = false;
  expect((await post<Overview>(owner.browser, '/check', {})).body.networks).toHaveLength(1);
});

it('of a sweep that failed the history says that nothing moved', async () => {
  await app.db.updateTable('sweeps').set({ state: 'ended' }).execute();
  await checked(3_000n, 2_000n);
  const { id } = (await post(owner.browser, '', { network: 'ethereum', key: await offered() })).body;
  await app.db.updateTable('sweeps').set({ state: 'failed', problem: 'paid_nothing' }).where('id', '=', id).execute();
  await app.db.updateTable('sweep_transfers').set({ state: 'failed' }).where('sweep_id', '=', id).execute();
  const { body } = await get<{ data: readonly { id: string }[] }>(owner.browser, '/history');
  expect(body.data.find((one) => one.id === id)).toMatchObject({
    fee: null,
    amounts: [{ asset: 'ETH', amount: '0', usd: '0', failed: 2 }],
  });
  await app.db.deleteFrom('sweep_transfers').where('sweep_id', '=', id).execute();
  await app.db.deleteFrom('sweeps').where('id', '=', id).execute();
});

const NO_SWEEP = '00000000-0000-7000-8000-000000000009';
it.each([
  ['', { network: 'bitcoin', key: 'x' }, 400],
  ['', { network: 'polygon', key: 'x' }, 400],
  ['', { network: 'ethereum', key: '' }, 400],
  ['', { network: 'ethereum', key: 'x'.repeat(65) }, 400],
  ['', { network: 'ethereum', key: 'x', to: TREASURY }, 400],
  ['', { network: 'ethereum', key: "'; drop table sweeps; --" }, 409],
  [`/${NO_SWEEP}/sent`, { hash: HASH }, 404],
  ['/x/sent', { hash: HASH }, 404],
  [`/${NO_SWEEP}/sent`, { hash: '0x12' }, 400],
  [`/${NO_SWEEP}/sent`, { hash: `${HASH}<script>` }, 400],
  [`/${NO_SWEEP}/sent`, { hash: HASH, sender: 'me' }, 400],
  [`/${NO_SWEEP}/sent`, {}, 400],
  [`/${NO_SWEEP}/give-up`, { state: 'mined' }, 400],
  [`/${NO_SWEEP}/give-up`, {}, 404],
  ['/check', { network: 'ethereum' }, 400],
])('POST %s of %o answers %i', async (path, body, status) => {
  expect((await post(owner.browser, path, body)).status).toBe(status);
});

it.each(['?after=x', '?limit=0', '?limit=101', '?state=mined'])('the history refuses %s', async (query) => {
  expect((await get(owner.browser, `/history${query}`)).status).toBe(400);
});

it('the history goes page by page, and a foreign id begins none', async () => {
  const page = await get<{ data: readonly { id: string }[]; next: string | null }>(owner.browser, '/history?limit=1');
  expect(page.body).toMatchObject({ data: [{ state: 'ended' }], next: expect.any(String) });
  const next = await get<{ data: readonly object[] }>(owner.browser, `/history?limit=1&after=${page.body.next}`);
  expect(next.body).toMatchObject({ data: [{ state: 'ended', hash: expect.stringMatching(/^0x/) }], next: null });
  expect((await get<{ data: readonly object[] }>(owner.browser, `/history?after=${NO_SWEEP}`)).body.data).toEqual([]);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProject } from '../../src/app/projects/projects.ts';
import { setProjectWallet } from '../../src/app/projects/wallets.ts';
import { DEPOSIT_FACTORY, depositAddress, FIRST_DEPOSIT_FACTORY } from '../../src/rails/evm/deposit.ts';
import { refusesAsExposed } from '../../src/rails/refused-secret.fixture.ts';
import { MAIN_CHAINS } from '../../src/rails/utxo/params.ts';
import { MASTER, MNEMONIC, publicKeyAt, withVersion } from '../../src/rails/utxo/wallet.fixture.ts';
import { saveNodes } from '../../src/store/chains/chain.ts';
import { dashboardTest, PASSWORD, type Member } from '../dashboard.ts';
import type { BodyOf } from '../../src/http/dashboard/contract.ts';

const ZPUB = publicKeyAt("m/84'/0'/0'", 'zpub');
const OTHER_ZPUB = publicKeyAt("m/84'/0'/1'", 'zpub');
const TREASURY = '0x52908400098527886E0F7030069857D2E4169EE7';

const test = await dashboardTest({
  networks: ['bitcoin', 'ethereum'],
  askNodes: (network) =>
    Promise.resolve(network === 'bitcoin' ? [{ node: 'http://node:8332', height: 7, problem: null }] : null),
});
afterAll(() => test.http.close());
const { app } = test.http;
let mara: Member;
beforeAll(async () => {
  mara = await test.join('owner');
});

/** A project of its own, so that tests do not share wallets. */
async function shop(): Promise<string> {
  const made = await createProject(app, 'Shop');
  if (made.kind !== 'done') throw new Error(made.code);
  return made.project.id;
}

const base = (project: string) => `/dashboard/api/projects/${project}`;

const post = (project: string, path: string, body: unknown, member = mara) =>
  member.browser.call<Record<string, never>>({ method: 'POST', path: `${base(project)}${path}`, body });

async function read(project: string, member = mara) {
  const { body } = await member.browser.call<Awaited<ReturnType<typeof overview>>>({
    path: `${base(project)}/wallets`,
  });
  return body;
}
/** Only for its type. */
const overview = () => mara.browser.do('GET /dashboard/api/projects/:project/wallets');

async function on(project: string, network: string) {
  const found = (await read(project)).networks.find((one) => one.network === network);
  if (found === undefined) throw new Error(`There is no ${network}.`);
  return found;
}

type Save = BodyOf<'POST /dashboard/api/projects/:project/wallets/:network'>;

/** Compares and saves a wallet as the page does. */
async function save(project: string, network: string, kind: Save['kind'], source: string, more: Partial<Save> = {}) {
  const { version } = await on(project, network);
  const { body } = await post(project, `/wallets/${network}/preview`, { kind, source });
  return post(project, `/wallets/${network}`, {
    kind,
    source,
    confirmations: null,
    tolerance: null,
    first_index: null,
    compared: body['compared'],
    version,
    ...more,
  });
}

describe('a wallet', () => {
  it('is compared by its first ten addresses, saved, shown, and checked', async () => {
    const project = await shop();
    const preview = await post(project, '/wallets/bitcoin/preview', { kind: 'xpub', source: ` ${ZPUB}\n` });
    expect(preview.body).toMatchObject({ address_kind: 'p2wpkh', addresses: { length: 10 } });
    expect((await on(project, 'bitcoin')).wallet).toBeNull();
    const saved = await save(project, 'bitcoin', 'xpub', ZPUB, {
      confirmations: 3,
      tolerance: '0.25',
      first_index: 12,
    });
    expect(saved.status).toBe(200);
    expect(saved.body).toMatchObject({ changes: ['The next address is number 12. Numbers 0 to 11 are skipped.'] });
    expect((await on(project, 'bitcoin')).wallet).toMatchObject({
      kind: 'xpub',
      source: ZPUB,
      address_kind: 'p2wpkh',
      next_index: 12,
      confirmations: 3,
      tiers: [{ below_usd: null, confirmations: 3 }],
      tolerance: '0.25',
      problem: null,
    });
    const { body: check } = await post(project, '/wallets/bitcoin/check', undefined);
    expect(check).toMatchObject({ next_index: 12, nodes: [{ node: 'http://node:8332', height: 7 }], fault: null });
    expect(check['addresses']).toHaveLength(10);
    expect(check['addresses']?.[9]).toMatchObject({ is_used: true });
  });

  it('that is a treasury shows its deposit contracts', async () => {
    const project = await shop();
    const { body } = await post(project, '/wallets/base/preview', { kind: 'treasury', source: TREASURY });
    expect(body).toMatchObject({ address_kind: 'deposit', addresses: { length: 10 } });
    expect((await save(project, 'base', 'treasury', TREASURY)).status).toBe(200);
    expect(await on(project, 'base')).toMatchObject({
      health: null,
      setting: 'BASE_RPC_URL',
      kinds: ['treasury', 'xpub'],
    });
  });

  it('that is one of the project’s own deposit contracts, or their factory, is refused, on any network', async () => {
    const project = await shop();
    expect((await save(project, 'base', 'treasury', TREASURY)).status).toBe(200);
    const own = [depositAddress(TREASURY, 0), depositAddress(TREASURY, 3, FIRST_DEPOSIT_FACTORY)];
    for (const text of [...own, own[0]?.toLowerCase() ?? '', DEPOSIT_FACTORY.address]) {
      for (const network of ['ethereum', 'base']) {
        const preview = await post(project, `/wallets/${network}/preview`, { kind: 'treasury', source: text });
        expect([preview.status, preview.body['error']]).toEqual([400, expect.objectContaining({ param: 'source' })]);
        expect(preview.text).toContain('of your own wallet');
        const terms = { confirmations: null, toleranceBasisPoints: null };
        const request = { projectId: project, network, source: { kind: 'treasury', text }, ...terms } as const;
        expect(await setProjectWallet(app, request, MAIN_CHAINS)).toMatchObject({
          kind: 'rejected',
          param: 'treasury',
        });
      }
    }
    expect((await on(project, 'ethereum')).wallet).toBeNull();
    const other = await post(await shop(), '/wallets/ethereum/preview', { kind: 'treasury', source: own[0] });
    expect(other.status).toBe(200);
  });

  it('that was not compared is not saved, nor one that was compared for another network or project', async () => {
    const project = await shop();
    const { version } = await on(project, 'bitcoin');
    const { body: preview } = await post(project, '/wallets/bitcoin/preview', { kind: 'xpub', source: ZPUB });
    const foreign = (await post(await shop(), '/wallets/bitcoin/preview', { kind: 'xpub', source: ZPUB })).body;
    const litecoin = (await post(project, '/wallets/litecoin/preview', { kind: 'xpub', source: ZPUB })).body;
    const body = { kind: 'xpub', source: ZPUB, confirmations: null, tolerance: null, first_index: null, version };
    for (const wrong of [
      { ...body, compared: preview['compared'], source: OTHER_ZPUB },
      { ...body, compared: foreign['compared'] },
      { ...body, compared: litecoin['compared'] },
      { ...body, compared: 'x' },
    ]) {
      const { status, text } = await post(project, '/wallets/bitcoin', wrong);
      expect([status, text]).toEqual([409, expect.stringContaining('compared the addresses of a different wallet')]);
    }
    expect((await post(project, '/wallets/bitcoin', body)).status).toBe(400);
    expect((await on(project, 'bitcoin')).wallet).toBeNull();
  });

  it('that somebody else has changed meanwhile is not overwritten, nor are its terms', async () => {
    const project = await shop();
    const seen = await on(project, 'bitcoin');
    expect((await save(project, 'bitcoin', 'xpub', ZPUB)).status).toBe(200);
    const again = await save(project, 'bitcoin', 'xpub', OTHER_ZPUB, { version: seen.version });
    expect([again.status, again.text]).toEqual([
      409,
      expect.stringContaining('Somebody else changed this wallet first'),
    ]);
    const { version } = await on(project, 'bitcoin');
    const terms = { confirmations: 6, tolerance: null, version };
    const first = await post(project, '/wallets/bitcoin/terms', terms);
    expect(first.body).toMatchObject({
      changes: ['Confirmations from now on: 6 (before: the default for the amount).'],
    });
    expect((await post(project, '/wallets/bitcoin/terms', { ...terms, confirmations: 1 })).status).toBe(409);
    expect((await on(project, 'bitcoin')).wallet).toMatchObject({ source: ZPUB, confirmations: 6 });
  });

  it('set by two people at once is that of one of them, and the other one is told', async () => {
    const project = await shop();
    const { version } = await on(project, 'bitcoin');
    const [a, b] = await Promise.all([
      save(project, 'bitcoin', 'xpub', ZPUB, { version }),
      save(project, 'bitcoin', 'xpub', OTHER_ZPUB, { version }),
    ]);
    expect([a.status, b.status].toSorted((one, two) => one - two)).toEqual([200, 409]);
    expect((await on(project, 'bitcoin')).wallet?.source).toBe(a.status === 200 ? ZPUB : OTHER_ZPUB);
  });
});

describe('a secret', () => {
  const XPRV = MASTER.derive("m/84'/0'/0'").privateExtendedKey;
  it.each([
    ['bitcoin', 'xpub', withVersion(XPRV, 0x04b2430c)],
    ['bitcoin', 'descriptor', `wpkh(${XPRV}/0/*)`],
    ['bitcoin', 'xpub', MNEMONIC],
    ['ethereum', 'treasury', `0x${'4f'.repeat(32)}`],
    ['ethereum', 'xpub', MNEMONIC],
  ])('on %s as %s is refused at its field, and is in no answer, log or table', async (network, kind, secret) => {
    const project = await shop();
    const { version } = await on(project, network);
    const more = { confirmations: null, tolerance: null, first_index: null, compared: 'x', version };
    for (const [path, body] of [
      [`/wallets/${network}/preview`, { kind, source: secret }],
      [`/wallets/${network}`, { kind, source: secret, ...more }],
    ] as const) {
      const { status, body: answer, text } = await post(project, path, body);
      expect([status, answer['error']]).toEqual([400, expect.objectContaining({ param: 'source' })]);
      expect(text).toSatisfy(refusesAsExposed(secret));
    }
    const kept = await app.db.selectFrom('audit_log').selectAll().execute();
    expect(JSON.stringify([kept, await app.db.selectFrom('wallets').selectAll().execute()])).not.toContain(secret);
  });
});

describe('bad input is refused at its field', () => {
  it.each([
    ['another chain’s key', 'ethereum', { kind: 'xpub', source: ZPUB }, 'source', 'not a key of an EVM wallet'],
    [
      'a descriptor on an EVM network',
      'base',
      { kind: 'descriptor', source: 'wpkh(x)' },
      'source',
      'Give a treasury or an extended key',
    ],
    [
      'a treasury on Bitcoin',
      'bitcoin',
      { kind: 'treasury', source: TREASURY },
      'source',
      'Give an extended key or a descriptor',
    ],
    ['a damaged key', 'bitcoin', { kind: 'xpub', source: `${ZPUB.slice(0, -1)}1` }, 'source', ''],
    ['another kind', 'bitcoin', { kind: 'seed', source: ZPUB }, 'kind', ''],
    ['too long a text', 'bitcoin', { kind: 'xpub', source: 'x'.repeat(4_001) }, 'source', '4000'],
    ['an unknown field', 'bitcoin', { kind: 'xpub', source: ZPUB, mode: 'live' }, 'mode', ''],
  ])('%s', async (_name, network, body, param, words) => {
    const { status, body: answer, text } = await post(await shop(), `/wallets/${network}/preview`, body);
    expect([status, answer['error']]).toEqual([400, expect.objectContaining({ param })]);
    expect(text).toContain(words);
    expect(text).not.toContain('--');
  });

  it.each([
    ['confirmations', { confirmations: 0 }],
    ['confirmations', { confirmations: 10_001 }],
    ['tolerance', { tolerance: '10.01' }],
    ['tolerance', { tolerance: '-1' }],
    ['tolerance', { tolerance: '1.005' }],
    ['tolerance', { tolerance: '1e1' }],
    ['first_index', { first_index: -1 }],
    ['first_index', { first_index: 100_000_001 }],
  ])('%s: %j', async (param, more) => {
    const project = await shop();
    const { status, body, text } = await save(project, 'bitcoin', 'xpub', ZPUB, more);
    expect([status, body['error']]).toEqual([400, expect.objectContaining({ param })]);
    expect(text).not.toContain('--');
    expect((await on(project, 'bitcoin')).wallet).toBeNull();
  });

  it('an unknown network, and a check without a wallet', async () => {
    const project = await shop();
    expect((await post(project, '/wallets/dogecoin/preview', { kind: 'xpub', source: ZPUB })).status).toBe(404);
    expect((await post(project, '/wallets/bitcoin/check', undefined)).status).toBe(404);
    const terms = { confirmations: null, tolerance: null, version: 'none' };
    expect((await post(project, '/wallets/bitcoin/terms', terms)).status).toBe(404);
  });
});

describe('who may', () => {
  it('a change asks for reauthentication', async () => {
    const project = await shop();
    const late = await test.signIn(mara.email);
    app.clock.advance(11 * 60_000);
    const body = { kind: 'xpub', source: ZPUB };
    const call = { method: 'POST', path: `${base(project)}/wallets/bitcoin/preview`, body };
    const { status, text } = await late.call(call);
    expect([status, text]).toEqual([403, expect.stringContaining('reauthentication_required')]);
    await late.do('POST /dashboard/api/reauthenticate', { password: PASSWORD });
    expect((await late.call(call)).status).toBe(200);
    await mara.browser.do('POST /dashboard/api/reauthenticate', { password: PASSWORD });
  });

  it('an admin who became a viewer while the page was open is refused, and sees no wallet any more', async () => {
    const project = await shop();
    const ben = await test.join('admin');
    expect((await read(project, ben)).networks).not.toEqual([]);
    await mara.browser.do('POST /dashboard/api/people/role', { id: ben.id, role: 'viewer', project: null });
    const { status, text } = await post(project, '/wallets/bitcoin/preview', { kind: 'xpub', source: ZPUB }, ben);
    expect([status, text]).toEqual([403, expect.stringContaining('With the role viewer, you may not change wallets')]);
    expect((await ben.browser.call({ path: `${base(project)}/wallets` })).status).toBe(403);
  });
});

describe('a change of wallet', () => {
  const changes = async (project: string, member = mara) => {
    const { body } = await member.browser.call<{ data: readonly { kind: string; version: number }[] }>({
      path: `${base(project)}/live/attention`,
    });
    return body.data.filter(({ kind }) => kind === 'wallet_changed');
  };

  it('needs the attention of owners and admins, and of nobody else, until one of them marks it', async () => {
    const project = await shop();
    const [ben, eve] = [await test.join('admin'), await test.join('developer')];
    await save(project, 'bitcoin', 'xpub', ZPUB);
    app.clock.advance(1_000);
    await save(project, 'bitcoin', 'xpub', OTHER_ZPUB);
    await save(project, 'bitcoin', 'xpub', OTHER_ZPUB, { confirmations: 4 });
    const [second, first, ...more] = await changes(project, ben);
    expect(more).toEqual([]);
    const short = (key: string) => `xpub ${key.slice(0, 8)}…${key.slice(-8)}`;
    expect(second).toMatchObject({
      network: 'bitcoin',
      change: { by: { kind: 'person', name: mara.email }, before: short(ZPUB), after: short(OTHER_ZPUB) },
    });
    expect(first).toMatchObject({ change: { before: null, after: short(ZPUB) } });
    expect(await changes(project, eve)).toEqual([]);
    const mark = { ...second, version: 0, done: true };
    const { kind, subject, occurrence } = mark as unknown as Record<string, string>;
    await post(project, '/live/attention/mark', { kind, subject, occurrence, version: 0, done: true }, ben);
    expect(await changes(project)).toEqual([first]);
  });
});

describe('coins and spread', () => {
  const terms = async (project: string, change: object) =>
    post(project, '/payment-terms', { version: (await read(project)).version, ...change });

  it('spread and window are kept, spread to the hundredth of a percent, and refused beyond its bounds and after somebody else’s change', async () => {
    const project = await shop();
    const { version } = await read(project);
    expect((await terms(project, { spread: '1.25' })).body).toMatchObject({ spread: '1.25' });
    expect((await terms(project, { monitoring_hours: 24 })).body).toMatchObject({ monitoring_hours: 24 });
    for (const hours of [0, 8_761, -1]) {
      const { status, body } = await terms(project, { monitoring_hours: hours });
      expect([status, body['error']]).toEqual([400, expect.objectContaining({ param: 'monitoring_hours' })]);
    }
    for (const spread of ['50.01', '-1', '0.001', 'x']) {
      const { status, body } = await terms(project, { spread });
      expect([status, body['error']]).toEqual([400, expect.objectContaining({ param: 'spread' })]);
    }
    expect((await post(project, '/payment-terms', { version, spread: '2' })).status).toBe(409);
    expect((await read(project)).spread).toBe('1.25');
  });

  it('coins that do not exist, that stand twice, or of which none is on, are refused', async () => {
    const project = await shop();
    for (const coins of [
      [{ coin: 'DOGE/dogecoin', is_on: true }],
      [
        { coin: 'BTC/bitcoin', is_on: true },
        { coin: 'BTC/bitcoin', is_on: false },
      ],
    ]) {
      const { status, body } = await terms(project, { coins });
      expect([status, body['error']]).toEqual([400, expect.objectContaining({ param: 'coins' })]);
    }
    const saved = await terms(project, { coins: [{ coin: 'BTC/bitcoin', is_on: false }] });
    expect(saved.body).toMatchObject({ has_own_order: true });
    expect((await terms(project, { coins: null })).body).toMatchObject({ has_own_order: false });
  });
});

it('shows how each network is followed, as it was last reported, and asks no node for it', async () => {
  const project = await shop();
  const node = { node: 'http://node:8332', height: 100, problem: 'it lags' };
  await saveNodes(app.db, 'bitcoin', [node], app.clock());
  const { health } = await on(project, 'bitcoin');
  expect(health).toMatchObject({
    problem: expect.stringContaining('it lags'),
    problem_kind: 'unhealthy',
    height: 100,
    cursor: null,
    nodes: [node],
  });
  expect((await on(project, 'litecoin')).health).toBeNull();
});

import { describe, expect, it } from 'vitest';
import { newPayment, type TestApp } from '../../../test/harness.ts';
import { allTokens } from '../../domain/asset.ts';
import { coinName } from '../../domain/coin-choice.ts';
import { findProject } from '../../store/projects/projects.ts';
import { changePaymentTerms, termsVersion, type TermsChange } from '../projects/payment-terms.ts';
import { createPaymentCreator } from './create-payment.ts';
import { liveShop } from './live-shop.fixture.ts';
import { selectToken } from './payment-actions.ts';
import { refusalMessage } from '../../cli/refusal.ts';
import { isRejected } from '../rejected.ts';

type Coins = NonNullable<TermsChange['coins']>;

async function offer(app: TestApp, coins: Coins | null) {
  const project = await findProject(app.db, app.projectId);
  if (project === null) throw new Error('There is no project.');
  return changePaymentTerms(app, app.projectId, { version: termsVersion(project), coins });
}

const only = (...on: readonly string[]): Coins => [
  ...on.map((coin) => ({ coin, isOn: true })),
  ...allTokens()
    .map(coinName)
    .filter((coin) => !on.includes(coin))
    .map((coin) => ({ coin, isOn: false })),
];

/** Orders of one process, which remembers the wallets that it saw last. */
function ordering(app: TestApp) {
  const creator = createPaymentCreator(app, app.database.pipeline);
  return (asset: string, network: string | null = null) =>
    creator.create(
      newPayment(app.projectId, { mode: 'live', token: { asset, network } }),
      ({ quote }) => `${quote?.asset}/${quote?.network}`,
      null,
    );
}

const listed = async (app: TestApp) => (await app.railFor('live').listed(app.projectId)).map(coinName);

describe('the coins of a project', () => {
  it('are all that its wallets take where it has chosen nothing, cheap networks first on the page', async () => {
    const app = await liveShop();
    expect((await app.railFor('live').tokens(app.projectId)).map(coinName)).toEqual([
      'BTC/bitcoin',
      'ETH/ethereum',
      'USDT/ethereum',
      'USDT/polygon',
      'USDC/ethereum',
      'USDC/polygon',
    ]);
    expect(await listed(app)).toEqual([
      'BTC/bitcoin',
      'ETH/ethereum',
      'USDT/polygon',
      'USDT/ethereum',
      'USDC/polygon',
      'USDC/ethereum',
    ]);
    expect(await ordering(app)('USDT')).toMatchObject({ body: 'USDT/ethereum' });
  });

  it('are offered in the chosen order, to the page and to orders that name no network', async () => {
    const app = await liveShop();
    await offer(app, only('USDC/ethereum', 'USDC/polygon', 'BTC/bitcoin'));
    expect(await listed(app)).toEqual(['USDC/ethereum', 'USDC/polygon', 'BTC/bitcoin']);
    const order = ordering(app);
    expect(await order('USDC')).toMatchObject({ body: 'USDC/ethereum' });
    await offer(app, only('USDC/polygon', 'USDC/ethereum'));
    expect(await order('USDC')).toMatchObject({ body: 'USDC/polygon' });
  });

  it('refuse orders in one that is switched off, with what is offered, and take them again as soon as it is on', async () => {
    const app = await liveShop();
    const order = ordering(app);
    expect(await order('USDT', 'polygon')).toMatchObject({ body: 'USDT/polygon' });
    await offer(app, only('USDT/ethereum', 'BTC/bitcoin'));
    for (let times = 0; times < 2; times += 1) {
      expect(await order('USDT', 'polygon')).toMatchObject({
        kind: 'refused',
        param: 'network',
        message:
          'USDT on polygon is switched off in this project. Choose one of USDT on ethereum, BTC on bitcoin, or switch it on in the dashboard, on the Wallets page.',
      });
    }
    expect(await order('USDC')).toMatchObject({
      param: 'crypto_currency',
      message: expect.stringMatching(/^USDC is switched off/),
    });
    expect(await order('USDT')).toMatchObject({ body: 'USDT/ethereum' });
    await offer(app, null);
    expect(await order('USDT', 'polygon')).toMatchObject({ body: 'USDT/polygon' });
    expect(await order('USDC')).toMatchObject({ body: 'USDC/ethereum' });
  });

  it('refuse an invoice that could be paid in none of its coins, and let its customer choose among the others', async () => {
    const app = await liveShop();
    const creator = createPaymentCreator(app, app.database.pipeline);
    const invoice = (coins: readonly string[]) => {
      const request = { ...newPayment(app.projectId, { mode: 'live', api: 'invoice', token: null }), coins };
      return creator.create(request, ({ id }) => id, null);
    };
    expect(await invoice(['LTC', 'USDC/arbitrum'])).toMatchObject({
      kind: 'refused',
      param: 'coins',
      message: expect.stringContaining('It offers BTC/bitcoin, ETH/ethereum'),
    });
    const made = await invoice(['LTC', 'USDC/polygon']);
    if (made.kind !== 'done') throw new Error(made.kind);
    const choose = (asset: string, network: string) => selectToken(app, { id: made.body }, { asset, network });
    expect(await choose('BTC', 'bitcoin')).toMatchObject({ kind: 'refused', param: 'crypto_currency' });
    expect(await choose('USDC', 'ethereum')).toMatchObject({ kind: 'refused', param: 'network' });
    expect(await choose('USDC', 'polygon')).toMatchObject({ kind: 'changed', payment: { status: 'pending' } });
  });

  it('hold for customers who choose on the page; what is asked for already stays', async () => {
    const app = await liveShop();
    const { id } = await app.pay({ mode: 'live', api: 'transaction', token: null });
    const chosen = await selectToken(app, { id }, { asset: 'USDT', network: 'polygon' });
    expect(chosen.kind).toBe('changed');
    await offer(app, only('BTC/bitcoin'));
    expect((await app.read(id)).quote).toMatchObject({ asset: 'USDT', network: 'polygon', decimals: 6 });
    expect(await selectToken(app, { id }, { asset: 'USDT', network: 'polygon' })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('switched off'),
    });
    expect((await selectToken(app, { id }, { asset: 'BTC', network: null })).kind).toBe('changed');
  });

  it('cannot all be switched off, neither those of the wallets alone', async () => {
    const app = await liveShop();
    for (const coins of [only(), only('LTC/litecoin')]) {
      expect(await offer(app, coins)).toMatchObject({ code: 'no_coin_left' });
    }
    expect(await listed(app)).toHaveLength(6);
    expect(await offer(await liveShop({ wallets: false }), only('LTC/litecoin'))).toMatchObject({ kind: 'done' });
  });

  it('can be set list by list, whoever changed them before: what a command leaves out stays', async () => {
    const app = await liveShop();
    const set = (choice: TermsChange['choice'] & {}) =>
      changePaymentTerms(app, app.projectId, { version: null, choice });
    await set({ off: ['ETH/ethereum', 'USDT/ethereum'] });
    await set({ order: ['USDC/polygon', 'ETH/ethereum', 'BTC/bitcoin'] });
    expect(await listed(app)).toEqual(['USDC/polygon', 'BTC/bitcoin', 'USDT/polygon', 'USDC/ethereum']);
    await set({ off: [] });
    expect((await listed(app)).slice(0, 3)).toEqual(['USDC/polygon', 'ETH/ethereum', 'BTC/bitcoin']);
    for (const [choice, rule] of [
      [{ order: ['BTC/bitcoin', 'BTC/bitcoin'] }, '--coin-order must name each coin only once.'],
      [{ off: ['BTC'] }, '--coins-off: "BTC" is not one of BTC/bitcoin, '],
      [{ off: allTokens().map(coinName) }, '--coins-off must leave out at least one coin'],
    ] as const) {
      const outcome = await set(choice);
      expect(isRejected(outcome) && refusalMessage(outcome)).toContain(rule);
    }
    await set({ order: [] });
    expect(await listed(app)).toEqual(await listed(await liveShop()));
  });

  it('leave test mode as it is', async () => {
    const app = await liveShop();
    await offer(app, only('BTC/bitcoin'));
    expect((await app.pay({ token: { asset: 'USDT', network: 'polygon' } })).quote).toMatchObject({ asset: 'USDT' });
  });
});

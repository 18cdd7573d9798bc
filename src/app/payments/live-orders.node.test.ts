import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { databaseProxy } from '../../../test/database-proxy.ts';
import type { Network } from '../../domain/networks.ts';
import { tokenOf } from '../../domain/asset.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { addressesFrom } from '../../rails/derive-addresses.ts';
import { createWalletOpener } from '../../rails/wallet.ts';
import { fixedRates, parseFixedRates } from '../../rates/fixed.ts';
import type { Database, DatabaseHandle } from '../../store/database.ts';
import { chainRail } from '../../modes/live-rail.ts';
import { createPaymentCreator, type CreateOutcome } from './create-payment.ts';
import type { NewPayment } from './draft-payment.ts';
import { account, liveOrder, xpubOf } from '../chains/follow-chain.fixture.ts';
import { completeSandboxPayment, selectToken } from './payment-actions.ts';
import { simulatePayment } from './simulate-payment.ts';
import { prepareAddresses } from '../../modes/prepare-addresses.ts';
import { changeProject, createProject } from '../projects/projects.ts';
import type { Rail } from '../../modes/rail.ts';
import { setProjectWallet, walletsOf } from '../projects/wallets.ts';

const XPUB = xpubOf(account());
const BITCOIN = `wpkh(${XPUB}/0/*)`;
const TREASURY = '0x52908400098527886E0F7030069857D2E4169EE7';
const TOKENS = [tokenOf('BTC'), tokenOf('ETH'), tokenOf('USDT')].filter((token) => token !== null);

function railOn(db: Database): Rail {
  const rates = parseFixedRates('BTC=60000,ETH=3000,USDT=1');
  if (rates.kind === 'invalid') throw new Error(rates.message);
  const openWallet = createWalletOpener(MAIN_CHAINS);
  return chainRail({
    db,
    rates: fixedRates(rates.prices),
    tokens: TOKENS,
    openWallet,
    evmChain: () => null,
    payoutChain: () => 'main',
  });
}

function liveApp(): Promise<TestApp> {
  return testApp({ live: ({ db }) => railOn(db) });
}

type Create = (overrides?: Partial<NewPayment>) => Promise<CreateOutcome>;

/** A further process on the same database. */
function processOn(app: TestApp, handle: DatabaseHandle = app.database, rail: Rail = railOn(handle.db)): Create {
  const creator = createPaymentCreator({ ...app, db: handle.db, railFor: () => rail }, handle.pipeline);
  return (overrides) =>
    creator.create(liveOrder(app.projectId, overrides), (payment) => JSON.stringify(quoteOf(payment)), null);
}

function quoteOf({
  quote,
}: {
  readonly quote: { readonly address: string; readonly owedUnits: bigint; readonly toleranceUnits: bigint } | null;
}) {
  return { address: quote?.address, owed: String(quote?.owedUnits), tolerance: String(quote?.toleranceUnits) };
}

/** The created order; throws if it was refused. */
async function made(outcome: Promise<CreateOutcome>): Promise<ReturnType<typeof quoteOf>> {
  const created = await outcome;
  if (created.kind !== 'done') throw new Error(JSON.stringify(created));
  return JSON.parse(created.body) as ReturnType<typeof quoteOf>;
}

async function setWallet(
  app: TestApp,
  overrides: {
    readonly projectId?: string;
    readonly network?: Network;
    readonly source?: { readonly kind: 'xpub' | 'treasury' | 'descriptor'; readonly text: string };
    readonly toleranceBasisPoints?: number | null;
  } = {},
  count = 5,
): Promise<readonly string[]> {
  const request = {
    projectId: app.projectId,
    network: 'ethereum',
    source: { kind: 'xpub', text: XPUB } as const,
    confirmations: null,
    toleranceBasisPoints: null,
    ...overrides,
  };
  const outcome = await setProjectWallet(app, request, MAIN_CHAINS);
  if (outcome.kind !== 'done') throw new Error(outcome.code);
  return addressesFrom(outcome.deriver, 0, count);
}

async function nextIndex(app: TestApp): Promise<number | undefined> {
  const outcome = await walletsOf(app, app.projectId);
  return outcome.kind === 'done' ? outcome.wallets[0]?.nextIndex : undefined;
}

it('no address is handed out twice, and none is skipped, whoever takes from a wallet and whatever is refused', async () => {
  const app = await liveApp();
  const addresses = await setWallet(app, {}, 400);
  const other = await createProject(app, 'Another shop of the same owner');
  if (other.kind !== 'done') throw new Error(other.code);
  await setWallet(app, { projectId: other.project.id });
  const processes = [processOn(app), processOn(app)];
  const token = { asset: 'ETH', network: 'ethereum' };
  const changed = async (): Promise<unknown> => {
    const transaction = await app.pay({ mode: 'live', api: 'transaction', token: null });
    return selectToken(app, { id: transaction.id }, token);
  };
  const ways: Readonly<Record<string, (process: Create) => Promise<unknown>>> = {
    order: (create) => create(),
    'order of the other project': (create) => create({ projectId: other.project.id }),
    'transaction with a token': (create) => create({ api: 'transaction', token }),
    'transaction without one': (create) => create({ api: 'transaction', token: null }),
    'token chosen later': changed,
    'too small': (create) => create({ amountMinor: 0n }),
    'no wallet': (create) => create({ token: { asset: 'BTC', network: null } }),
    'refused by the database': (create) => create({ description: 'a NUL \0' }),
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.tuple(fc.nat(1), fc.constantFrom(...Object.keys(ways))), { minLength: 1, maxLength: 12 }), {
        minLength: 1,
        maxLength: 4,
      }),
      async (rounds) => {
        for (const together of rounds) {
          await Promise.allSettled(
            together.map(async ([number, way]) => ways[way]?.(processes[number] ?? processOn(app))),
          );
        }
        const issued = await app.db.selectFrom('payment_addresses').select(['address', 'address_index']).execute();
        const indexes = issued.map((row) => row.address_index ?? -1).toSorted((a, b) => a - b);
        expect(indexes).toEqual(indexes.map((_, index) => index));
        expect(await nextIndex(app)).toBe(indexes.length);
        for (const row of issued) expect(row.address).toBe(addresses[row.address_index ?? -1]?.toLowerCase());
      },
    ),
    { numRuns: 8 },
  );
});

it('an order that cannot be paid fails alone, and takes no index along: its neighbours get the next ones', async () => {
  const app = await liveApp();
  const addresses = await setWallet(app);
  const poor = await createProject(app, 'Without a wallet');
  if (poor.kind !== 'done') throw new Error(poor.code);
  const create = processOn(app);
  const outcomes = await Promise.all([
    create(),
    create({ projectId: poor.project.id }),
    create({ amountMinor: 0n }),
    create({ token: { asset: 'DOGE', network: null } }),
    create(),
  ]);
  expect(
    outcomes.map((outcome) => (outcome.kind === 'done' ? JSON.parse(outcome.body).address : outcome.kind)),
  ).toEqual([addresses[0], 'refused', 'refused', 'refused', addresses[1]]);
  const [, withoutWallet, , unknown] = outcomes;
  expect(withoutWallet).toMatchObject({
    param: 'crypto_currency',
    message: 'ETH cannot be paid on ethereum yet.',
  });
  expect(unknown).toMatchObject({ message: 'crypto_currency must be one of ETH, USDT.' });
  expect(await nextIndex(app)).toBe(2);
});

it('an order whose project gets its wallet while the order is being refused is created after all', async () => {
  const app = await liveApp();
  const { lock, ...rail } = railOn(app.db);
  let address: string | undefined;
  const create = processOn(app, app.database, {
    ...rail,
    lock: async (...wanted) => {
      const issuer = await (lock?.(...wanted) ?? never());
      if (address === undefined) [address] = await setWallet(app);
      return issuer;
    },
  });
  expect((await made(create())).address).toBe(address);
});

it('a live payment can be neither completed nor simulated', async () => {
  const app = await liveApp();
  await setWallet(app);
  const payment = await app.pay({ mode: 'live', token: { asset: 'ETH', network: 'ethereum' } });
  expect(await completeSandboxPayment(app, { id: payment.id })).toEqual({ kind: 'not_sandbox' });
  expect(await simulatePayment(app, { id: payment.id }, 'paid')).toEqual({ kind: 'not_sandbox' });
  expect(await app.read(payment.id)).toEqual(payment);
});

it('a wallet, its tolerance and the spread that were set are used by every process from the next order on, with no notification', async () => {
  const app = await liveApp();
  const [first] = await setWallet(app);
  const processes = [processOn(app), processOn(app)];
  const inTurn = async () => [await made(processes[0]?.() ?? never()), await made(processes[1]?.() ?? never())];
  expect((await inTurn())[0]).toMatchObject({ owed: '10000000000000000', tolerance: '50000000000000' });

  await setWallet(app, { toleranceBasisPoints: 0 });
  expect((await inTurn()).map(({ tolerance }) => tolerance)).toEqual(['0', '0']);
  await changeProject(app, app.projectId, { spreadBasisPoints: 100 });
  const dearer = await inTurn();
  expect(dearer.every(({ owed }) => BigInt(owed) > 10_100_000_000_000_000n)).toBe(true);
  const [deposit, secondDeposit] = await setWallet(app, { source: { kind: 'treasury', text: TREASURY } });
  expect((await inTurn()).map(({ address }) => address)).toEqual([deposit, secondDeposit]);
  expect(deposit).not.toBe(first);
});

/** Changes of an order's terms, each with what the order then has. */
const CHANGES: Readonly<Record<string, (app: TestApp) => Promise<object>>> = {
  'the wallet': async (app) => {
    const [address] = await setWallet(app, { source: { kind: 'treasury', text: TREASURY } });
    return { address };
  },
  'its tolerance': async (app) => {
    await setWallet(app, { toleranceBasisPoints: 0 });
    return { tolerance: '0' };
  },
  'the spread': async (app) => {
    await changeProject(app, app.projectId, { spreadBasisPoints: 100 });
    return { owed: '10101020000000000' };
  },
};

it.each(Object.entries(CHANGES))(
  '%s that was set while an order waited for its wallet is used by that order',
  async (_name, change) => {
    const app = await liveApp();
    await setWallet(app);
    const create = processOn(app);
    const holder = await app.database.connect();
    await holder.query('begin; select * from address_indexes for update');
    const order = made(create());
    await untilWaiting(app);
    const changed = await change(app);
    await holder.query('rollback');
    await holder.end();
    expect(await order).toMatchObject(changed);
  },
);

it('a batch whose outcome is unknown is not saved again, and the next one continues after it', async () => {
  const app = await liveApp();
  const addresses = await setWallet(app);
  const proxy = await databaseProxy(app.database);
  const handle = proxy.open(1_000);
  const create = processOn(app, handle);
  const rail = railOn(handle.db);
  const creator = createPaymentCreator({ ...app, db: handle.db, railFor: () => rail }, handle.pipeline);
  // The answer is made when everything was read, and sends what saves it.
  const lost = () => creator.create(liveOrder(app.projectId), () => (proxy.silence('answers'), ''), null);
  expect((await made(create())).address).toBe(addresses[0]);
  const outcomes = await Promise.allSettled([lost(), lost()]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect((await made(create())).address).toBe(addresses[3]);
  expect(await nextIndex(app)).toBe(4);
});

function never(): never {
  throw new Error('This test has made it.');
}

it('after a start, the next addresses of the wallets that orders came to last are prepared, whatever else is set', async () => {
  const app = await liveApp();
  await setWallet(app);
  await made(processOn(app)());
  const idle = await createProject(app, 'Never paid yet');
  if (idle.kind !== 'done') throw new Error(idle.code);
  await setWallet(app, {
    projectId: idle.project.id,
    network: 'bitcoin',
    source: { kind: 'descriptor', text: BITCOIN },
  });
  const prepared: unknown[] = [];
  const addresses = async (...asked: readonly unknown[]) => (prepared.push(asked), []);
  await prepareAddresses(app.db, ['ethereum', 'bitcoin'], addresses);
  expect(prepared).toMatchObject([
    ['ethereum', { kind: 'xpub', text: XPUB }, 1, 0],
    ['bitcoin', { kind: 'descriptor' }, 0, 0],
  ]);
  prepared.length = 0;
  await prepareAddresses(app.db, [], addresses);
  expect(prepared).toEqual([]);
});

/** Resolves when a statement waits for a lock. */
async function untilWaiting(app: TestApp): Promise<void> {
  const client = await app.database.connect();
  try {
    for (;;) {
      const { rows } = await client.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      if (rows.length > 0) return;
    }
  } finally {
    await client.end();
  }
}

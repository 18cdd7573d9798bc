import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { liveService, mined, SOON, startGate, type Gate, type LiveService, type Shop } from './live-evm.fixture.ts';
import type { Running } from './started-program.fixture.ts';
import { DEADLINE_MS } from '../deadline.ts';

const OWED = parseEther('0.01');
/** Nodes are asked how they are every 15 seconds. */
const NOTICED = { timeout: DEADLINE_MS, interval: 100 };

/** Restarted and swapped on its port. */
let ethereum: Anvil;
/** Behind a gate. */
let base: Anvil;
/** Behind a gate; the service is given Ethereum's node for it too. */
let arbitrum: Anvil;
let gates: Readonly<Record<'base' | 'arbitrum', Gate>>;
let service: LiveService;
let running: Running;
let shop: Shop;

beforeAll(async () => {
  [ethereum, base, arbitrum] = await Promise.all([
    startAnvil(),
    startAnvil({ chainId: 31_338 }),
    startAnvil({ chainId: 31_339 }),
  ]);
  await Promise.all([ethereum, base, arbitrum].map((node) => node.mine(20)));
  gates = { base: await startGate(base), arbitrum: await startGate(arbitrum) };
  service = await liveService({
    ETHEREUM_RPC_URL: ethereum.url,
    BASE_RPC_URL: gates.base.url,
    BASE_CHAIN_ID: '31338',
    ARBITRUM_RPC_URL: `${ethereum.url},${gates.arbitrum.url}`,
    ARBITRUM_CHAIN_ID: '31339',
  });
  running = await service.start();
  shop = await service.shop(
    `--network ethereum --confirmations 2 --xpub ${xpubOf(account(1))}`,
    `--network base --confirmations 2 --xpub ${xpubOf(account(2))}`,
    `--network arbitrum --confirmations 2 --xpub ${xpubOf(account(3))}`,
  );
});

afterAll(async () => {
  await service?.close();
  await Promise.all([gates?.base.stop(), gates?.arbitrum.stop()]);
  await Promise.all([ethereum?.stop(), base?.stop(), arbitrum?.stop()]);
});

/** The report of `/readyz` about a network. */
async function readiness(network: string): Promise<string> {
  const answer: unknown = await (await fetch(`${service.url}/readyz`)).json();
  return String(Object(answer).checks[network]);
}

async function statusOf(network: string): Promise<unknown> {
  const states: readonly unknown[] = Object(await service.command('network status'));
  return states.find((state) => Object(state).network === network);
}

/** Stops Ethereum's node and starts one on its port: with what it knew, or on a chain of its own. */
async function startInPlace(chainId?: number, state?: unknown): Promise<void> {
  const port = Number(new URL(ethereum.url).port);
  await ethereum.stop();
  ethereum = await startAnvil({ port, ...(chainId === undefined ? {} : { chainId }) });
  if (state !== undefined) await ethereum.rpc('anvil_loadState', [state]);
}

// Each on a network of its own, because it takes a while until the service notices.
describe.concurrent('a node', () => {
  it('that is restarted is followed on, and one on another chain id in its place is not believed', async ({
    expect,
  }) => {
    const [before, after] = [await shop.order(), await shop.order()];
    const first = await mined(ethereum, ethereum.transfer(before.address, OWED));
    await shop.becomes(before, { status: 'confirming' });
    const state = await ethereum.rpc('anvil_dumpState');
    await startInPlace(undefined, state);
    await ethereum.mine(1);
    await shop.becomes(before, { status: 'completed', transaction_hash: first });
    await service.followed(ethereum);
    const newState = await ethereum.rpc('anvil_dumpState');

    await startInPlace(1);
    await ethereum.transfer(after.address, OWED);
    await ethereum.mine(60);
    const wayOut = 'Set ETHEREUM_RPC_URL to a node of chain 31337, or ETHEREUM_CHAIN_ID to 1.';
    await expect.poll(() => readiness('ethereum'), NOTICED).toContain(wayOut);
    expect(await (await fetch(`${service.url}/readyz`)).json()).toMatchObject({ status: 'degraded' });
    // Scrapes within half a second share one answer.
    await expect.poll(() => service.gauge('cointill_network_healthy', 'ethereum'), NOTICED).toBe(0);
    // The nodes' own state is asked for less often than the chain is read.
    await expect
      .poll(() => statusOf('ethereum'), NOTICED)
      .toMatchObject({
        healthy: false,
        problem: expect.stringContaining(wayOut),
        nodes: [{ url: ethereum.url, height: null, last_error: expect.stringContaining('is on chain 1') }],
      });
    await expect.poll(() => running.text(), NOTICED).toContain(wayOut);
    expect(await shop.read(after)).toMatchObject({ status: 'pending', amount_received: 0 });
    // Orders can still be created: their addresses come from the wallet.
    expect(await shop.order()).toMatchObject({ status: 'pending', network: 'ethereum' });

    await startInPlace(undefined, newState);
    const hash = await mined(ethereum, ethereum.transfer(after.address, OWED));
    await ethereum.mine(1);
    await expect.poll(() => shop.read(after), NOTICED).toMatchObject({ status: 'completed', transaction_hash: hash });
    await expect.poll(() => readiness('ethereum'), NOTICED).toBe('ok');
    expect(await shop.read(before)).toMatchObject({ status: 'completed', exception: 'none', amount_received: 0.01 });
  });

  it('of the same chain id with other blocks changes nothing, and is reported everywhere', async ({ expect }) => {
    const [paid, open] = [await shop.order({ network: 'base' }), await shop.order({ network: 'base' })];
    await mined(base, base.transfer(paid.address, OWED));
    await base.mine(1);
    await shop.becomes(paid, { status: 'completed' });
    const stranger = await startAnvil({ chainId: 31_338 });
    try {
      await stranger.transfer(open.address, OWED);
      await stranger.mine(5);
      gates.base.lead(stranger);
      const wayOut = 'Set BASE_RPC_URL to a node of the previous chain.';
      await expect.poll(() => running.text(), NOTICED).toContain(wayOut);
      expect(await shop.read(paid)).toMatchObject({ status: 'completed', exception: 'none', amount_received: 0.01 });
      expect(await shop.read(open)).toMatchObject({ status: 'pending', amount_received: 0 });
      await expect.poll(() => readiness('base'), NOTICED).toContain(wayOut);
    } finally {
      gates.base.lead(base);
      await stranger.stop();
    }
  });

  it('of several that is on another chain is passed over, and an outage of the other loses nothing', async ({
    expect,
  }) => {
    const [order, later] = [await shop.order({ network: 'arbitrum' }), await shop.order({ network: 'arbitrum' })];
    const hash = await mined(arbitrum, arbitrum.transfer(order.address, OWED));
    await arbitrum.mine(1);
    await shop.becomes(order, { status: 'completed', transaction_hash: hash });
    await expect
      .poll(() => statusOf('arbitrum'), NOTICED)
      .toMatchObject({
        nodes: expect.arrayContaining([
          expect.objectContaining({
            height: null,
            last_error: expect.stringContaining('Set ARBITRUM_RPC_URL to a node of chain 31339'),
          }),
          expect.objectContaining({ url: gates.arbitrum.url, last_error: null }),
        ]),
      });

    gates.arbitrum.intercept(() => ({ status: 502, text: 'bad gateway' }));
    await expect.poll(() => running.text(), SOON).toContain('HTTP status 502');
    const second = await mined(arbitrum, arbitrum.transfer(later.address, OWED));
    await arbitrum.mine(1);
    gates.arbitrum.intercept(() => null);
    await shop.becomes(later, { status: 'completed', transaction_hash: second });
  });
});

import { parseEther } from 'viem';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { liveService, mined, SOON, startGate, type Gate, type LiveService, type Shop } from './live-evm.fixture.ts';

let anvil: Anvil;
/** A door to the node for each worker, so that it shows who asks. */
let gates: readonly [Gate, Gate];
let service: LiveService;
let shop: Shop;

beforeAll(async () => {
  anvil = await startAnvil();
  gates = [await startGate(anvil), await startGate(anvil)];
  const settings = { ETHEREUM_RPC_URL: anvil.url, SECRET_KEY: 'one-key-for-all-processes-of-a-shop' };
  service = await liveService(settings, 'processes');
  await service.start({ ROLE: 'api' });
  shop = await service.shop(`--network ethereum --confirmations 2 --xpub ${xpubOf(account(1))}`);
});

afterAll(async () => {
  await service?.close();
  await Promise.all((gates ?? []).map((gate) => gate.stop()));
  await anvil?.stop();
});

async function paysAndCompletes(): Promise<void> {
  const order = await shop.order();
  const hash = await mined(anvil, anvil.transfer(order.address, parseEther('0.01')));
  await anvil.mine(1);
  await shop.becomes(order, { status: 'completed', transaction_hash: hash });
  await expect.poll(() => shop.told(order), SOON).toEqual(['order.created', 'order.confirming', 'order.completed']);
}

it('of two workers one follows a chain, and the other takes over when it dies', async () => {
  /** The worker that made each call. */
  const asked: number[] = [];
  for (const [worker, gate] of gates.entries()) {
    gate.intercept(() => {
      asked.push(worker);
      return null;
    });
  }
  const startWorker = async (worker: 0 | 1) => {
    const running = await service.start({ ROLE: 'worker', ETHEREUM_RPC_URL: gates[worker].url });
    // No worker of a failed attempt takes a turn in the next.
    onTestFinished(async () => void (await running.end('SIGKILL')));
    return running;
  };
  const workers = await Promise.all([startWorker(0), startWorker(1)]);
  await paysAndCompletes();
  const first = asked[0] === 0 ? 0 : 1;
  const second = first === 0 ? 1 : 0;
  expect(new Set(asked)).toEqual(new Set([first]));

  await workers[first].end('SIGKILL');
  const turn = asked.length;
  await paysAndCompletes();
  expect(new Set(asked.slice(turn))).toEqual(new Set([second]));

  // A worker that comes back waits for its turn, which comes at once when the other stops cleanly.
  await startWorker(first);
  await paysAndCompletes();
  expect(new Set(asked.slice(turn))).toEqual(new Set([second]));
  expect(await workers[second].end('SIGTERM')).toBe(0);
  const lastTurn = asked.length;
  await paysAndCompletes();
  expect(new Set(asked.slice(lastTurn))).toEqual(new Set([first]));
});

import { HDKey } from '@scure/bip32';
import { request } from 'undici';
import { startNode } from '../test/rpc-node.ts';
import { load, median, percentile, type Load } from './load.ts';
import { makeKey, makeMerchant } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService } from './service.ts';

const SECONDS = 3;
/** Many short rounds: each live load is compared with the sandbox's next to it. */
const ROUNDS = 7;
/** Before each burst, live or not: what is made ahead for live orders is, and neither finds the machine busier. */
const IDLE_MS = 10_000;
/** The orders of a burst. */
const BURST = 1_000;
const BURSTS = 5;
/** The requests per second of a busy shop. */
const SHOP_RATE = 50;
const SHOP_SECONDS = 10;
const SHOP_ROUNDS = 4;

const XPUB = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/84'/0'/0'").publicExtendedKey;
const ETHEREUM_XPUB = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/44'/60'/0'").publicExtendedKey;
const TREASURY = '0x52908400098527886E0F7030069857D2E4169EE7';

/** The kinds of wallets, and the least share of the sandbox's orders per second; null: the share is only shown. */
const WALLETS = [
  {
    name: 'BTC from an xpub',
    asset: 'BTC',
    network: 'bitcoin',
    source: ['--descriptor', `wpkh(${XPUB}/0/*)`],
    sustained: null,
    burst: 0.75,
  },
  {
    name: 'ETH from an xpub',
    asset: 'ETH',
    network: 'ethereum',
    source: ['--xpub', ETHEREUM_XPUB],
    sustained: null,
    burst: null,
  },
  {
    name: 'ETH deposits',
    asset: 'ETH',
    network: 'ethereum',
    source: ['--treasury', TREASURY],
    sustained: 0.75,
    burst: 0.75,
  },
] as const;

/** Live orders beside orders of the sandbox in the same run. Their networks' nodes are silent, and nobody asks them. */
export async function liveOrders(): Promise<readonly Figure[]> {
  const node = await startNode(() => ({ error: { code: -28, message: 'Loading block index…' } }));
  const service = await startBenchService({
    env: {
      SANDBOX_COMPLETE_AFTER_SECONDS: '86400',
      BITCOIN_RPC_URL: node.url,
      ETHEREUM_RPC_URL: node.url,
      FIXED_RATES: 'BTC=60000,ETH=3000',
      RATE_SOURCES: 'none',
      LOG_LEVEL: 'fatal',
    },
  });
  try {
    const { projectId, headers } = await makeMerchant(service);
    const live = await makeKey(service, projectId, 'live');
    const figures: Figure[] = [];
    for (const wallet of WALLETS) {
      const { network, asset, source } = wallet;
      await service.cli('wallet', 'set', '--project', projectId, '--network', network, ...source);
      const body = JSON.stringify({ ...ORDER, crypto_currency: asset });
      const order = (base: string, key: Record<string, string>) => (amount?: number) =>
        load({
          url: `${base}/v1/orders`,
          method: 'POST',
          headers: key,
          body,
          seconds: SECONDS,
          ...(amount === undefined ? {} : { amount }),
        });
      const [ofLive, ofSandbox] = [order(service.live, live), order(service.test, headers)];
      await ofSandbox();
      await ofLive();
      const sustained = await besides(
        ROUNDS,
        () => ofLive(),
        () => ofSandbox(),
      );
      figures.push(figure(`live orders, ${wallet.name}, against the sandbox's`, sustained, wallet.sustained));
      const [liveMs, sandboxMs]: [number[], number[]] = [[], []];
      for (let round = 0; round < SHOP_ROUNDS; round += 1) {
        liveMs.push(...(await steadily({ url: `${service.live}/v1/orders`, headers: live, body })));
        sandboxMs.push(...(await steadily({ url: `${service.test}/v1/orders`, headers, body })));
      }
      figures.push(steadyFigure(wallet.name, percentile(liveMs, 0.99), percentile(sandboxMs, 0.99)));
      if (wallet.burst === null) continue;
      const idle = async (run: () => Promise<Load>): Promise<Load> => {
        await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
        return run();
      };
      const burst = await besides(
        BURSTS,
        () => idle(() => ofLive(BURST)),
        () => idle(() => ofSandbox(BURST)),
      );
      figures.push(figure(`${BURST} live orders at once, ${wallet.name}, against the sandbox's`, burst, wallet.burst));
    }
    return figures;
  } finally {
    await service.stop();
    await node.stop();
  }
}

const ORDER = { amount: 25, currency: 'USD', description: 'Two tickets', customer_email: 'customer@example.com' };

/** Loads in turn, each live one between two of the sandbox. */
async function besides(rounds: number, live: () => Promise<Load>, sandbox: () => Promise<Load>) {
  const results: { live: Load; sandbox: Load }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const measured =
      round % 2 === 0
        ? { live: await live(), sandbox: await sandbox() }
        : { sandbox: await sandbox(), live: await live() };
    results.push(measured);
  }
  return results;
}

/** Posts at a shop's rate, whether or not earlier answers are there; how long each took. */
async function steadily(post: {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}): Promise<readonly number[]> {
  const { url, ...options } = post;
  const taken: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let sent = 0; sent < SHOP_RATE * SHOP_SECONDS; sent += 1) {
    const dueAt = startedAt + (sent * 1_000) / SHOP_RATE;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - performance.now())));
    taken.push(
      request(url, { method: 'POST', ...options }).then(async ({ statusCode, body }) => {
        await body.dump();
        if (statusCode !== 200) throw new Error(`An order was answered ${statusCode}.`);
        return performance.now() - dueAt;
      }),
    );
  }
  return Promise.all(taken);
}

function steadyFigure(name: string, live: number, sandbox: number): Figure {
  return {
    name: `p99 of live orders at ${SHOP_RATE} a second, ${name}, against the sandbox's`,
    measured: `${(live / sandbox).toFixed(2)} (${live.toFixed(1)} ms, ${sandbox.toFixed(1)} ms)`,
    target: '1.2',
    holds: live / sandbox <= 1.2,
  };
}

function figure(
  name: string,
  rounds: readonly { readonly live: Load; readonly sandbox: Load }[],
  least: number | null,
): Figure {
  const failed = rounds.reduce((sum, { live, sandbox }) => sum + live.non2xx + sandbox.non2xx, 0);
  if (failed > 0) throw new Error(`${failed} requests failed.`);
  const ratio = median(rounds.map(({ live, sandbox }) => live.requestsPerSecond / sandbox.requestsPerSecond));
  const rate = (of: 'live' | 'sandbox'): number =>
    Math.round(median(rounds.map((round) => round[of].requestsPerSecond)));
  const p99 = median(rounds.map(({ live }) => live.p99Ms));
  return {
    name,
    measured: `${ratio.toFixed(2)} (${rate('live')} of ${rate('sandbox')}/s), p99 ${p99} ms`,
    target: least === null ? 'shown only' : String(least),
    holds: least === null || ratio >= least,
  };
}

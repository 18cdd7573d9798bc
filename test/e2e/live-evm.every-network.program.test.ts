import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { ASSET_CODES, type AssetCode } from '../../src/domain/asset-code.ts';
import { tokenOf } from '../../src/domain/asset.ts';
import { EVM_NETWORKS, nativeAsset, NETWORK_FACTS, settingOf, type EvmNetwork } from '../../src/domain/networks.ts';
import { ANVIL_ACCOUNT, startAnvil, type Anvil } from '../anvil.ts';
import { placeToken } from '../erc20.ts';
import {
  liveService,
  mined,
  owedUnits,
  SOON,
  type Fields,
  type LiveService,
  type Order,
  type Shop,
} from './live-evm.fixture.ts';

/** Every network with its own chain id, and tokens where the well-known ones are: nothing is set but its node. */
const nodes = new Map<EvmNetwork, Anvil>();
const treasury = freshAddress();
let service: LiveService;
let shop: Shop;

beforeAll(async () => {
  await Promise.all(
    EVM_NETWORKS.map(async (network) => {
      const anvil = await startAnvil({ chainId: NETWORK_FACTS[network].chainId });
      nodes.set(network, anvil);
      for (const { contract, decimals } of Object.values(NETWORK_FACTS[network].tokens)) {
        await placeToken(anvil, contract, decimals);
      }
    }),
  );
  service = await liveService({
    ETHEREUM_CHAIN_ID: String(NETWORK_FACTS.ethereum.chainId),
    ...Object.fromEntries(EVM_NETWORKS.map((network) => [settingOf(network, 'RPC_URL'), nodeOf(network).url])),
  });
  await service.start();
  shop = await service.shop(
    ...EVM_NETWORKS.map((network) => `--network ${network} --confirmations 2 --treasury ${treasury}`),
  );
});

afterAll(async () => {
  await service?.close();
  await Promise.all([...nodes.values()].map((anvil) => anvil.stop()));
});

describe.each(EVM_NETWORKS)('on %s', (network) => {
  const { chainId, label } = NETWORK_FACTS[network];
  const assets = ASSET_CODES.filter((asset) => tokenOf(asset, network) !== null);
  const paid = new Map<AssetCode, Order>();

  it('each asset is paid by a wallet as the page asks, and completes its order', async () => {
    for (const asset of assets) {
      const order = await shop.order({ crypto_currency: asset, network });
      expect(order).toMatchObject({ network, crypto_currency: asset });
      const page = await (await fetch(`${service.url}/pay/${order.id}`)).text();
      expect(page).toContain(label);
      expect(page).toContain(`@${chainId}`);
      expect(page).toContain('<svg');
      const hash = await sign(network, transactionOf(page));
      await nodeOf(network).mine(1);
      await shop.becomes(order, { status: 'completed', exception: 'none', transaction_hash: hash });
      await expect.poll(() => shop.told(order), SOON).toContain('order.completed');
      paid.set(asset, order);
    }
  });

  it('a refund, of its coin or of a token, is paid as it is shown for signing, and completes', async () => {
    for (const asset of new Set([...assets.slice(0, 1), ...assets.slice(-1)])) {
      const order = paid.get(asset);
      const address = freshAddress();
      const created = await shop.call('/v1/refunds', { order_id: order?.id, address, amount: 10 });
      expect(created).toMatchObject({ status: 200, body: { network, crypto_currency: asset } });
      const id = textAt(created.body, 'id');
      const shown: Fields = Object(await service.command(`refund show ${id}`));
      expect(shown['call']).toMatchObject({ chain_id: chainId });
      expect(textAt(shown, 'payment_uri')).toContain(`@${chainId}`);
      const call: { readonly to: string; readonly value: string; readonly data: string } = Object(shown['call']);
      const hash = await sign(network, { ...call, value: `0x${BigInt(call.value).toString(16)}` });
      await nodeOf(network).mine(1);
      await expect
        .poll(async () => (await shop.call(`/v1/refunds/${id}`)).body, SOON)
        .toMatchObject({ status: 'completed', transaction_hash: hash });
    }
  });

  it('a sweep pays all deposits out to the treasury', async () => {
    const plan: {
      readonly chain_id: number;
      readonly deposits: readonly unknown[];
      readonly calls: readonly { readonly to: string; readonly data: string; readonly gas_limit: string }[];
    } = Object(await service.command(`sweep plan --project ${shop.projectId} --network ${network}`));
    expect(plan.chain_id).toBe(chainId);
    expect(plan.deposits).toHaveLength(assets.length);
    for (const { to, data, gas_limit } of plan.calls) {
      await sign(network, { to, data, value: '0x0', gas: `0x${BigInt(gas_limit).toString(16)}` });
    }
    const swept = await service.command(`sweep plan --project ${shop.projectId} --network ${network}`);
    expect(swept).toMatchObject({ deposits: [], calls: [] });
    for (const asset of assets)
      expect(await balanceOf(network, asset)).toBe(paidUnits(paid.get(asset), network, asset));
  });
});

it('the status of each network is shown by the command and by monitoring', async () => {
  await Promise.all(EVM_NETWORKS.map((network) => service.followed(nodeOf(network), network)));
  const healthy = EVM_NETWORKS.map((network) => expect.objectContaining({ network, healthy: true }));
  expect(await service.command('network status')).toEqual(healthy);
  const ready = await fetch(`${service.url}/readyz`);
  expect(await ready.json()).toMatchObject({ checks: Object.fromEntries(EVM_NETWORKS.map((name) => [name, 'ok'])) });
});

function nodeOf(network: EvmNetwork): Anvil {
  const node = nodes.get(network);
  if (node === undefined) throw new Error(`${network} has no node`);
  return node;
}

function freshAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}

/** The transaction that the page hands to a wallet in the browser. */
function transactionOf(page: string): Fields {
  const [, attribute = ''] = /data-transaction="([^"]*)"/.exec(page) ?? [];
  const { chainId: _, ...transaction } = JSON.parse(attribute.replaceAll('&quot;', '"'));
  return transaction;
}

/** Sends exactly this from a wallet with money. */
function sign(network: EvmNetwork, transaction: Fields): Promise<string> {
  const from = ANVIL_ACCOUNT;
  return mined(
    nodeOf(network),
    nodeOf(network)
      .rpc('eth_sendTransaction', [{ from, ...transaction }])
      .then(String),
  );
}

async function balanceOf(network: EvmNetwork, asset: AssetCode): Promise<bigint> {
  const node = nodeOf(network);
  if (asset === nativeAsset(network)) return BigInt(String(await node.rpc('eth_getBalance', [treasury, 'latest'])));
  const data = `0x70a08231${treasury.slice(2).padStart(64, '0')}`;
  const call = { to: NETWORK_FACTS[network].tokens[asset]?.contract, data };
  return BigInt(String(await node.rpc('eth_call', [call, 'latest'])));
}

function paidUnits(order: Order | undefined, network: EvmNetwork, asset: AssetCode): bigint {
  const token = tokenOf(asset, network);
  if (order === undefined || token === null) throw new Error(`no order was paid in ${asset}`);
  return owedUnits(order, token.decimals);
}

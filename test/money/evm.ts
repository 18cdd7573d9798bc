import { encodeFunctionData } from 'viem';
import { DEPOSIT_FACTORY, depositAddress } from '../../src/rails/evm/deposit.ts';
import { FACTORY_ABI, freshAddress, freshTreasury, NATIVE, startDepositChain, STRANGER } from '../deposits/chain.ts';
import { inOneBlock } from '../e2e/live-evm.fixture.ts';
import { contractOf, deployContract, deployToken } from '../erc20.ts';
import { forwardTo, startNode, type NodeAnswer, type NodeCall } from '../rpc-node.ts';
import { evmReader } from './ledger.ts';
import type { Chain, Pay } from './scene.ts';
import type { Asset } from './shop.ts';

/** An anvil on which the shop takes ether and two tokens, each order at a deposit contract of one treasury. */
export interface EvmChain extends Chain {
  /** Ether as contracts pay, within a transaction. */
  readonly payByContract: Pay;
  /** Sends what empties deposits of all that is accepted, by a sender who has no part in it; answers with the hash. */
  sweep(addresses: readonly string[]): Promise<string>;
  /** Who sends sweeps. */
  readonly sweeper: string;
  nextNonce(): Promise<number>;
  /** With a nonce and a gas price of their own where given: the higher price replaces the lower one. */
  send(to: string, data: string, own?: { readonly nonce: number; readonly gasPriceGwei: number }): Promise<string>;
  /** Takes a transaction out of the pool. */
  drop(hash: string): Promise<void>;
  /** The address of a deposit, handed out or not. */
  deposit(index: number): string;
  /** The index of an address that was handed out. */
  indexOf(address: string): number;
  /** Does several things, whose transactions get into one block. */
  inOneBlock(work: () => Promise<void>): Promise<void>;
  /** Takes the blocks from a height on off; their transactions are mined again in one block, or never. */
  replaceFrom(height: number, fate: 'again' | 'gone'): Promise<void>;
}

const MAX_INDEX = 5_000;

export async function startEvm(): Promise<EvmChain> {
  const { anvil } = await startDepositChain();
  const [usdt, usdc] = [await deployToken(anvil, 'no_return'), await deployToken(anvil, 'ordinary')];
  const payer = await deployContract(anvil, contractOf('Payers.sol', 'Payer'));
  const treasury = freshTreasury();
  // No reorganisation takes the contracts off.
  await anvil.mine(20);
  let instead: (call: NodeCall) => NodeAnswer | null = () => null;
  const door = await startNode((call) => instead(call) ?? forwardTo(anvil.url, call));
  const tokens = new Map<string, Asset>([
    [usdt.address, 'USDT'],
    [usdc.address, 'USDC'],
  ]);
  const deposits = new Map<string, number>();
  const deposit = (index: number): string => depositAddress(treasury, index).toLowerCase();
  // Beyond all treasuries.
  let addresses = 1_000_000n;

  const send: EvmChain['send'] = async (to, data, own) => {
    const priced = own && { nonce: hex(BigInt(own.nonce)), gasPrice: hex(BigInt(own.gasPriceGwei) * 10n ** 9n) };
    const transaction = { from: STRANGER, to, data, gas: hex(5_000_000n), ...priced };
    return String(await anvil.rpc('eth_sendTransaction', [transaction]));
  };
  const indexOf = (address: string): number => {
    for (let index = deposits.size; !deposits.has(address) && index < MAX_INDEX; index += 1)
      deposits.set(deposit(index), index);
    const index = deposits.get(address);
    if (index === undefined) throw new Error(`${address} is no deposit of ${treasury}.`);
    return index;
  };
  const replaceFrom: EvmChain['replaceFrom'] = async (height, fate) => {
    const head = Number(await anvil.rpc('eth_blockNumber'));
    const kept: (readonly [unknown, number])[] = [];
    for (let at = height; fate === 'again' && at <= head; at += 1) {
      const { transactions } = Object(await anvil.rpc('eth_getBlockByNumber', [hex(BigInt(at)), false]));
      for (const hash of Array.isArray(transactions) ? transactions : [])
        kept.push([await anvil.rpc('eth_getRawTransactionByHash', [hash]), 0]);
    }
    await anvil.rpc('anvil_reorg', [head - height + 1, kept]);
    // Its clock would stay behind by the age of the block on which it began anew.
    await anvil.rpc('evm_setTime', [Math.floor(Date.now() / 1000)]);
    await anvil.mine(1);
  };
  const pay: Pay = async (address, asset, units) =>
    asset === 'ETH' ? anvil.transfer(address, units) : (asset === 'USDT' ? usdt : usdc).transfer(address, units);
  const head = async (): Promise<number> => Number(await anvil.rpc('eth_blockNumber'));

  return {
    network: 'ethereum',
    env: {
      ETHEREUM_RPC_URL: door.url,
      ETHEREUM_CHAIN_ID: '31337',
      ETHEREUM_TOKENS: `USDT=${usdt.address}:6,USDC=${usdc.address}:6`,
    },
    wallet: `--treasury ${treasury}`,
    assets: ['ETH', 'ETH', 'USDT', 'USDC'],
    intercept: (answer) => {
      instead = answer;
    },
    pay,
    payByContract: (address, _asset, units) => payer.send('pay', [address], { valueWei: units }),
    sweep: (from) =>
      send(
        DEPOSIT_FACTORY.address,
        encodeFunctionData({
          abi: FACTORY_ABI,
          functionName: 'sweep',
          args: [treasury, from.map((address) => BigInt(indexOf(address))), [NATIVE, usdt.address, usdc.address]],
        }),
      ),
    sweeper: STRANGER,
    nextNonce: async () => Number(await anvil.rpc('eth_getTransactionCount', [STRANGER, 'latest'])),
    send,
    drop: async (hash) => void (await anvil.rpc('anvil_dropTransaction', [hash])),
    deposit,
    indexOf,
    inOneBlock: (work) => inOneBlock(anvil, work),
    replaceFrom,
    mine: (count) => anvil.mine(count),
    reorganise: async (random, depth) => {
      const fate = random.pick(['again', 'gone'] as const);
      await replaceFrom((await head()) - depth + 1, fate);
    },
    payAnew: async (order, hash) => {
      const receipt = Object(await anvil.rpc('eth_getTransactionReceipt', [hash]));
      await replaceFrom(Number(receipt.blockNumber), 'gone');
      await pay(order.address, order.asset, order.owed);
    },
    isKnown: async (hash) => (await anvil.rpc('eth_getTransactionByHash', [hash])) !== null,
    newAddress: async () => {
      addresses += 1n;
      return freshAddress(addresses);
    },
    head,
    read: evmReader(anvil, tokens),
    stop: async () => {
      await door.stop();
      await anvil.stop();
    },
  };
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

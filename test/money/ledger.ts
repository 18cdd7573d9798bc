import type { Anvil } from '../anvil.ts';
import type { Chain, Movement } from './scene.ts';
import { patiently, type Asset } from './shop.ts';

/** `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

interface Traced {
  readonly result: Call;
  readonly txHash: string;
}

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
}

/** A call as anvil's `callTracer` writes it. */
interface Call {
  readonly type: string;
  readonly from: string;
  readonly to?: string;
  readonly value?: string;
  readonly error?: string;
  readonly calls?: readonly Call[];
}

interface Blocks {
  /** No order is older. */
  readonly first: number;
  readonly head: () => Promise<number>;
  readonly hashAt: (height: number) => Promise<string>;
  readonly movementsAt: (height: number) => Promise<readonly Movement[]>;
}

/** Reads all that moved on a chain, each block once, also over reorganisations. */
export function reader({ first, head, hashAt, movementsAt }: Blocks): () => Promise<readonly Movement[]> {
  const known: { readonly hash: string; readonly movements: readonly Movement[] }[] = [];
  return async () => {
    const top = await head();
    known.splice(top + 1 - first);
    while (known.length > 0 && (await hashAt(first + known.length - 1)) !== known.at(-1)?.hash) known.pop();
    for (let at = first + known.length; at <= top; at += 1)
      known.push({ hash: await hashAt(at), movements: await movementsAt(at) });
    return known.flatMap(({ movements }) => movements);
  };
}

/**
 * Reads an anvil: ether by the calls of each transaction, tokens by their logs. Throws when an address holds something
 * else than what came and went: then the accountant is wrong.
 */
export function evmReader(anvil: Anvil, tokens: ReadonlyMap<string, Asset>): Chain['read'] {
  const at = (height: number): string => `0x${height.toString(16)}`;
  const hashAt = async (height: number): Promise<string> =>
    String(Object(await anvil.rpc('eth_getBlockByNumber', [at(height), false])).hash);
  const tracer = { tracer: 'callTracer' } as const;
  /** Anvil was seen to refuse the trace of a whole block after a reorganisation, though it has the block. */
  const traced = async (height: number): Promise<readonly Traced[]> => {
    const whole = await anvil.rpc('debug_traceBlockByNumber', [at(height), tracer]).catch(() => null);
    if (whole !== null) return whole as readonly Traced[];
    const { transactions } = Object(await anvil.rpc('eth_getBlockByNumber', [at(height), false]));
    return Promise.all(
      (transactions as readonly string[]).map(async (txHash) => ({
        txHash,
        result: (await anvil.rpc('debug_traceTransaction', [txHash, tracer])) as Call,
      })),
    );
  };
  const read = reader({
    first: 0,
    head: async () => Number(await anvil.rpc('eth_blockNumber')),
    hashAt,
    movementsAt: async (height) => {
      const logs = await anvil.rpc('eth_getLogs', [{ blockHash: await hashAt(height), topics: [TRANSFER] }]);
      // Both are anvil's own JSON.
      return [
        ...(await traced(height)).flatMap(({ result, txHash }) => etherOf(result, txHash)),
        ...(logs as readonly Log[]).flatMap((log) => tokenOf(log, tokens)),
      ];
    },
  });
  return async (addresses) => {
    // Anvil was seen to count a block that it could not trace yet. If it stays so, the last reading says why.
    const movements = (await patiently(() => read().catch(() => null))) ?? (await read());
    const ether = movements.filter(({ asset }) => asset === 'ETH');
    const [came, went] = [Map.groupBy(ether, ({ to }) => to), Map.groupBy(ether, ({ from }) => from)];
    for (const address of addresses) {
      const there = BigInt(String(await anvil.rpc('eth_getBalance', [address, 'latest'])));
      const lies = sum(came.get(address) ?? []) - sum(went.get(address) ?? []);
      if (lies !== there) throw new Error(`The accountant's ledger has ${lies} wei at ${address}, the node ${there}.`);
    }
    return movements;
  };
}

export function sum(movements: readonly Pick<Movement, 'units'>[]): bigint {
  return movements.reduce((all, { units }) => all + units, 0n);
}

function etherOf(call: Call, hash: string): readonly Movement[] {
  if (call.error !== undefined) return [];
  const units = BigInt(call.value ?? '0x0');
  const isMoved = units > 0n && call.type !== 'DELEGATECALL' && call.type !== 'CALLCODE';
  const [from, to] = [call.from.toLowerCase(), call.to?.toLowerCase()];
  const own: Movement[] = isMoved && to !== undefined ? [{ asset: 'ETH', from, to, units, hash }] : [];
  return [...own, ...(call.calls ?? []).flatMap((inner) => etherOf(inner, hash))];
}

function tokenOf(log: Log, tokens: ReadonlyMap<string, Asset>): readonly Movement[] {
  const asset = tokens.get(log.address.toLowerCase());
  const [, from = '', to = ''] = log.topics;
  if (asset === undefined) return [];
  const address = (topic: string): string => `0x${topic.slice(-40)}`;
  return [{ asset, from: address(from), to: address(to), units: BigInt(log.data), hash: log.transactionHash }];
}

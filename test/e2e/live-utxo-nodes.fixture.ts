import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { formatDecimal } from '../../src/domain/money.ts';
import type { UtxoNode } from '../litecoind.ts';

/** Decimals of BTC and LTC. */
const DECIMALS = 8;
const FEE_UNITS = 100_000n;
/** How many coins are kept at a time; the wallet needs others for what it sends by itself. */
const MAX_KEPT = 30;
/** BIP 125: may be replaced. */
const REPLACEABLE = 0xfffffffd;

/** An address and what it is paid, in the smallest units. */
export type Output = readonly [address: string, units: bigint];

/** An output of the wallet, to be spent. */
export interface Coin {
  readonly txid: string;
  readonly vout: number;
  readonly units: bigint;
  /** The script of its address: needed to spend again an output that a block has spent. */
  readonly script?: string;
}

/** A signed transaction, and what it spends: another one that spends the same coin replaces it, or is replaced. */
export interface Signed {
  readonly hash: string;
  readonly hex: string;
  readonly coin: Coin;
}

export interface Spending {
  /** The coin to spend; by default the wallet's oldest. */
  readonly coin?: Coin;
  /** Replacements pay more than what they replace. */
  readonly feeUnits?: bigint;
}

/** The customers' side of a node: its wallet, spent coin by coin, and its miner. */
export interface Payer {
  /** Signs a replaceable transaction that pays these outputs and the change to the wallet; nobody sees it yet. */
  sign(outputs: readonly Output[], spending?: Spending): Promise<Signed>;
  /** Signs and sends; it waits in the mempool then. */
  pay(outputs: readonly Output[], spending?: Spending): Promise<Signed>;
  broadcast(transaction: Signed): Promise<void>;
  /** Mines blocks without anything that waits; the first has these transactions instead. Answers with their hashes. */
  mineOnly(count: number, transactions?: readonly Signed[]): Promise<readonly string[]>;
  /**
   * Takes the newest `depth` blocks off and mines one more than that, as `mineOnly` does. What they held waits again.
   */
  reorganise(depth: number, transactions?: readonly Signed[]): Promise<void>;
  height(): Promise<number>;
}

/** Spends and mines by the wallet of a node on regtest. */
export function payerOf(node: UtxoNode): Payer {
  // Listed in batches: listing a wallet of 200 coins takes a node 25 ms of CPU time.
  let kept: readonly Coin[] = [];
  const freshCoin = async (atLeast: bigint): Promise<Coin> => {
    if (!kept.some(({ units }) => units >= atLeast)) kept = [...kept, ...(await keepCoins(node))];
    const coin = kept.find(({ units }) => units >= atLeast);
    if (coin === undefined) throw new Error(`The node's wallet has no coin of ${atLeast} units.`);
    kept = kept.filter((other) => other !== coin);
    return coin;
  };

  const sign: Payer['sign'] = async (outputs, { coin: given, feeUnits = FEE_UNITS } = {}) => {
    const paid = outputs.reduce((sum, [, units]) => sum + units, feeUnits);
    const coin = given ?? (await freshCoin(paid));
    const change: Output = [await node.newAddress(), coin.units - paid];
    const unsigned = await serialise(node, coin, [...outputs, change]);
    const known = {
      txid: coin.txid,
      vout: coin.vout,
      scriptPubKey: coin.script,
      amount: formatDecimal(coin.units, DECIMALS),
    };
    const spent = coin.script === undefined ? [] : [known];
    const hex = textOf(await node.rpc('signrawtransactionwithwallet', [unsigned, spent]), 'hex');
    return { hash: textOf(await node.rpc('decoderawtransaction', [hex]), 'txid'), hex, coin };
  };

  const broadcast: Payer['broadcast'] = async ({ hex }) => void (await node.rpc('sendrawtransaction', [hex, 0]));

  const mineOnly: Payer['mineOnly'] = async (count, transactions = []) => {
    const hashes: string[] = [];
    for (let block = 0; block < count; block += 1) {
      const inside = block === 0 ? transactions.map(({ hex }) => hex) : [];
      // A fresh address, so that no block is the same as one that was taken off.
      hashes.push(textOf(await node.rpc('generateblock', [await node.newAddress(), inside]), 'hash'));
    }
    return hashes;
  };

  const height: Payer['height'] = async () => Number(await node.rpc('getblockcount'));

  return {
    sign,
    broadcast,
    mineOnly,
    height,
    pay: async (outputs, spending) => {
      const signed = await sign(outputs, spending);
      await broadcast(signed);
      return signed;
    },
    reorganise: async (depth, transactions) => {
      const first = await node.rpc('getblockhash', [(await height()) - depth + 1]);
      await node.rpc('invalidateblock', [first]);
      await mineOnly(depth + 1, transactions);
    },
  };
}

/** The wallet's oldest coins, which it is told not to spend by itself. */
async function keepCoins(node: UtxoNode): Promise<readonly Coin[]> {
  const unspent = await node.rpc('listunspent', [1]);
  const coins = (Array.isArray(unspent) ? unspent : []).map(readCoin).toSorted((a, b) => b.depth - a.depth);
  const kept = coins.slice(0, MAX_KEPT);
  await node.rpc('lockunspent', [false, kept.map(({ txid, vout }) => ({ txid, vout }))]);
  return kept;
}

/** By hand, for the node's own call takes no address twice. */
async function serialise(node: UtxoNode, coin: Coin, outputs: readonly Output[]): Promise<string> {
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const paid = await Promise.all(
    outputs.map(async ([address, units]) => {
      const amount = Buffer.alloc(8);
      amount.writeBigUInt64LE(units);
      const script = Buffer.from(textOf(await node.rpc('validateaddress', [address]), 'scriptPubKey'), 'hex');
      return Buffer.concat([amount, Buffer.of(script.length), script]);
    }),
  );
  const count = Buffer.of(0xfd, outputs.length & 0xff, outputs.length >> 8);
  const spent = [Buffer.from(coin.txid, 'hex').toReversed(), number(coin.vout), Buffer.of(0), number(REPLACEABLE)];
  const parts = [
    number(2),
    Buffer.of(1),
    ...spent,
    outputs.length < 0xfd ? count.subarray(1, 2) : count,
    ...paid,
    number(0),
  ];
  return Buffer.concat(parts).toString('hex');
}

function readCoin(entry: unknown): Coin & { readonly depth: number } {
  const { txid, vout, amount, scriptPubKey, confirmations } = Object(entry) as Readonly<Record<string, unknown>>;
  const units = BigInt(Math.round(Number(amount) * 10 ** DECIMALS));
  return { txid: String(txid), vout: Number(vout), units, script: String(scriptPubKey), depth: Number(confirmations) };
}

function textOf(answer: unknown, key: string): string {
  const value: unknown = Reflect.get(Object(answer), key);
  if (typeof value !== 'string') throw new Error(`There is no ${key} in ${JSON.stringify(answer)}`);
  return value;
}

/** Gives a node all blocks that another has and it has not; such nodes talk to nobody themselves. */
export async function copyBlocks(from: UtxoNode, to: UtxoNode): Promise<void> {
  const [have, want] = [Number(await to.rpc('getblockcount')), Number(await from.rpc('getblockcount'))];
  for (let height = have + 1; height <= want; height += 1) {
    const hash = await from.rpc('getblockhash', [height]);
    const refusal = await to.rpc('submitblock', [await from.rpc('getblock', [hash, 0])]);
    if (refusal !== null) throw new Error(`The node refused block ${height}: ${JSON.stringify(refusal)}`);
  }
}

/** A URL behind which one node or another answers, or none. */
export interface Gate {
  readonly url: string;
  /** The node behind the URL from now on; null: connections are cut. */
  leadTo(node: UtxoNode | null): void;
  /** Lets so many more blocks through, then holds back every request for one. `Infinity`: holds nothing back. */
  allowBlocks(count: number): void;
  /** How many blocks were given since the last `allowBlocks`. */
  blocksGiven(): number;
  close(): Promise<void>;
}

/** Starts a gate to a node, which lets everything through. */
export async function startGate(first: UtxoNode): Promise<Gate> {
  let node: UtxoNode | null = first;
  let [allowed, asked, given] = [Infinity, 0, 0];
  const held = new Set<ServerResponse>();

  const server = createServer((request, response) => {
    const relay = async (): Promise<void> => {
      const body = await text(request);
      if (node === null) return void response.destroy();
      const blocks = body.split('"getblock"').length - 1;
      // Held for good: its caller is killed, or gives up and asks again.
      if (blocks > 0 && asked >= allowed) return void held.add(response);
      asked += blocks;
      const answer = await fetch(`http://127.0.0.1:${node.port}/`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`test:${node.password}`).toString('base64')}` },
        body,
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
      given += blocks;
    };
    response.once('close', () => held.delete(response));
    relay().catch(() => void response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The gate has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    leadTo: (next) => {
      node = next;
      if (next === null) server.closeAllConnections();
    },
    allowBlocks: (count) => {
      [allowed, asked, given] = [count, 0, 0];
      for (const response of held) response.destroy();
    },
    blocksGiven: () => given,
    close: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { isMain, isNight } from './extent.ts';
import { freePort } from './ports.ts';

export type UtxoNodeKind = 'litecoin' | 'bitcoin';

export interface UtxoNodeOptions {
  /** The program to start; by default Litecoin's. */
  readonly kind?: UtxoNodeKind;
  /** `regtest` unless said otherwise; any other holds nothing but its genesis block and has no wallet. */
  readonly chain?: 'regtest' | 'test' | 'testnet4' | 'signet' | 'main';
  /**
   * Lets Litecoin's MWEB activate at height 432. From there on mining works only once `pegIn` has put something into
   * it; without MWEB a chain may be of any length.
   */
  readonly mweb?: boolean;
  /** Where the RPC server listens; a free one unless said otherwise. */
  readonly port?: number;
  /** For the user `test`; a random one unless said otherwise. */
  readonly password?: string;
  /** More command line options, such as `-persistmempool=0`. */
  readonly options?: readonly string[];
}

/** A real Litecoin or Bitcoin node of its own, with an empty chain and a wallet. It talks to no other node. */
export interface UtxoNode {
  readonly kind: UtxoNodeKind;
  /** With user and password; stays the same when the node is started again. */
  readonly url: string;
  readonly port: number;
  readonly password: string;
  /** The node's whole answer to one JSON-RPC call, be it a result or an error. */
  answer(method: string, params?: unknown): Promise<{ readonly result?: unknown; readonly error?: unknown }>;
  /** The result of one JSON-RPC call; throws when the node answers with an error. `params` by place or by name. */
  rpc(method: string, params?: readonly unknown[] | Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Mines `count` blocks with what waits, paying to `address` or to the wallet; answers with their hashes. */
  mine(count: number, address?: string): Promise<readonly string[]>;
  /** Mines until the wallet has coins to spend: 101 blocks. */
  fund(): Promise<void>;
  /**
   * Pays from the wallet, replaceably (BIP 125); `amount` in whole coins, such as `0.1`. Answers with the transaction
   * id.
   */
  send(address: string, amount: string): Promise<string>;
  /** A fresh address of the wallet: `legacy`, `p2sh-segwit`, `bech32`, on Bitcoin `bech32m`, on Litecoin `mweb`. */
  newAddress(type?: string): Promise<string>;
  /** Puts coins of the wallet into MWEB with the next block. */
  pegIn(amount: string): Promise<string>;
  /** `kill -9`: blocks that it had not written out yet, in a short test all of them, are lost. */
  kill(): Promise<void>;
  /** Ends in good order, and keeps its data. Waits until others' idle connections to it are closed. */
  halt(): Promise<void>;
  /** Starts a node that was killed or halted again: same data, same URL. */
  restart(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

const BINARIES: Readonly<Record<UtxoNodeKind, readonly string[]>> = {
  // Debian's `litecoind` on the PATH is a wrapper that writes into the home directory.
  litecoin: ['/usr/lib/litecoin/litecoind', 'litecoind'],
  bitcoin: ['bitcoind', path.join(broughtFolder(), 'bin/bitcoind')],
};

/** Where `scripts/get-bitcoind.sh` puts its node. */
function broughtFolder(): string {
  const cache = process.env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache');
  return process.env['BITCOIND_DIR'] || path.join(cache, 'cointill/bitcoind');
}

/**
 * The kinds of nodes that can be started here: always `litecoin`, and `bitcoin` where bitcoind is on the PATH or was
 * brought by `scripts/get-bitcoind.sh`.
 */
export function utxoNodeKinds(): readonly UtxoNodeKind[] {
  return binaryOf('bitcoin') ? ['litecoin', 'bitcoin'] : ['litecoin'];
}

/**
 * The kinds of nodes that a file's tests run on: at night all; else a file that starts the program runs on one of them,
 * by the file's name, and so does every file in `npm test`. The code is one with two sets of parameters.
 */
export function utxoNodeKindsFor(file: string): readonly UtxoNodeKind[] {
  const kinds = utxoNodeKinds();
  const onAll = isNight || (!isMain && file.includes('.node.'));
  const sum = Buffer.from(path.basename(file)).reduce((all, byte) => all + byte, 0);
  return onAll ? kinds : kinds.filter((_, index) => index === sum % kinds.length);
}

/** Starts a node and waits until it answers. Throws when the binary is missing or ends before. */
export async function startUtxoNode(options: UtxoNodeOptions = {}): Promise<UtxoNode> {
  const { kind = 'litecoin', chain = 'regtest', port = await freePort() } = options;
  const { password = randomBytes(16).toString('hex') } = options;
  const directory = await mkdtemp(path.join(os.tmpdir(), `cointill-${kind}-`));
  const endpoint = `http://127.0.0.1:${port}/`;
  const authorization = `Basic ${Buffer.from(`test:${password}`).toString('base64')}`;
  const args = nodeArguments(options, { kind, chain, port, directory, password });
  let child: ChildProcess | null = null;

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const running = child;
    child = null;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  }

  async function answer(method: string, params: unknown = []): Promise<{ result?: unknown; error?: unknown }> {
    // A connection that stays open holds up the node's end.
    const { body } = await request(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }),
      reset: true,
    });
    return Object(await body.json());
  }

  async function rpc(method: string, params: unknown = []): Promise<unknown> {
    const { result, error } = await answer(method, params);
    if (error) throw new Error(`${kind} node refused ${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async function newAddress(type = 'bech32'): Promise<string> {
    return String(await rpc('getnewaddress', ['', type]));
  }

  async function mine(count: number, address?: string): Promise<readonly string[]> {
    const hashes = await rpc('generatetoaddress', [count, address ?? (await newAddress())]);
    if (!Array.isArray(hashes) || hashes.length !== count) throw new Error('the node mined less than it should');
    return hashes.map(String);
  }

  async function send(address: string, amount: string): Promise<string> {
    const hash = String(await rpc('sendtoaddress', [address, amount]));
    // The wallet answers with an id even if the mempool refuses the transaction; sent once more, it names the reason.
    const { hex } = Object(await rpc('gettransaction', [hash]));
    await rpc('sendrawtransaction', [hex]);
    return hash;
  }

  child = await spawnNode(kind, args);
  if (chain === 'regtest') await rpc('createwallet', { wallet_name: 'test', load_on_startup: true });
  return {
    kind,
    url: `http://test:${password}@127.0.0.1:${port}/`,
    port,
    password,
    answer,
    rpc,
    mine,
    fund: async () => void (await mine(101)),
    send,
    newAddress,
    pegIn: async (amount) => send(await newAddress('mweb'), amount),
    kill: () => end('SIGKILL'),
    halt: () => end('SIGTERM'),
    restart: async () => {
      child = await spawnNode(kind, args);
    },
    stop: async () => {
      await end('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Setup {
  readonly kind: UtxoNodeKind;
  readonly chain: string;
  readonly port: number;
  readonly directory: string;
  readonly password: string;
}

function nodeArguments({ mweb, options = [] }: UtxoNodeOptions, setup: Setup): readonly string[] {
  const never = '9223372036854775807';
  return [
    `-chain=${setup.chain}`,
    `-datadir=${setup.directory}`,
    '-server=1',
    `-rpcport=${setup.port}`,
    '-rpcuser=test',
    `-rpcpassword=${setup.password}`,
    '-listen=0',
    '-connect=0',
    '-dnsseed=0',
    '-printtoconsole=1',
    '-nodebuglogfile',
    // Allows as many waiting calls as a test sends at once; the default is 16.
    '-rpcworkqueue=512',
    // The wallet would draw 1,000 keys in advance.
    '-keypool=10',
    '-fallbackfee=0.0001',
    '-walletrbf=1',
    ...(setup.kind === 'litecoin' ? ['-mempoolreplacement=1'] : []),
    ...(setup.kind === 'litecoin' && setup.chain === 'regtest' && !mweb ? [`-vbparams=mweb:${never}:${never}`] : []),
    // Bitcoin's wallet would wait for the disk at every block.
    ...(setup.kind === 'bitcoin' ? ['-unsafesqlitesync=1'] : []),
    ...options,
  ];
}

async function spawnNode(kind: UtxoNodeKind, args: readonly string[]): Promise<ChildProcess> {
  const binary = binaryOf(kind);
  if (!binary)
    throw new Error(`${kind}d is missing. Put it on the PATH, or run scripts/test.sh, which brings it on Debian.`);
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const killChild = (): void => void child.kill('SIGKILL');
  process.once('exit', killChild);
  child.once('exit', () => void process.off('exit', killChild));
  const complaints = text(child.stderr);
  await once(child, 'spawn');
  for await (const line of createInterface(child.stdout)) {
    if (!line.includes('init message: Done loading')) continue;
    // Leaving the loop closes the reader; the pipe must go on being read, or the node stops when it is full.
    child.stdout.resume();
    return child;
  }
  throw new Error(`${binary} ended before it was ready. ${await complaints}`);
}

function binaryOf(kind: UtxoNodeKind): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return BINARIES[kind]
    .flatMap((name) => (path.isAbsolute(name) ? [name] : folders.map((folder) => path.join(folder, name))))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** The recovery phrase of anvil's ten rich accounts; transfers come from its first one. */
export const ANVIL_MNEMONIC = 'test test test test test test test test test test test junk';
export const ANVIL_ACCOUNT = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

export interface AnvilOptions {
  /** Unset: every transaction is mined at once, in a block of its own. */
  readonly blockTimeSeconds?: number;
  readonly chainId?: number;
  /** 0 or unset: a free one. */
  readonly port?: number;
  /** Blocks come only from `mine`; transactions wait until then. */
  readonly manualMining?: boolean;
}

/** A real EVM node of its own, with an empty chain. */
export interface Anvil {
  readonly url: string;
  /** The result of one JSON-RPC call; throws when the node answers with an error. */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Mines `count` blocks, the first with the waiting transactions. */
  mine(count: number): Promise<void>;
  /** Sends wei from the first rich account; answers with the transaction's hash. */
  transfer(to: string, amountWei: bigint): Promise<string>;
  stop(): Promise<void>;
}

/** Starts anvil and waits until it listens. Throws when the binary is missing or ends at once. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const child = spawn(anvilBinary(), anvilArguments(options), { stdio: ['ignore', 'pipe', 'inherit'] });
  const killChild = (): void => void child.kill('SIGKILL');
  process.once('exit', killChild);
  const url = await listeningUrl(child);

  async function rpc(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer: unknown = await response.json();
    if (typeof answer !== 'object' || answer === null || !('result' in answer)) {
      throw new Error(`anvil refused ${method}: ${JSON.stringify(answer)}`);
    }
    return answer.result;
  }

  return {
    url,
    rpc,
    mine: async (count) => void (await rpc('anvil_mine', [toHex(BigInt(count))])),
    transfer: async (to, amountWei) =>
      // The gas limit is given, so that a transfer that will fail is sent all the same.
      String(await rpc('eth_sendTransaction', [{ from: ANVIL_ACCOUNT, to, value: toHex(amountWei), gas: '0x30d40' }])),
    stop: async () => {
      process.off('exit', killChild);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The binary itself, not its npm wrapper: a signal to the wrapper may leave the node running. */
function anvilBinary(): string {
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch;
  const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
  const manifest = createRequire(wrapper).resolve(`@foundry-rs/anvil-${process.platform}-${cpu}/package.json`);
  return join(dirname(manifest), 'bin', 'anvil');
}

function anvilArguments({ blockTimeSeconds, chainId, port = 0, manualMining }: AnvilOptions): string[] {
  return [
    '--host=127.0.0.1',
    `--port=${port}`,
    // Short epochs, so that `finalized` moves within a test.
    '--slots-in-an-epoch=1',
    ...(chainId === undefined ? [] : [`--chain-id=${chainId}`]),
    ...(blockTimeSeconds === undefined ? [] : [`--block-time=${blockTimeSeconds}`]),
    ...(manualMining ? ['--no-mining'] : []),
  ];
}

async function listeningUrl(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('anvil was started without a pipe');
  await once(child, 'spawn');
  for await (const line of createInterface(child.stdout)) {
    const address = /^Listening on (\S+)$/.exec(line)?.[1];
    if (!address) continue;
    // Leaving the loop closes the reader; the pipe must go on being read, or the node stops when it is full.
    child.stdout.resume();
    return `http://${address}`;
  }
  throw new Error('anvil ended before it listened');
}

function toHex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

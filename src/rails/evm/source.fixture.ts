import { afterEach, beforeEach, onTestFinished } from 'vitest';
import type { Anvil } from '../../../test/anvil.ts';
import { startNode, type TestNode } from '../../../test/rpc-node.ts';
import { createEvmSource, type EvmSource, type EvmSourceOptions } from './source.ts';
import { noteProblems } from '../../../test/problems.ts';

export const CHAIN_ID = 31_337;
export const ALICE = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
export const BOB = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';

export interface WatchedSource extends EvmSource {
  /** The logged warnings. */
  readonly warnings: readonly unknown[];
}

/** A source of ether on Ethereum without tokens, unless said otherwise; closed when the test ends. */
export function sourceOf(urls: readonly string[], options: Partial<EvmSourceOptions> = {}): WatchedSource {
  const problems = noteProblems();
  const source = createEvmSource({
    network: 'ethereum',
    nativeAsset: 'ETH',
    tokens: new Map(),
    urls,
    chainId: CHAIN_ID,
    timeoutMs: 5_000,
    problems,
    ...options,
  });
  onTestFinished(() => source.close());
  return { ...source, warnings: problems.noted };
}

/** A node that misbehaves as the test says. Stopped when the test ends. */
export async function nodeThat(...options: Parameters<typeof startNode>): Promise<TestNode> {
  const node = await startNode(...options);
  onTestFinished(() => node.stop());
  return node;
}

/** After each test the chain is as it was before it. */
export function restoreEach(anvil: () => Anvil): void {
  let start: unknown;
  beforeEach(async () => {
    start = await anvil().rpc('evm_snapshot');
  });
  afterEach(async () => {
    await anvil().rpc('anvil_dropAllTransactions');
    await anvil().rpc('evm_revert', [start]);
  });
}

import { startNode } from '../../test/rpc-node.ts';
import { ChainUnavailableError, type ChainBlock, type ChainSource } from './chain.ts';

/** A URL where nobody listens: its port was just given back. */
export async function deadUrl(): Promise<string> {
  const node = await startNode(() => ({ result: null }));
  await node.stop();
  return node.url;
}

export async function blockAt(source: ChainSource, height: number): Promise<ChainBlock> {
  const block = await source.block(height);
  if (!block) throw new Error(`the node has no block ${height}`);
  return block;
}

export async function failureOf(promise: Promise<unknown>): Promise<ChainUnavailableError> {
  const outcome: unknown = await promise.catch((fault: unknown) => fault);
  if (!(outcome instanceof ChainUnavailableError)) {
    throw new Error('expected ChainUnavailableError', { cause: outcome });
  }
  return outcome;
}

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startAnvil, type Anvil } from '../../../test/anvil.ts';
import { forwardTo, type NodeAnswer } from '../../../test/rpc-node.ts';
import { failureOf } from '../source.fixture.ts';
import { nodeThat, sourceOf, type WatchedSource } from '../evm/source.fixture.ts';

let anvil: Anvil;

beforeAll(async () => {
  anvil = await startAnvil();
  await anvil.mine(120);
});
afterAll(() => anvil.stop());

/** A node that takes batches as told: the lengths of those that it got, 1 for a single call. */
async function nodeTaking(
  batch: (length: number) => NodeAnswer | null,
): Promise<{ readonly source: WatchedSource; readonly lengths: number[] }> {
  const lengths: number[] = [];
  let isInBatch = 0;
  const node = await nodeThat(
    (call) => {
      if (isInBatch > 0) isInBatch -= 1;
      else if (call.method !== 'eth_chainId') lengths.push(1);
      return forwardTo(anvil.url, call);
    },
    {
      batch: (calls) => {
        lengths.push(calls.length);
        const whole = batch(calls.length);
        if (!whole) isInBatch += calls.length;
        return whole;
      },
    },
  );
  return { source: sourceOf([node.url]), lengths };
}

const heights = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

async function heightsOf(source: WatchedSource, count: number): Promise<readonly number[]> {
  return (await source.blocks(0, count)).map(({ height }) => height);
}

it.each([
  ['an error', { error: { code: -32600, message: 'batches are not allowed' } }],
  ['status 400', { status: 400, text: 'bad request' }],
  ['status 413', { status: 413, text: '' }],
  ['an object', { result: null }],
  ['a page', { text: '<html></html>' }],
])('a node that answers batches with %s is sent single calls, and from then on at once', async (_name, refusal) => {
  const { source, lengths } = await nodeTaking(() => refusal);
  expect(await heightsOf(source, 30)).toEqual(heights(30));
  expect(lengths).toEqual([30, 25, 6, ...heights(30).map(() => 1)]);
  expect(await heightsOf(source, 5)).toEqual(heights(5));
  expect(lengths.slice(33)).toEqual([1, 1, 1, 1, 1]);
  expect(source.warnings).toEqual([]);
});

it('a node that takes short batches is sent as many as it takes', async () => {
  const { source, lengths } = await nodeTaking((length) =>
    length > 30 ? { error: { code: -32000, message: 'batch too large' } } : null,
  );
  expect(await heightsOf(source, 60)).toEqual(heights(60));
  expect(await heightsOf(source, 60)).toEqual(heights(60));
  expect(lengths).toEqual([60, 25, 25, 10, 25, 25, 10]);
});

it('more calls than any node takes are sent in several batches', async () => {
  const { source, lengths } = await nodeTaking(() => null);
  expect(await heightsOf(source, 120)).toEqual(heights(120));
  expect(lengths).toEqual([100, 20]);
});

it.each([
  ['a refused key', 1, { status: 401, text: '' }],
  ['too many requests', 6, { status: 429, text: '' }],
  ['a spent limit', 6, { error: { code: -32005, message: 'daily limit reached' } }],
  ['a fault of the server', 6, { status: 502, text: '' }],
])('%s is not taken for a refusal of batches, and not asked again in smaller ones', async (_name, times, answer) => {
  let isWell = false;
  const { source, lengths } = await nodeTaking(() => (isWell ? null : answer));
  await failureOf(source.blocks(0, 30));
  const whole = Array.from({ length: times }, () => 30);
  expect(lengths).toEqual(whole);
  isWell = true;
  expect(await heightsOf(source, 30)).toEqual(heights(30));
  expect(lengths).toEqual([...whole, 30]);
});

import { expect, it, onTestFinished } from 'vitest';
import { startNode, type NodeAnswer } from '../../../test/rpc-node.ts';
import { withAnyBatch } from './batches.ts';
import { createRpcNode, NodeBusyError, NodeError, type RpcNode } from './node.ts';
import { withPatience } from './patience.ts';

const REFUSED: NodeAnswer = { error: { code: -32_005, message: 'too many requests' } };
const calls = (count: number) => Array.from({ length: count }, (_, at) => ({ method: 'echo', params: [at] }));

/** A node that answers a call with its first parameter unless `refuse` says otherwise; how often it was asked. */
async function nodeRefusing(refuse: (nth: number) => NodeAnswer | null, nodes = 1) {
  const asked: number[] = [];
  const rests: number[] = [];
  let nth = 0;
  const server = await startNode(({ params }) => {
    nth += 1;
    const [value] = Array.isArray(params) ? params : [];
    asked.push(Number(value));
    return refuse(nth) ?? { result: value };
  });
  onTestFinished(() => server.stop());
  const real = createRpcNode(server.url, 5_000);
  onTestFinished(() => real.close());
  const patient = withPatience(real, nodes, async (ms) => rests.push(ms));
  return { node: withAnyBatch(patient), asked, rests };
}

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (fault: unknown) => fault,
  );
}

const valuesOf = async (node: RpcNode, count: number) =>
  (await node.callAll(calls(count))).map((result) => (result.kind === 'ok' ? result.result : result.error.message));

it.each([
  ['status 503', { status: 503, text: 'Work queue depth exceeded' }],
  ['status 429 with an error', { status: 429, text: '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"slow"}}' }],
  ['too many requests', REFUSED],
  ['the answer to another call', { text: '{"jsonrpc":"2.0","id":4711,"result":99}' }],
  ['an answer that is cut', { text: '{"jsonrpc":"2.0","id":1,"resu' }],
])('a call that is answered with %s is asked again, and its own answer counts', async (_name, answer) => {
  const { node, rests } = await nodeRefusing((nth) => (nth <= 4 ? answer : null));
  expect(await node.call('echo', [7])).toBe(7);
  expect(rests).toEqual([50, 100, 200, 400]);
});

it('a node that answers nothing is given up within two seconds, then asked once a call, until it answers', async () => {
  let isWell = false;
  const { node, asked, rests } = await nodeRefusing(() => (isWell ? null : REFUSED));
  expect(await faultOf(node.call('echo', [1]))).toBeInstanceOf(NodeBusyError);
  expect([asked.length, rests.reduce((sum, ms) => sum + ms, 0)]).toEqual([6, 1_550]);
  expect(await faultOf(node.call('echo', [2]))).toBeInstanceOf(NodeBusyError);
  expect(asked).toHaveLength(7);
  isWell = true;
  expect(await node.call('echo', [3])).toBe(3);
  isWell = false;
  await faultOf(node.call('echo', [4]));
  expect(asked).toHaveLength(8 + 6);
});

it('several nodes share the tries, so that another one is asked soon', async () => {
  const { node, asked } = await nodeRefusing(() => REFUSED, 3);
  await faultOf(node.call('echo', [1]));
  expect(asked).toEqual([1, 1]);
});

it('an error of the call itself and a wrong key are not asked again', async () => {
  for (const answer of [{ error: { code: 3, message: 'execution reverted' } }, { status: 401, text: '' }]) {
    const { node, asked } = await nodeRefusing(() => answer);
    expect(await faultOf(node.call('echo', [1]))).toBeInstanceOf(NodeError);
    expect(asked).toHaveLength(1);
  }
});

it('of a long batch only what was refused is asked again; a short one as a whole, for its answers belong together', async () => {
  const long = await nodeRefusing((nth) => (nth % 2 === 0 && nth <= 10 ? REFUSED : null));
  expect(await valuesOf(long.node, 10)).toEqual(Array.from({ length: 10 }, (_, at) => at));
  expect(long.asked.slice(10)).toEqual([1, 3, 5, 7, 9]);
  const short = await nodeRefusing((nth) => (nth === 2 ? REFUSED : null));
  expect(await valuesOf(short.node, 3)).toEqual([0, 1, 2]);
  expect(short.asked).toEqual([0, 1, 2, 0, 1, 2]);
});

it.each([0.1, 0.3, 0.5])('a hundred calls are answered by a node that refuses %d of single calls', async (share) => {
  let state = 42;
  const isRefused = () => (state = (state * 48_271) % 0x7fffffff) / 0x7fffffff < share;
  for (const single of [false, true]) {
    const refusal = single ? { status: 503, text: '' } : REFUSED;
    const { node } = await nodeRefusing(() => (isRefused() ? refusal : null));
    const work = single ? Promise.all(calls(100).map(({ params }) => node.call('echo', params))) : valuesOf(node, 100);
    expect(await work).toEqual(Array.from({ length: 100 }, (_, at) => at));
  }
});

it('a batch whose answers belong to other calls is not mixed up with its own', async () => {
  const server = await startNode(() => ({}), {
    batch: () => ({ text: '[{"jsonrpc":"2.0","id":0,"result":1},{"jsonrpc":"2.0","id":4711,"result":2}]' }),
  });
  onTestFinished(() => server.stop());
  const node = createRpcNode(server.url, 5_000);
  onTestFinished(() => node.close());
  expect(await faultOf(node.callAll(calls(2)))).toBeInstanceOf(NodeBusyError);
});

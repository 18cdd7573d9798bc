import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A JSON-RPC call as it reached a node. */
export interface NodeCall {
  readonly method: string;
  readonly params: unknown;
  readonly path: string;
  readonly authorization: string | undefined;
}

/** The node's answer to a call: `result` or `error` make a JSON-RPC answer, `text` is sent unchanged. */
export interface NodeAnswer {
  readonly result?: unknown;
  readonly error?: unknown;
  readonly status?: number;
  readonly text?: string;
  /** The answer never ends. */
  readonly stall?: boolean;
}

export interface TestNode {
  readonly url: string;
  stop(): Promise<void>;
}

export interface NodeOptions {
  /** The node's answer to a batch as a whole; null or unset: it answers each of its calls. */
  readonly batch?: (calls: readonly NodeCall[]) => NodeAnswer | null;
}

type Answerer = (call: NodeCall) => NodeAnswer | Promise<NodeAnswer>;

/** A node for tests that misbehaves as told, where a real one would not. Listens on a free loopback port. */
export async function startNode(answer: Answerer, options: NodeOptions = {}): Promise<TestNode> {
  const server = createServer((request, response) => {
    readCalls(request)
      .then(async (calls): Promise<[unknown, NodeAnswer]> =>
        calls.isBatch
          ? [null, await answerBatch(calls.entries, answer, options)]
          : [calls.entry.id, await answer(calls.entry)],
      )
      .then(([id, given]) => respond(response, id, given))
      .catch((fault: unknown) => void response.destroy(fault instanceof Error ? fault : undefined));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The answer of another node to the same call. */
export async function forwardTo(url: string, call: NodeCall): Promise<NodeAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: idOf(call), method: call.method, params: call.params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return { text: await response.text() };
}

type NumberedCall = NodeCall & { readonly id: unknown };

/** The id under which a call came, which its answer has to repeat. */
function idOf(call: NodeCall): unknown {
  return 'id' in call ? call.id : 1;
}

type Received =
  | { readonly isBatch: false; readonly entry: NumberedCall }
  | { readonly isBatch: true; readonly entries: readonly NumberedCall[] };

async function readCalls(request: IncomingMessage): Promise<Received> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
  const given: unknown = JSON.parse(body);
  const read = (call: { id?: unknown; method?: unknown; params?: unknown }): NumberedCall => ({
    id: call.id,
    method: String(call.method),
    params: call.params,
    path: request.url ?? '',
    authorization: request.headers.authorization,
  });
  return Array.isArray(given)
    ? { isBatch: true, entries: given.map(read) }
    : { isBatch: false, entry: read(Object(given)) };
}

/** One array of all answers; a call's own status or stall becomes that of the whole batch. */
async function answerBatch(
  calls: readonly NumberedCall[],
  answer: Answerer,
  { batch }: NodeOptions,
): Promise<NodeAnswer> {
  const whole = batch?.(calls);
  if (whole) return whole;
  const answers = await Promise.all(calls.map(async (call) => ({ id: call.id, given: await answer(call) })));
  const broken = answers.find(({ given }) => given.status !== undefined || given.stall);
  if (broken) return broken.given;
  const entries = answers.map(({ id, given: { text, ...rest } }) => {
    const entry: unknown = text === undefined ? rest : JSON.parse(text);
    return { jsonrpc: '2.0', ...Object(entry), id };
  });
  return { text: JSON.stringify(entries) };
}

function respond(response: ServerResponse, id: unknown, { status = 200, text, stall, ...answer }: NodeAnswer): void {
  if (stall && !text) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  const body = text ?? JSON.stringify({ jsonrpc: '2.0', ...answer, id });
  if (stall) response.write(body);
  else response.end(body);
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A JSON-RPC call as it reached a node. */
export interface NodeCall {
  readonly method: string;
  readonly params: unknown;
  readonly path: string;
  readonly authorization: string | undefined;
}

/** What a node does with a call: `result` or `error` make a JSON-RPC answer, `text` is sent as it is. */
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

/** A node for tests that misbehaves as told, where a real one would not. Listens on a free loopback port. */
export async function startNode(answer: (call: NodeCall) => NodeAnswer | Promise<NodeAnswer>): Promise<TestNode> {
  const server = createServer((request, response) => {
    readCall(request)
      .then(answer)
      .then((given) => respond(response, given))
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
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: call.method, params: call.params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return { text: await response.text() };
}

async function readCall(request: IncomingMessage): Promise<NodeCall> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
  const call: { method?: unknown; params?: unknown } = JSON.parse(body);
  return {
    method: String(call.method),
    params: call.params,
    path: request.url ?? '',
    authorization: request.headers.authorization,
  };
}

function respond(response: ServerResponse, { status = 200, text, stall, ...answer }: NodeAnswer): void {
  if (stall && !text) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  const body = text ?? JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer });
  if (stall) response.write(body);
  else response.end(body);
}

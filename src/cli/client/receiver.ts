import { once } from 'node:events';
import http from 'node:http';
import { post } from './forward.ts';
import { codeOf, CommandFailure } from '../failure.ts';
import { writeLines } from '../output.ts';
import { deliveryLines, deliveryRecord, readDelivery } from './received-delivery.ts';

export interface ReceiverOptions {
  /** How many deliveries of each event get a 500; true: all of them. */
  readonly fail?: number | true;
  readonly json?: boolean;
  /** Passes each delivery on to this address, whose answer it gives. */
  readonly forwardTo?: string;
}

const HOST = '127.0.0.1';
/** Larger than any event; a longer body comes from another program. */
const MAX_BODY_BYTES = 1024 * 1024;
/** The headers of a webhook that a shop's server reads. */
const PASSED_ON = [
  'content-type',
  'user-agent',
  'x-service-signature',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];

/** A server that answers every POST and prints it. `ready` resolves with the secret once output may begin. */
export function receiver(options: ReceiverOptions, ready: Promise<string | null>): http.Server {
  const timesSeen = new Map<string, number>();

  const receive = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    if (request.method !== 'POST') {
      response.writeHead(405, { allow: 'POST' }).end('Send webhooks with POST.\n');
      return;
    }
    const body = await readBody(request);
    if (body === null) {
      response.writeHead(413, { connection: 'close' }).end('This body is too long for a webhook.\n');
      return;
    }
    const secret = await ready;
    const delivery = readDelivery(request.headers, body, secret, Date.now() / 1000);
    const eventId = delivery.event.id ?? '';
    const attempt = (timesSeen.get(eventId) ?? 0) + 1;
    if (eventId !== '') timesSeen.set(eventId, attempt);
    const { status, text } = await answerOf(options, request.headers, body, attempt);
    if (options.json === true) process.stdout.write(`${JSON.stringify(deliveryRecord(delivery, attempt, status))}\n`);
    else writeLines(deliveryLines(delivery, attempt, status));
    response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
  };

  return http.createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
}

async function answerOf(
  { fail, forwardTo }: ReceiverOptions,
  headers: http.IncomingHttpHeaders,
  body: Buffer<ArrayBuffer>,
  attempt: number,
): Promise<{ readonly status: number; readonly text: string }> {
  if (fail === true || attempt <= (fail ?? 0)) return { status: 500, text: 'failed on purpose' };
  if (forwardTo === undefined) return { status: 200, text: 'ok' };
  const passedOn = PASSED_ON.flatMap((name): readonly [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  const { status, answer, detail } = await post(forwardTo, Object.fromEntries(passedOn), body);
  return { status: status ?? 502, text: detail ?? answer };
}

/** Opens the port on this machine alone, and returns the server's address. */
export async function openReceiver(server: http.Server, port: number): Promise<string> {
  try {
    server.listen(port, HOST);
    await once(server, 'listening');
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') {
      throw new CommandFailure(`Another program is using port ${port}. Choose another port with --port.`, {
        cause: error,
      });
    }
    if (codeOf(error) === 'EACCES') {
      throw new CommandFailure(`This user may not use port ${port}. Choose a port above 1023 with --port.`, {
        cause: error,
      });
    }
    throw error;
  }
  const address = server.address();
  return `http://${HOST}:${address === null || typeof address === 'string' ? port : address.port}/`;
}

/** The whole body, or null if it is longer than any event. */
async function readBody(request: http.IncomingMessage): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > MAX_BODY_BYTES) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

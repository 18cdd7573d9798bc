import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The port that a listening server got. */
export function portOf(server: FastifyInstance): number {
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on a port.');
  return address.port;
}

/** One answer as it came over the wire; names of headers in lower case. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends bytes as they are on a connection of its own and reads all answers until the server closes it. */
export async function sendRaw(server: FastifyInstance, bytes: string | Buffer): Promise<readonly RawAnswer[]> {
  const received = await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(portOf(server), '127.0.0.1');
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
    socket.on('close', () => resolve(Buffer.concat(chunks)));
    // A server that refuses a request may close before it has read all of it.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
  });
  return readAnswers(received);
}

function readAnswers(bytes: Buffer): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`Not an HTTP answer: ${rest.toString('latin1').slice(0, 200)}`);
    const [line = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((text) => {
        const colon = text.indexOf(':');
        return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers['content-length'] ?? 0);
    const body = rest.subarray(end + 4, end + 4 + length).toString('utf8');
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1]);
    if (status !== 100) answers.push({ status, headers, body });
    rest = rest.subarray(end + 4 + length);
  }
  return answers;
}

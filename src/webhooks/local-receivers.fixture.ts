import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';

/** A receiver on this machine, for tests. */
export type LocalReceiver = {
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  readonly connectionCount: () => number;
  /** Resolves once every connection that was ever made has been closed. */
  readonly allClosed: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type ReceivedRequest = {
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
};
type Answer = (response: http.ServerResponse, request: ReceivedRequest) => void;

/** A real HTTP server; with a certificate, a real HTTPS server. */
export function receive(
  answer: Answer,
  at: { host?: string; port?: number; tls?: Certificate } = {},
): Promise<LocalReceiver> {
  const requests: ReceivedRequest[] = [];
  const onRequest: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      requests.push(received);
      answer(response, received);
    });
  };
  const server = at.tls === undefined ? http.createServer(onRequest) : https.createServer(at.tls, onRequest);
  return listen(server, requests, at);
}

/** A TCP server for what no HTTP server would say. */
export function receiveRaw(onConnection: (socket: net.Socket, index: number) => void): Promise<LocalReceiver> {
  let count = 0;
  return listen(
    net.createServer((socket) => {
      socket.on('error', () => {});
      onConnection(socket, count);
      count += 1;
    }),
    [],
    {},
  );
}

async function listen(
  server: net.Server,
  requests: readonly ReceivedRequest[],
  at: { host?: string; port?: number },
): Promise<LocalReceiver> {
  const open = new Set<net.Socket>();
  const waiting: (() => void)[] = [];
  let connections = 0;
  server.on('connection', (socket: net.Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('close', () => {
      open.delete(socket);
      if (open.size === 0) for (const resolve of waiting.splice(0)) resolve();
    });
  });
  server.listen(at.port ?? 0, at.host ?? '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return {
    port: address.port,
    requests,
    connectionCount: () => connections,
    allClosed: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      if (server.listening) await once(server, 'close');
    },
  };
}

export type Certificate = { readonly cert: string; readonly key: string };

/** A certificate that vouches for itself, valid for one name for the years 2020 to 2049 (X.509 v3, RFC 5280). */
export function selfSigned(dnsName: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ecdsaWithSha256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
  const commonName = der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(dnsName)));
  const name = der(0x30, der(0x31, commonName));
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const subjectAltName = der(
    0x30,
    Buffer.from('0603551d11', 'hex'),
    der(0x04, der(0x30, der(0x82, Buffer.from(dnsName)))),
  );
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, der(0x30, subjectAltName)),
  );
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, privateKey));
  const base64 = der(0x30, body, ecdsaWithSha256, signature).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

/** One element in DER: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

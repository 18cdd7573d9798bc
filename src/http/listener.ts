import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';

/** How many requests of one connection may be running, or have an answer that the client has not read yet. */
export const MAX_STARTED = 4;
/**
 * How many more requests of one connection may wait. Meanwhile nothing more is read from it, but one read (64 KiB) may
 * contain thousands of requests: a connection that sends more at once is closed.
 */
export const MAX_WAITING = 128;
/** How often clients that send their request too slowly are checked, so that they are cut off soon after their time. */
const CHECK_CONNECTIONS_MS = 5_000;

/** The limits for clients on every port of the service. */
export const TIMEOUTS = { connectionTimeoutMs: 120_000, requestTimeoutMs: 30_000, keepAliveMs: 72_000 };

/**
 * Only suites with forward secrecy and authenticated encryption (ASVS 5, 12.1.2); Node.js would also accept RSA key
 * exchange and CBC with SHA-1 in TLS 1.2.
 */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

export interface ListenerOptions {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  /** The time for which a connection may be silent. */
  readonly connectionTimeoutMs: number;
  /** The time in which a request must have arrived completely. */
  readonly requestTimeoutMs: number;
  readonly keepAliveMs: number;
}

/**
 * The HTTP server below the routes, with bounded memory for any client. Node starts every request of a connection as
 * soon as it is read and keeps answers until their turn, so that a packet of requests whose answers nobody reads would
 * keep them all in memory. Here only a few are started, and the others follow as answers are read.
 */
export function createListener(handle: RequestListener, options: ListenerOptions): Server {
  const http = {
    // Node's own refusal of a request without Host would lack the rate-limit headers; the guard refuses it instead.
    requireHostHeader: false,
    connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: options.keepAliveMs,
  };
  const limited = limitPipelining(handle);
  const server =
    options.tls === null
      ? createServer(http, limited)
      : createTlsServer({ ...options.tls, ...http, ciphers: CIPHERS }, limited);
  server.setTimeout(options.connectionTimeoutMs);
  // Unknown expectations may be ignored (RFC 9110, 10.1.1); Node would answer 417 without our headers.
  server.on('checkExpectation', limited);
  return server;
}

interface Connection {
  started: number;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  /** Whether a listener pauses it again whenever Node resumes reading. */
  isWatched: boolean;
  isEnded: boolean;
}

/** Passes requests on in order, at most `MAX_STARTED` of a connection at once. */
function limitPipelining(handle: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, Connection>();

  const connectionOf = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = { started: 0, waiting: [], isWatched: false, isEnded: false };
    connections.set(socket, connection);
    return connection;
  };

  const start = (connection: Connection, request: IncomingMessage, response: ServerResponse): void => {
    connection.started += 1;
    // Called when the last byte was passed to the operating system: until then the answer is in our memory.
    response.once('finish', () => {
      connection.started -= 1;
      startNext(connection, request.socket);
    });
    handle(request, response);
  };

  const startNext = (connection: Connection, socket: Socket): void => {
    const next = socket.destroyed ? undefined : connection.waiting.shift();
    if (next === undefined) return;
    // Its body may not have been read yet.
    if (connection.waiting.length === 0) socket.resume();
    start(connection, ...next);
  };

  return (request, response) => {
    const { socket } = request;
    const connection = connectionOf(socket);
    // Requests read together with the one beyond the limit still arrive here.
    if (connection.isEnded) return;
    if (connection.started < MAX_STARTED && connection.waiting.length === 0) {
      start(connection, request, response);
      return;
    }
    if (connection.waiting.length === MAX_WAITING) {
      connection.isEnded = true;
      connection.waiting.length = 0;
      socket.destroy();
      return;
    }
    connection.waiting.push([request, response]);
    stopReading(connection, socket);
  };
}

/** Pauses reading again after Node resumes it because an answer was read or a body is needed. */
function stopReading(connection: Connection, socket: Socket): void {
  socket.pause();
  if (connection.isWatched) return;
  connection.isWatched = true;
  socket.on('resume', () => {
    if (connection.waiting.length > 0) socket.pause();
  });
}

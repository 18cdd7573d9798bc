import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';

/** How many requests of one connection are carried out at once, or have an answer that its client has not taken yet. */
export const MAX_STARTED = 4;
/**
 * How many more requests of one connection may wait for their turn. Nothing is read from it meanwhile, but what was read
 * at once (64 KiB) may hold thousands; a connection that sends more in one go is ended.
 */
export const MAX_WAITING = 128;
/** A client that trickles its request is looked for this often, so that it ends soon after its time. */
const CHECK_CONNECTIONS_MS = 5_000;

/** What every port of the service grants its clients. */
export const TIMEOUTS = { connectionTimeoutMs: 120_000, requestTimeoutMs: 30_000, keepAliveMs: 72_000 };

export interface ListenerOptions {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  /** How long a connection may be silent. */
  readonly connectionTimeoutMs: number;
  /** How long a request may take to come in whole. */
  readonly requestTimeoutMs: number;
  readonly keepAliveMs: number;
}

/**
 * The HTTP server below the routes. Its memory is bounded whatever a client sends: Node starts every request of a
 * connection as soon as it is read, and keeps answers until their turn, so that a packet of requests whose answers nobody
 * reads would hold them all. Here a few are started, and the others follow as the answers are taken.
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
    options.tls === null ? createServer(http, limited) : createTlsServer({ ...options.tls, ...http }, limited);
  server.setTimeout(options.connectionTimeoutMs);
  // Expectations that nobody knows may be ignored (RFC 9110, 10.1.1); Node would answer 417 without our headers.
  server.on('checkExpectation', limited);
  return server;
}

interface Connection {
  started: number;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  /** Whether it was paused before, and is told again whenever Node goes on reading. */
  isWatched: boolean;
  isEnded: boolean;
}

/** Hands requests on, at most `MAX_STARTED` of a connection at once, in their order. */
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
    // Not before the last byte is handed to the system: until then the answer is ours to keep.
    response.once('finish', () => {
      connection.started -= 1;
      startNext(connection, request.socket);
    });
    handle(request, response);
  };

  const startNext = (connection: Connection, socket: Socket): void => {
    const next = socket.destroyed ? undefined : connection.waiting.shift();
    if (next === undefined) return;
    // Its own body may not have been read yet.
    if (connection.waiting.length === 0) socket.resume();
    start(connection, ...next);
  };

  return (request, response) => {
    const { socket } = request;
    const connection = connectionOf(socket);
    // What was read together with the one that was too many is still told of.
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

/** Node goes on reading when an answer was taken or a body is wanted, so it is told again. */
function stopReading(connection: Connection, socket: Socket): void {
  socket.pause();
  if (connection.isWatched) return;
  connection.isWatched = true;
  socket.on('resume', () => {
    if (connection.waiting.length > 0) socket.pause();
  });
}

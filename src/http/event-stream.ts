import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer waits for something to happen, or stays open, so that it is neither measured nor logged. */
    stream?: boolean;
  }
}

/** Limits of the number of open streams of server-sent events. */
export interface StreamLimits {
  /** Streams of the process, of both its addresses. */
  readonly streams: number;
  /** Streams of one client. */
  readonly perClient: number;
  /** The bytes that a client may leave unread before it is dropped. */
  readonly unreadBytes: number;
}

/** Well below what proxies and mobile networks let a silent connection live. */
export const HEARTBEAT_MS = 15_000;
/** The time after which a browser connects again, sent as `retry`. */
const RECONNECT_MS = 2_000;
/** The time that a client gets to read its last event. */
const GOODBYE_MS = 2_000;
/** When to try again if no more streams may be open. */
export const TRY_AGAIN_SECONDS = 30;

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // nginx would buffer events.
  'x-accel-buffering': 'no',
} as const;

/** The headers that the guard and the frame have set: the limits, the request's id. */
export function givenHeaders(reply: FastifyReply): OutgoingHttpHeaders {
  const given = reply.getHeaders();
  const headers: OutgoingHttpHeaders = {};
  for (const name of Object.keys(given)) headers[name] = given[name];
  return headers;
}

/** The answer to one reader of server-sent events. */
export interface EventSender {
  /** Starts the answer with these headers and those of a stream. */
  begin(headers: OutgoingHttpHeaders): void;
  /** Writes lines of events unchanged. */
  write(text: string): void;
  /** Ends the answer at once, even if the client does not read it. */
  end(): void;
  /** Writes a last event and ends the answer once it is sent. */
  endWith(text: string): void;
  stop(): void;
}

/** `onHeartbeat` is called at each heartbeat of a silent stream. */
export function createEventSender(
  response: ServerResponse,
  options: { readonly unreadBytes: number; readonly heartbeatMs: number; readonly onHeartbeat?: () => void },
): EventSender {
  let heartbeat: NodeJS.Timeout | undefined;
  const write = (text: string): void => {
    if (response.destroyed || response.writableEnded) return;
    response.write(text);
    if (response.writableLength > options.unreadBytes) response.destroy();
  };
  return {
    begin: (headers) => {
      response.writeHead(200, { ...headers, ...STREAM_HEADERS });
      write(`retry: ${RECONNECT_MS}\n\n`);
      heartbeat = setInterval(() => {
        write(': ok\n\n');
        options.onHeartbeat?.();
      }, options.heartbeatMs);
    },
    write,
    end: () => {
      const { socket } = response;
      if (response.writableLength > 0) response.destroy();
      else response.end();
      // A kept-alive connection would keep the server from closing.
      socket?.destroySoon();
    },
    endWith: (text) => {
      const { socket } = response;
      response.end(text);
      socket?.destroySoon();
      setTimeout(() => response.destroy(), GOODBYE_MS).unref();
    },
    stop: () => clearInterval(heartbeat),
  };
}

import dns from 'node:dns';
import net from 'node:net';
import tls from 'node:tls';
import type { buildConnector } from 'undici';
import { sentence, type Sentence } from '../domain/sentence.ts';
import { addressRefusal } from './guard.ts';
import type { WebhookPolicy } from './guard.ts';

/** `dns.lookup` for all addresses of a name. */
export type LookupAll = (
  hostname: string,
  options: dns.LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void,
) => void;

/** The stage at which a connection failed: refused by our rules, or at the name, TCP, TLS, or by timeout. */
export type ConnectStage = 'guard' | 'resolve' | 'connect' | 'tls' | 'timeout';

/** Why there is no connection, in words that a merchant may read; our own rules are sentences of `texts/refusals/`. */
export class ConnectError extends Error {
  readonly stage: ConnectStage;
  readonly reason: string | Sentence;

  constructor(stage: ConnectStage, reason: string | Sentence, cause?: unknown) {
    super(typeof reason === 'string' ? reason : reason.code, { cause });
    this.name = 'ConnectError';
    this.stage = stage;
    this.reason = reason;
  }
}

/**
 * A connector for undici that reaches only allowed addresses.
 *
 * A name is resolved once, by us. If any of its addresses is refused, the name is refused; otherwise the socket gets
 * exactly the checked addresses, so that a name cannot change in between (DNS rebinding). The address that the socket
 * then has is checked once more, before TLS starts and before undici can write. Certificates are always verified.
 *
 * @param timeoutMs for name, TCP and TLS together; after that the unfinished socket is destroyed
 */
export function guardedConnector(guard: {
  readonly policy: WebhookPolicy;
  readonly lookup: LookupAll;
  readonly timeoutMs: number;
}): buildConnector.connector {
  return ({ hostname, protocol, port }, callback) => {
    const refuse = (ip: string): Sentence | null => addressRefusal(ip, guard.policy, protocol);
    // A literal address never goes through the lookup.
    const refusal = net.isIP(hostname) === 0 ? null : refuse(hostname);
    if (refusal !== null) {
      process.nextTick(callback, new ConnectError('guard', refusal), null);
      return;
    }
    open({ hostname, protocol, port, refuse, lookup: guard.lookup, timeoutMs: guard.timeoutMs }, callback);
  };
}

type Target = {
  readonly hostname: string;
  readonly protocol: string;
  readonly port: string;
  readonly refuse: (ip: string) => Sentence | null;
  readonly lookup: LookupAll;
  readonly timeoutMs: number;
};

function open(target: Target, callback: buildConnector.Callback): void {
  const { hostname, protocol, refuse } = target;
  const isTls = protocol === 'https:';
  let finished = false;
  const finish = (...result: Parameters<buildConnector.Callback>): void => {
    if (finished) return;
    finished = true;
    clearTimeout(timer);
    if (result[0] !== null) tcp.destroy();
    callback(...result);
  };
  const timer = setTimeout(
    () => finish(new ConnectError('timeout', `No connection to ${hostname} within ${target.timeoutMs} ms.`), null),
    target.timeoutMs,
  );
  const tcp = net.connect({
    host: hostname,
    port: Number(target.port) || (isTls ? 443 : 80),
    lookup: checkedLookup(target.lookup, refuse),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  });
  // The listener stays after the connection is made: undici listens to the TLS socket above, not to this one.
  tcp.on('error', (cause) => finish(asConnectError(cause, hostname), null));
  tcp.once('connect', () => {
    const ip = tcp.remoteAddress;
    const refusal = ip === undefined ? null : refuse(ip);
    if (ip === undefined) finish(closedEarly(hostname), null);
    else if (refusal !== null) finish(new ConnectError('guard', refusal), null);
    else if (isTls) secure(tcp, hostname, finish);
    else finish(null, tcp);
  });
}

function secure(tcp: net.Socket, hostname: string, finish: buildConnector.Callback): void {
  const socket = tls.connect({
    socket: tcp,
    // The certificate is checked against `host`; `servername` (SNI) must not be an address (RFC 6066, 3).
    host: hostname,
    servername: net.isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : '',
    ALPNProtocols: ['http/1.1'],
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 cannot disable it.
    rejectUnauthorized: true,
  });
  socket.once('secureConnect', () => finish(null, socket));
  socket.on('error', (cause) =>
    finish(new ConnectError('tls', `The TLS connection to ${hostname} failed: ${cause.message}`, cause), null),
  );
}

/** The `lookup` that `net.connect` calls for a name. */
function checkedLookup(lookup: LookupAll, refuse: Target['refuse']): net.LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { all: true, hints: dns.ADDRCONFIG }, (cause, addresses) => {
      const first = cause === null ? addresses[0] : undefined;
      if (first === undefined) {
        callback(unresolved(hostname, cause), []);
        return;
      }
      for (const { address } of addresses) {
        const why = refuse(address);
        if (why !== null) {
          const resolved = sentence('webhook_resolves', { host: hostname, ip: address, why });
          callback(new ConnectError('guard', resolved), []);
          return;
        }
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/**
 * Makes simultaneous lookups of one name share one answer. `dns.lookup` occupies one of libuv's few threads until it is
 * answered, which takes many seconds for a dead name: thousands of deliveries to it must not take all threads.
 */
export function sharedLookup(lookup: LookupAll): LookupAll {
  const underWay = new Map<string, Parameters<LookupAll>[2][]>();
  return (hostname, options, callback) => {
    const waiting = underWay.get(hostname);
    if (waiting !== undefined) {
      waiting.push(callback);
      return;
    }
    const callbacks = [callback];
    underWay.set(hostname, callbacks);
    lookup(hostname, options, (error, addresses) => {
      underWay.delete(hostname);
      for (const answer of callbacks) answer(error, addresses);
    });
  };
}

function unresolved(hostname: string, cause: NodeJS.ErrnoException | null): ConnectError {
  return new ConnectError(
    'resolve',
    `The name ${hostname} could not be resolved (${cause?.code ?? 'no addresses'}).`,
    cause,
  );
}

function closedEarly(hostname: string): ConnectError {
  return new ConnectError('connect', `${hostname} closed the connection immediately.`);
}

function asConnectError(cause: Error, hostname: string): ConnectError {
  if (cause instanceof ConnectError) return cause;
  // Several addresses were tried, each with its own reason; the message of the whole error is empty.
  const reasons = cause instanceof AggregateError ? cause.errors.map(String) : [cause.message];
  return new ConnectError('connect', `No connection to ${hostname}: ${reasons.join('; ')}`, cause);
}

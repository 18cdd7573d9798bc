import dns from 'node:dns';
import { Agent } from 'undici';
import type { Mode } from '../domain/permission.ts';
import { guardedConnector, sharedLookup } from './connect.ts';
import type { LookupAll } from './connect.ts';
import { exchange } from './exchange.ts';
import type { AttemptResult, ExchangeLimits, ExchangePool } from './exchange.ts';
import { checkWebhookUrl } from './guard.ts';
import type { WebhookPolicy } from './guard.ts';

export type WebhookRequest = {
  readonly url: string;
  readonly mode: Mode;
  /** Headers in addition to `content-type` and `user-agent`, which are always ours. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type WebhookSender = {
  /**
   * Sends one delivery and waits for the complete answer. Redirects are not followed.
   *
   * @throws Error once the sender is closed; every external fault is a result
   */
  readonly send: (request: WebhookRequest) => Promise<AttemptResult>;
  /**
   * Accepts no more deliveries, waits for running ones, then closes the connections. Deliveries still running after
   * `graceMs` (by default as long as they may take) end as errors of stage `response`.
   */
  readonly close: (graceMs?: number) => Promise<void>;
};

const USER_AGENT = 'Cointill-Webhooks/1';

/**
 * Sends webhooks over pooled connections: one pool per mode, so that a connection allowed by one mode's policy never
 * serves the other mode.
 */
export function createWebhookSender(options: {
  readonly policyOf: (mode: Mode) => WebhookPolicy;
  /** Milliseconds for durations; monotonic, such as `performance.now`. */
  readonly now: () => number;
  /** For the whole answer, from the name lookup to the last byte. */
  readonly timeoutMs?: number;
  /** How much of an answer's body is read and stored. */
  readonly responseLimitBytes?: number;
  /** Replaces `dns.lookup`. */
  readonly lookup?: LookupAll;
}): WebhookSender {
  const { policyOf, now, timeoutMs = 15_000, responseLimitBytes = 65_536 } = options;
  const limits = { now, timeoutMs, responseLimitBytes };
  const lookup = sharedLookup(options.lookup ?? dns.lookup);
  const pools = {
    test: createPool(policyOf('test'), lookup, timeoutMs),
    live: createPool(policyOf('live'), lookup, timeoutMs),
  };
  let closing: Promise<void> | undefined;
  let underWay = 0;
  let onIdle: (() => void) | undefined;

  async function shutDown(graceMs: number): Promise<void> {
    if (underWay > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const agents = [pools.test, pools.live].flatMap((pool) => [pool.reusing, pool.single]);
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  return {
    async send(request) {
      if (closing !== undefined) throw new Error('The webhook sender is closed.');
      underWay += 1;
      try {
        return await attempt(request, pools[request.mode], limits);
      } finally {
        underWay -= 1;
        if (underWay === 0) onIdle?.();
      }
    },
    close(graceMs = timeoutMs) {
      closing ??= shutDown(graceMs);
      return closing;
    },
  };
}

type Pool = ExchangePool & { readonly policy: WebhookPolicy };

function createPool(policy: WebhookPolicy, lookup: LookupAll, timeoutMs: number): Pool {
  const guarded = guardedConnector({ policy, lookup, timeoutMs });
  let handingOver = false;
  const connect: typeof guarded = (target, callback) =>
    guarded(target, (...result) => {
      handingOver = true;
      try {
        callback(...result);
      } finally {
        handingOver = false;
      }
    });
  // One timer per delivery covers everything; undici's own would only add work.
  const common = { connect, headersTimeout: 0, bodyTimeout: 0, keepAliveMaxTimeout: 60_000 };
  return {
    policy,
    reusing: new Agent(common),
    // No pipelining is undici's way to say "Connection: close".
    single: new Agent({ ...common, pipelining: 0 }),
    isHandingOver: () => handingOver,
  };
}

function attempt(request: WebhookRequest, pool: Pool, limits: ExchangeLimits): Promise<AttemptResult> {
  const checked = checkWebhookUrl(request.url, pool.policy);
  if (checked.kind === 'invalid') {
    return Promise.resolve({ kind: 'error', stage: 'guard', message: checked.fault, durationMs: 0 });
  }
  const headers = ['content-type', 'application/json', 'user-agent', USER_AGENT];
  for (const [name, value] of Object.entries(request.headers)) headers.push(name, value);
  const { origin, pathname, search } = checked.url;
  return exchange({ origin, path: pathname + search, method: 'POST', headers, body: request.body }, pool, limits);
}

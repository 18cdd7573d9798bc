import autocannon from 'autocannon';

export interface Load {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  readonly non2xx: number;
}

/** Drives a URL with 64 keep-alive connections for some seconds. */
export async function load(options: {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly seconds: number;
  readonly connections?: number;
  /** Ends after this number of requests instead. */
  readonly amount?: number;
}): Promise<Load> {
  let lastAt = 0;
  const startedAt = performance.now();
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url: options.url,
        method: options.method ?? 'GET',
        ...(options.headers === undefined ? {} : { headers: options.headers }),
        ...(options.body === undefined ? {} : { body: options.body }),
        connections: options.connections ?? 64,
        ...(options.amount === undefined ? { duration: options.seconds } : { amount: options.amount }),
      },
      (error: unknown, done) => (error ? reject(new Error('The load failed.', { cause: error })) : resolve(done)),
    );
    if (options.amount !== undefined) run.on('response', () => (lastAt = performance.now()));
  });
  return {
    // All requests may be answered within the one second that averages are taken over.
    requestsPerSecond:
      options.amount === undefined ? result.requests.average : (options.amount / (lastAt - startedAt)) * 1_000,
    p99Ms: result.latency.p99,
    non2xx: result.non2xx + result.errors + result.timeouts,
  };
}

/** Measures two things in turn, so that a machine whose speed drifts treats both alike; returns the median of each. */
export async function inTurn<A, B>(
  rounds: number,
  a: () => Promise<A>,
  b: () => Promise<B>,
): Promise<{ readonly a: readonly A[]; readonly b: readonly B[] }> {
  const results = { a: [] as A[], b: [] as B[] };
  for (let round = 0; round < rounds; round += 1) {
    results.a.push(await a());
    results.b.push(await b());
  }
  return results;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((x, y) => x - y);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((x, y) => x - y);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

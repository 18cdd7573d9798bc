import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { QueryClient } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import type { PaymentView } from '../../src/http/dashboard/payments/contract.ts';
import { createDashboard } from '../../web/dashboard/dashboard.ts';
import { paymentQuery, refreshPayment } from '../../web/dashboard/pages/payments/queries.ts';

const scope = { project: 'shop', mode: 'live' } as const;

/** A dashboard whose reads of a payment end when the test says so, with the status that it gives. */
function slowDashboard() {
  const reads: ((status: string) => void)[] = [];
  const read = (): Promise<unknown> =>
    new Promise((resolve) => {
      reads.push((status) => resolve({ id: 'ord_1', status, created_at: '', refunds: [] }));
    });
  const queries = new QueryClient({ defaultOptions: { queries: { queryFn: read } } });
  const dashboard = { ...createDashboard('en'), queries };
  const key = paymentQuery(scope, 'ord_1').queryKey;
  const status = (): string | undefined => dashboard.queries.getQueryData<PaymentView>(key)?.status;
  const answer = async (index: number, words: string): Promise<void> => {
    await vi.waitFor(() => expect(reads.length).toBeGreaterThan(index));
    reads[index]?.(words);
  };
  return { dashboard, reads, answer, status };
}

it('a change that is announced while the payment is being read is read again, once', async () => {
  const { dashboard, reads, answer, status } = slowDashboard();
  const first = refreshPayment(dashboard, scope, 'ord_1');
  const others = [refreshPayment(dashboard, scope, 'ord_1'), refreshPayment(dashboard, scope, 'ord_1')];
  await answer(0, 'pending');
  await first;
  await answer(1, 'completed');
  await Promise.all(others);
  expect(status()).toBe('completed');
  expect(reads).toHaveLength(2);
});

it('an answer of the API is kept under one key, so that a change reaches everything that shows it', () => {
  const folder = path.join(import.meta.dirname, '../../web/dashboard/pages');
  const routes = globSync('**/*.{ts,tsx}', { cwd: folder }).flatMap((file) => {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const queries = text.matchAll(/^(?:export )?function \w+Query\([^]*?^}/gm);
    return [...queries].flatMap(([query]) => new Set(query.match(/'GET [^']+'/g)).values().toArray());
  });
  expect(routes.filter((route, at) => routes.indexOf(route) !== at)).toEqual([]);
});

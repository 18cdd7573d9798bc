import type { App } from '../../src/app/context.ts';
import { createEndpoint } from '../../src/app/webhooks/webhook-endpoints.ts';
import { afterAll } from 'vitest';
import type { PaymentView } from '../../src/http/dashboard/payments/contract.ts';
import { dashboardTest, type Browser, type DashboardTest } from '../dashboard.ts';
import type { Answer } from '../http.ts';

/** A person's actions on payments of a project in a mode, over the dashboard's API. */
export interface Acts {
  readonly base: string;
  read(browser: Browser, id: string): Promise<PaymentView>;
  /** Posts below a payment, a millisecond later; whatever it is answered. */
  post<Body = { readonly payment: PaymentView; readonly refund: string }>(
    browser: Browser,
    id: string,
    what: string,
    body?: object,
  ): Promise<Answer<Body>>;
}

/** The dashboard's API with an owner, and somebody of support in the first project. */
export async function actsTest() {
  const test = await dashboardTest();
  afterAll(() => test.http.close());
  const owner = await test.join('owner');
  const support = await test.join('support', test.http.app.projectId);
  return { test, app: test.http.app, acts: actsIn(test), owner, support };
}

export function actsIn(test: DashboardTest, mode = 'test', projectId = test.http.app.projectId): Acts {
  const base = `/dashboard/api/projects/${projectId}/${mode}/payments`;
  return {
    base,
    read: async (browser, id) => {
      const answer = await browser.call<PaymentView>({ path: `${base}/${id}` });
      if (answer.status !== 200) throw new Error(`${id} → ${answer.status} ${answer.text}`);
      return answer.body;
    },
    post: (browser, id, what, body = {}) => {
      // Actions of the same millisecond are unordered.
      test.http.app.clock.advance(1);
      return browser.call({ method: 'POST', path: `${base}/${id}/${what}`, body });
    },
  };
}

/** An endpoint of test mode that gets all documented events. */
export async function anEndpoint(app: App, projectId: string): Promise<string> {
  const policyOf = () => ({ mode: 'test', production: false, allowCidrs: [] }) as const;
  const wanted = { projectId, mode: 'test', url: 'https://hooks.example/', events: 'all' } as const;
  const made = await createEndpoint(app, [Buffer.alloc(32, 7)], policyOf, wanted);
  if (made.kind !== 'done') throw new Error(made.code);
  return made.endpoint.id;
}

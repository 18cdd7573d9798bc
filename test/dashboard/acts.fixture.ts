import type { PaymentView } from '../../src/http/dashboard/contract/payments.ts';
import type { Browser, DashboardTest } from '../dashboard.ts';
import type { Answer } from '../http.ts';

/** What a person does to payments of a project in a mode, over the dashboard's API. */
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
      // What is done in one millisecond is in no order.
      test.http.app.clock.advance(1);
      return browser.call({ method: 'POST', path: `${base}/${id}/${what}`, body });
    },
  };
}

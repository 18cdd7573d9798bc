import type { BenchService } from './service.ts';

/** A project with a full test key, made through the command line as an operator would. */
export async function makeMerchant(
  service: BenchService,
): Promise<{ readonly projectId: string; readonly headers: Record<string, string> }> {
  const project = await service.cli('project', 'create', '--name', 'Bench');
  const projectId = String(project['id']);
  return { projectId, headers: await makeKey(service, projectId, 'test') };
}

/** The headers of a request with a new full key of a project. */
export async function makeKey(
  service: BenchService,
  projectId: string,
  mode: 'test' | 'live',
): Promise<Record<string, string>> {
  const scope = ['--project', projectId, '--mode', mode, '--kind', 'secret', '--permission', 'full', '--name', 'Bench'];
  const made = await service.cli('key', 'create', ...scope);
  return { 'content-type': 'application/json', authorization: `Bearer ${String(made['key'])}` };
}

export const ORDER = JSON.stringify({
  amount: 25,
  currency: 'USD',
  crypto_currency: 'BTC',
  description: 'Two tickets',
  customer_email: 'customer@example.com',
});

/** Registers an endpoint for every documented event. */
export async function addWebhook(service: BenchService, projectId: string, url: string): Promise<string> {
  const scope = ['--project', projectId, '--mode', 'test', '--url', url, '--events', 'all'];
  return String((await service.cli('webhook', 'create', ...scope))['id']);
}

/** The path of a new transaction's page, where a customer chooses the coin, with a late deadline. */
export async function choosingPage(service: BenchService, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${service.test}/api/transactions/create`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ amount: 49.99, order_description: 'Two tickets', expires_in_minutes: 1_440 }),
  });
  const { transaction } = (await answer.json()) as { readonly transaction: { readonly id: string } };
  return `/pay/${transaction.id}`;
}

/** The path of a payment request's page that asks for an amount, an address, a name and a note. */
export async function requestPage(service: BenchService, headers: Record<string, string>): Promise<string> {
  const ask = { email: true, name: true, note: true };
  const wanted = { title: 'Deposit for the wedding cake', amount: null, min_amount: 5, currency: 'EUR', ask };
  const body = JSON.stringify(wanted);
  const answer = await fetch(`${service.test}/v1/payment_requests`, { method: 'POST', headers, body });
  const { id } = (await answer.json()) as { readonly id: string };
  return `/request/${id}`;
}

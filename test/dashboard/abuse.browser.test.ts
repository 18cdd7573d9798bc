import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { isNight } from '../extent.ts';
import { createAccount, EMAIL, PASSWORD, signIn, useDashboard, type Tab } from './dashboard.fixture.ts';

/** The effect if the text is taken for markup: the test sees the title, the dialog or the breach of the policy. */
const SCRIPT = '"><img src=x onerror="document.title=1"><script>alert(1)</script>{{7*7}}${7*7}';
/** Each character is drawn: ten megabytes in every field take minutes. */
const LONG = 'a'.repeat(isNight ? 10_000_000 : 500_000);

describe.skipIf(hasNoBrowser)('a page of another origin', () => {
  const dashboard = useDashboard();
  let elsewhere: Server;
  beforeAll(async () => {
    elsewhere = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Elsewhere</title><body>');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, resolve));
  });
  afterAll(() => new Promise((resolve) => elsewhere.close(resolve)));

  /** Another origin of the same site gets the cookies sent, another site does not: neither may change anything. */
  it.each([
    ['of the same site', 'localhost', true],
    ['of another site', '127.0.0.1', false],
  ])('%s changes nothing by any request that a browser lets it send', async (_name, host, sendsCookies) => {
    const id = await dashboard.makeOrder();
    const { page, context } = await dashboard.openSignedIn({ expects: /CORS|ERR_|403|Failed to load|frame/ });
    const { origin } = new URL(dashboard.service.dashboard);
    const payment = `${origin}/dashboard/api/projects/${dashboard.service.projectId}/test/payments/${id}`;
    const sent = await answersTo(page, context, `${origin}/dashboard/api`);
    const { port } = elsewhere.address() as AddressInfo;
    const attacks = [`${payment}/cancel`, `${payment}/complete`, `${origin}/dashboard/api/account/sessions/end-all`];
    await page.goto(`http://${host}:${port}/`);
    await page.evaluate(`(${FETCHES})(${JSON.stringify(attacks)})`);
    for (const url of attacks) await postForm(page, url);
    // The form's answer comes last.
    await expect.poll(() => sent().length).toBeGreaterThanOrEqual(3 * attacks.length);
    // The session's cookie was there, where a browser sends it: it was the guard that refused.
    expect(sent().some(({ cookie }) => cookie.includes('session='))).toBe(sendsCookies);
    expect(sent().filter(({ status }) => status !== 403)).toEqual([]);
    const { body } = await dashboard.service.api(`/v1/orders/${id}`);
    expect(body['status']).toBe('pending');
    await page.goto(`${dashboard.service.dashboard}/account`);
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
  });

  it('neither reads answers nor shows the dashboard in a frame', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /CORS|ERR_|frame|Failed to load/ });
    const { port } = elsewhere.address() as AddressInfo;
    await page.goto(`http://localhost:${port}/`);
    const read = await page.evaluate<string>(
      `fetch('${dashboard.service.dashboard}/api/session', { credentials: 'include' }).then((answer) => answer.text(), () => 'unread')`,
    );
    expect(read).toBe('unread');
    const frame = await page.evaluateHandle(
      `(() => { const frame = document.createElement('iframe'); frame.src = '${dashboard.service.dashboard}'; document.body.append(frame); return new Promise((done) => frame.addEventListener('load', () => done(frame))); })()`,
    );
    const shown = await frame.asElement()?.contentFrame();
    expect(shown?.url().startsWith(dashboard.service.dashboard) ?? false).toBe(false);
  });
});

/** The cookies that were sent with each change below an address, and its answer, which the page itself may not see. */
async function answersTo(
  page: Page,
  context: Tab['context'],
  address: string,
): Promise<() => readonly { readonly cookie: string; readonly status: number }[]> {
  const cookies = new Map<string, string>();
  const statuses = new Map<string, number>();
  const changes = new Set<string>();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.method === 'POST' && request.url.startsWith(address)) changes.add(requestId);
  });
  cdp.on('Network.requestWillBeSentExtraInfo', ({ requestId, headers }) => {
    cookies.set(requestId, headers['Cookie'] ?? headers['cookie'] ?? '');
  });
  cdp.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) => {
    statuses.set(requestId, statusCode);
  });
  return () =>
    [...changes].flatMap((id) => {
      const status = statuses.get(id);
      return status === undefined ? [] : [{ cookie: cookies.get(id) ?? '', status }];
    });
}

/** Every kind of `fetch` that a page may send without being asked first, and one that asks. */
const FETCHES = `(async (urls) => {
  for (const url of urls) {
    const base = { method: 'POST', credentials: 'include' };
    const json = { body: '{}', headers: { 'content-type': 'application/json' } };
    await fetch(url, { ...base, mode: 'no-cors' }).catch(() => {});
    await fetch(url, { ...base, mode: 'no-cors', body: new Blob(['{}'], { type: 'text/plain' }) }).catch(() => {});
    await fetch(url, { ...base, ...json }).catch(() => {});
    navigator.sendBeacon(url, '{}');
  }
})`;

/** A form that sends itself, whose body reads as JSON. */
async function postForm(page: Page, url: string): Promise<void> {
  const back = page.url();
  await page.evaluate(`(() => {
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', action: ${JSON.stringify(url)}, enctype: 'text/plain' });
    const field = document.createElement('input');
    Object.assign(field, { name: '{"a":"', value: '"}' });
    form.append(field);
    document.body.append(form);
    form.submit();
  })()`);
  await page.waitForURL(url);
  await page.goto(back);
}

describe.skipIf(hasNoBrowser)('what somebody types', () => {
  const dashboard = useDashboard();
  const base = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;

  /** Pastes into a field that shows why it is refused, and sends nothing. */
  async function paste(page: Page, label: string, button: string): Promise<void> {
    const field = page.getByRole('textbox', { name: label }).or(page.getByLabel(label, { exact: true }));
    const before = await field.inputValue();
    await field.fill(LONG);
    await page.getByText('This text is too long. Shorten it').waitFor();
    await page.getByRole('button', { name: button, exact: true }).last().click();
    await field.fill(before);
    await page.getByText('This text is too long. Shorten it').waitFor({ state: 'detached' });
  }

  it('and is megabytes long is refused with a sentence in every field, and nothing is sent', async () => {
    const invited = await invite(dashboard.service, 'viewer', 'paste@example.com');
    const { page } = await dashboard.openTab();
    const requests: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && requests.push(request.url())));
    await page.goto(invited);
    await page.getByLabel('Password').waitFor();
    requests.length = 0;
    await paste(page, 'Password', 'Create account');
    await page.goto(dashboard.service.dashboard);
    await page.getByLabel('E-mail').fill(EMAIL);
    await paste(page, 'Password', 'Sign in');
    await page.getByLabel('Password').fill(PASSWORD);
    await paste(page, 'E-mail', 'Sign in');
    expect(requests).toEqual([expect.stringContaining('/links/look')].slice(requests.length === 0 ? 1 : 0));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    requests.length = 0;
    await page.goto(`${dashboard.service.dashboard}/account`);
    await page.getByRole('button', { name: 'Change e-mail' }).click();
    await paste(page, 'E-mail', 'Save');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Change password' }).click();
    await paste(page, 'Current password', 'Save');
    await paste(page, 'New password', 'Save');
    await page.keyboard.press('Escape');
    expect(requests).toEqual([]);
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await paste(page, 'One-time code', 'Confirm');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Project:/ }).click();
    await page.getByRole('menuitem', { name: 'New project' }).click();
    await paste(page, 'Name', 'New project');
    await page.keyboard.press('Escape');
    // The search text has a maximum length; a longer one could not be found either.
    await page.goto(`${base()}/payments`);
    await page.getByRole('searchbox').fill(LONG);
    await page.getByText('No matches').waitFor();
  });

  it('and is a script stands there as it was typed, wherever it is shown', async () => {
    const id = await dashboard.makeOrder({
      order_id: SCRIPT.slice(0, 100),
      description: SCRIPT,
      customer_name: SCRIPT,
      metadata: { [SCRIPT]: SCRIPT },
      success_url: 'https://shop.example/?q=%3Cscript%3Ealert(1)%3C/script%3E',
    });
    const { page } = await dashboard.openTab({ userAgent: `Firefox/${SCRIPT} Windows` });
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(`${dialog.type()} at ${page.url()}`);
      void dialog.accept();
    });
    await page.goto(dashboard.service.dashboard);
    await signIn(page);
    await page.getByRole('button', { name: /^Project:/ }).click();
    await page.getByRole('menuitem', { name: 'New project' }).click();
    await page.getByLabel('Name').fill(SCRIPT);
    await page.getByRole('dialog').getByRole('button', { name: 'New project' }).click();
    await page.getByRole('button', { name: `Project: ${SCRIPT}` }).waitFor();
    await page.goto(`${base()}/payments?show=${id}`);
    await page.getByRole('complementary', { name: 'Payment' }).getByText(SCRIPT).first().waitFor();
    await page.goto(`${base()}/payments/${id}`);
    await expect.poll(() => page.getByText(SCRIPT).count()).toBeGreaterThan(3);
    await page.getByRole('button', { name: 'Cancel payment' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel payment' }).click();
    await page.getByText('Payment cancelled.').waitFor();
    await page.goto(base());
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('input[role=combobox]').fill(SCRIPT.slice(0, 100));
    await page
      .getByRole('option', { name: SCRIPT.slice(0, 20) })
      .first()
      .waitFor();
    await page.goto(`${base()}/payments?search=${encodeURIComponent(SCRIPT)}&status=${encodeURIComponent(SCRIPT)}`);
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    await page.goto(`${dashboard.service.dashboard}/sign-in?to=${encodeURIComponent('//evil.example/')}`);
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.goto(`${dashboard.service.dashboard}/account`);
    await page.getByText('Firefox · Windows').first().waitFor();
    expect(await page.title()).toBe('Your account · Cointill');
    expect(asked).toEqual([]);
  });
});

describe.skipIf(hasNoBrowser)('who has a smaller role', () => {
  const dashboard = useDashboard();
  const ACTIONS = ['Complete payment', 'Cancel payment', 'Simulate'];

  const open = async (role: string, email = `${role}@example.com`): Promise<Tab> => {
    const link = await invite(dashboard.service, role, email, dashboard.service.projectId);
    const tab = await dashboard.openTab({ expects: /40[34]/ });
    await tab.page.goto(link);
    await createAccount(tab.page);
    await tab.page.getByRole('button', { name: 'Not now' }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    return tab;
  };

  it.each([
    ['viewer', []],
    ['support', ACTIONS],
    ['developer', ACTIONS],
    ['admin', ACTIONS],
  ] as const)('%s: sees the actions that the role has, and none beside', async (role, actions) => {
    const id = await dashboard.makeOrder({ order_id: `NW-${role}` });
    const other = (await dashboard.service.command(`project create --name Other-${role}`)) as { readonly id: string };
    const { page } = await open(role);
    await page.getByRole('button', { name: 'Project: My shop' }).click();
    await page.getByRole('menuitem', { name: 'My shop' }).waitFor();
    // The menu has one project: neither another one nor a new one is offered.
    expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['My shop']);
    await page.keyboard.press('Escape');
    await page.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test/payments/${id}`);
    await page.getByText(`NW-${role}`).first().waitFor();
    for (const action of ACTIONS) {
      const shown = await page.getByRole('button', { name: action, exact: true }).count();
      expect([action, shown > 0]).toEqual([action, (actions as readonly string[]).includes(action)]);
    }
    await page.goto(`${dashboard.service.dashboard}/projects/${other.id}/test/payments`);
    await page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('input[role=combobox]').fill('project');
    expect(await page.getByRole('option', { name: /Other|New project/ }).count()).toBe(0);
  });

  it('and whose role is taken away sees nothing more of the project, in the tab that is open', async () => {
    await dashboard.makeOrder({ order_id: 'NW-gone' });
    const { page } = await open('viewer', 'gone@example.com');
    await page.getByText('Up to date').waitFor();
    const { projectId } = dashboard.service;
    await dashboard.service.command(`user role gone@example.com --role none --project ${projectId}`);
    await expect.poll(() => page.getByText('NW-gone').count()).toBe(0);
  });
});

async function invite(
  service: { readonly command: (line: string) => Promise<unknown> },
  role: string,
  email: string,
  projectId?: string,
): Promise<string> {
  const project = projectId === undefined ? '' : ` --project ${projectId}`;
  const { link } = (await service.command(`user invite --email ${email} --role ${role}${project}`)) as {
    readonly link: string;
  };
  return link;
}

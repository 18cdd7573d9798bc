import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { isNight } from '../extent.ts';
import { useDashboard, violations } from './dashboard.fixture.ts';

const DIALOG = 'dialog';
const ADDRESS = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
/** The effect of markup in a text, if it were taken for markup. */
const SCRIPT = '<img src=x onerror="document.title=1"><script>alert(1)</script>';

/** The name of the control that has the focus. */
const FOCUSED = `(({ activeElement: one }) => {
  // A dialog is there a moment before the focus is in it; the button that opened it may have the same name.
  if (document.querySelector('[role=dialog]')?.contains(one) === false) return '';
  return [one?.getAttribute('aria-label'), one?.labels?.[0]?.textContent, one?.textContent].find(Boolean) ?? '';
})(document)`;
/** How much a test pastes into the field of a note: each character is drawn. */
const PASTED = isNight ? 10_000_000 : 1_000_000;
const PASTE = `(field) => {
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(field, 'x'.repeat(${PASTED}));
  field.dispatchEvent(new Event('input', { bubbles: true }));
}`;

/** Moves on with Tab until a control has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let step = 0; step < 60; step += 1) {
    const focused = await page.evaluate<string>(FOCUSED);
    if (name.test(focused)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${name}.`);
}

describe.skipIf(hasNoBrowser)('a payment', () => {
  const dashboard = useDashboard();
  const base = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;
  const pageOf = (id: string) => `${base()}/payments/${id}`;
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const confirm = (page: Page, name: string) => page.getByRole(DIALOG).getByRole('button', { name, exact: true });

  const apiOf = (id: string) => `/dashboard/api/projects/${dashboard.service.projectId}/test/payments/${id}`;

  /** Somebody's action in another tab; its status. */
  async function elsewhere(page: Page, id: string, what: string, body: object): Promise<number> {
    const headers = { origin: new URL(page.url()).origin, 'sec-fetch-site': 'same-origin' };
    return (
      await page.request.post(new URL(`${apiOf(id)}/${what}`, page.url()).href, { data: body, headers })
    ).status();
  }

  async function paid(page: Page, outcome: RegExp, fields: object = {}): Promise<string> {
    const id = await dashboard.makeOrder({ ...fields });
    await page.goto(pageOf(id));
    await button(page, 'Simulate').click();
    await page.getByLabel(outcome).check();
    await confirm(page, 'Simulate').click();
    await page.getByRole(DIALOG).waitFor({ state: 'detached' });
    return id;
  }

  it('lets its time be advanced, moment by moment and to the end', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(pageOf(await dashboard.makeOrder({})));
    await button(page, 'Advance time').click();
    const found = [...(await violations(page, 'Advance time'))];
    await confirm(page, 'Advance time').click();
    await page
      .getByText(/^It is now .* for this payment\. Moments passed: 1\.$/)
      .first()
      .waitFor();
    await page.getByText('Time advanced').waitFor();
    await button(page, 'Advance time').waitFor({ state: 'detached' });
    expect(found).toEqual([]);
  });

  it('is refunded with the mouse: the excess, then an amount, and never more than what is left', async () => {
    const { page } = await dashboard.openSignedIn();
    await paid(page, /^Paid too much/, { order_id: 'RF-1' });
    await button(page, 'Refund').click();
    const found = [...(await violations(page, 'Refund'))];
    await page.getByLabel('Only the overpaid amount').check();
    await page.getByRole('textbox', { name: 'Address' }).fill(ADDRESS);
    await confirm(page, 'Refund').click();
    await page.getByText('Refund created.', { exact: true }).first().waitFor();
    await page.getByRole('region', { name: 'Refunds' }).getByText('0.00042075 BTC').waitFor();
    await button(page, 'Refund').click();
    await page.getByLabel('An amount in USD, at the payment’s rate').check();
    const amount = page.getByRole('textbox', { name: 'Amount', exact: true });
    await amount.fill('49.99');
    await page.getByRole('region', { name: 'What will be sent' }).getByText('0.00083317 BTC').waitFor();
    await amount.fill('50');
    await page.getByText('You can refund at most').waitFor();
    found.push(...(await violations(page, 'Refund of too much')));
    await page.getByRole('textbox', { name: 'Address' }).fill(ADDRESS);
    await confirm(page, 'Refund').click();
    expect(await page.getByRole(DIALOG, { name: 'Refund' }).count()).toBe(1);
    await amount.fill('20');
    await confirm(page, 'Refund').click();
    await page.getByRole(DIALOG).waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Refunds' }).getByText('$20.00').waitFor();
    found.push(...(await violations(page, 'a payment with refunds')));
    expect(found).toEqual([]);
  });

  it('is refunded, labelled and noted with the keyboard alone', async () => {
    const { page } = await dashboard.openSignedIn();
    await paid(page, /^Paid ?The full amount arrives in time/, { order_id: 'KB-1' });
    const { keyboard } = page;
    const reach = (name: RegExp) => tabTo(page, name);
    await reach(/^Refund$/);
    await keyboard.press('Enter');
    await page.getByRole(DIALOG, { name: 'Refund' }).waitFor();
    await reach(/^Full amount/);
    await keyboard.press('ArrowDown');
    await reach(/^Amount$/);
    await keyboard.type('12.5');
    await reach(/^To an address/);
    await keyboard.press('ArrowDown');
    await reach(/^Reason/);
    await keyboard.type('Broken');
    await keyboard.press('Enter');
    // The link for the customer.
    await page.getByRole('textbox', { name: 'Refund link' }).waitFor();
    await keyboard.press('Escape');
    await page.getByRole(DIALOG).waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Refunds' }).getByText('waiting for the customer’s address').waitFor();
    await reach(/^Label$/);
    await keyboard.type('vip');
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove label vip' }).waitFor();
    await reach(/^Note$/);
    await keyboard.type('Called her.');
    await reach(/^Add note$/);
    await keyboard.press('Enter');
    await page.getByText('Note added.', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Notes' }).getByText('mara@example.com').waitFor();
    await keyboard.press('g');
    await keyboard.press('p');
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    const row = page.getByRole('row', { name: /KB-1/ });
    await row.waitFor();
    expect(await row.count()).toBe(1);
  });

  it('is cancelled, and another one accepted, with the keyboard alone', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(pageOf(await dashboard.makeOrder({ order_id: 'KB-2' })));
    await button(page, 'Cancel payment').waitFor();
    for (const name of ['Cancel payment', 'Accept payment']) {
      await tabTo(page, new RegExp(`^${name}$`));
      await page.keyboard.press('Enter');
      const dialog = page.getByRole(DIALOG, { name });
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      // The focus is back where it was.
      expect(await page.evaluate<string>(FOCUSED)).toBe(name);
      await page.keyboard.press('Enter');
      await dialog.waitFor();
      await tabTo(page, new RegExp(`^${name}$`));
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      if (name === 'Accept payment') break;
      await page.getByText('Cancelled').first().waitFor();
      await paid(page, /^Paid in part/, { order_id: 'KB-3' });
    }
    await page.getByText(/^Paid · accepted by mara@example.com$/).waitFor();
  });

  it('is accepted with what it says beforehand, which follows a change meanwhile and says so', async () => {
    const { page } = await dashboard.openSignedIn();
    const id = await paid(page, /^Paid in part/, { order_id: 'AC-1' });
    await button(page, 'Accept payment').click();
    await page.getByText('You waive the missing 0.00041659 BTC.').waitFor();
    expect(await violations(page, 'Accept payment')).toEqual([]);
    expect(await elsewhere(page, id, 'simulate', { outcome: 'part' })).toBe(200);
    // `refunds.db` tests that the server refuses outdated amounts; here the change may come before any click.
    await page.getByText('The payment has changed').waitFor();
    await page.getByText('You waive the missing 0.0002083 BTC.').waitFor();
    await confirm(page, 'Accept payment').click();
    await page.getByText('Payment accepted.').first().waitFor();
  });

  it('whose action becomes impossible while it is confirmed says so, and does nothing', async () => {
    const { page } = await dashboard.openSignedIn();
    const id = await dashboard.makeOrder({ order_id: 'GO-1' });
    await page.goto(pageOf(id));
    await page.getByText('Up to date').waitFor();
    await button(page, 'Cancel payment').click();
    await page.getByRole(DIALOG, { name: 'Cancel payment' }).waitFor();
    expect(await elsewhere(page, id, 'complete', {})).toBe(200);
    await page.getByText('This action is not possible now').waitFor();
    expect(await violations(page, 'an action that is gone')).toEqual([]);
    await page.getByRole(DIALOG).getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('Paid').first().waitFor();
    expect(await page.getByRole(DIALOG).count()).toBe(0);
  });

  it('keeps what was typed when a note was edited or deleted elsewhere', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /409/ });
    const id = await dashboard.makeOrder({ order_id: 'NO-1' });
    await page.goto(pageOf(id));
    await page.getByRole('textbox', { name: 'Note' }).fill(SCRIPT);
    await button(page, 'Add note').click();
    await page.getByText(SCRIPT, { exact: true }).waitFor();
    await button(page, 'Edit note').click();
    const field = page.getByRole('textbox', { name: 'Edit note' });
    await field.fill('My own words');
    const note = await noteOf(page, id);
    expect(await elsewhere(page, id, 'notes/edit', { ...note, text: 'Theirs' })).toBe(200);
    await button(page, 'Save').click();
    await page.getByRole('alert').getByText('has since edited').waitFor();
    expect(await violations(page, 'a note of two people')).toEqual([]);
    expect(await field.inputValue()).toBe('My own words');
    await button(page, 'Cancel').click();
    await page.getByText('Theirs', { exact: true }).waitFor();
    await button(page, 'Delete note').click();
    await page.getByRole(DIALOG, { name: 'Delete note' }).waitFor();
    expect(await violations(page, 'Delete note')).toEqual([]);
    await page.keyboard.press('Escape');
    await button(page, 'Edit note').click();
    await field.fill('Kept');
    expect(await elsewhere(page, id, 'notes/delete', await noteOf(page, id))).toBe(200);
    expect(await page.title()).not.toBe('1');
  });

  it('asks before a half-written note is left, on its page and beside the list', async () => {
    const { page } = await dashboard.openSignedIn();
    const [one, two] = [
      await dashboard.makeOrder({ order_id: 'LV-1' }),
      await dashboard.makeOrder({ order_id: 'LV-2' }),
    ];
    await page.goto(`${base()}/payments?show=${one}`);
    const panel = page.getByRole('complementary', { name: 'Payment' });
    await panel.getByText('LV-1').first().waitFor();
    await panel.getByRole('textbox', { name: 'Note' }).fill('Half a note');
    await page.getByRole('row', { name: /LV-2/ }).getByText('Waiting').click();
    const question = page.getByRole(DIALOG, { name: 'Leave without saving?' });
    await question.waitFor();
    await question.getByRole('button', { name: 'Back' }).click();
    expect(await panel.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('Half a note');
    await panel.getByRole('button', { name: 'Add note' }).click();
    await page.getByText('Note added.', { exact: true }).waitFor();
    await page.getByRole('row', { name: /LV-2/ }).getByText('Waiting').click();
    await panel.getByText('LV-2').first().waitFor();
    expect(new URL(page.url()).searchParams.get('show')).toBe(two);
  });

  it('takes megabytes into its note and says that it is too long, and markup as text everywhere', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /400/ });
    const name = SCRIPT + 'W'.repeat(255 - SCRIPT.length);
    const id = await dashboard.makeOrder({ order_id: name, description: SCRIPT, metadata: { [SCRIPT]: SCRIPT } });
    await page.goto(pageOf(id));
    await button(page, 'Add note').waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    const note = page.getByRole('textbox', { name: 'Note' });
    await note.evaluate(`(${PASTE})(document.querySelector('textarea'))`);
    await page.getByText(`This note has ${PASTED.toLocaleString('en')}`).waitFor();
    await button(page, 'Add note').click();
    expect((await note.inputValue()).length).toBe(PASTED);
    await note.fill('');
    for (const label of [SCRIPT.slice(0, 40)]) {
      await page.getByRole('combobox', { name: 'Label' }).fill(label);
      await button(page, 'Add label').click();
      await page.getByRole('button', { name: `Remove label ${label}` }).waitFor();
    }
    await page.getByRole('combobox', { name: 'Label' }).fill('a, b');
    await button(page, 'Add label').click();
    await page.getByRole('alert').getByText('without a comma').waitFor();
    expect(await page.title()).toContain(SCRIPT);
    expect(await page.locator('img[src=x]').count()).toBe(0);
  });

  it('is created by hand, and its link is copied', async () => {
    const { page, context } = await dashboard.openSignedIn({ expects: /400/ });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${base()}/payments`);
    await button(page, 'New payment').first().click();
    await page.getByRole(DIALOG, { name: 'New payment' }).waitFor();
    const found = [...(await violations(page, 'New payment'))];
    await page.getByRole('textbox', { name: 'Amount', exact: true }).fill('12.345');
    await confirm(page, 'Create payment').click();
    await page.locator('[aria-invalid=true]').waitFor();
    found.push(...(await violations(page, 'New payment that is refused')));
    await page.getByLabel('Coin').selectOption('USDT · Polygon');
    await page.getByLabel('Currency').selectOption('EUR');
    await page.getByRole('textbox', { name: 'Amount', exact: true }).fill('12,34');
    await page.getByRole('textbox', { name: 'Order ID' }).fill('BY-HAND');
    await confirm(page, 'Create payment').click();
    await page.getByRole(DIALOG, { name: 'Payment created' }).waitFor();
    found.push(...(await violations(page, 'Payment created')));
    const link = await page.getByRole('textbox', { name: 'Payment link' }).inputValue();
    await confirm(page, 'Copy link').click();
    await page.getByText('Copied').first().waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(link);
    const answer = await fetch(link);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('12.34')]);
    expect(await page.getByRole('link', { name: 'Open payment page' }).getAttribute('href')).toBe(link);
    await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
    await page.getByRole('link', { name: 'View payment' }).click();
    await page.getByText('Created · by mara@example.com').waitFor();
    expect(found).toEqual([]);
  });

  async function noteOf(page: Page, id: string): Promise<{ readonly id: string; readonly version: number }> {
    const answer = await page.request.get(new URL(apiOf(id), page.url()).href);
    const { notes } = (await answer.json()) as { readonly notes: readonly { id: string; version: number }[] };
    const [note] = notes;
    if (note === undefined) throw new Error('There is no note.');
    return { id: note.id, version: note.version };
  }
});

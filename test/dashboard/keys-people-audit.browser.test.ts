import { randomUUID } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { createAccount, EMAIL, useDashboard, violations } from './dashboard.fixture.ts';

describe.skipIf(hasNoBrowser)('Keys, People and Audit', () => {
  const dashboard = useDashboard();
  const base = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
  const dialogOf = (page: Page) => page.getByRole('dialog');
  const open = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('link', { name, exact: true }).first().click();
    await heading(page, name).waitFor();
  };
  /** The status of a request that the page shows for a shell. */
  const statusOf = async (command: string): Promise<number> => {
    const [, url = '', authorization = '', body = ''] =
      /^curl '(.+?)' -H 'Authorization: (.+?)' .*-d '(.+)'$/.exec(command) ?? [];
    const headers = { authorization, 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  /** Presses a key until the element with this text has the focus. */
  const pressUntil = async (page: Page, key: string, text: string): Promise<void> => {
    for (let times = 0; times < 40; times += 1) {
      await page.keyboard.press(key);
      if ((await page.evaluate<string>('document.activeElement.textContent.trim()')) === text) return;
    }
    throw new Error(`${key} does not lead to ${text}.`);
  };

  it('makes a key that works, shows it once, rolls it, revokes it, and limits where keys are used, with the mouse', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /400/ });
    await page.goto(base());
    await open(page, 'Keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    await dialogOf(page).getByLabel('Name').fill('<b>Server</b>');
    expect(await violations(page, 'Create key')).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Create key' }).click();
    const shown = dialogOf(page).getByText(/^sk_test_\w+$/);
    const key = (await shown.textContent()) ?? '';
    const command =
      (await dialogOf(page)
        .getByText(/^curl '/)
        .textContent()) ?? '';
    expect(await violations(page, 'A new key')).toEqual([]);
    // Only its own button closes it.
    await page.keyboard.press('Escape');
    await dialogOf(page).getByRole('button', { name: 'I have saved this key' }).click();
    await shown.waitFor({ state: 'detached' });
    expect(await statusOf(command)).toBe(200);
    expect(command).toContain(key);
    await page.getByText('<b>Server</b>', { exact: true }).waitFor();
    expect(await violations(page, 'Keys')).toEqual([]);
    await page.getByRole('button', { name: 'Roll <b>Server</b>' }).click();
    await dialogOf(page).getByLabel('In an hour').check();
    await dialogOf(page).getByRole('button', { name: 'Roll', exact: true }).click();
    await dialogOf(page).getByRole('button', { name: 'I have saved this key' }).click();
    await page.getByText('Expires soon').waitFor();
    await page.getByRole('button', { name: 'Revoke <b>Server</b>' }).last().click();
    await dialogOf(page).getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('Keys that no longer work: 1').waitFor();
    await page.getByRole('button', { name: 'Edit addresses' }).click();
    await dialogOf(page).getByLabel('Addresses and ranges, one per line').fill('nowhere');
    await dialogOf(page).getByRole('button', { name: 'Save' }).click();
    await dialogOf(page).getByText('"nowhere" is not a CIDR range.').waitFor();
    await dialogOf(page).getByLabel('Addresses and ranges, one per line').fill('198.51.100.0/24');
    await dialogOf(page).getByRole('button', { name: 'Add 127.0.0.1' }).first().click();
    expect(await violations(page, 'Edit addresses')).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Save' }).click();
    await page.locator('main code').getByText('198.51.100.0/24').waitFor();
  });

  it('makes a key with scopes, which the list names', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /400/ });
    await page.goto(`${base()}/keys`);
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await dialogOf(page).getByLabel('Name').fill('Reports');
    await dialogOf(page).getByRole('radio', { name: 'Scopes' }).check();
    await dialogOf(page).getByRole('button', { name: 'Create key' }).click();
    await dialogOf(page).getByText('A key needs either a permission or at least one scope').waitFor();
    await dialogOf(page).getByRole('checkbox', { name: 'payments:create' }).check();
    await dialogOf(page).getByRole('checkbox', { name: 'payments:read' }).check();
    expect(await violations(page, 'Scopes of a key')).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Create key' }).click();
    const command = await dialogOf(page)
      .getByText(/^curl '/)
      .textContent();
    expect(await statusOf(command ?? '')).toBe(200);
    await dialogOf(page).getByRole('button', { name: 'I have saved this key' }).click();
    await page.getByText('payments:create, payments:read', { exact: true }).waitFor();
  });

  it('invites a colleague, whose open page closes when the role no longer permits it, with the keyboard; the log has it all', async () => {
    const { page } = await dashboard.openSignedIn();
    const email = `ben-${randomUUID().slice(0, 8)}@example.com`;
    await page.goto(base());
    await heading(page, 'Home').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await page.getByRole('list', { name: 'People' }).getByText(EMAIL).waitFor();
    await pressUntil(page, 'Tab', 'Invite');
    await page.keyboard.press('Enter');
    await dialogOf(page).getByLabel('E-mail').focus();
    await page.keyboard.type(email);
    await dialogOf(page).getByLabel('Developer').focus();
    await page.keyboard.press('Space');
    expect(await violations(page, 'Invite')).toEqual([]);
    await page.keyboard.press('Enter');
    const link =
      (await dialogOf(page)
        .getByText(/\/dashboard\/setup\//)
        .textContent()) ?? '';
    await dialogOf(page).getByRole('button', { name: 'Done' }).focus();
    await page.keyboard.press('Enter');
    // A request of his page at the moment when his access ends is answered 404.
    const ben = await dashboard.openTab({ expects: /status of 404/ });
    await ben.page.goto(link);
    await createAccount(ben.page);
    await ben.page.goto(`${base()}/keys`);
    await ben.page.getByRole('button', { name: 'Create key' }).first().click();
    await dialogOf(ben.page).getByLabel('Name').fill('Mine');
    await page.getByRole('button', { name: `Change role of ${email}` }).focus();
    await page.keyboard.press('Enter');
    await dialogOf(page).getByLabel('Viewer').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.getByText('Viewer in all projects').first().waitFor();
    expect(await violations(page, 'People')).toEqual([]);
    // Typed text stays until it is given up, and nothing was refused: a refusal would be on the console.
    await dialogOf(ben.page).getByText('Your role was changed to Viewer.').waitFor();
    expect(await dialogOf(ben.page).getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true);
    expect(await dialogOf(ben.page).getByLabel('Name').inputValue()).toBe('Mine');
    expect(await violations(ben.page, 'A dialog closed to the role')).toEqual([]);
    await dialogOf(ben.page).getByRole('button', { name: 'Cancel' }).click();
    await heading(ben.page, 'You don’t have access to this page').waitFor();
    await ben.page.getByText('Your role was changed to Viewer.').waitFor();
    expect(await violations(ben.page, 'A page closed to the role')).toEqual([]);
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await heading(page, 'Audit').waitFor();
    await page.getByLabel('What', { exact: true }).selectOption('person');
    await page.getByLabel('Project', { exact: true }).selectOption('all');
    await page.waitForURL(/of=all/);
    await page.getByRole('button', { name: 'Details: Changed a role' }).first().click();
    await page.getByRole('row', { name: 'role developer viewer' }).first().waitFor();
    expect(await violations(page, 'Audit')).toEqual([]);
    await page.getByRole('button', { name: 'Export' }).click();
    const download = page.waitForEvent('download');
    await dialogOf(page).getByRole('button', { name: 'Export' }).click();
    expect((await download).suggestedFilename()).toMatch(/^audit-\d{4}-\d\d-\d\d\.csv$/);
    await ben.page.goto(`${base()}/payments/${await dashboard.makeOrder({ order_id: 'RC-1' })}`);
    await followsTheRole(page, ben.page, email);
  });

  it('asks for a required second factor over the open page, which keeps its text, and names the keys of somebody who leaves', async () => {
    const { page } = await dashboard.openSignedIn();
    const order = await dashboard.makeOrder({ order_id: 'RC-2' });
    await page.goto(`${base()}/people`);
    const email = `ann-${randomUUID().slice(0, 8)}@example.com`;
    await page.getByRole('button', { name: 'Invite' }).click();
    await dialogOf(page).getByLabel('E-mail').fill(email);
    await dialogOf(page).getByLabel('Developer').check();
    await dialogOf(page).getByRole('button', { name: 'Invite' }).click();
    const link = await dialogOf(page)
      .getByText(/\/dashboard\/setup\//)
      .textContent();
    await dialogOf(page).getByRole('button', { name: 'Done' }).click();
    // Requests of her page are refused until she has a second factor, and once she is deactivated.
    const ann = await dashboard.openTab({ expects: /status of 40[13]/ });
    await ann.page.goto(link ?? '');
    await ann.page.getByLabel('Your name').fill('Ann Lee');
    expect(await violations(ann.page, 'An invitation')).toEqual([]);
    await createAccount(ann.page);
    await ann.page.goto(`${base()}/keys`);
    await ann.page.getByRole('button', { name: 'Create key' }).first().click();
    await dialogOf(ann.page).getByLabel('Name').fill('Laptop');
    await dialogOf(ann.page).getByRole('button', { name: 'Create key' }).click();
    await dialogOf(ann.page).getByRole('button', { name: 'I have saved this key' }).click();
    await ann.page.goto(`${base()}/payments/${order}`);
    const note = ann.page.getByRole('textbox', { name: 'Note' });
    await note.fill('Call Ben back');

    const demand = async (isRequired: boolean): Promise<void> => {
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await dialogOf(page).getByRole('checkbox', { name: 'Developer' }).setChecked(isRequired);
      if (isRequired) await dialogOf(page).getByText('People without a second factor: Ann Lee.').waitFor();
      expect(await violations(page, 'Required second factor')).toEqual([]);
      await dialogOf(page).getByRole('button', { name: 'Save' }).click();
      const saved = isRequired ? 'These roles require a second factor: Developer.' : 'Everybody decides for themselves';
      await page.getByText(saved).waitFor();
    };
    await demand(true);
    const asked = dialogOf(ann.page).filter({ hasText: 'Your role requires a second factor.' });
    await asked.waitFor();
    expect(await violations(ann.page, 'A required second factor')).toEqual([]);
    await asked.getByRole('button', { name: 'Authenticator app' }).click();
    const secret = (await dialogOf(ann.page).locator('code').textContent()) ?? '';
    const code = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) }).generate();
    await dialogOf(ann.page).getByLabel('One-time code').fill(code);
    await dialogOf(ann.page).getByRole('button', { name: 'Confirm' }).click();
    await dialogOf(ann.page).getByRole('button', { name: 'I have saved these codes' }).click();
    await asked.waitFor({ state: 'detached' });
    expect(await note.inputValue()).toBe('Call Ben back');
    await ann.page.getByRole('button', { name: 'Add note' }).click();
    await ann.page.getByTitle(email).getByText('Ann Lee', { exact: true }).waitFor();
    await demand(false);

    await page.getByText('Active keys created by this person: 1').first().waitFor();
    await page.getByRole('button', { name: `More for ${email}` }).click();
    await page.getByRole('menuitem', { name: 'Deactivate' }).click();
    await dialogOf(page).getByText('Laptop').waitFor();
    expect(await violations(page, 'Deactivate')).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText(`${email} was deactivated.`).waitFor();
    await page.getByRole('button', { name: 'Active keys created by this person: 1' }).first().click();
    await dialogOf(page).getByRole('link', { name: 'To the keys' }).click();
    await heading(page, 'Keys').waitFor();
    await page.getByText('Laptop', { exact: true }).waitFor();
  });

  /** A page that is open while an owner changes the role of the person, and in the end takes it away and back. */
  async function followsTheRole(owner: Page, page: Page, email: string): Promise<void> {
    const give = (role: string | null) =>
      owner.evaluate(`fetch('/dashboard/api/people').then((answer) => answer.json()).then(({ data }) => fetch('/dashboard/api/people/role', {
        method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: data.find(({ email }) => email === '${email}').id, role: ${JSON.stringify(role)}, project: null }),
      }))`);
    const note = page.getByRole('textbox', { name: 'Note' });
    const changed = (role: string) => page.getByText(`Your role was changed to ${role}.`);
    await page.getByRole('heading', { name: 'Notes' }).waitFor();
    await give('support');
    await changed('Support').waitFor();
    await note.fill('Call Ann back');
    await give('viewer');
    await page.getByText('This note was not saved').waitFor();
    expect([await note.inputValue(), await note.isEditable()]).toEqual(['Call Ann back', false]);
    await give('support');
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByText('Note added.').waitFor();
    await note.fill('Later');
    await give(null);
    await page.getByText('You no longer have access to this project.').waitFor();
    expect(await note.inputValue()).toBe('Later');
    await note.fill('');
    await heading(page, 'You no longer have access to this project.').waitFor();
    expect(await page.getByText('Reconnecting').count()).toBe(0);
    expect(await violations(page, 'A project without access')).toEqual([]);
    await page.getByRole('link', { name: 'Home' }).last().click();
    await page.getByText('no access to a project yet').waitFor();
    await give('viewer');
    // The person comes back to the tab.
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await heading(page, 'Home').waitFor();
    await page.getByText('Up to date').waitFor();
  }
});

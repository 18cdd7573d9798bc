import { describe, expect, it } from 'vitest';
import { invitePerson } from '../../src/app/people/people.ts';
import type { PaymentView } from '../../src/http/dashboard/payments/contract.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import { PASSWORD, signedIn, tokenOf } from '../dashboard.ts';
import { actsTest } from './acts.fixture.ts';

const { test, app, acts, owner, support } = await actsTest();
const invited = async (email: string, name?: string): Promise<string> => {
  const made = await invitePerson(app, test.people.site.url, { email, role: 'support', projectId: null, name });
  if (made.kind !== 'done') throw new Error(made.code);
  return tokenOf(made.link);
};
const FAULTY = ['An\nna', 'An\u0007na', 'An\u2028na', 'An\u202Ena', '\u200B', 'A'.repeat(101)];

describe('a name', () => {
  it('is given when an invitation is accepted, without spaces around it, and may be left out', async () => {
    const accept = async (email: string, name?: string) => {
      const body = { token: await invited(email), password: PASSWORD, ...(name === undefined ? {} : { name }) };
      return signedIn(await test.browser().do('POST /dashboard/api/links/accept', body)).person;
    };
    expect(await accept('anna@shop.example', '  Anna Berg ')).toMatchObject({ name: 'Anna Berg' });
    expect(await accept('ben@shop.example', ' ')).toMatchObject({ name: null });
    expect(await accept('cleo@shop.example')).toMatchObject({ name: null });
    const { data } = await owner.browser.do('GET /dashboard/api/people');
    expect(data.find(({ email }) => email === 'anna@shop.example')).toMatchObject({ name: 'Anna Berg' });
  });

  it('may be proposed by the invitation, and is the person’s to change or remove', async () => {
    const token = await invited('dora@shop.example', 'Dora');
    const browser = test.browser();
    expect(await browser.do('POST /dashboard/api/links/state', { token })).toMatchObject({ name: 'Dora' });
    await browser.do('POST /dashboard/api/links/accept', { token, name: 'Dora Lind', password: PASSWORD });
    expect(signedIn(await browser.session()).person.name).toBe('Dora Lind');
    const changed = await browser.do('POST /dashboard/api/account/name', { name: '' });
    expect(signedIn(changed).person.name).toBeNull();
    const log = await owner.browser.do('GET /dashboard/api/audit');
    const join = log.data.find(({ action, after }) => action === 'person.join' && after?.['name'] === 'Dora Lind');
    expect(join?.actor).toMatchObject({ name: 'dora@shop.example' });
    expect(log.data.find(({ action }) => action === 'person.name')).toMatchObject({
      before: { name: 'Dora Lind' },
      after: { email: 'dora@shop.example', name: null },
    });
  });

  it.each(FAULTY)('has one line, is visible, and turns no text: %j is refused everywhere', async (name) => {
    const refused = { status: 400, body: { error: { param: 'name' } } };
    expect(await support.browser.try('POST /dashboard/api/account/name', { name })).toMatchObject(refused);
    const token = await invited('eve@shop.example');
    const accepted = { token, name, password: PASSWORD };
    expect(await test.browser().try('POST /dashboard/api/links/accept', accepted)).toMatchObject(refused);
    // The link stays good for another try.
    expect(await test.browser().do('POST /dashboard/api/links/state', { token })).toMatchObject({ state: 'open' });
    const request = { email: 'eve@shop.example', role: 'viewer', projectId: null, name } as const;
    expect(await invitePerson(app, test.people.site.url, request)).toMatchObject({ kind: 'rejected', param: 'name' });
  });

  it('has up to 100 characters', async () => {
    const name = 'A'.repeat(100);
    const session = await support.browser.do('POST /dashboard/api/account/name', { name });
    expect(signedIn(session).person.name).toBe(name);
  });

  it('stands beside the e-mail in notes, in the history of a payment, in the log and where people are assigned', async () => {
    const id = publicPaymentId(await app.pay());
    await acts.post(support.browser, id, 'notes', { text: 'She called.' });
    await acts.post<PaymentView>(support.browser, id, 'cancel');
    await support.browser.do('POST /dashboard/api/account/name', { name: 'Sam' });
    const { email } = support;
    const payment = await acts.read(owner.browser, id);
    expect(payment.notes).toMatchObject([{ author: email, author_name: 'Sam' }]);
    const done = payment.timeline.filter(({ kind }) => kind === 'action');
    expect(done).toContainEqual(expect.objectContaining({ action: 'payment.cancel', by: email, by_name: 'Sam' }));
    const { data, people } = await owner.browser.do('GET /dashboard/api/audit');
    const note = data.find(({ action }) => action === 'payment.note');
    expect(note?.actor).toMatchObject({ name: email, person_name: 'Sam' });
    expect(people).toContainEqual({ id: support.id, email, name: 'Sam' });
    const path = `/dashboard/api/projects/${app.projectId}/test/attention`;
    const { body } = await owner.browser.call<{ readonly people: readonly object[] }>({ path });
    expect(body.people).toContainEqual({ id: support.id, email, name: 'Sam' });
  });

  it('stands beside the e-mail of whoever made a key', async () => {
    await owner.browser.do('POST /dashboard/api/account/name', { name: 'Olga' });
    const path = `/dashboard/api/projects/${app.projectId}/test/keys`;
    const body = { name: 'Server', kind: 'secret', permission: 'full' };
    expect((await owner.browser.call({ method: 'POST', path, body })).status).toBe(200);
    const keys = await owner.browser.call<{ readonly data: readonly object[] }>({ path });
    const maker = { kind: 'person', name: owner.email, person_name: 'Olga' };
    expect(keys.body.data).toContainEqual(expect.objectContaining({ name: 'Server', created_by: maker }));
  });
});

import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { PaymentView } from '../../src/http/dashboard/payments/contract.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import type { Browser } from '../dashboard.ts';
import { actsIn, actsTest } from './acts.fixture.ts';

const { test, app, acts, owner, support } = await actsTest();
const SCRIPT = '<img src=x onerror="alert(1)">';

const newPayment = async (): Promise<string> => publicPaymentId(await app.pay());
const post = (browser: Browser, id: string, what: string, body: object) =>
  acts.post<PaymentView>(browser, id, what, body);
const refused = (status: number, text: string) => ({
  status,
  body: { error: { message: expect.stringContaining(text) } },
});

describe('notes', () => {
  it('are written, edited and deleted, each by name, and the log has who and not what', async () => {
    const id = await newPayment();
    const written = await post(support.browser, id, 'notes', { text: `  Called her.\r\n${SCRIPT} ` });
    expect(written.body.notes).toEqual([
      {
        id: expect.any(String),
        author: support.email,
        author_name: null,
        text: `Called her.\n${SCRIPT}`,
        created_at: expect.any(String),
        edited_at: null,
        version: 1,
        can: { edit: true, delete: true },
      },
    ]);
    const [note] = written.body.notes;
    app.clock.advance(1_000);
    const edited = await post(support.browser, id, 'notes/edit', {
      id: note?.id,
      version: 1,
      text: 'She pays on Monday.',
    });
    expect(edited.body.notes).toMatchObject([
      { text: 'She pays on Monday.', version: 2, edited_at: expect.any(String) },
    ]);
    const asOwner = await acts.read(owner.browser, id);
    expect(asOwner.notes).toMatchObject([{ author: support.email, can: { edit: false, delete: true } }]);
    app.clock.advance(1_000);
    expect((await post(owner.browser, id, 'notes/delete', { id: note?.id, version: 2 })).body.notes).toEqual([]);
    const actions = (await acts.read(owner.browser, id)).timeline.filter(({ kind }) => kind === 'action');
    expect(actions).toMatchObject([
      { action: 'payment.note', by: support.email },
      { action: 'payment.note_edit', by: support.email },
      { action: 'payment.note_delete', by: owner.email },
    ]);
    const log = await app.db.selectFrom('audit_log').select(['before', 'after']).execute();
    expect(JSON.stringify(log)).not.toContain('Monday');
  });

  it('edited in two tabs keep the first edit, and the second is refused and says what to do', async () => {
    const id = await newPayment();
    const [note] = (await post(support.browser, id, 'notes', { text: 'First' })).body.notes;
    const edits = ['One tab', 'The other'].map((text) =>
      post(support.browser, id, 'notes/edit', { id: note?.id, version: 1, text }),
    );
    const answers = await Promise.all(edits);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect(answers.find(({ status }) => status === 409)).toMatchObject(refused(409, 'has since edited'));
    const kept = answers.findIndex(({ status }) => status === 200) === 0 ? 'One tab' : 'The other';
    expect((await acts.read(owner.browser, id)).notes).toMatchObject([{ text: kept, version: 2 }]);
  });

  it('deleted while somebody edits them are not there again, and the edit is told so', async () => {
    const id = await newPayment();
    const [note] = (await post(support.browser, id, 'notes', { text: 'Gone soon' })).body.notes;
    await post(owner.browser, id, 'notes/delete', { id: note?.id, version: 1 });
    const late = await post(support.browser, id, 'notes/edit', { id: note?.id, version: 1, text: 'Too late' });
    expect(late).toMatchObject(refused(409, 'has since deleted'));
    expect((await acts.read(owner.browser, id)).notes).toEqual([]);
  });

  it('of others are edited by nobody, and deleted by owners and admins alone', async () => {
    const id = await newPayment();
    const colleague = await test.join('developer', app.projectId);
    const [note] = (await post(support.browser, id, 'notes', { text: 'Mine' })).body.notes;
    for (const { browser } of [colleague, owner]) {
      const edit = await post(browser, id, 'notes/edit', { id: note?.id, version: 1, text: 'Not mine' });
      expect(edit).toMatchObject(refused(400, `Only the author, ${support.email}`));
    }
    const kept = await post(colleague.browser, id, 'notes/delete', { id: note?.id, version: 1 });
    expect(kept).toMatchObject(refused(400, 'an owner or an admin'));
    expect((await acts.read(owner.browser, id)).notes).toMatchObject([{ text: 'Mine', version: 1 }]);
  });

  it.each([
    ['text', { text: '' }],
    ['text', { text: ' \n ' }],
    ['text', { text: 'x'.repeat(4_001) }],
    ['text', { text: 'a\0b' }],
    ['text', { text: '\ud800' }],
    ['text', {}],
  ])('refuse what is none, and name %s: %j', async (param, body) => {
    const answer = await post(owner.browser, await newPayment(), 'notes', body);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.objectContaining({ param }) }]);
  });

  it('of ten megabytes are refused with the limit before anything is kept of them', async () => {
    const id = await newPayment();
    const answer = await post(owner.browser, id, 'notes', { text: 'x'.repeat(10_000_000) });
    expect(answer).toMatchObject(refused(400, 'at most 64 KiB'));
    expect((await acts.read(owner.browser, id)).notes).toEqual([]);
  });

  it('end at two hundred', async () => {
    const payment = await app.pay();
    const rows = Array.from({ length: 200 }, (_, index) => ({
      id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      payment_id: payment.id,
      author_id: owner.id,
      author_name: owner.email,
      body: 'One of many',
      version: 1,
      created_at: new Date(app.clock()),
    }));
    await app.db.insertInto('payment_notes').values(rows).execute();
    const answer = await post(owner.browser, publicPaymentId(payment), 'notes', { text: 'One more' });
    expect(answer).toMatchObject(refused(400, 'at most 200 notes'));
  });
});

describe('labels', () => {
  it('are put on and taken off, known to both modes, and gone with the last payment that has them', async () => {
    const [one, two] = [await newPayment(), await newPayment()];
    const labels = async (): Promise<readonly string[]> => {
      const answer = await owner.browser.call<{ readonly data: readonly string[] }>({
        path: `/dashboard/api/projects/${app.projectId}/labels`,
      });
      return answer.body.data;
    };
    await post(support.browser, one, 'labels', { label: '  Gift   card ' });
    app.clock.advance(1);
    const again = await post(owner.browser, two, 'labels', { label: 'GIFT CARD' });
    expect(again.body.labels).toEqual(['Gift card']);
    await post(owner.browser, two, 'labels', { label: SCRIPT });
    expect((await acts.read(owner.browser, two)).labels).toEqual([SCRIPT, 'Gift card']);
    expect(await labels()).toEqual([SCRIPT, 'Gift card']);
    expect((await acts.read(owner.browser, one)).timeline).toContainEqual(
      expect.objectContaining({ action: 'payment.label', by: support.email, detail: 'Gift card' }),
    );
    await post(owner.browser, two, 'labels/remove', { label: 'gift card' });
    expect(await labels()).toEqual([SCRIPT, 'Gift card']);
    app.clock.advance(1);
    const last = await post(owner.browser, one, 'labels/remove', { label: 'Gift card' });
    expect(last.body.labels).toEqual([]);
    expect(await labels()).toEqual([SCRIPT]);
    expect(last.body.timeline.filter(({ kind }) => kind === 'action')).toMatchObject([
      // No payment has the label any more, and its name is gone.
      { action: 'payment.label', by: support.email, detail: null },
      { action: 'payment.label_remove', by: owner.email, detail: null },
    ]);
    const { rows } = await sql`
      select from audit_log where concat(before, after) ilike '%gift card%'`.execute(app.db);
    expect(rows).toEqual([]);
  });

  it('put on and taken off by many at once are there once or not at all', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, newPayment));
    const each = (what: string) =>
      ids.flatMap((id) => [owner, support].map(({ browser }) => post(browser, id, what, { label: 'Rush' })));
    const answers = await Promise.all([...each('labels'), ...each('labels/remove'), ...each('labels')]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await Promise.all(each('labels'));
    for (const id of ids) expect((await acts.read(owner.browser, id)).labels).toEqual(['Rush']);
    await Promise.all(each('labels/remove'));
    const left = await app.db.selectFrom('labels').select('name').where('name', '=', 'Rush').execute();
    expect(left).toEqual([]);
  });

  it.each([[''], ['  '], ['\u200B\u202E'], ['a, b'], ['x'.repeat(41)], ['a\0']])(
    'refuse what is none: %j',
    async (label) => {
      const answer = await post(owner.browser, await newPayment(), 'labels', { label });
      expect([answer.status, answer.body]).toEqual([400, { error: expect.objectContaining({ param: 'label' }) }]);
    },
  );

  it('end at twenty a payment', async () => {
    const id = await newPayment();
    for (let n = 0; n < 20; n += 1) await post(owner.browser, id, 'labels', { label: `Label ${n}` });
    const answer = await post(owner.browser, id, 'labels', { label: 'One more' });
    expect(answer).toMatchObject(refused(400, 'at most 20 labels'));
  });
});

it('notes and labels of another project are answered as ones that are not there, in every position', async () => {
  const { projectId } = await test.http.shop();
  const foreign = publicPaymentId(await app.pay({ projectId }));
  const [note] = (
    await actsIn(test, 'test', projectId).post<PaymentView>(owner.browser, foreign, 'notes', { text: 'X' })
  ).body.notes;
  const own = await newPayment();
  for (const [id, what, body, status] of [
    [foreign, 'notes', { text: 'Mine' }, 404],
    [foreign, 'notes/edit', { id: note?.id, version: 1, text: 'Mine' }, 404],
    [foreign, 'notes/delete', { id: note?.id, version: 1 }, 404],
    [foreign, 'labels', { label: 'Mine' }, 404],
    [foreign, 'labels/remove', { label: 'Mine' }, 404],
    [own, 'notes/edit', { id: note?.id, version: 1, text: 'Mine' }, 409],
    [own, 'notes/delete', { id: note?.id, version: 1 }, 409],
    [own, 'notes/delete', { id: 'nonsense', version: 1 }, 404],
  ] as const) {
    const answer = await post(support.browser, id, what, body);
    expect([what, answer.status]).toEqual([what, status]);
  }
  const kept = await actsIn(test, 'test', projectId).read(owner.browser, foreign);
  expect([kept.notes.map(({ text }) => text), kept.labels]).toEqual([['X'], []]);
});

import { afterAll, describe, expect, it } from 'vitest';
import { createProject } from '../../src/app/projects/projects.ts';
import type { ViewAnswer } from '../../src/http/dashboard/saved-views/contract.ts';
import { dashboardTest, type Browser, type Member } from '../dashboard.ts';

const test = await dashboardTest();
const { app } = test.http;
afterAll(() => test.http.close());

const pathOf = (projectId = app.projectId): string => `/dashboard/api/projects/${projectId}/views`;
const VIEW = { name: 'Late in Bitcoin', query: 'exception=paid_late&network=bitcoin', shared: false };

function save(browser: Browser, fields: object = {}, projectId = app.projectId) {
  return browser.call<ViewAnswer>({ method: 'POST', path: pathOf(projectId), body: { ...VIEW, ...fields } });
}
function change(browser: Browser, id: string, fields: object, projectId = app.projectId) {
  const body = { ...VIEW, version: 1, ...fields };
  return browser.call<ViewAnswer>({ method: 'POST', path: `${pathOf(projectId)}/${id}`, body });
}
function remove(browser: Browser, id: string, version = 1, projectId = app.projectId) {
  return browser.call({ method: 'POST', path: `${pathOf(projectId)}/${id}/delete`, body: { version } });
}
async function viewsOf({ browser }: Member, projectId = app.projectId): Promise<readonly ViewAnswer[]> {
  return (await browser.call<{ readonly data: readonly ViewAnswer[] }>({ path: pathOf(projectId) })).body.data;
}

describe('a saved view', () => {
  it('is the person’s own, until they share it with everybody who sees the payments', async () => {
    const [ann, ben] = [await test.join('support'), await test.join('viewer')];
    const { body: view } = await save(ann.browser);
    expect(view).toMatchObject({ ...VIEW, owner: ann.email, is_own: true, can_change: true, version: 1 });
    expect(await viewsOf(ann)).toEqual([view]);
    expect(await viewsOf(ben)).toEqual([]);
    const { body: shared } = await change(ann.browser, view.id, { shared: true });
    expect(shared).toMatchObject({ shared: true, version: 2 });
    expect(await viewsOf(ben)).toEqual([{ ...shared, is_own: false, can_change: false }]);
    expect((await remove(ann.browser, view.id, 2)).status).toBe(200);
    expect(await viewsOf(ben)).toEqual([]);
  });

  it('of a viewer is for themselves: they can neither share it nor change what others shared', async () => {
    const [ann, ben] = [await test.join('admin'), await test.join('viewer')];
    const { body: shared } = await save(ann.browser, { shared: true });
    const refused = (sentence: string) => ({
      status: 400,
      body: { error: { message: expect.stringContaining(sentence) } },
    });
    const unshared = refused('With the role viewer, you cannot share views.');
    expect(await save(ben.browser, { shared: true })).toMatchObject(unshared);
    expect(await change(ben.browser, shared.id, { shared: true })).toMatchObject(refused(`belongs to ${ann.email}`));
    expect(await remove(ben.browser, shared.id)).toMatchObject(refused(`belongs to ${ann.email}`));
    const { body: own } = await save(ben.browser);
    expect(await change(ben.browser, own.id, { shared: true })).toMatchObject(
      refused('With the role viewer, you cannot share'),
    );
    expect((await change(ben.browser, own.id, { name: 'Mine' })).body).toMatchObject({ name: 'Mine', version: 2 });
  });

  it('that two people change at once keeps the first change and tells the second person', async () => {
    const [ann, ben] = [await test.join('admin'), await test.join('developer')];
    const { body: view } = await save(ann.browser, { shared: true });
    const answers = await Promise.all([
      change(ann.browser, view.id, { name: 'By Ann', shared: true }),
      change(ben.browser, view.id, { name: 'By Ben', shared: true }),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    const kept = answers.find(({ status }) => status === 200)?.body.name;
    expect((await viewsOf(ann)).find(({ id }) => id === view.id)).toMatchObject({ name: kept, version: 2 });
    const told = answers.find(({ status }) => status === 409);
    expect(told?.body).toMatchObject({
      error: { type: 'conflict_error', message: expect.stringContaining(`The view is now called “${kept}”`) },
    });
    expect(await remove(ben.browser, view.id)).toMatchObject({ status: 409 });
  });

  it('does not exist in another project, nor for anybody but its owner', async () => {
    const other = await createProject(app, 'Other');
    if (other.kind !== 'done') throw new Error(other.code);
    const [ann, ben] = [await test.join('owner'), await test.join('owner')];
    const { body: view } = await save(ann.browser);
    expect(await viewsOf(ann, other.project.id)).toEqual([]);
    const foreign = [
      await change(ann.browser, view.id, {}, other.project.id),
      await remove(ann.browser, view.id, 1, other.project.id),
      await change(ben.browser, view.id, {}),
      await remove(ben.browser, view.id),
      await change(ann.browser, 'nothing', {}),
      await remove(ann.browser, '00000000-0000-7000-8000-000000000000'),
    ];
    expect(foreign.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    expect(await viewsOf(ann)).toContainEqual(view);
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: 'x'.repeat(61) }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{ query: 'x'.repeat(2_001) }, 'query'],
    [{ shared: 'yes' }, 'shared'],
    [{ query: undefined }, 'query'],
  ])('is refused with a sentence for %j', async (fields, param) => {
    const { browser } = await test.join('viewer');
    expect(await save(browser, fields)).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('keeps markup and whatever its query says as they are', async () => {
    const ann = await test.join('viewer');
    const fields = { name: '<script>alert(1)</script>', query: 'status=of-another-version&x=%00&<b>' };
    await save(ann.browser, fields);
    expect((await viewsOf(ann)).filter(({ is_own }) => is_own)).toMatchObject([fields]);
  });

  it('is one of 50 that a person has in a project', async () => {
    const ann = await test.join('viewer');
    for (let n = 0; n < 50; n += 1) expect((await save(ann.browser)).status).toBe(200);
    expect(await save(ann.browser)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('You already have 50 views in this project.') } },
    });
  });

  it('is in the audit log with what was changed, without what it searches for', async () => {
    const ann = await test.join('admin');
    const { body: view } = await save(ann.browser);
    app.clock.advance(1);
    await change(ann.browser, view.id, { name: 'Other', shared: true });
    app.clock.advance(1);
    await change(ann.browser, view.id, { name: 'Other', query: 'search=eve@shop.example', shared: true, version: 2 });
    app.clock.advance(1);
    await remove(ann.browser, view.id, 3);
    const rows = await app.db
      .selectFrom('audit_log')
      .select(['action', 'before', 'after'])
      .where('subject_id', '=', view.id)
      .orderBy('id')
      .execute();
    expect(rows).toEqual([
      { action: 'view.create', before: null, after: { name: VIEW.name, shared: VIEW.shared } },
      { action: 'view.change', before: { name: VIEW.name, shared: false }, after: { name: 'Other', shared: true } },
      { action: 'view.change', before: {}, after: { query_changed: true } },
      { action: 'view.delete', before: { name: 'Other', shared: true }, after: null },
    ]);
  });
});

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { testApp } from '../../../test/harness.ts';
import { firstStart } from './first-start.ts';
import { keysOf } from './keys.ts';
import { projectsOf } from './projects.ts';

it('makes one project with one key, however many processes start on the empty database at once', async () => {
  const app = await testApp();
  await sql`truncate projects cascade`.execute(app.db);
  const starts = await Promise.all(Array.from({ length: 8 }, () => firstStart(app, { withKey: true })));
  const [made, ...others] = starts.filter((start) => start !== null);
  expect(others).toEqual([]);
  expect(await projectsOf(app)).toMatchObject([{ id: made?.projectId, name: 'My shop' }]);
  expect(await keysOf(app, made?.projectId ?? '')).toMatchObject({ keys: [{ name: 'First key' }] });
  expect(await firstStart(app, { withKey: true })).toBeNull();
});

it('makes the project alone where nobody may read a key', async () => {
  const app = await testApp();
  await sql`truncate projects cascade`.execute(app.db);
  const made = await firstStart(app, { withKey: false });
  expect(made).toEqual({ projectId: expect.any(String), key: null });
  expect(await keysOf(app, made?.projectId ?? '')).toMatchObject({ keys: [] });
});

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { changeProject, createProject } from '../../app/projects/projects.ts';
import { tryServer } from '../frame.fixture.ts';
import { accentCss } from './accent.ts';
import { accentPath, iconOf, logoPath, brandingRoutes } from './frame.ts';

/** 32 × 16 pixels, as a browser wrote them. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAQCAYAAAB3AH1ZAAAALElEQVR4AezQMQ0AAAgDQcKKRCTgfwYZLNek++eypvfzGc8TQIAAAQIECBwAAAD//9pSEnYAAAAGSURBVAMAges6IS/wS1YAAAAASUVORK5CYII=',
  'base64',
);
const IMMUTABLE = 'public, max-age=31536000, immutable';

async function brandingTest() {
  const app = await testApp();
  const server = tryServer({ plugins: [brandingRoutes({ app, access: { hasLogo: () => true } })] });
  return { app, get: (url: string) => server.inject({ method: 'GET', url }) };
}

/** Gives the project a logo and returns its path. */
async function setLogo(app: TestApp, bytes: Buffer, projectId = app.projectId): Promise<string> {
  const changed = await changeProject(app, projectId, { logo: { file: 'logo.png', bytes } });
  if (changed.kind !== 'done') throw new Error(changed.code);
  return logoPath(changed.project.logo?.hash ?? '');
}

it("a shop's colour is a style sheet that may be kept for good", async () => {
  const { get } = await brandingTest();
  const answer = await get(accentPath('ffd400'));
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': IMMUTABLE,
    'x-content-type-options': 'nosniff',
  });
  expect(answer.body).toBe(accentCss('ffd400'));
  expect((await get(accentPath('FFD400'))).body).toBe(answer.body);
});

it('there is no style sheet at anything but six hex digits', async () => {
  const { get } = await brandingTest();
  const bad = ['', 'fff', 'ffd40', 'ffd4000', 'ffd40g', 'red', '%23ffd400', 'ffd400%0a', 'ffd400;}', '..%2fffd400'];
  for (const hex of bad) {
    const { statusCode, headers } = await get(accentPath(hex));
    expect({ hex, statusCode, cache: headers['cache-control'] }).toEqual({ hex, statusCode: 404, cache: 'no-store' });
  }
  expect((await get('/assets/accent.ffd400.js')).statusCode).toBe(404);
});

it('a logo is sent to the byte, under a policy that lets it do nothing', async () => {
  const { app, get } = await brandingTest();
  const path = await setLogo(app, PNG);
  expect(path).toBe(`/assets/logo.${createHash('sha256').update(PNG).digest('hex')}`);
  const answer = await get(path);
  expect(answer.statusCode).toBe(200);
  expect(answer.rawPayload).toEqual(PNG);
  expect(answer.headers).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(PNG.length),
    'cache-control': IMMUTABLE,
    'content-security-policy': "default-src 'none'; sandbox",
    'content-disposition': 'inline',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
});

it('an unknown logo is not there, and is there once a shop has it', async () => {
  const { app, get } = await brandingTest();
  const path = logoPath(createHash('sha256').update(PNG).digest('hex'));
  for (const unknown of [path, logoPath(''), logoPath('a'.repeat(63)), path.toUpperCase(), `${path}.png`]) {
    const { statusCode, headers } = await get(unknown);
    expect({ unknown, statusCode }).toEqual({ unknown, statusCode: 404 });
    expect(headers['cache-control']).toBe('no-store');
  }
  await setLogo(app, PNG);
  expect((await get(path)).statusCode).toBe(200);
});

it('an icon is served as logos are, and is the tab’s picture before a square logo', async () => {
  const { app, get } = await brandingTest();
  const icon = Buffer.from(PNG);
  // The height in the header: as high as wide.
  icon.writeUInt32BE(32, 20);
  const changed = await changeProject(app, app.projectId, { icon: { file: 'icon.png', bytes: icon } });
  if (changed.kind !== 'done') throw new Error(changed.code);
  const { project } = changed;
  const answer = await get(logoPath(project.icon?.hash ?? ''));
  expect(answer.rawPayload).toEqual(icon);
  expect(answer.headers).toMatchObject({ 'content-security-policy': "default-src 'none'; sandbox" });
  const wide = { hash: 'a', width: 32, height: 16 };
  const square = { hash: 'b', width: 32, height: 32 };
  expect(iconOf(project.icon, square)).toBe(project.icon);
  expect([iconOf(null, square), iconOf(null, wide), iconOf(null, null)]).toEqual([square, null, null]);
});

it('a logo that was taken away is gone within a minute', async () => {
  const { app, get } = await brandingTest();
  const path = await setLogo(app, PNG);
  expect((await get(path)).statusCode).toBe(200);
  await changeProject(app, app.projectId, { logo: null });
  app.clock.advance(59_999);
  expect((await get(path)).statusCode).toBe(200);
  app.clock.advance(1);
  expect((await get(path)).statusCode).toBe(404);
});

it('remembers a bounded number of logos, the latest', async () => {
  const { app, get } = await brandingTest();
  const first = await setLogo(app, PNG);
  expect((await get(first)).statusCode).toBe(200);
  const others: string[] = [];
  for (let index = 1; index <= 64; index++) {
    const made = await createProject(app, `Shop ${index}`);
    if (made.kind !== 'done') throw new Error(made.code);
    const other = Buffer.from(PNG);
    // Somewhere in the pixels.
    other[48] = index;
    others.push(await setLogo(app, other, made.project.id));
  }
  // The logo comes from memory after the database has lost it.
  await changeProject(app, app.projectId, { logo: null });
  for (const path of others.slice(0, 63)) await get(path);
  for (let index = 0; index < 100; index++) await get(logoPath(String(index).padStart(64, '0')));
  expect((await get(first)).statusCode).toBe(200);
  await get(others[63] ?? '');
  expect((await get(first)).statusCode).toBe(404);
});

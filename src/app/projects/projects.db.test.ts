import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { testApp } from '../../../test/harness.ts';
import { refusalMessage } from '../../cli/refusal.ts';
import { parseKey } from '../../domain/api-key.ts';
import { listen } from '../../store/notifications.ts';
import { findLogo } from '../../store/projects/projects.ts';
import { changeProject, createProject, projectsOf } from './projects.ts';
import { isRejected } from '../rejected.ts';
import { createKey, keysOf, removeKey } from './keys.ts';
import { WAIT } from '../../../test/deadline.ts';

const UNKNOWN = '019bbf3a-0000-7000-8000-00000000dead';

describe('a project', () => {
  it('is made active and open, and is listed in the order of making', async () => {
    const app = await testApp();
    app.clock.advance(1);
    const made = await createProject(app, '  Café  ');
    const project = { name: 'Café', active: true, allowIps: [], allowOrigins: [], createdAt: app.clock() };
    expect(made).toMatchObject({ kind: 'done', project });
    expect(await projectsOf(app)).toMatchObject([{ id: app.projectId, name: 'Shop' }, project]);
  });

  it('is not made with an empty, long or unprintable name', async () => {
    const app = await testApp();
    for (const name of ['', '   ', 'a'.repeat(101), 'two\nlines', 'NUL \0', 'half \uD800']) {
      const rejected = { code: 'name_length', param: 'name' };
      expect({ name, ...(await createProject(app, name)) }).toMatchObject(rejected);
    }
    expect(await projectsOf(app)).toHaveLength(1);
  });

  it('changes what is given and nothing else; an empty list opens it again', async () => {
    const app = await testApp();
    const change = (changes: Parameters<typeof changeProject>[2]) => changeProject(app, app.projectId, changes);
    const allowIps = ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'];
    expect(await change({ allowIps })).toMatchObject({ project: { active: true, allowIps } });
    expect(await change({ active: false })).toMatchObject({ project: { active: false, allowIps } });
    expect(await change({ allowOrigins: ['https://Shop.example:443/', 'http://localhost:3000'] })).toMatchObject({
      project: { active: false, allowIps, allowOrigins: ['https://shop.example', 'http://localhost:3000'] },
    });
    expect(await change({ active: true, allowIps: [], allowOrigins: [] })).toMatchObject({
      project: { active: true, allowIps: [], allowOrigins: [] },
    });
  });

  it('is changed by several at once one after another, and the log says what each of them found', async () => {
    const app = await testApp();
    const names = ['Tea', 'Books', 'Shoes', 'Hats'];
    await Promise.all(names.map((name) => changeProject(app, app.projectId, { name })));
    const { rows } = await sql<{ before: string; after: string }>`
      select before ->> 'name' as before, after ->> 'name' as after from audit_log
      where project_id = ${app.projectId} and action = 'project.change'`.execute(app.db);
    const found = new Map(rows.map(({ before, after }) => [before, after]));
    const chain = ['Shop'];
    for (let next = found.get('Shop'); next !== undefined; next = found.get(next)) chain.push(next);
    expect(chain.toSorted()).toEqual(['Shop', ...names].toSorted());
  });

  it('is left as it is by anything that is no list of ranges or origins', async () => {
    const app = await testApp();
    const bad = [
      [{ allowIps: ['10.0.0.0/8', '10.0.0.0/33'] }, 'allowIps'],
      [{ allowIps: ['shop.example'] }, 'allowIps'],
      [{ allowOrigins: ['shop.example'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://shop.example/path'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://user@shop.example'] }, 'allowOrigins'],
      [{ allowOrigins: ['ftp://shop.example'] }, 'allowOrigins'],
      [{ allowOrigins: ['*'] }, 'allowOrigins'],
      [{ allowOrigins: ['null'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://*'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://*.shop.example'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://a;sandbox'] }, 'allowOrigins'],
      [{ allowOrigins: ["https://'self'"] }, 'allowOrigins'],
      [{ allowOrigins: ['https://shop.example;'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://a,b'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://-a.example'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://a-.example'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://shop.example\\'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://shop%2eexample'] }, 'allowOrigins'],
      [{ allowOrigins: ['https://2130706433'] }, 'allowOrigins'],
    ] as const;
    for (const [changes, param] of bad) {
      const rejected = { kind: 'rejected', param };
      const changed = await changeProject(app, app.projectId, { active: false, ...changes });
      expect({ changes, ...changed }).toMatchObject(rejected);
    }
    expect(await projectsOf(app)).toMatchObject([{ active: true, allowIps: [], allowOrigins: [] }]);
  });

  it('that is unknown is named in the answer', async () => {
    const app = await testApp();
    const rejected = { code: 'no_project', values: { id: UNKNOWN } };
    expect(await changeProject(app, UNKNOWN, { active: false })).toMatchObject(rejected);
    expect(await keysOf(app, UNKNOWN)).toMatchObject(rejected);
  });
});

/** Pictures of 32 × 16 pixels, as a browser wrote them. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAQCAYAAAB3AH1ZAAAALElEQVR4AezQMQ0AAAgDQcKKRCTgfwYZLNek++eypvfzGc8TQIAAAQIECBwAAAD//9pSEnYAAAAGSURBVAMAges6IS/wS1YAAAAASUVORK5CYII=',
  'base64',
);
const JPEG = Buffer.from(
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAQACADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAIE/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AgAUxAAP/2Q==',
  'base64',
);
const WEBP = Buffer.from(
  'UklGRjoAAABXRUJQVlA4IC4AAADQAgCdASogABAAPxFysFAsJqSisAgBgCIJQBdgBaSAAP7mxu/Hr109vouitAAA',
  'base64',
);

/** A segment that says which way up a photograph is (Exif 2.32, 4.6.4), put behind the start of a JPEG. */
function orientedJpeg(orientation: number): Buffer {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  const exif = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const marker = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([JPEG.subarray(0, 20), marker, exif, JPEG.subarray(20)]);
}

/** The PNG with a chunk put before its pixels. */
function pngWith(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([PNG.subarray(0, 33), head, content, Buffer.alloc(4), PNG.subarray(33)]);
}

function pngOf(width: number, height: number): Buffer {
  const bytes = Buffer.from(PNG);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

/** A WebP of the extended kind, 32 × 16 pixels, that plays. */
function playingWebp(): Buffer {
  const bytes = Buffer.from('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x1f\0\0\x0f\0\0', 'latin1');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  return bytes;
}

describe("a project's branding", () => {
  const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

  it('is none at first, takes a colour and a support URL in one way of writing, and gives them up', async () => {
    const app = await testApp();
    const change = (changes: Parameters<typeof changeProject>[2]) => changeProject(app, app.projectId, changes);
    expect(await projectsOf(app)).toMatchObject([{ accent: null, supportUrl: null, logo: null }]);
    const given = { accent: '#0B6b5B', supportUrl: ' HTTPS://Shop.example/help?a=b c ' };
    const taken = { accent: '0b6b5b', supportUrl: 'https://shop.example/help?a=b%20c' };
    expect(await change(given)).toMatchObject({ project: taken });
    expect(await change({ active: true })).toMatchObject({ project: taken });
    expect(await change({ accent: 'FFFFFF' })).toMatchObject({ project: { ...taken, accent: 'ffffff' } });
    for (const supportUrl of ['mailto:help@shop.example?subject=Payment', 'http://shop.example/']) {
      expect(await change({ supportUrl })).toMatchObject({ project: { supportUrl } });
    }
    expect(await change({ accent: null, supportUrl: null })).toMatchObject({
      project: { accent: null, supportUrl: null },
    });
  });

  it('refuses what is no colour, and no link that a customer may safely follow', async () => {
    const app = await testApp();
    const accents = ['', '#fff', 'red', '#0b6b5', '#0b6b5bff', '##0b6b5b', 'url(x)', '#0b6b5b;}'];
    const links = [
      '',
      '/help',
      'shop.example',
      'javascript:alert(1)',
      ' java\nscript:alert(1)',
      'data:text/html,hi',
      'ftp://shop.example/',
      'file:///etc/passwd',
      'https://user:secret@shop.example/',
      'mailto:',
      'mailto:?to=help@shop.example',
      'mailto:help',
      'mailto:help@shop.example?CC=eve@evil.example',
      'mailto:help@shop.example?subject=Payment&body=Send%20it%20again',
      `https://shop.example/${'a'.repeat(2_048)}`,
    ];
    const bad = [
      ...accents.map((accent) => [{ accent }, 'accent'] as const),
      ...links.map((supportUrl) => [{ supportUrl }, 'supportUrl'] as const),
    ];
    for (const [changes, param] of bad) {
      const rejected = { kind: 'rejected', param };
      expect({ changes, ...(await changeProject(app, app.projectId, changes)) }).toMatchObject(rejected);
    }
    expect(await projectsOf(app)).toMatchObject([{ accent: null, supportUrl: null }]);
  });

  it('has a PNG, JPEG or WebP as its logo, recognized by content and stored unchanged', async () => {
    const app = await testApp();
    const pictures = [
      [PNG, 'image/png'],
      [JPEG, 'image/jpeg'],
      [WEBP, 'image/webp'],
    ] as const;
    for (const [bytes, type] of pictures) {
      const hash = hashOf(bytes);
      const logo = { hash, width: 32, height: 16 };
      const changed = await changeProject(app, app.projectId, { logo: { file: 'logo.gif', bytes } });
      expect(changed).toMatchObject({ kind: 'done', project: { logo } });
      expect(await projectsOf(app)).toMatchObject([{ logo }]);
      expect(await findLogo(app.db, hash)).toEqual({ type, bytes });
    }
    expect(await findLogo(app.db, hashOf(PNG))).toBeNull();
    await changeProject(app, app.projectId, { logo: null, accent: '0b6b5b' });
    expect(await projectsOf(app)).toMatchObject([{ logo: null, accent: '0b6b5b' }]);
    expect(await findLogo(app.db, hashOf(WEBP))).toBeNull();
  });

  it('keeps a logo that two projects share until both gave it up', async () => {
    const app = await testApp();
    const second = await createProject(app, 'Second');
    if (second.kind !== 'done') throw new Error(second.code);
    const logo = { file: 'logo.png', bytes: PNG };
    await changeProject(app, app.projectId, { logo });
    await changeProject(app, second.project.id, { logo });
    await changeProject(app, app.projectId, { logo: null });
    expect(await findLogo(app.db, hashOf(PNG))).toMatchObject({ type: 'image/png' });
    await changeProject(app, second.project.id, { logo: null });
    expect(await findLogo(app.db, hashOf(PNG))).toBeNull();
  });

  it("shows a photograph's sides as a browser turns it", async () => {
    const app = await testApp();
    const sides = async (orientation: number) =>
      changeProject(app, app.projectId, { logo: { file: 'a.jpg', bytes: orientedJpeg(orientation) } });
    expect(await sides(3)).toMatchObject({ project: { logo: { width: 32, height: 16 } } });
    expect(await sides(6)).toMatchObject({ project: { logo: { width: 16, height: 32 } } });
  });

  it('takes logos up to the bounds and none beyond', async () => {
    const app = await testApp();
    const filled = (size: number) => pngWith('teXt', Buffer.alloc(size - PNG.length - 12));
    for (const bytes of [pngOf(16, 2_048), pngOf(2_048, 16), filled(65_536)]) {
      const changed = await changeProject(app, app.projectId, { logo: { file: 'logo.png', bytes } });
      expect(changed).toMatchObject({ kind: 'done', project: { logo: {} } });
    }
    const bad = [
      [pngOf(15, 100), /^--logo: logo\.png is 15 × 100 pixels, but each side must have 16 to 2,048 pixels\. /],
      [pngOf(100, 2_049), /100 × 2049 pixels/],
      [filled(65_537), /^--logo: logo\.png is larger than 64 KiB\. /],
    ] as const;
    for (const [bytes, message] of bad) {
      const changed = await changeProject(app, app.projectId, { logo: { file: 'logo.png', bytes } });
      expect(isRejected(changed) && refusalMessage(changed)).toMatch(message);
    }
  });

  it('has no logo that could run, play or show half', async () => {
    const app = await testApp();
    const notAPicture = /^--logo: logo\.png does not contain a PNG, JPEG or WebP picture\. /;
    const bad = [
      [Buffer.alloc(0), notAPicture],
      [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"/>'), notAPicture],
      [Buffer.from('GIF89a\x20\0\x20\0\0\0\0;', 'latin1'), notAPicture],
      [Buffer.from('BM' + '\0'.repeat(60), 'latin1'), notAPicture],
      [Buffer.from('\0\0\0\x18ftypavif' + '\0'.repeat(60), 'latin1'), notAPicture],
      [Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1'), notAPicture],
      [pngWith('acTL', Buffer.alloc(8)), /^--logo: logo\.png is animated/],
      [playingWebp(), /^--logo: logo\.png is animated/],
      [PNG.subarray(0, -20), /^--logo: logo\.png is damaged or cut off\. /],
      [PNG.subarray(0, 20), /damaged or cut off/],
      [JPEG.subarray(0, -2), /damaged or cut off/],
      [WEBP.subarray(0, -2), /damaged or cut off/],
      [Buffer.concat([JPEG.subarray(0, 4), JPEG.subarray(-2)]), /damaged or cut off/],
    ] as const;
    for (const [bytes, message] of bad) {
      const changed = await changeProject(app, app.projectId, { logo: { file: 'logo.png', bytes } });
      expect(isRejected(changed) && refusalMessage(changed)).toMatch(message);
    }
    expect(await projectsOf(app)).toMatchObject([{ logo: null }]);
  });

  it('has no logo that is another kind of file as well: what comes after the picture is refused', async () => {
    const app = await testApp();
    const tails = [
      Buffer.from('PK\x03\x04 a zip', 'latin1'),
      Buffer.from('%PDF-1.7\n%%EOF'),
      Buffer.from('<script>alert(1)</script>'),
      Buffer.from([0xff, 0xd9]),
      Buffer.alloc(65),
    ];
    for (const picture of [PNG, JPEG, WEBP]) {
      for (const tail of tails) {
        const logo = { file: 'logo.png', bytes: Buffer.concat([picture, tail]) };
        const message = `--logo: logo.png contains ${tail.length} extra bytes after the end of the picture. Export the picture again.`;
        const changed = await changeProject(app, app.projectId, { logo });
        expect(isRejected(changed) && refusalMessage(changed)).toBe(message);
      }
    }
    const gif = { file: 'a.gif', bytes: Buffer.from('GIF89a/*\x01\x00*/=1;alert(1)', 'latin1') };
    expect(await changeProject(app, app.projectId, { logo: gif })).toMatchObject({ kind: 'rejected' });
    expect(await projectsOf(app)).toMatchObject([{ logo: null }]);
  });

  it('has of a picture only what is to be seen: texts, camera data and other files within are left out', async () => {
    const app = await testApp();
    const hidden = Buffer.from('%PDF-1.7 <script>alert(1)</script> PK\x05\x06 52.5200N');
    const segment = (marker: number): Buffer =>
      Buffer.concat([Buffer.from([0xff, marker, 0, hidden.length + 2]), hidden]);
    const jpegWith = (marker: number) => Buffer.concat([JPEG.subarray(0, 20), segment(marker), JPEG.subarray(20)]);
    const exif = Buffer.concat([Buffer.from('EXIF', 'latin1'), Buffer.from([hidden.length, 0, 0, 0]), hidden]);
    const webp = Buffer.concat([WEBP, exif]);
    webp.writeUInt32LE(webp.length - 8, 4);
    const pictures = [
      [pngWith('tEXt', hidden), PNG],
      [pngWith('eXIf', hidden), PNG],
      [jpegWith(0xfe), JPEG],
      [jpegWith(0xe1), JPEG],
      [jpegWith(0xe2), JPEG],
      [jpegWith(0xed), JPEG],
      [Buffer.concat([JPEG, Buffer.alloc(64)]), JPEG],
      [webp, WEBP],
    ] as const;
    for (const [bytes, clean] of pictures) {
      const changed = await changeProject(app, app.projectId, { logo: { file: 'logo.png', bytes } });
      expect(changed).toMatchObject({ kind: 'done', project: { logo: { hash: hashOf(clean) } } });
      expect((await findLogo(app.db, hashOf(clean)))?.bytes).toEqual(clean);
    }
  });

  it('that changes is notified to every process', async () => {
    const app = await testApp();
    const notifications = listen(app.database);
    try {
      await vi.waitFor(() => expect(notifications.healthy()).toBe(true), WAIT);
      const told = new Promise<void>((resolve) => notifications.on('access', () => resolve()));
      await changeProject(app, app.projectId, { logo: { file: 'logo.png', bytes: PNG } });
      await expect(told).resolves.toBeUndefined();
    } finally {
      await notifications.stop();
    }
  });
});

describe('a key', () => {
  const request = { mode: 'live', kind: 'public', permission: 'write', name: ' Till 1 ' } as const;

  it('is shown once: only its hash is kept', async () => {
    const app = await testApp();
    const made = await createKey(app, { ...request, projectId: app.projectId });
    if (made.kind !== 'done') throw new Error(made.code);
    expect(made.key).toMatch(/^pk_live_[0-9A-Za-z]{38}$/);
    expect(parseKey(made.key)).not.toBeNull();
    const row = await app.db.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow();
    expect(row.hash).toEqual(createHash('sha256').update(made.key).digest());
    expect(
      JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain(made.key.slice(8, 20));
    expect(await keysOf(app, app.projectId)).toEqual({ kind: 'done', keys: [made.stored] });
    expect(made.stored).toMatchObject({ ...request, name: 'Till 1', revokedAt: null });
  });

  it('is refused for an unknown project or a bad name', async () => {
    const app = await testApp();
    expect(await createKey(app, { ...request, projectId: UNKNOWN })).toMatchObject({ kind: 'rejected' });
    expect(await createKey(app, { ...request, projectId: app.projectId, name: '\t' })).toMatchObject({
      kind: 'rejected',
    });
    expect(await keysOf(app, app.projectId)).toEqual({ kind: 'done', keys: [] });
  });

  it('that is revoked stays listed, and stays revoked as it was', async () => {
    const app = await testApp();
    const made = await createKey(app, { ...request, projectId: app.projectId });
    if (made.kind !== 'done') throw new Error(made.code);
    app.clock.advance(1_000);
    const revokedAt = app.clock();
    expect(await removeKey(app, made.stored.id)).toMatchObject({ kind: 'done' });
    app.clock.advance(1_000);
    expect(await removeKey(app, made.stored.id)).toMatchObject({ kind: 'done' });
    expect(await keysOf(app, app.projectId)).toMatchObject({ keys: [{ id: made.stored.id, revokedAt }] });
    expect(await removeKey(app, UNKNOWN)).toMatchObject({ kind: 'rejected' });
  });
});

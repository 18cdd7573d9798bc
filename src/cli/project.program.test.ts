import { createHash } from 'node:crypto';
import { access, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { testApp } from '../../test/harness.ts';
import { issued, withSeller } from '../app/payment-requests/invoices.fixture.ts';
import { program, textAt } from './program.fixture.ts';

it('makes, lists, changes, deactivates and activates projects', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url });
  const made = await cointill.json('project', 'create', '--name', ' Shop ');
  const id = textAt(made, 'id');
  const fresh = {
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'Shop',
    active: true,
    allow_ips: [],
    allow_origins: [],
    spread_percent: 0,
    sweep_min_usd: 0,
    accent: null,
    support_url: null,
    logo: null,
    icon: null,
    page_text: null,
    terms_url: null,
    imprint_url: null,
    default_expiry_minutes: null,
    default_currency: null,
    default_success_url: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  };
  expect(made).toEqual(fresh);
  expect(await cointill.json('project', 'list')).toEqual([fresh]);

  const limited = await cointill.json(
    'project',
    'set',
    id,
    '--allow-ips',
    '10.0.0.0/8, ::1',
    '--allow-origins',
    'https://shop.example/',
  );
  expect(limited).toEqual({ ...fresh, allow_ips: ['10.0.0.0/8', '::1'], allow_origins: ['https://shop.example'] });
  const opened = await cointill.json('project', 'set', id, '--allow-ips', '');
  expect(opened).toEqual({ ...fresh, allow_origins: ['https://shop.example'] });

  const dearer = await cointill.json('project', 'set', id, '--spread', '1.25', '--sweep-min', '50');
  expect(dearer).toMatchObject({ spread_percent: 1.25, sweep_min_usd: 50 });

  const defaults = [
    '--default-expiry',
    '45',
    '--default-currency',
    'eur',
    '--default-success-url',
    'https://shop.example/',
  ];
  expect(await cointill.json('project', 'set', id, '--name', 'Tea', ...defaults)).toMatchObject({
    name: 'Tea',
    default_expiry_minutes: 45,
    default_currency: 'EUR',
    default_success_url: 'https://shop.example/',
  });
  const counts = {
    payments: 0,
    has_more: false,
    events: 0,
    notes: 0,
    refund_reasons: 0,
    invoices: 0,
    answers: 0,
    open: 0,
    cleared: 0,
    cleared_invoices: 0,
  };
  expect(await cointill.json('customer', 'delete', '--project', id, '--older-than', '30', '--yes')).toEqual(counts);
  const file = path.join(cointill.dataDir, 'shop.jsonl');
  expect((await cointill.run('project', 'export', id, '--to', file)).stdout).toMatch(/^Wrote \d+ lines to /);
  expect(await readFile(file, 'utf8')).toMatch(/^\{"record":"project",.*"name":"Tea"/);

  expect(await cointill.json('project', 'deactivate', id)).toMatchObject({ id, active: false });
  expect(await cointill.json('project', 'activate', id)).toMatchObject({ id, active: true });
});

it('says that it removed the address of an invoice that nobody has paid', async () => {
  const app = await testApp();
  await withSeller(app);
  for (const email of ['ann@shop.example', 'bob@shop.example']) await issued(app, { email });
  const cointill = await program({ DATABASE_URL: app.database.url });
  const remove = ['customer', 'delete', '--project', app.projectId, '--yes', '--email'];
  const { stdout } = await cointill.run(...remove, 'ann@shop.example');
  expect(stdout).toContain('Deleted the data of 0 payments and the e-mail addresses of 1 invoice.');
  expect(await cointill.json(...remove, 'bob@shop.example')).toMatchObject({ cleared: 0, cleared_invoices: 1 });
  expect(await cointill.json(...remove, 'bob@shop.example')).toMatchObject({ cleared: 0, cleared_invoices: 0 });
});

it('an export that the disk takes only a part of fails, and leaves no file', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url });
  const id = textAt(await cointill.json('project', 'create', '--name', 'Tea'), 'id');
  const sizes: number[] = [];
  for (const name of ['first', 'second']) {
    const whole = path.join(cointill.dataDir, name);
    await cointill.run('project', 'export', id, '--to', whole);
    sizes.push((await stat(whole)).size);
  }
  const [first = 0, second = 0] = sizes;
  const file = path.join(cointill.dataDir, 'third');
  // Each export grows by its line in the audit log, the last one: the disk takes all but the end of that.
  const most = second + (second - first) - 40;
  const ended = await cointill.startInShell(`exec prlimit --fsize=${most} "$@"`, 'project', 'export', id, '--to', file)
    .ended;
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('EFBIG') });
  await expect(access(file)).rejects.toThrow('ENOENT');
});

it("sets a shop's logo, colour and support link, shows them, and takes each away", async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url });
  const made = await cointill.json('project', 'create', '--name', 'Shop');
  const id = textAt(made, 'id');
  // 32 × 16 pixels, as a browser wrote them.
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAACAAAAAQCAYAAAB3AH1ZAAAALElEQVR4AezQMQ0AAAgDQcKKRCTgfwYZLNek++eypvfzGc8TQIAAAQIECBwAAAD//9pSEnYAAAAGSURBVAMAges6IS/wS1YAAAAASUVORK5CYII=',
    'base64',
  );
  const file = path.join(cointill.dataDir, 'logo.gif');
  await writeFile(file, png);
  const set = (...options: readonly string[]) => cointill.json('project', 'set', id, ...options);

  const accent = '#0b6b5b';
  const supportUrl = 'mailto:help@shop.example';
  const look = {
    accent,
    support_url: supportUrl,
    logo: `/assets/logo.${createHash('sha256').update(png).digest('hex')}`,
  };
  const dressed = await set('--logo', file, '--accent', '#0B6B5B', '--support-url', supportUrl);
  expect(dressed).toEqual({ ...Object(made), ...look });
  expect(await cointill.json('project', 'list')).toEqual([dressed]);
  const text = await cointill.run('project', 'set', id, '--accent', '0b6b5b');
  expect(text.stdout).toMatch(/^Accent +#0b6b5b$/m);
  expect(text.stdout).toMatch(/^Support +mailto:help@shop\.example$/m);
  expect(text.stdout).toMatch(/^Logo +32 × 16, \/assets\/logo\.[0-9a-f]{64}$/m);

  expect(await set('--logo', 'none')).toMatchObject({ ...look, logo: null });
  expect(await set('--accent', 'none')).toMatchObject({ accent: null, support_url: supportUrl });
  expect(await set('--support-url', 'none')).toEqual(made);

  const icon = path.join(cointill.dataDir, 'icon.png');
  await writeFile(
    icon,
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4JBFNEmIY1TCqYfhqAACtxzUQmObIOwAAAABJRU5ErkJggg==',
      'base64',
    ),
  );
  const urls = ['--terms-url', 'https://shop.example/terms', '--imprint-url', 'https://shop.example/imprint'];
  expect(await set('--page-text', ' Open 9–17 ', '--icon', icon, ...urls)).toMatchObject({
    page_text: 'Open 9–17',
    terms_url: 'https://shop.example/terms',
    imprint_url: 'https://shop.example/imprint',
    icon: expect.stringMatching(/^\/assets\/logo\.[0-9a-f]{64}$/),
  });
  const none = ['--page-text', '--icon', '--terms-url', '--imprint-url'].flatMap((option) => [option, 'none']);
  expect(await set(...none)).toEqual(made);
});

it('prints projects as text, and what a name carries cannot steer the terminal', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url });
  await cointill.json('project', 'create', '--name', 'Shop');
  // Made before names were refused for what they carry.
  await database.db.updateTable('projects').set({ name: 'Shop \u202Eevil' }).execute();
  const { stdout } = await cointill.run('project', 'list');
  expect(stdout).toMatch(/^PROJECT +ACTIVE +CREATED +NAME\n[0-9a-f-]{36} +yes .* Shop \uFFFDevil$/m);
});

it('refuses in one sentence, with exit code 2 where a value is malformed', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url });
  const id = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
  const svg = path.join(cointill.dataDir, 'logo.png');
  const large = path.join(cointill.dataDir, 'large.png');
  const folder = path.join(cointill.dataDir, 'folder');
  await Promise.all([
    writeFile(svg, '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    writeFile(large, Buffer.alloc(1_000_000)),
    mkdir(folder),
  ]);
  const refused = [
    [2, ['create', '--name', ''], '--name must be a single line of 1 to 100 characters'],
    [2, ['deactivate', 'shop'], 'A project id looks like '],
    [1, ['activate', id], `There is no project ${id}.`],
    [2, ['set', id, '--allow-ips', '10.0.0.0/99'], '--allow-ips: '],
    [2, ['set', id, '--allow-origins', 'shop.example'], '--allow-origins: '],
    [2, ['set', id, '--spread', '50.01'], '--spread must be a percentage from 0 to 50'],
    [2, ['set', id, '--accent', 'teal'], '--accent must be a colour code of six hex digits'],
    [2, ['set', id, '--support-url', 'javascript:alert(1)'], '--support-url must be an absolute URL'],
    [2, ['set', id, '--page-text', 'a'.repeat(5_000)], '--page-text must be a single line of at most 200 characters'],
    [
      2,
      ['set', id, '--page-text', 'Open \u202Eevil'],
      '--page-text must not contain characters that change the direction',
    ],
    [2, ['set', id, '--terms-url', 'http://shop.example/'], '--terms-url must be an absolute https URL'],
    [2, ['set', id, '--default-expiry', '0'], '--default-expiry must be a whole number of minutes from 1 to 1440'],
    [2, ['set', id, '--default-currency', 'xyz'], '--default-currency must be one of USD'],
    [1, ['set', id, '--logo', svg], `--logo: ${svg} does not contain a PNG, JPEG or WebP picture.`],
    [1, ['set', id, '--logo', large], `--logo: ${large} is larger than 64 KiB.`],
    [1, ['set', id, '--logo', `${svg}.missing`], `--logo: ${svg}.missing cannot be read: there is no such file.`],
    [1, ['set', id, '--logo', folder], `--logo: ${folder} cannot be read: `],
  ] as const;
  await Promise.all(
    refused.map(async ([exitCode, args, message]) => {
      const { code, stdout, stderr } = await cointill.run('project', ...args, '--json');
      expect([args, code, stdout]).toEqual([args, exitCode, '']);
      expect(stderr).toContain(message);
      expect(stderr.trimEnd()).not.toContain('\n');
    }),
  );
});

import { expect, it } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { program, textAt } from './program.testing.ts';

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

  expect(await cointill.json('project', 'deactivate', id)).toMatchObject({ id, active: false });
  expect(await cointill.json('project', 'activate', id)).toMatchObject({ id, active: true });
});

it('prints projects as text, and what a name carries cannot steer the terminal', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url });
  const made = await cointill.run('project', 'create', '--name', 'Shop \u202Eevil');
  expect(made.stdout).toMatch(/^Name +Shop \uFFFDevil$/m);
  expect((await cointill.run('project', 'list')).stdout).toMatch(/^PROJECT +ACTIVE +MADE +NAME\n[0-9a-f-]{36} +yes /);
});

it('refuses in one sentence with exit code 1', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url });
  const id = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
  const refused = [
    [['create', '--name', ''], '--name must have 1 to 100 characters'],
    [['deactivate', 'shop'], 'A project id looks like '],
    [['activate', id], `There is no project ${id}.`],
    [['set', id, '--allow-ips', '10.0.0.0/99'], '--allow-ips: '],
    [['set', id, '--allow-origins', 'shop.example'], '--allow-origins: '],
    [['set', id, '--spread', '50.01'], '--spread must be a percentage from 0 to 50'],
  ] as const;
  await Promise.all(
    refused.map(async ([args, message]) => {
      const { code, stdout, stderr } = await cointill.run('project', ...args, '--json');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(message);
      expect(stderr.trimEnd()).not.toContain('\n');
    }),
  );
});

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { testService } from '../program.ts';

const FOLDER = path.join(import.meta.dirname, '../../deploy/prometheus');
const run = promisify(execFile);
const rules = await readFile(path.join(FOLDER, 'cointill.rules.yml'), 'utf8');
const hasPromtool = await run('promtool', ['--version']).then(
  () => true,
  () => false,
);

it('every metric that an alert rule names is in a real scrape', async () => {
  const { url } = await testDatabase();
  const service = await testService({
    DATABASE_URL: url,
    ETHEREUM_RPC_URL: 'http://127.0.0.1:9',
    // Nothing is polled within a minute; the price is missing from the start.
    RATE_SOURCES: 'ecb',
    REDIS_URL: 'redis://127.0.0.1:9',
    LOG_LEVEL: 'silent',
  });
  await service.start();
  await service.cointill.json('backup', path.join(service.cointill.dataDir, 'a.backup'));
  const scrape = await (await fetch(`${service.live}/metrics`)).text();
  const there = new Set([...scrape.matchAll(/^(cointill_\w+)/gm)].map(([, name]) => name));
  const expressions = [...rules.matchAll(/^ +expr: (.*)$/gm)].map(([, expression]) => expression ?? '');
  expect(expressions).toHaveLength(16);
  const named = new Set(expressions.flatMap((expression) => expression.match(/cointill_\w+/g) ?? []));
  expect([...named].filter((name) => !there.has(name))).toEqual([]);
  expect(named.size).toBe(13);
});

it.skipIf(!hasPromtool)('the alert rules are sound, and fire when they should and only then', async () => {
  const checked = await run('promtool', ['check', 'rules', 'cointill.rules.yml'], { cwd: FOLDER });
  expect(checked.stdout).toContain('16 rules found');
  const tested = await run('promtool', ['test', 'rules', 'rules.test.yml'], { cwd: FOLDER });
  expect(tested.stdout).toContain('SUCCESS');
});

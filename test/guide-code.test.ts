import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allCommands, wordsOf } from '../src/cli/all-commands.fixture.ts';
import { EXAMPLES } from '../src/cli/examples.ts';
import { GROUPS } from '../src/cli/groups.ts';
import { COMMAND_GROUPS } from '../src/config/called-as.ts';
import { parseEnvFile } from '../src/config/env-file.ts';
import { DOCUMENTED_EVENTS, EVENT_TYPES, meaningOf, OPT_IN_EVENTS } from '../src/domain/event-type.ts';
import { tagsOf } from '../src/http/pages/markup.fixture.ts';
import { selfSigned } from '../src/webhooks/local-receivers.fixture.ts';
import { codeBlocks, commandLines, GUIDE_FILES, guideText, RUN_BY_OTHERS } from './guide-code.ts';
import { settingsRead } from './settings-read.ts';

const ROOT = path.join(import.meta.dirname, '..');
const blocks = GUIDE_FILES.flatMap((file) => codeBlocks(file));
const inLanguage = (...languages: readonly string[]) => blocks.filter(({ language }) => languages.includes(language));
const { paths } = await allCommands();

/** The complaint of a checker about a file of its own; empty if it takes the file. */
function complaint(text: string, command: (file: string, folder: string) => readonly string[]): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cointill-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { cert, key } = selfSigned('pay.shop.example');
  writeFileSync(path.join(folder, 'cert.pem'), `${cert}\n${key}`);
  const file = path.join(folder, 'configuration');
  writeFileSync(file, text.replaceAll(/\/etc\/ssl\/\S+?\.(?:pem|key)/g, path.join(folder, 'cert.pem')));
  const [program = '', ...args] = command(file, folder);
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? '' : stderr;
}

describe('the code in the guide', () => {
  it('is run by a test, or is output, or is a configuration that is parsed', () => {
    const kinds = new Set(blocks.map(({ language, mark }) => `${language} ${mark}`.trim()));
    const known = ['sh', 'sh on-a-server', 'js', 'ts', 'text', 'json', 'html', 'ini', 'nginx', 'haproxy', 'caddy'];
    expect([...kinds].filter((kind) => !known.includes(kind))).toEqual([]);
    // test/e2e/guide.program.test.ts runs all shell code without a mark.
    const run = inLanguage('sh').filter(({ mark }) => mark === '');
    expect(run.length).toBeGreaterThanOrEqual(30);
    expect(inLanguage('sh').length - run.length).toBeLessThanOrEqual(20);
    for (const { file, code } of inLanguage('js')) {
      if (RUN_BY_OTHERS[file] !== undefined) continue;
      const name = /^\/\/ (\S+\.mjs)$/m.exec(code)?.[1] ?? 'a block without a name';
      expect(readFileSync(path.join(ROOT, 'test/e2e/first-payment.program.test.ts'), 'utf8')).toContain(name);
    }
    for (const [page, test] of Object.entries(RUN_BY_OTHERS))
      expect(readFileSync(path.join(ROOT, test), 'utf8')).toContain(path.basename(page));
  });

  it('has shell code that the shell can read', () => {
    for (const { file, code } of inLanguage('sh')) {
      const read = () => execFileSync('sh', ['-n'], { input: code, stdio: 'pipe' });
      expect(read, `${file}: ${code}`).not.toThrow();
    }
  });

  it('calls commands that exist, with options that they take', async () => {
    const called = inLanguage('sh').flatMap(({ code }) =>
      commandLines(code).flatMap((line) => {
        const command = /(?:^|[;|&(] *|\bcointill |npx )(?:\.\/bin\/)?cointill(?:_as_root)? ([^]+)$/.exec(line)?.[1];
        return command === undefined ? [] : [command.replace(/^--settings \S+ /, '')];
      }),
    );
    expect(called.length).toBeGreaterThan(80);
    for (const command of called) {
      const words = wordsOf(command);
      if (words.some((word) => word === '--help' || word === '--version' || word === '"$@"' || word === '$@')) continue;
      const { root } = await allCommands();
      const taken = root.parseAsync([...words], { from: 'user' }).then(() => command);
      await expect(taken).resolves.toBe(command);
    }
  });

  it('names commands that exist, between back quotes too', () => {
    const named = GUIDE_FILES.flatMap((file) =>
      [...guideText(file).matchAll(/`(?:(?:\.\/bin\/)?cointill )?([a-z]+) ([a-z][a-z-]*)\b[^`]*`/g)].map(
        ([whole, group = '', command = '']) => ({ file, whole, group, command }),
      ),
    );
    const groups = named.filter(({ group }) => COMMAND_GROUPS.some((one) => one === group));
    expect(groups.length).toBeGreaterThan(60);
    // These take an argument or nothing instead of a command.
    const isKnown = ({ group, command }: (typeof named)[number]): boolean =>
      paths.has(`${group} ${command}`) || (group !== 'recover' && group !== 'backup' && paths.has(group));
    expect(groups.filter((one) => !isKnown(one)).map(({ file, whole }) => `${file}: ${whole}`)).toEqual([]);
  });

  it('has JSON, HTML and settings that can be read', () => {
    for (const { code } of inLanguage('json')) expect(() => JSON.parse(code)).not.toThrow();
    for (const { code } of inLanguage('html')) {
      expect(tagsOf(code.replaceAll(/<script>[^]*?<\/script>/g, '')).length).toBeGreaterThan(0);
    }
    const known = settingsRead();
    for (const { code } of inLanguage('ini')) {
      const names = Object.keys(parseEnvFile(code).settings);
      expect(names).toHaveLength(commandLines(code).length);
      // Bitcoin Core's own is tried by test/e2e/live-utxo-wallet.program.test.ts.
      expect(names.filter((name) => !known.has(name) && name !== 'rpcwhitelist')).toEqual([]);
    }
    for (const { code } of inLanguage('caddy')) {
      expect(code.match(/\{/g)?.length).toBe(code.match(/\}/g)?.length);
      expect(code.match(/reverse_proxy 127\.0\.0\.1:\d+/g)).toEqual([
        'reverse_proxy 127.0.0.1:4000',
        'reverse_proxy 127.0.0.1:4001',
      ]);
    }
  });

  it.runIf(existsSync('/usr/sbin/nginx'))('has configurations that nginx takes', () => {
    for (const { code } of inLanguage('nginx')) {
      // One block is a whole server, the other one stands around a server's locations.
      const [before, inside] = code.includes('server {') ? [code, ''] : code.split(/(?<=^\}\n)(?=#)/m);
      const server = inside === '' ? '' : `server { listen 127.0.0.1:8443; ${inside} }`;
      const http = `${before} ${server}`.replace('listen 443 ssl', 'listen 127.0.0.1:8443 ssl');
      const text = (folder: string): string => `pid ${folder}/pid; error_log stderr; events {} http { ${http} }`;
      expect(complaint(text(os.tmpdir()), (file, folder) => ['/usr/sbin/nginx', '-t', '-p', folder, '-c', file])).toBe(
        '',
      );
    }
  });

  it.runIf(existsSync('/usr/sbin/haproxy'))('has configurations that haproxy takes', () => {
    for (const { code } of inLanguage('haproxy')) {
      const defaults = 'defaults\n  timeout connect 5s\n  timeout client 1m\n  timeout server 1m\n';
      expect(complaint(`${defaults}${code}`, (file) => ['/usr/sbin/haproxy', '-c', '-f', file])).toBe('');
    }
  });
});

describe('the pages of the guide', () => {
  /** About things that went wrong, or about words alone. */
  const WITHOUT_FAULTS = ['docs/when-something-is-lost.md', 'docs/how-to/debug-a-payment.md', 'docs/guide/words.md'];

  it('end with what can go wrong, in at least three points', () => {
    for (const file of GUIDE_FILES.filter((one) => !WITHOUT_FAULTS.includes(one))) {
      const last = guideText(file).split(/^## /m).at(-1) ?? '';
      expect([file, last.split('\n')[0]]).toEqual([file, 'What can go wrong']);
      expect([file, (last.match(/^- /gm)?.length ?? 0) >= 3]).toEqual([file, true]);
    }
  });

  /** The names in the first cells of a table's rows, with the file of each. */
  const rows = GUIDE_FILES.flatMap((file) =>
    guideText(file)
      .split('\n')
      .filter((line, index, lines) => /^\| \[?`/.test(line) && lines[index + 1]?.startsWith('| -') !== true)
      .flatMap((line) =>
        [...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ file, name, line })),
      ),
  );
  const homesOf = (name: string): readonly string[] => rows.filter((row) => row.name === name).map(({ file }) => file);
  const cellsOf = (name: string): readonly string[] =>
    (rows.find((row) => row.name === name)?.line ?? '').split('|').map((cell) => cell.trim());

  it('have one row for each command, in the words of its help, with the page of its task', () => {
    for (const name of Object.keys(EXAMPLES)) {
      expect([name, ...homesOf(name)]).toEqual([name, 'docs/guide/command-line.md']);
      const [, command = '', does] = cellsOf(name);
      const group = COMMAND_GROUPS.find((one) => one === name);
      const own = paths.get(name)?.description() ?? '';
      expect([name, does]).toEqual([name, own === '' && group !== undefined ? GROUPS[group].description : own]);
      const [, target = ''] = /^\[[^\]]+\]\(([^)#]+)/.exec(command) ?? [];
      const page = path.posix.join('docs/guide', target);
      expect([name, page, guideText(page).includes(name)]).toEqual([name, page, true]);
    }
    const commands = rows.filter(({ file }) => file === 'docs/guide/command-line.md').map(({ name }) => name);
    expect(commands).toEqual(Object.keys(EXAMPLES));
  });

  it('have one row for each type of event, with its meaning, apart from those that all leaves out', () => {
    for (const type of EVENT_TYPES) {
      expect([type, ...homesOf(type)]).toEqual([type, 'docs/guide/webhooks.md']);
      expect(cellsOf(type)[2]).toBe(meaningOf(type));
    }
    const [inAll, byName] = guideText('docs/guide/webhooks.md').split('| Only by name');
    const namesIn = (text = '') => [...text.matchAll(/^\| `(\w+\.\w+)`/gm)].map(([, name]) => name);
    expect([namesIn(inAll), namesIn(byName)]).toEqual([DOCUMENTED_EVENTS, OPT_IN_EVENTS]);
  });

  it('have one row for each setting, or for the setting whose value it reads from a file', () => {
    for (const name of settingsRead()) {
      const homes = homesOf(name).length > 0 ? homesOf(name) : homesOf(name.replace(/_FILE$/, ''));
      expect([name, ...homes]).toEqual([name, 'docs/guide/settings.md']);
    }
  });
});

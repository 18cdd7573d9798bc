import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { parseEnvFile } from '../src/config/env-file.ts';
import { EVM_NETWORKS } from '../src/domain/networks.ts';
import { settingsRead } from './settings-read.ts';

const ROOT = path.join(import.meta.dirname, '..');
const read = (file: string): Promise<string> => readFile(path.join(ROOT, file), 'utf8');

const readNames = settingsRead();
/** The settings that may be in a file: for these there is also a setting with `_FILE` at the end of its name. */
const inFiles = new Set([...readNames].filter((name) => readNames.has(`${name}_FILE`)));
const settings = new Set([...readNames].filter((name) => !name.endsWith('_FILE') || !inFiles.has(name.slice(0, -5))));
/** How the settings of EVM networks begin. */
const OTHER_EVM = new RegExp(`^(?:${EVM_NETWORKS.join('|')})_(?=RPC_URL|CHAIN_ID|TOKENS)`, 'i');

/** The headings of a page, as links name them. */
function headingsOf(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

it('the help of start names every setting, those of the EVM networks by Ethereum’s', async () => {
  const source = await read('src/cli/start.ts');
  const help = /const SETTINGS = `([^`]*)`/.exec(source)?.[1] ?? '';
  const named = new Set(help.match(/\b[A-Z][A-Z_]+\b/g));
  const missing = [...settings].filter((name) => !named.has(name.replace(OTHER_EVM, 'ETHEREUM_')));
  expect(missing).toEqual([]);
});

it('the help of start and the documents name the settings that may be in a file, those of nodes together', async () => {
  const expected = new Set([...inFiles].map((name) => name.replace(/^[A-Z]+(?=_RPC_URL$)/, '…')));
  expect(expected.size).toBe(9);
  const places: readonly (readonly [string, RegExp])[] = [
    ['src/cli/start.ts', /Secrets in files:([^`]*)`/],
    ['docs/guide/settings.md', /## Secrets in files\n([^]*?)\n\n```/],
    ['.env.example', /# Secrets in files:([^]*?)\n\n/],
  ];
  for (const [file, section] of places) {
    const found = section.exec(await read(file))?.[1] ?? '';
    const named = new Set(found.match(/(?:…|\b[A-Z])[A-Z_]*_(?:URL|KEY|PREVIOUS|TOKEN)\b/g));
    expect({ file, named }).toEqual({ file, named: expected });
  }
});

describe('the documents', () => {
  it('list every setting that the program reads, and no other', async () => {
    const rows = (await read('docs/guide/settings.md')).split('\n').filter((line) => line.startsWith('| `'));
    const listed = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name),
    );
    expect(new Set(listed)).toEqual(settings);
    expect(listed).toHaveLength(new Set(listed).size);
  });

  it('link to files and headings that are there', async () => {
    const files = globSync('{*.md,contracts/*.md,docs/**/*.md}', { cwd: ROOT });
    const links = files.flatMap((file) =>
      [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(
        ([, target = '', heading]) => ({ file, target: target || path.basename(file), heading }),
      ),
    );
    expect(links.length).toBeGreaterThan(100);
    const isThere = ({ file, target, heading }: (typeof links)[number]): boolean => {
      const at = path.join(ROOT, path.dirname(file), target);
      return existsSync(at) && (heading === undefined || headingsOf(at).includes(heading));
    };
    expect(links.filter((link) => !isThere(link))).toEqual([]);
  });

  it('name each page of the guide in its list, and the README is read in one sitting', async () => {
    const listed = await read('docs/guide/README.md');
    const pages = globSync('*.md', { cwd: path.join(ROOT, 'docs/guide'), exclude: ['README.md'] });
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.filter((page) => !listed.includes(`](${page})`))).toEqual([]);
    expect((await read('README.md')).split('\n').length).toBeLessThanOrEqual(200);
  });
});

describe('.env.example', async () => {
  const lines = (await read('.env.example')).split('\n');
  const examples = lines.flatMap((line) => {
    const [, name, value = ''] = /^#([A-Z][A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });

  it('has every setting that the program reads once, and no other', () => {
    const names = examples.map(([name]) => name);
    expect(new Set(names)).toEqual(settings);
    expect(names).toHaveLength(new Set(names).size);
  });

  it('sets nothing as it is: every setting is behind a #', () => {
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });

  it('has values that the program takes, all together', () => {
    const env = parseEnvFile(examples.map(([name, value]) => `${name}=${value}`).join('\n')).settings;
    // Files that have to be there.
    const { TLS_CERT: _cert, TLS_KEY: _key, PLAIN_HTTP_FROM, ...taken } = env;
    expect(() => readConfig(taken, ROOT)).not.toThrow();
    // It is for development, where there is no proxy.
    const developer = { ...taken, NODE_ENV: '', TRUST_PROXY: '', PLAIN_HTTP_FROM };
    expect(() => readConfig(developer, ROOT)).not.toThrow();
  });
});

describe('the installation', async () => {
  const [unit, environment, command] = [
    await read('deploy/systemd/cointill.service'),
    await read('deploy/systemd/cointill.env'),
    await read('deploy/systemd/cointill'),
  ];
  const { settings: env } = parseEnvFile(environment);

  it('copies files that are there', async () => {
    const copied = [...(await read('docs/guide/install.md')).matchAll(/^install -m \d+ (\S+)/gm)].map(
      ([, file = '']) => file,
    );
    expect(new Set(copied)).toEqual(
      new Set(['env', 'service'].map((kind) => `deploy/systemd/cointill.${kind}`).concat('deploy/systemd/cointill')),
    );
    expect(copied.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  it('has settings that the program takes, in folders that the unit may write to', () => {
    const config = readConfig(env, ROOT);
    expect(config.production).toBe(true);
    expect(unit).toContain(`StateDirectory=${path.basename(config.dataDir)}\n`);
    expect(path.dirname(config.dataDir)).toBe('/var/lib');
    expect(unit).toMatch(new RegExp(`^ReadWritePaths=.*-${config.backups?.folder}( |$)`, 'm'));
  });

  it('runs the service and its commands as one user, from one place, with one file of settings', () => {
    expect(unit).toContain('User=cointill\n');
    expect(unit).toContain('EnvironmentFile=/etc/cointill.env\n');
    expect(unit).toContain('ExecStart=/opt/cointill/bin/cointill start\n');
    expect(unit).toContain('Environment=COINTILL_CALLED_AS=cointill\n');
    const run =
      'exec runuser -u cointill -- /opt/cointill/bin/cointill --settings /dev/fd/3 "$@" 3< /etc/cointill.env\n';
    expect(command).toContain(run);
  });

  it.runIf(existsSync('/usr/bin/systemd-analyze'))('gives the service few rights, as systemd rates them', async () => {
    for (const name of ['cointill', 'cointill-api@', 'cointill-worker']) {
      const file = path.join(ROOT, `deploy/systemd/${name}.service`);
      const { stdout } = await promisify(execFile)('systemd-analyze', [
        'security',
        '--offline=yes',
        '--no-pager',
        file,
      ]);
      expect(Number(/exposure level for \S+\.service: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(3);
    }
  });
});

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { NETWORKS, settingOf } from '../domain/networks.ts';
import { readConfig, type Config } from './config.ts';
import { problemsOf } from './problems.fixture.ts';
import { namingFiles } from './secret-files.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'cointill-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The path of a new file with this content. */
function fileWith(content: string | Uint8Array): string {
  const file = path.join(mkdtempSync(path.join(folder, 'f-')), 'secret');
  writeFileSync(file, content);
  return file;
}

const KEY = 'K3y-that-nobody-may-read-in-a-message';
const read = (env: Record<string, string>): Config => readConfig(env, folder);

describe('a secret in a file', () => {
  const url = 'postgres://till:s3cr3t@db.example/cointill';
  const node = 'http://me:s3cr3t@node.example:8332';
  it.each<[string, string, (config: Config) => unknown, unknown]>([
    ['DATABASE_URL', url, (config) => config.databaseUrl, url],
    ['REDIS_URL', 'rediss://:s3cr3t@redis.example', (config) => config.redisUrl, 'rediss://:s3cr3t@redis.example'],
    ['SECRET_KEY', KEY, (config) => config.secretKey, KEY],
    ['SECRET_KEY_PREVIOUS', KEY, (config) => config.secretKeyPrevious, KEY],
    ['METRICS_TOKEN', KEY, (config) => config.metricsToken, KEY],
    ['SMTP_URL', 'smtp://a%40b.example:s3cr3t@mail.example', (config) => config.mail?.server.login?.password, 's3cr3t'],
    ...NETWORKS.map((network): [string, string, (config: Config) => unknown, unknown] => [
      settingOf(network, 'RPC_URL'),
      `${node},${node}`,
      (config) => config.networks.map((one) => [one.network, one.urls]),
      [[network, [node, node]]],
    ]),
  ])('is the value of %s', (name, value, of, expected) => {
    const config = read({ [`${name}_FILE`]: fileWith(`${value}\n`) });
    expect(of(config)).toEqual(expected);
    expect([...config.secretFiles.keys()]).toEqual([name]);
  });

  it('is also the value of DATABASE_DIRECT_URL, whose database may be in a file too', () => {
    const config = read({ DATABASE_URL_FILE: fileWith(url), DATABASE_DIRECT_URL_FILE: fileWith(url) });
    expect([config.databaseUrl, config.databaseDirectUrl]).toEqual([url, url]);
  });

  it('loses the last line end alone, and the blanks that no setting has', () => {
    for (const content of [KEY, `${KEY}\n`, `${KEY}\r\n`, `\uFEFF${KEY}\n`, ` ${KEY}\t \n`]) {
      expect(read({ SECRET_KEY_FILE: fileWith(content) }).secretKey).toBe(KEY);
    }
  });

  it('is found from the folder in which the program runs, and through links, as orchestrators make them', () => {
    const file = fileWith(KEY);
    symlinkSync(file, path.join(folder, 'link'));
    for (const given of [path.relative(folder, file), './link', file]) {
      expect(read({ SECRET_KEY_FILE: given }).secretKey).toBe(KEY);
    }
    expect([...read({ SECRET_KEY_FILE: './link' }).secretFiles]).toEqual([['SECRET_KEY', path.join(folder, 'link')]]);
  });

  it('is not looked for where the setting of the file is empty, and takes the place of an empty value', () => {
    expect(read({ SECRET_KEY: KEY, SECRET_KEY_FILE: ' ' }).secretKey).toBe(KEY);
    expect(read({ SECRET_KEY: '', SECRET_KEY_FILE: fileWith(KEY) }).secretKey).toBe(KEY);
    expect(read({}).secretFiles.size).toBe(0);
  });
});

describe('the file of a secret is refused, and its content not repeated,', () => {
  const secretKey = (SECRET_KEY_FILE: string, more: Record<string, string> = {}): readonly string[] => {
    const problems = problemsOf({ SECRET_KEY_FILE, ...more });
    expect(problems.join()).not.toContain(KEY);
    return problems;
  };

  it('beside the value itself', () => {
    expect(secretKey(fileWith(KEY), { SECRET_KEY: KEY })).toEqual([
      'SECRET_KEY and SECRET_KEY_FILE are both set. Set only one of them.',
    ]);
  });

  it('where there is none; a relative path is not repeated, for it may be the secret', () => {
    expect(secretKey(`${folder}/none`)).toEqual([
      `SECRET_KEY_FILE: there is no file ${folder}/none. Give the path of the file, not the value itself.`,
    ]);
    expect(secretKey(`${fileWith('')}/none`)[0]).toMatch(/^SECRET_KEY_FILE: there is no file .*\/secret\/none\. Give/);
    const elsewhere = 'there is no file of this name below /srv/cointill. Give the path of the file, not the value';
    expect(secretKey(KEY)).toEqual([`SECRET_KEY_FILE: ${elsewhere} itself.`]);
    const url = 'postgres://till:s3cr3t@db.example/cointill';
    expect(problemsOf({ DATABASE_URL_FILE: url })).toEqual([`DATABASE_URL_FILE: ${elsewhere} itself.`]);
  });

  it.each([
    ['is a folder', () => mkdirSync(path.join(folder, 'a-folder')) ?? path.join(folder, 'a-folder')],
    ['is a pipe or a device', () => '/dev/null'],
    ['is empty', () => fileWith('')],
    ['is empty', () => fileWith(' \n')],
    ['is empty', () => fileWith('\n')],
    ['has more than one line', () => fileWith(`${KEY}\n\n`)],
    ['has more than one line', () => fileWith(`${KEY}\nPORT=4000\n`)],
    ['has more than one line', () => fileWith(`\r\n${KEY}`)],
    ['is not text in UTF-8', () => fileWith(Buffer.from(`${KEY}\n`, 'utf16le'))],
    ['is not text in UTF-8', () => fileWith(Buffer.from([0xff, 0xfe, 0x80, ...Buffer.from(KEY)]))],
  ])('where it %s', (fault, make) => {
    const file = make();
    const problems = secretKey(file);
    expect(problems).toEqual([expect.stringContaining(`SECRET_KEY_FILE: ${file} ${fault}. `)]);
    expect(problems[0]).not.toContain('\n');
  });

  it('with all other problems of the settings, and none that its own fault brings about', () => {
    const none = path.join(folder, 'none');
    const env = { DATABASE_URL_FILE: none, DATABASE_DIRECT_URL: 'postgres://db.example/cointill' };
    const more = {
      SMTP_URL_FILE: none,
      MAIL_FROM: 'a@b.example',
      BITCOIN_RPC_URL_FILE: none,
      BITCOIN_COOKIE_FILE: 'c',
    };
    expect(problemsOf({ ...env, ...more, PORT: 'x' }).map((problem) => problem.split(/[: ]/)[0])).toEqual([
      'PORT',
      'DATABASE_URL_FILE',
      'SMTP_URL_FILE',
      'BITCOIN_RPC_URL_FILE',
    ]);
  });

  it('where its path has a line break, and none of its lines is told', () => {
    expect(problemsOf({ SECRET_KEY_FILE: `/run/key\nSMTP_URL=${KEY}` })).toEqual([
      'The value of SECRET_KEY_FILE contains a line break. Look for a quote that is not closed, and write the value on one line.',
    ]);
  });
});

describe('a message that names a setting', () => {
  const env = {
    DATABASE_URL_FILE: '/run/secrets/url',
    SECRET_KEY_FILE: 'key',
    METRICS_TOKEN_FILE: '',
    TLS_KEY_FILE: 'x',
  };

  it('says that its value comes from a file, for each setting that is read from one', () => {
    expect(namingFiles('Correct DATABASE_URL. It needs DATABASE_URL and SECRET_KEY.', env)).toBe(
      'Correct DATABASE_URL. It needs DATABASE_URL and SECRET_KEY. ' +
        'The value of DATABASE_URL comes from DATABASE_URL_FILE. The value of SECRET_KEY comes from SECRET_KEY_FILE.',
    );
  });

  it.each(['METRICS_TOKEN must be longer.', 'TLS_KEY: no.', 'DATABASE_URL_FILE: gone.', 'Set DATABASE_DIRECT_URL.'])(
    'stays as it is otherwise: %s',
    (message) => {
      expect(namingFiles(message, env)).toBe(message);
      expect(namingFiles('Correct DATABASE_URL.', { ...env, DATABASE_URL: 'postgres://x' })).toBe(
        'Correct DATABASE_URL.',
      );
    },
  );
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../config/config.ts';
import { carriedSettings } from './banner.ts';

const carried = (env: Record<string, string>, cwd = '/srv/till', usualDir = path.join(cwd, 'data')) =>
  carriedSettings(readConfig(env, cwd), usualDir);

describe('the settings that a command of another terminal needs', () => {
  it('are none where everything is as it is by itself', () => {
    expect(carried({})).toEqual({ prefix: '', lacks: [] });
    expect(carried({ DATA_DIR: './data', PORT: '5000' })).toEqual({ prefix: '', lacks: [] });
  });

  it('name the folder of the data, from wherever the other terminal is', () => {
    expect(carried({ DATA_DIR: 'mine' })).toEqual({ prefix: 'DATA_DIR=/srv/till/mine ', lacks: [] });
    expect(carried({ DATA_DIR: "/srv/Ann's till" }).prefix).toBe(`DATA_DIR='/srv/Ann'\\''s till' `);
    expect(carried({}, '/srv/till', '/root').prefix).toBe('DATA_DIR=/srv/till/data ');
  });

  it('name the database and say what is left out of it, and never a secret', () => {
    const secret = 's3cr3t%40x';
    const env = {
      DATABASE_URL: `postgres://till:${secret}@db.example:6432/cointill?sslmode=require`,
      DATABASE_DIRECT_URL: `postgres://db.example/cointill?user=till&password=${secret}`,
      SECRET_KEY: secret.repeat(4),
      SECRET_KEY_PREVIOUS: secret.repeat(5),
    };
    const { prefix, lacks } = carried(env);
    expect(prefix).toBe(
      `DATABASE_URL='postgres://till:PASSWORD@db.example:6432/cointill?sslmode=require' ` +
        `DATABASE_DIRECT_URL='postgres://db.example/cointill?user=till&password=PASSWORD' SECRET_KEY=SECRET_KEY SECRET_KEY_PREVIOUS=SECRET_KEY_PREVIOUS `,
    );
    expect(lacks).toEqual(['PASSWORD', 'SECRET_KEY', 'SECRET_KEY_PREVIOUS']);
    expect(carried({ DATABASE_URL: 'postgres://till@127.0.0.1/cointill' })).toEqual({
      prefix: 'DATABASE_URL=postgres://till@127.0.0.1/cointill ',
      lacks: [],
    });
  });

  it('name the files of secrets, of which nothing has to be put in', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'cointill-carried-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(path.join(folder, 'url'), 'postgres://till:s3cr3t@db.example/cointill\n');
    writeFileSync(path.join(folder, 'key'), 's3cr3t'.repeat(6));
    const env = { DATABASE_URL_FILE: 'url', DATABASE_DIRECT_URL_FILE: './url', SECRET_KEY_FILE: `${folder}/key` };
    expect(carried(env, folder)).toEqual({
      prefix: `DATABASE_URL_FILE=${folder}/url DATABASE_DIRECT_URL_FILE=${folder}/url SECRET_KEY_FILE=${folder}/key `,
      lacks: [],
    });
  });
});

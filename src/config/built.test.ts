import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtProgram, manifestOf, PROGRAM_FOLDER } from './built.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'cointill-built-'));
  mkdirSync(path.join(root, PROGRAM_FOLDER), { recursive: true });
  mkdirSync(path.join(root, 'src'));
  write('src/a.ts', 'export const a = 1;');
  write('src/b.ts', 'export const b = 2;');
  const { name, text } = manifestOf(root, ['src/a.ts', 'src/b.ts']);
  write(path.join(PROGRAM_FOLDER, name), text);
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(file: string, text: string): void {
  writeFileSync(path.join(root, file), text);
}

describe('the built program', () => {
  it('is run while it was made of just these files', () => {
    expect(builtProgram(root)).toBe(path.join(root, PROGRAM_FOLDER, 'cointill.js'));
  });

  it('is run in a copy of the installation that keeps times in whole seconds', () => {
    const file = path.join(root, 'src/a.ts');
    const second = Math.floor(statSync(file).mtimeMs / 1000);
    utimesSync(file, second, second);
    expect(builtProgram(root)).not.toBeNull();
  });

  it('is left alone once a file has another length, also when its time was set back', () => {
    const file = path.join(root, 'src/b.ts');
    const { atime, mtime } = statSync(file);
    write('src/b.ts', 'export const b = 22;');
    utimesSync(file, atime, mtime);
    expect(builtProgram(root)).toBeNull();
  });

  it.each([
    ['later', 1],
    ['earlier', -1],
  ])('is left alone once a file of the same length was written %s', (_, seconds) => {
    const file = path.join(root, 'src/b.ts');
    const { atimeMs, mtimeMs } = statSync(file);
    write('src/b.ts', 'export const b = 3;');
    utimesSync(file, atimeMs / 1000, mtimeMs / 1000 + seconds);
    expect(builtProgram(root)).toBeNull();
  });

  it('is left alone once a file is gone', () => {
    rmSync(path.join(root, 'src/a.ts'));
    expect(builtProgram(root)).toBeNull();
  });

  it.each([
    ['cut off', '{"src/a.ts":[19,'],
    ['of another form', '{"src/a.ts":19}'],
  ])('is left alone when its list is %s', (_, text) => {
    write(path.join(PROGRAM_FOLDER, 'manifest.json'), text);
    expect(builtProgram(root)).toBeNull();
  });

  it('is not there before it was built', () => {
    rmSync(path.join(root, 'dist'), { recursive: true });
    expect(builtProgram(root)).toBeNull();
  });
});

import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

const FOLDER = new URL('../../web/dashboard/texts/', import.meta.url);

describe.each(['en', 'de'])('the texts of the dashboard in %s', (language) => {
  it('define each key once, so that no part of the pages changes the words of another', async () => {
    const files = (await readdir(FOLDER)).filter((name) => name.startsWith(`${language}-`));
    const parts = await Promise.all(files.map((name): Promise<object> => import(new URL(name, FOLDER).href)));
    const keys = parts.flatMap((part) => Object.values(part).flatMap((texts: object) => Object.keys(texts)));
    expect(keys.length).toBeGreaterThan(100);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });
});

import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { program } from './program.testing.ts';

it.each([[['recover']], [['recover', 'book', '0x52908400098527886E0F7030069857D2E4169EE7', '--amount', '5']]])(
  '%j where there is no database makes none, and does not say that all is well',
  async (args) => {
    const cointill = await program();
    expect(await cointill.run(...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `There is no database in ${cointill.dataDir}. Set DATA_DIR or DATABASE_URL as it is set for the service.\n`,
    });
    expect(existsSync(path.join(cointill.dataDir, 'postgres'))).toBe(false);
  },
);

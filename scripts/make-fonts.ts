import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

/**
 * Makes the fonts of documents from Debian's packages (docs/design/documents.md). Needs Debian's `apt-get`,
 * `dpkg-deb` and fontTools (package python3-fonttools), but no root. The fonts are in Git, so that only a change of
 * their characters runs this script.
 */
const TARGET = path.join(import.meta.dirname, '../src/documents/fonts');

const isPrivate = (code: number): boolean => code >= 0xe000 && code < 0xf900;

/** Each source: the package and the file in it. */
const NOTO = { debian: 'fonts-noto-core', folder: 'usr/share/fonts/truetype/noto', parts: [] } as const;
const DROID = {
  debian: 'fonts-droid-fallback',
  folder: 'usr/share/fonts/truetype/droid',
  parts: ['--layout-features='],
} as const;

/** Latin with the letters of Vietnamese, Greek, Cyrillic, punctuation and the signs of currencies. */
const EUROPEAN = ['20-7E', 'A0-24F', '2BB-2DD', '300-304', '306-30C', '31B', '323', '370-3FF', '400-52F', '1E80-1EF9']
  .concat([
    '1F00-1FFF',
    '2010-2027',
    '2030-203A',
    '2044',
    '2070-208E',
    '20A0-20BF',
    '2113-2122',
    '2126',
    '2212',
    'FFFD',
  ])
  .join();
/** Arabic and the letters of Persian and Urdu. */
const ARABIC = '20-22,27-2F,3A,3B,5B,5D,AB,BB,600-6FF,200C,200D,FDF2,FDFA,FDFC';

const FONTS = [
  { source: NOTO, file: 'NotoSans-Regular.ttf', target: 'european.ttf.br', characters: EUROPEAN },
  { source: NOTO, file: 'NotoSans-Bold.ttf', target: 'european-bold.ttf.br', characters: EUROPEAN },
  { source: NOTO, file: 'NotoSansArabic-Regular.ttf', target: 'arabic.ttf.br', characters: ARABIC },
  { source: NOTO, file: 'NotoSansArabic-Bold.ttf', target: 'arabic-bold.ttf.br', characters: ARABIC },
  {
    source: NOTO,
    file: 'NotoSansMath-Regular.ttf',
    target: 'math.ttf.br',
    characters: '2190-2199,21D0-21D4,2202-2212,221A-221E,2248,2260-2265',
  },
  { source: NOTO, file: 'NotoSansSymbols-Regular.ttf', target: 'numbers.ttf.br', characters: '2460-24FF' },
  {
    source: NOTO,
    file: 'NotoSansSymbols2-Regular.ttf',
    target: 'symbols.ttf.br',
    characters: '25A0-25FF,2605,2606,260E,2610-2612,2660-2667,2709,2713-2718,2764',
  },
  { source: DROID, file: 'DroidSansFallbackFull.ttf', target: 'east-asian.ttf.br', characters: eastAsian() },
] as const;

/**
 * The characters of Chinese and Japanese: all of GB 2312, JIS X 0208 and the common ones of Big5, and those that at
 * least two standards have of the rare ones of Big5, JIS X 0212 and KS X 1001, which names of people need.
 */
function eastAsian(): string {
  const common = [
    charactersOf('gb2312', 0xa1, 0xf7),
    charactersOf('euc-jp', 0xa1, 0xfe),
    charactersOf('big5', 0xa1, 0xc6),
  ];
  const rare = [
    charactersOf('big5', 0xa1, 0xf9),
    charactersOf('euc-jp', 0xa1, 0xfe, 0x8f),
    charactersOf('euc-kr', 0xca, 0xfd),
  ];
  const found = new Set(common.flatMap((list) => [...list]));
  for (const one of rare.flatMap((list) => [...list])) {
    if (rare.filter((list) => list.has(one)).length > 1) found.add(one);
  }
  // Others are in the European font, or nobody's but the user's of the standard.
  const codes = [...found].map((one) => one.codePointAt(0) ?? 0).filter((code) => code >= 0x2010 && !isPrivate(code));
  const halfWidth = 'FF61-FF9F';
  return [...codes.map((code) => code.toString(16)), halfWidth].join();
}

/** The characters in some rows of an encoding of two bytes, or of three, of which the first is `prefix`. */
function charactersOf(encoding: string, firstRow: number, lastRow: number, prefix?: number): ReadonlySet<string> {
  const decoder = new TextDecoder(encoding);
  const range = (from: number, to: number): readonly number[] =>
    Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const cells = encoding === 'big5' ? range(0x40, 0xfe) : range(0xa1, 0xfe);
  const pairs = range(firstRow, lastRow).flatMap((row) => cells.map((cell) => [row, cell] as const));
  const texts = pairs.map((pair) => decoder.decode(Uint8Array.of(...(prefix === undefined ? [] : [prefix]), ...pair)));
  return new Set(texts.filter((text) => /^[^\uFFFD]$/u.test(text)));
}

function unpacked(debian: string, folder: string): string {
  execFileSync('apt-get', ['download', debian], { cwd: folder });
  const file = readdirSync(folder).find((name) => name.startsWith(`${debian}_`));
  if (file === undefined) throw new Error(`apt-get found no package ${debian}.`);
  const target = path.join(folder, debian);
  execFileSync('dpkg-deb', ['--extract', path.join(folder, file), target]);
  return target;
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'cointill-fonts-'));
try {
  const roots = new Map([NOTO, DROID].map(({ debian }) => [debian, unpacked(debian, folder)] as const));
  for (const { source, file, target, characters } of FONTS) {
    const subset = path.join(folder, target);
    const from = path.join(roots.get(source.debian) ?? '', source.folder, file);
    const list = path.join(folder, 'characters');
    writeFileSync(list, characters);
    // The licences ask to keep the names of makers and licences, 13 and 14.
    const parts = ['--name-IDs=0,1,2,3,4,5,6,13,14', '--drop-tables+=STAT,vhea,vmtx,BASE', ...source.parts];
    const args = [from, `--output-file=${subset}`, `--unicodes-file=${list}`, '--no-hinting', ...parts];
    execFileSync('/usr/bin/python3', ['-m', 'fontTools.subset', ...args]);
    const font = readFileSync(subset);
    const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: font.length };
    writeFileSync(path.join(TARGET, target), brotliCompressSync(font, { params }));
    console.log(target, font.length, readFileSync(path.join(TARGET, target)).length);
  }
  copyFileSync('/usr/share/common-licenses/Apache-2.0', path.join(TARGET, 'Apache-2.0.txt'));
  for (const [debian, root] of roots) {
    copyFileSync(path.join(root, `usr/share/doc/${debian}/copyright`), path.join(TARGET, `${debian}.copyright`));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

import { describe, expect, it } from 'vitest';
import { parseEnvFile } from './env-file.ts';

describe('a file of settings is read as systemd reads its EnvironmentFile=', () => {
  const URL = 'postgres://shop:a$b#c@db.example/shop?sslmode=verify-full&sslrootcert=/etc/ca.pem';

  it.each([
    ['with nothing around it', `DATABASE_URL=${URL}`, URL],
    ['in single quotes', `DATABASE_URL='${URL}'`, URL],
    ['in double quotes', `DATABASE_URL="${URL}"`, URL],
    ['with blanks around it', `  DATABASE_URL = ${URL} \t`, URL],
    ['with line ends of Windows', `A=1\r\nDATABASE_URL=${URL}\r\nB=2\r\n`, URL],
    ['a second time, which counts', `DATABASE_URL=x\nDATABASE_URL=${URL}`, URL],
    ['over two lines', 'DATABASE_URL=a\\\nb', 'ab'],
    ['with quotes in the middle', `DATABASE_URL=a'b"c d`, `a'b"c d`],
    ['with quotes in quotes', `DATABASE_URL="a\\"b'c\\\\d\\$e\\f"`, `a"b'c\\d$e\\f`],
    ['in pieces', `DATABASE_URL='a'"b" c`, 'abc'],
    ['over two lines in double quotes', 'DATABASE_URL="a\\\nb"', 'ab'],
    [
      'with what a shell would run',
      'DATABASE_URL=Shop <a@b.example> `id` $(id) ; # x',
      'Shop <a@b.example> `id` $(id) ; # x',
    ],
    ['empty', 'DATABASE_URL=', ''],
  ])('a value %s', (_how, text, value) => {
    const settings = expect.objectContaining({ DATABASE_URL: value });
    expect(parseEnvFile(text)).toEqual({ settings, refused: [], openQuote: null });
  });

  it('comments and lines without a name count for nothing, and names that no variable can have are told', () => {
    const text = "# PORT=1\n ;PORT=2\nPORT\nexport PORT=3\n1PORT=4\n=PORT=5\n # it's PORT=6\nHOST=::1";
    const refused = ['export PORT', '1PORT', '=PORT'];
    expect(parseEnvFile(text)).toEqual({ settings: { HOST: '::1' }, refused, openQuote: null });
  });

  it.each([
    ['and never is', `PORT=1\nHOST=::\nDATABASE_URL='a\nSECRET_KEY=b`, 3],
    ['but on another', `PORT=1\r\nDATABASE_URL="a\r\nSECRET_KEY="b"`, 2],
    ['after another piece', `# PORT\n\nDATABASE_URL='a''b\nSECRET_KEY=b'`, 3],
    ['at the end of the file', `DATABASE_URL="a`, 1],
    ['with a backslash before the line of Windows ends', `DATABASE_URL="a\\\r\nSECRET_KEY=b"`, 1],
    ['with a backslash at the end of the file', `DATABASE_URL="a\\`, 1],
  ])('a quote that is not closed on its line %s ends the reading at its name and line', (_how, text, line) => {
    const { settings, openQuote } = parseEnvFile(text);
    expect(openQuote).toEqual({ name: 'DATABASE_URL', line });
    expect(JSON.stringify(settings)).not.toMatch(/DATABASE_URL|SECRET_KEY/);
  });
});

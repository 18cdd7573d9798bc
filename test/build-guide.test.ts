import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { renderGuide } from '../scripts/build-guide.ts';

/** A repository with these pages, each in the table of the guide's README unless `rows` says otherwise. */
function repositoryWith(pages: Readonly<Record<string, string>>, rows = Object.keys(pages)): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'cointill-guide-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(path.join(root, 'docs/guide'), { recursive: true });
  const table = ['| Group | |', '| --- | --- |', ...rows.map((name) => `| [${name}](${name}.md) | about ${name} |`)];
  const files = { ...pages, README: `# Guide\n\n${table.join('\n')}\n` };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, `docs/guide/${name}.md`), text);
  writeFileSync(path.join(root, 'package.json'), '{}');
  return root;
}

async function pageOf(text: string) {
  const [group] = await renderGuide(repositoryWith({ one: text, two: '# Two\n\n## A part\n' }));
  const page = group?.pages[0];
  if (page === undefined) throw new Error('There is no page.');
  return page;
}

describe('the build of the guide', () => {
  it('fails for a link to a heading that is not there, on this page or another', async () => {
    await expect(pageOf('# One\n\n[x](#nothing)\n')).rejects.toThrow(
      'docs/guide/one.md: #nothing leads to no heading.',
    );
    await expect(pageOf('# One\n\n[x](two.md#b-part)\n')).rejects.toThrow('two.md#b-part leads to no heading.');
    expect((await pageOf('# One\n\n[x](two.md#a-part)\n')).html).toContain('<a href="/docs/two#a-part">x</a>');
  });

  it('fails for HTML, for the marks of its own words, and for a text before the first heading', async () => {
    await expect(pageOf('# One\n\n<script>alert(1)</script>\n')).rejects.toThrow('The guide contains HTML: <script>');
    await expect(pageOf('# One\n\nA <b>word</b>.\n')).rejects.toThrow('The guide contains HTML: <b>');
    await expect(pageOf('# One\n\nAt @@live@@.\n')).rejects.toThrow('docs/guide/one.md contains @@');
    await expect(pageOf('Text.\n\n# One\n')).rejects.toThrow('begins without a heading: Text.');
  });

  it('fails if the README leaves out a page, or names one that is not there', async () => {
    const pages = { one: '# One\n', two: '# Two\n' };
    await expect(renderGuide(repositoryWith(pages, ['one']))).rejects.toThrow('does not name docs/guide/two.md.');
    await expect(renderGuide(repositoryWith(pages, ['one', 'two', 'three']))).rejects.toThrow('three.md');
    await expect(renderGuide(repositoryWith(pages, ['one', 'two', '../elsewhere']))).rejects.toThrow(
      'PAGES_BESIDE_GUIDE does not name docs/elsewhere.md.',
    );
  });

  it('fails for a link to a file that is nowhere', async () => {
    await expect(pageOf('# One\n\n[x](three.md)\n')).rejects.toThrow('docs/guide/one.md: three.md leads to no file.');
    await expect(pageOf('# One\n\n[x](../../nothing.md)\n')).rejects.toThrow('../../nothing.md leads to no file.');
  });

  it('keeps the text of a link to a file that is not on the site, and says where a block of code is for', async () => {
    const { html, source } = await pageOf(
      '# One\n\nSee [the package](../../package.json).\n\n```sh on-a-server\nls\n```\n',
    );
    expect(html).toContain('<p>See the package.</p>');
    expect(source).toContain('See the package.');
    expect(html).toMatch(/data-language="sh">\s+<figcaption>On the server<\/figcaption>/);
  });
});

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { QUERY_LENGTH } from '../../src/http/docs/frame.ts';
import { docsRoutes } from '../../src/http/docs/routes.ts';
import { loadAssets } from '../../src/http/pages/assets.ts';
import { tagsOf, textOf, valuesOf } from '../../src/http/pages/markup.fixture.ts';
import { BASE_URLS, httpTest } from '../http.ts';

const GUIDE = path.join(import.meta.dirname, '../../docs/guide');
const names = (await readdir(GUIDE)).filter((file) => file !== 'README.md').map((file) => path.basename(file, '.md'));
const http = await httpTest();
afterAll(() => http.close());

const find = async (query: string) => (await http.call({ path: `/docs/search?q=${encodeURIComponent(query)}` })).text;
const linksOf = (page: string): readonly string[] => valuesOf(page, 'a', 'href');
const mainOf = (page: string): string => /<main[^]*<\/main>/.exec(page)?.[0] ?? '';

/** All pages that the start leads to, by path. */
const pages = new Map<string, string>();
for (const start of ['/docs', ...linksOf((await http.call({ path: '/docs' })).text)]) {
  const [target = ''] = start.split('#');
  if (target.startsWith('/docs') && !pages.has(target)) pages.set(target, (await http.call({ path: target })).text);
}

describe('the pages of the documentation', () => {
  it('are all files of the guide, which the contents of each page lead to', () => {
    expect(names.map((name) => `/docs/${name}`).filter((name) => !pages.has(name))).toEqual([]);
    for (const page of pages.values()) {
      const contents = linksOf(/<nav[^]*<\/nav>/.exec(page)?.[0] ?? '');
      expect([...pages.keys()].filter((other) => !contents.includes(other))).toEqual([]);
      expect(tagsOf(page).filter(({ attributes }) => attributes.get('aria-current') === 'page')).toHaveLength(1);
    }
  });

  it('have no link and no anchor that leads nowhere', async () => {
    const anchors = (page: string) => new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const [name, page] of pages) {
      for (const link of linksOf(page).filter((href) => !/^https?:/.test(href))) {
        const [target = '', anchor] = link.split('#');
        const text = target === '' ? page : (pages.get(target) ?? (await http.call({ path: target })).text);
        expect([name, link, text !== '' && !text.includes('This page does not exist')]).toEqual([name, link, true]);
        expect([name, link, anchor === undefined || anchors(text).has(anchor)]).toEqual([name, link, true]);
      }
    }
  });

  it('have headings that are unique on their page, and one of the first level', () => {
    for (const [name, page] of pages) {
      const ids = tagsOf(page).flatMap(({ attributes }) => attributes.get('id') ?? []);
      expect([name, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([name, []]);
      expect([name, tagsOf(page).filter((tag) => tag.name === 'h1').length]).toEqual([name, 1]);
    }
  });

  it('show the addresses of this service and the name of its commands', async () => {
    expect(pages.get('/docs/events')).toContain(`${BASE_URLS.test}/v1/events?after=start`);
    expect(pages.get('/docs/transactions')).toContain(`${BASE_URLS.live}/api/transactions/create`);
    for (const page of pages.values()) expect(page).not.toMatch(/@@|127\.0\.0\.1:400[01]\/(?:v1|api)/);
    const program = `docker compose exec 'a & b' cointill`;
    const options = { baseUrls: BASE_URLS, assets: await loadAssets(), program };
    const own = http.build({ plugins: [docsRoutes(options)] });
    const { text } = await http.call({ path: '/docs/webhooks' }, own);
    expect(text).toContain('<code>docker compose exec &#39;a &amp; b&#39; cointill webhook create');
    expect((await http.call({ path: '/docs/webhooks.md' }, own)).text).toContain(`\n${program} webhook create`);
    // The ways to install have commands of their own, a proxy has an address of its own, and so have health checks.
    expect((await http.call({ path: '/docs/install' }, own)).text).toContain('npx cointill project list');
    expect(pages.get('/docs/https')).toContain('proxy_pass http://127.0.0.1:4000;');
    expect(pages.get('/docs/monitoring')).toContain('curl http://127.0.0.1:4000/metrics');
  });

  it('weigh at most 25 kB with style and script, compressed', async () => {
    const headers = { 'accept-encoding': 'br' };
    const bytes = async (at: string) => Number((await http.call({ path: at, headers })).headers['content-length']);
    const page = pages.get('/docs') ?? '';
    const assets = [...valuesOf(page, 'script', 'src'), ...valuesOf(page, 'link', 'href')];
    let shared = 0;
    for (const asset of assets.filter((one) => one.startsWith('/assets/'))) shared += await bytes(asset);
    for (const name of pages.keys()) expect(shared + (await bytes(name))).toBeLessThanOrEqual(25_000);
  });

  it('load nothing from elsewhere and have no script or style in the page, whatever the page is', async () => {
    const others = ['/docs/nothing', '/docs/search', '/docs/search?q=%3Cscript%3Ewebhook'];
    for (const name of [...pages.keys(), ...others]) {
      const { headers, text } = await http.call({ path: name });
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      expect([name, /<style|<script(?![^>]* src=)|style="|\son[a-z]+="/.test(text)]).toEqual([name, false]);
      expect(tagsOf(text).some((tag) => tag.attributes.get('role') === 'search')).toBe(true);
    }
  });

  it('are 404 in the same frame where there is none, also for odd names', async () => {
    const odd = ['constructor', '__proto__', '..%2f..%2fpackage.json', '%00', 'README.md.md', 'a/b/c'];
    for (const name of [...odd, 'nothing', 'webhooks/', 'Webhooks', 'webhooks.html']) {
      const { status, text, headers } = await http.call({
        path: `/docs/${name}`,
        headers: { 'if-none-match': '*' },
      });
      expect([name, status, headers['content-type']]).toEqual([name, 404, 'text/html; charset=utf-8']);
      expect(textOf(mainOf(text))).toMatch(/^This page does not exist/);
    }
    expect((await http.call({ path: '/docs/README' })).headers['location']).toBe('/docs');
  });
});

describe('the Markdown of the documentation', () => {
  it('is at the path of each page with `.md`, and its links lead to Markdown', async () => {
    for (const name of names) {
      const { status, headers, text } = await http.call({ path: `/docs/${name}.md` });
      expect([name, status, headers['content-type']]).toEqual([name, 200, 'text/markdown; charset=utf-8']);
      const source = await readFile(path.join(GUIDE, `${name}.md`), 'utf8');
      expect(text.split('\n')[0]).toBe(source.split('\n')[0]);
      for (const [, href = ''] of text.matchAll(/\]\((\/[^)#]*)/g))
        expect([name, href, (await http.call({ path: href })).status]).toEqual([name, href, 200]);
      expect(text).not.toMatch(/\]\(\.|@@/);
    }
  });

  it('is listed with one line a page in /llms.txt', async () => {
    const { headers, text } = await http.call({ path: '/llms.txt' });
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(/^# Cointill\n\n> /);
    const listed = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S.*$/gm)].map(([, url = '']) => url);
    for (const name of names) expect(listed).toContain(`${BASE_URLS.live}/docs/${name}.md`);
    for (const url of listed)
      expect([url, (await http.call({ path: url.replace(BASE_URLS.live, '') })).status]).toEqual([url, 200]);
  });
});

describe('the search of the documentation', () => {
  it('shows the best heading of each page with an excerpt, whose hits are marked, and keeps the words', async () => {
    const page = await find('verify signatures');
    expect(linksOf(mainOf(page))[0]).toBe('/docs/webhooks#verify-a-signature');
    expect(mainOf(page)).toContain('<mark>verify</mark>');
    expect(
      tagsOf(page)
        .find(({ attributes }) => attributes.get('name') === 'q')
        ?.attributes.get('value'),
    ).toBe('verify signatures');
    for (const link of linksOf(mainOf(page))) expect(pages.has(link.replace(/#.*/, ''))).toBe(true);
  });

  it('says so if it finds nothing, and asks for words if there are none', async () => {
    expect(textOf(mainOf(await find('xylophone')))).toContain('Nothing was found for “xylophone”.');
    const empty = [' ', '?!', ...['?q=', '', '?q=a&q=b', '?q[a]=b'].map((query) => ({ query }))];
    for (const one of empty) {
      const text =
        typeof one === 'string' ? await find(one) : (await http.call({ path: `/docs/search${one.query}` })).text;
      expect(linksOf(mainOf(text))).toEqual([]);
    }
  });

  it('shows markup as text', async () => {
    for (const query of ['<script>alert(1)</script> webhook', '"><img src=x onerror=y>', "' onfocus='x", '&lt;b&gt;']) {
      const page = await find(query);
      expect(() => tagsOf(page)).not.toThrow();
      expect(textOf(mainOf(page))).toContain(query);
      expect(tagsOf(mainOf(page)).filter(({ name }) => name === 'img' || name === 'script')).toEqual([]);
    }
  });

  it('takes no more of a text than 100 characters, and no pattern', async () => {
    const cut = await find(`webhook ${'a'.repeat(5_000)}`);
    const value =
      tagsOf(cut)
        .find(({ attributes }) => attributes.get('name') === 'q')
        ?.attributes.get('value') ?? '';
    expect(value).toHaveLength(QUERY_LENGTH);
    expect(linksOf(mainOf(await find('.*')))).toEqual([]);
    expect(linksOf(mainOf(await find('(webhook+')))[0]).toMatch(/^\/docs\/webhooks/);
  });
});

import { existsSync, globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Lexer, Marked, Renderer, type RendererObject, type Token, type Tokens } from 'marked';
import { COMMAND_GROUPS } from '../src/config/called-as.ts';
import { codeBlock } from '../src/http/docs/blocks.ts';
import { pagePath, type GuideGroup, type GuidePage, type GuideSection } from '../src/http/docs/guide-pages.ts';
import { PAGES_BESIDE_GUIDE } from '../src/http/pages/assets.ts';
import { html, markupText, raw } from '../src/http/pages/html.ts';

const ROOT = path.join(import.meta.dirname, '..');
const INDEX = 'docs/guide/README.md';
/** Files that the service itself serves. */
const SERVED: Readonly<Record<string, string>> = { 'docs/openapi.json': '/openapi.json', [INDEX]: '/docs' };
/** Pages that show several ways to call the program, or explain the one that they use. */
const KEEPS_COMMANDS: readonly string[] = ['docs/guide/install.md', 'docs/when-something-is-lost.md'];
/** The captions of code, by what stands behind the fence: a language, and what a reader must know of the block. */
const CAPTIONS: Readonly<Record<string, string>> = {
  sh: 'Shell',
  'sh on-a-server': 'On the server',
  text: 'Output',
  js: 'JavaScript',
  html: 'HTML',
  json: 'JSON',
  ini: 'INI',
  nginx: 'nginx',
  haproxy: 'HAProxy',
  caddy: 'Caddy',
};

/** One Markdown file that becomes a page. */
interface Source {
  /** The repository's folder. */
  readonly root: string;
  /** Relative to the repository. */
  readonly file: string;
  readonly name: string;
  readonly text: string;
  readonly anchors: readonly string[];
}

/**
 * Renders the guide in the groups and the order of its README, which names every page with one line. Fails if the
 * README leaves out a file, or if a link or its anchor leads nowhere. `root` is the folder of the repository.
 */
export async function renderGuide(root = ROOT): Promise<readonly GuideGroup[]> {
  const groups = groupsOf(await readFile(path.join(root, INDEX), 'utf8'));
  const listed = new Set(groups.flatMap(({ entries }) => entries.map(({ file }) => file)));
  const missing = globSync('docs/guide/*.md', { cwd: root }).filter((file) => file !== INDEX && !listed.has(file));
  if (missing.length > 0) throw new Error(`${INDEX} does not name ${missing.join(', ')}.`);
  const unknown = [...listed].filter((file) => !file.startsWith('docs/guide/') && !PAGES_BESIDE_GUIDE.includes(file));
  if (unknown.length > 0) throw new Error(`PAGES_BESIDE_GUIDE does not name ${unknown.join(', ')}.`);
  const sources = new Map<string, Source>();
  for (const file of listed) sources.set(file, await readSource(root, file));
  const repository = await readRepository(root);
  return groups.map(({ title, entries }) => ({
    title,
    pages: entries.map((entry) => renderPage(entry, sources, repository)),
  }));
}

interface Entry {
  readonly file: string;
  readonly title: string;
  readonly about: string;
}

/** Reads the table of the README: a strong first cell begins a group, a linked one is a page. */
function groupsOf(readme: string): readonly { readonly title: string; readonly entries: readonly Entry[] }[] {
  const table = new Lexer().lex(readme).find((token): token is Tokens.Table => token.type === 'table');
  const groups: { readonly title: string; readonly entries: Entry[] }[] = [];
  for (const [first, second] of [table?.header ?? [], ...(table?.rows ?? [])]) {
    const link = first?.tokens.find((token): token is Tokens.Link => token.type === 'link');
    if (link === undefined) groups.push({ title: plainText(first?.tokens ?? []), entries: [] });
    else {
      const file = path.posix.join(path.posix.dirname(INDEX), link.href);
      groups.at(-1)?.entries.push({ file, title: link.text, about: plainText(second?.tokens ?? []) });
    }
  }
  return groups;
}

async function readSource(root: string, file: string): Promise<Source> {
  const text = await readFile(path.join(root, file), 'utf8');
  if (text.includes('@@')) throw new Error(`${file} contains @@, which marks this service's own words.`);
  const anchorOf = anchors();
  const found = headingsOf(text).map((heading) => anchorOf(plainText(heading.tokens)));
  return { root, file, name: path.basename(file, '.md'), text: markOwnWords(text, file), anchors: found };
}

function headingsOf(text: string): readonly Tokens.Heading[] {
  return new Lexer().lex(text).filter((token): token is Tokens.Heading => token.type === 'heading');
}

/** The public repository's address of a file; null if package.json names no repository. */
async function readRepository(root: string): Promise<string | null> {
  const { repository }: { readonly repository?: string | { readonly url: string } } = JSON.parse(
    await readFile(path.join(root, 'package.json'), 'utf8'),
  );
  const url = typeof repository === 'string' ? repository : repository?.url;
  return url === undefined ? null : `${url.replace(/^git\+/, '').replace(/\.git$/, '')}/blob/main/`;
}

/** A command at the beginning of a line or after a sign of the shell. Elsewhere, the word is a user or a unit. */
const COMMAND = new RegExp(`(^|[(;|&] *)cointill(?= (?:${COMMAND_GROUPS.join('|')})\\b)`, 'g');
/** Addresses of the service. Health and metrics are for the machine itself. */
const ADDRESS = /http:\/\/127\.0\.0\.1:400([01])(\/(?:healthz|readyz|metrics))?/g;

/** Marks addresses and commands in shell code, in answers and between back quotes. Configuration keeps its own. */
function markOwnWords(text: string, file: string): string {
  const mark = (code: string): string => {
    const addressed = code.replace(ADDRESS, (_, port, health = '') =>
      health === '' ? (port === '0' ? '@@live@@' : '@@sandbox@@') : `@@machine@@${health}`,
    );
    if (KEEPS_COMMANDS.includes(file)) return addressed;
    return addressed.replaceAll('./bin/cointill', '@@program@@').replace(COMMAND, '$1@@program@@');
  };
  let fence: string | null = null;
  const lines = text.split('\n').map((line) => {
    const opened = /^\s*```(\w*)/.exec(line)?.[1];
    if (opened !== undefined) {
      fence = fence === null ? opened : null;
      return line;
    }
    if (fence !== null) return fence === 'sh' || fence === 'json' ? mark(line) : line;
    return line.replace(/`([^`]+)`/g, (_, code: string) => `\`${mark(code)}\``);
  });
  return lines.join('\n');
}

function renderPage(entry: Entry, sources: ReadonlyMap<string, Source>, repository: string | null): GuidePage {
  const source = sources.get(entry.file);
  if (source === undefined) throw new Error(`${entry.file} is missing.`);
  const hrefOf = (href: string): string | null => resolveLink(href, source, sources, repository);
  const marked = new Marked({ renderer: rendererOf(hrefOf) });
  return {
    name: source.name,
    title: entry.title,
    about: entry.about,
    html: marked.parse(source.text, { async: false }),
    source: withoutDeadLinks(source.text, hrefOf),
    sections: sectionsOf(source.text),
  };
}

/** The address to which a link leads on the site; null: the file is not on it. */
function resolveLink(
  href: string,
  { root, file, anchors }: Source,
  sources: ReadonlyMap<string, Source>,
  repository: string | null,
): string | null {
  if (/^https?:/.test(href)) return href;
  const [target = '', anchor] = href.split('#');
  const other = target === '' ? file : path.posix.join(path.posix.dirname(file), target);
  const page = sources.get(other);
  if (!existsSync(path.join(root, other))) throw new Error(`${file}: ${href} leads to no file.`);
  if (page === undefined) return SERVED[other] ?? (repository === null ? null : `${repository}${other}`);
  const known = target === '' ? anchors : page.anchors;
  if (anchor !== undefined && !known.includes(anchor)) throw new Error(`${file}: ${href} leads to no heading.`);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  return target === '' ? hash : `${pagePath(page.name)}${hash}`;
}

/** The Markdown with the links of the site: to `.md` files, so that a program can follow them. */
function withoutDeadLinks(text: string, hrefOf: (href: string) => string | null): string {
  // Pictures are not served.
  const plain = text.replaceAll(/^ *<\/?(?:p|picture|source|img)\b.*\n/gm, '');
  return plain.replaceAll(/\[([^\][]+)\]\(([^()\s]+)\)/g, (link, label: string, href: string) => {
    const found = hrefOf(href);
    if (found === null) return label;
    return found.startsWith('/docs/') ? `[${label}](${found.replace(/(?=#|$)/, '.md')})` : `[${label}](${found})`;
  });
}

function rendererOf(hrefOf: (href: string) => string | null): RendererObject {
  const anchorOf = anchors();
  let heading = '';
  return {
    heading({ tokens, depth }) {
      heading = plainText(tokens);
      return `<h${depth} id="${anchorOf(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code({ text, lang }) {
      const [language = ''] = (lang ?? '').split(' ');
      return markupText(codeBlock(text, { label: CAPTIONS[lang ?? ''] ?? 'Text', language }));
    },
    table(token) {
      const table = raw(Renderer.prototype.table.call(this, token));
      return markupText(
        html`<div class="table" tabindex="0" role="group" aria-label="Table: ${heading}">${table}</div>`,
      );
    },
    link({ href, tokens }) {
      const [text, found] = [raw(this.parser.parseInline(tokens)), hrefOf(href)];
      return markupText(found === null ? text : html`<a href="${found}">${text}</a>`);
    },
    html({ text }) {
      // Pictures of the dashboard would weigh more than all pages together.
      if (!text.includes('<img')) throw new Error(`The guide contains HTML: ${text}`);
      return '';
    },
  };
}

/** Makes the anchors of headings as GitHub does, so that links work in both places. */
function anchors(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '');
    const anchor = words.trim().replaceAll(/\s/g, '-');
    const count = used.get(anchor) ?? 0;
    used.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  };
}

function sectionsOf(text: string): readonly GuideSection[] {
  const anchorOf = anchors();
  const sections: { readonly id: string; readonly heading: string; text: string }[] = [];
  for (const token of new Lexer().lex(text)) {
    if (token.type === 'heading') {
      const heading = plainText(token.tokens ?? []);
      const id = anchorOf(heading);
      sections.push(token['depth'] === 1 ? { id: '', heading: '', text: '' } : { id, heading, text: '' });
    } else {
      const section = sections.at(-1);
      if (section === undefined) throw new Error(`A text of the guide begins without a heading: ${token.raw}`);
      section.text = `${section.text} ${plainText([token])}`.replaceAll(/\s+/g, ' ').trim();
    }
  }
  return sections;
}

/** The text of tokens without markup; cells and items are separated by spaces. */
function plainText(tokens: readonly Token[]): string {
  return tokens.map(textOfToken).join('').trim();
}

/** Programs of recipes have the words of every page. */
const PROGRAMS: readonly string[] = ['js', 'ts'];

function textOfToken(token: Token): string {
  if (token.type === 'html' || (token.type === 'code' && PROGRAMS.includes(String(token['lang'])))) return '';
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].map((row) => row.map((cell) => plainText(cell.tokens)).join(' – ')).join('. ');
  }
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join(' ');
  if ('tokens' in token && token.tokens !== undefined) return token.tokens.map(textOfToken).join('');
  return 'text' in token && typeof token.text === 'string' ? token.text : ' ';
}

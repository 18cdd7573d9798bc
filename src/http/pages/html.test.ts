import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html, markupText, raw } from './html.ts';
import { tagsOf, textOf } from './markup.fixture.ts';

/** All but tab and line breaks: a saved page would work them on a terminal. They are shown for what they are. */
const CONTROLS = /(?![\t\n\r])\p{Cc}/gu;

describe('html', () => {
  it('escapes every text, in content and in attribute values', () => {
    expect(markupText(html`<a title="${`"'&`}">${'<b>&amp;</b>'}</a>`)).toBe(
      '<a title="&quot;&#39;&amp;">&lt;b&gt;&amp;amp;&lt;/b&gt;</a>',
    );
  });

  it('takes over own markup, lists and numbers, and leaves out null and false', () => {
    const items = [html`<li>${1}</li>`, html`<li>${2n}</li>`];
    const markup = markupText(html`<p>${items}${null}${false}${raw('<hr>')}</p>`);
    expect(markup).toBe('<p><li>1</li><li>2</li><hr></p>');
  });

  it('shows control characters and sends none', () => {
    expect(markupText(html`<p>${'a\x1b]0;x\x07b\x7fc\x9bd\0e\tf\n'}</p>`)).toBe(
      '<p>a&#65533;]0;x&#65533;b&#65533;c&#65533;d&#65533;e\tf\n</p>',
    );
  });

  it('lets no text out of its element or attribute, and loses none of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (inside, title) => {
        const markup = markupText(html`<p title="${title}"><b>${inside}</b></p>`);
        const tags = tagsOf(markup);
        expect(tags.map((tag) => tag.name)).toEqual(['p', 'b']);
        expect(tags[0]?.attributes).toEqual(new Map([['title', title.replaceAll(CONTROLS, '\ufffd')]]));
        const shown = inside.replaceAll(CONTROLS, '\ufffd');
        expect(textOf(markup)).toBe(shown.replace(/\s+/g, ' ').trim());
        expect(markup).toMatch(/^[\t\n\r -~]*$/);
      }),
    );
  });
});

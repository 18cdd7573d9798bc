import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html, markupText, raw } from './html.ts';
import { tagsOf, textOf } from './markup.ts';

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

  it('lets no text out of its element or attribute, and loses none of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (inside, title) => {
        const markup = markupText(html`<p title="${title}"><b>${inside}</b></p>`);
        const tags = tagsOf(markup);
        expect(tags.map((tag) => tag.name)).toEqual(['p', 'b']);
        expect(tags[0]?.attributes).toEqual(new Map([['title', title.replaceAll(/[\x80-\x9f]/g, '\ufffd')]]));
        // Control characters that markup cannot hold are shown for what they are.
        const shown = inside.replaceAll(/[\x80-\x9f]/g, '\ufffd');
        expect(textOf(markup)).toBe(shown.replace(/\s+/g, ' ').trim());
        expect(markup).toMatch(/^[\0-\x7f]*$/);
      }),
    );
  });
});

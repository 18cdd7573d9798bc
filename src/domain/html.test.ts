import { expect, it } from 'vitest';
import { escapeHtml } from './html.ts';

it('a text in HTML has no character of markup, and all others as they were', () => {
  expect(escapeHtml(`<a href="x" title='y'>Tom & Ann</a> é 木`)).toBe(
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;Tom &amp; Ann&lt;/a&gt; é 木',
  );
});

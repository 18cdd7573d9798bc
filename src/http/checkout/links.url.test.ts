import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shopHref, walletHref } from './present.ts';

describe('shopHref', () => {
  it('appends payment_id and leaves the rest of the URL as the shop wrote it', () => {
    expect(shopHref('https://shop.example/ok', 'ord_1')).toBe('https://shop.example/ok?payment_id=ord_1');
    expect(shopHref('https://shop.example/ok?a=%20b+c&sig=x%2F#top', 'ord_1')).toBe(
      'https://shop.example/ok?a=%20b+c&sig=x%2F&payment_id=ord_1#top',
    );
  });

  it.each([
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    'JAVASCRIPT://shop.example/%0aalert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//shop.example/',
    '/local',
    '',
  ])('makes no link of %j', (url) => {
    expect(shopHref(url, 'ord_1')).toBeNull();
  });

  it('gives http and https links only, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true, withFragments: true })), (url) => {
        const href = shopHref(url, 'ord_1');
        if (href === null) return;
        expect(href).toMatch(/^https?:\/\//);
        expect(new URL(href).searchParams.getAll('payment_id')).toContain('ord_1');
      }),
    );
  });
});

describe('walletHref', () => {
  it('links payment URIs and nothing else', () => {
    expect(walletHref('bitcoin:bc1q?amount=1')).toBe('bitcoin:bc1q?amount=1');
    expect(walletHref('javascript:alert(1)')).toBeNull();
    expect(walletHref('https://wallet.example')).toBeNull();
    expect(walletHref(null)).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { refundOf } from './examples.ts';
import { CHECKOUT_CSP, CHECKOUT_HEADERS } from './layout.ts';
import { tagsOf, textOf, valuesOf } from './markup.ts';
import { renderProblemPage } from './problem-page.ts';
import { renderRefundPage } from './refund-page.ts';
import { CHECKOUT_CSS, CHECKOUT_CSS_PATH } from './style.ts';

const ADDRESS = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';

describe('refund page', () => {
  it('asks for an address with a labelled field, and says for which coin and network', () => {
    const { status, html } = renderRefundPage(refundOf({ kind: 'form', typed: '', problem: null }));
    expect(status).toBe(200);
    expect(valuesOf(html, 'form', 'action')).toEqual(['/refunds/re_1/claim']);
    expect(valuesOf(html, 'label', 'for')).toEqual(valuesOf(html, 'input', 'id'));
    expect(valuesOf(html, 'input', 'name')).toEqual(['address']);
    expect(textOf(html)).toContain('49.000001 USDT');
    expect(textOf(html)).toContain('Your Tether USD (USDT) address on Polygon');
    expect(html).not.toContain('http-equiv="refresh"');
  });

  it('keeps what was typed, escaped, and says what is wrong with it', () => {
    const typed = '"><script>alert(1)</script>';
    const { status, html } = renderRefundPage(refundOf({ kind: 'form', typed, problem: 'Copy <it> again.' }));
    expect(status).toBe(400);
    expect(valuesOf(html, 'input', 'value')).toEqual([typed]);
    expect(valuesOf(html, 'input', 'aria-invalid')).toEqual(['true']);
    const described = valuesOf(html, 'input', 'aria-describedby')[0]?.split(' ') ?? [];
    const ids = tagsOf(html).flatMap((tag) => tag.attributes.get('id') ?? []);
    expect(ids).toEqual(expect.arrayContaining(described));
    expect(textOf(html)).toContain('Copy <it> again.');
  });

  it('shows the address once it is claimed, and no form', () => {
    const { html } = renderRefundPage(refundOf({ kind: 'waiting', address: ADDRESS }));
    expect(textOf(html)).toContain(ADDRESS);
    expect(valuesOf(html, 'form', 'action')).toEqual([]);
    expect(valuesOf(html, 'meta', 'content')).toContain('60; url=/refunds/re_1/claim');
  });

  it('shows how it ended', () => {
    const done = { kind: 'completed', address: ADDRESS, transactionHash: '0xabc', completedAt: 0 } as const;
    expect(textOf(renderRefundPage(refundOf(done)).html)).toContain('Your refund was sent');
    expect(textOf(renderRefundPage(refundOf({ kind: 'failed' })).html)).toContain('will not be paid');
    expect(textOf(renderRefundPage(refundOf({ kind: 'failed' }, { mode: 'test' })).html)).toContain('Test mode');
  });
});

describe('problem pages', () => {
  it('carry the status of what went wrong', () => {
    expect(renderProblemPage({ kind: 'unknown_payment' }).status).toBe(404);
    expect(renderProblemPage({ kind: 'unknown_refund' }).status).toBe(404);
    expect(renderProblemPage({ kind: 'too_many_requests', retryAfterSeconds: 1, retryPath: '/pay/x' }).status).toBe(
      429,
    );
    expect(renderProblemPage({ kind: 'trouble', retryPath: '/pay/x' }).status).toBe(503);
  });

  it('try again by themselves where that helps, at the page and not at the action', () => {
    const many = renderProblemPage({ kind: 'too_many_requests', retryAfterSeconds: 12.2, retryPath: '/pay/x' }).html;
    expect(valuesOf(many, 'meta', 'content')).toContain('13; url=/pay/x');
    expect(valuesOf(many, 'a', 'href')).toEqual(['/pay/x']);
    expect(renderProblemPage({ kind: 'unknown_payment' }).html).not.toContain('http-equiv="refresh"');
  });
});

describe('what pages are sent with', () => {
  it('is a policy that allows no script and no other host', () => {
    expect(CHECKOUT_HEADERS['content-security-policy']).toBe(CHECKOUT_CSP);
    expect(CHECKOUT_CSP).toContain("default-src 'none'");
    expect(CHECKOUT_CSP).not.toMatch(/unsafe|https?:|\*/);
  });

  it('is a style sheet under a path that changes with its text, and that loads nothing', () => {
    expect(CHECKOUT_CSS_PATH).toMatch(/^\/assets\/checkout\.[0-9a-f]{16}\.css$/);
    expect(CHECKOUT_CSS).not.toMatch(/url\(|@import/);
    const { html } = renderProblemPage({ kind: 'unknown_payment' });
    expect(valuesOf(html, 'link', 'href')).toEqual([
      expect.stringMatching(/^data:image\/svg\+xml,/),
      CHECKOUT_CSS_PATH,
    ]);
  });
});

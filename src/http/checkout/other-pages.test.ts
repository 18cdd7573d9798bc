import { describe, expect, it } from 'vitest';
import { ASSETS, FRAME, refundOf } from './examples.fixture.ts';
import { ENGLISH } from './language/locale.ts';
import { pageHeaders } from './layout.ts';
import { tagsOf, textOf, valuesOf } from '../pages/markup.fixture.ts';
import { renderProblemPage, renderRefundPage } from './refund-page.ts';
import { renderLeavePage } from './leave-page.ts';
import type { ProblemView, RefundView } from './view.ts';

const refundPage = (view: RefundView) => renderRefundPage(view, ASSETS);
const problemPage = (view: ProblemView) => renderProblemPage(view, ENGLISH, ASSETS);

const ADDRESS = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';

describe('refund page', () => {
  it('asks for an address with a labelled field, and says for which coin and network', () => {
    const { status, html } = refundPage(refundOf({ kind: 'form', typed: '', problem: null }));
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
    const { status, html } = refundPage(refundOf({ kind: 'form', typed, problem: 'invalid' }));
    expect(status).toBe(400);
    expect(valuesOf(html, 'input', 'value')).toEqual([typed]);
    expect(valuesOf(html, 'input', 'aria-invalid')).toEqual(['true']);
    const described = valuesOf(html, 'input', 'aria-describedby')[0]?.split(' ') ?? [];
    const ids = tagsOf(html).flatMap((tag) => tag.attributes.get('id') ?? []);
    expect(ids).toEqual(expect.arrayContaining(described));
    expect(textOf(html)).toContain('This isn’t an address for USDT on Polygon.');
  });

  it('shows the address once it is claimed, and no form', () => {
    const { html } = refundPage(refundOf({ kind: 'waiting', address: ADDRESS }));
    expect(textOf(html)).toContain(ADDRESS);
    expect(valuesOf(html, 'form', 'action')).toEqual([]);
    expect(valuesOf(html, 'meta', 'content')).toContain('60; url=/refunds/re_1/claim');
  });

  it('and the page that ends mails show the shop’s words', () => {
    const words = {
      pageText: 'Open 9–17',
      supportUrl: 'mailto:help@shop.example',
      termsUrl: 'https://shop.example/terms',
    };
    const frame = { ...FRAME, branding: { ...FRAME.branding, ...words } };
    const refund = refundPage(refundOf({ kind: 'failed' }, { frame })).html;
    const leave = renderLeavePage({ state: 'ask', frame, path: '/mails/x' }, ASSETS).html;
    for (const html of [refund, leave]) expect(textOf(html)).toContain('Open 9–17 Help from the shop Terms');
  });

  it('shows how it ended', () => {
    const done = { kind: 'completed', address: ADDRESS, transactionHash: '0xabc', completedAt: 0 } as const;
    expect(textOf(refundPage(refundOf(done)).html)).toContain('Your refund was sent');
    const nowhere = textOf(refundPage(refundOf({ ...done, address: '' }, { mode: 'test' })).html);
    expect(nowhere).toContain('No real money moved');
    expect(nowhere).not.toContain('your address');
    expect(textOf(refundPage(refundOf({ kind: 'failed' })).html)).toContain('will not be paid');
    expect(textOf(refundPage(refundOf({ kind: 'failed' }, { mode: 'test' })).html)).toContain('Test mode');
  });
});

describe('problem pages', () => {
  it('carry the status of what went wrong', () => {
    expect(problemPage({ kind: 'unknown_payment' }).status).toBe(404);
    expect(problemPage({ kind: 'unknown_refund' }).status).toBe(404);
    expect(problemPage({ kind: 'too_many_requests', retryAfterSeconds: 1, retryPath: '/pay/x' }).status).toBe(429);
    expect(problemPage({ kind: 'fault', retryPath: '/pay/x' }).status).toBe(503);
  });

  it('try again by themselves where that helps, at the page and not at the action', () => {
    const many = problemPage({ kind: 'too_many_requests', retryAfterSeconds: 12.2, retryPath: '/pay/x' }).html;
    expect(valuesOf(many, 'meta', 'content')).toContain('13; url=/pay/x');
    expect(valuesOf(many, 'a', 'href')).toEqual(['/pay/x']);
    expect(problemPage({ kind: 'unknown_payment' }).html).not.toContain('http-equiv="refresh"');
  });
});

describe('what pages are sent with', () => {
  it('is a policy that allows scripts of this service only, and no other host', () => {
    const headers = pageHeaders([]);
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers['x-frame-options']).toBe('DENY');
  });

  it('lets the origins that the shop names show the page in a frame, and no other', () => {
    const headers = pageHeaders(['https://shop.example', 'http://localhost:3000']);
    expect(headers['content-security-policy']).toContain(
      '; frame-ancestors https://shop.example http://localhost:3000',
    );
    expect(headers['x-frame-options']).toBeUndefined();
  });

  it('is a style sheet of this service', () => {
    const { html } = problemPage({ kind: 'unknown_payment' });
    expect(valuesOf(html, 'link', 'href')).toEqual([expect.stringMatching(/^data:image\/svg\+xml,/), ASSETS.stylePath]);
  });
});

import { expect, it } from 'vitest';
import { composeCustomerMail, CUSTOMER_LANGUAGES } from './customer-mail.ts';

const SHOP = { name: 'Café <Nord>', accent: null, logo: null, supportUrl: null };
const PAYMENT = {
  name: 'INV-2026-0007',
  currency: 'EUR',
  minor: '123450',
  pageUrl: 'https://pay.example/request/req_1',
  isTest: false,
} as const;
const KINDS = ['invoice', 'invoice_receipt', 'invoice_due', 'invoice_overdue'] as const;

it.each(CUSTOMER_LANGUAGES)('mails about invoices name number, sum and day, as text and as HTML: %s', (language) => {
  const day = new Intl.DateTimeFormat(`${language}-u-nu-latn-ca-gregory`, { dateStyle: 'long', timeZone: 'UTC' });
  for (const kind of KINDS) {
    const mail = composeCustomerMail(
      { shop: SHOP, payment: PAYMENT, kind, dueOn: '2026-12-24' },
      language,
      'https://pay.example/mails/token',
    );
    expect(mail.subject).toContain('INV-2026-0007');
    for (const part of ['INV-2026-0007', 'https://pay.example/request/req_1', 'https://pay.example/mails/token'])
      expect(mail.text).toContain(part);
    expect(mail.text).toMatch(/1.?234[.,]50/);
    const namesDay = mail.text.includes(day.format(Date.parse('2026-12-24')));
    expect([kind, namesDay]).toEqual([kind, kind !== 'invoice_receipt']);
    expect(mail.text + mail.subject).not.toMatch(/\{\w+\}/);
    expect(mail.html).not.toContain('<Nord>');
  }
});

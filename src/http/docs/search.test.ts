import { describe, expect, it } from 'vitest';
import { renderGuide } from '../../../scripts/build-guide.ts';
import { readOpenApi } from './openapi-document.ts';
import { createSearch } from './search.ts';
import { searchedPages } from './searched-pages.ts';

const WORDS = {
  live: 'https://pay.example',
  sandbox: 'https://sandbox.pay.example',
  machine: 'http://127.0.0.1:4000',
  program: './bin/cointill',
};
const groups = await renderGuide();
const document = await readOpenApi({ live: WORDS.live, test: WORDS.sandbox });
const search = createSearch(searchedPages({ document, groups, words: WORDS }));
const pagesFor = (query: string): readonly string[] =>
  search(query).map(({ path }) => path.replace(/^\/docs\/?/, '').replace(/#.*$/, '') || 'start');

/** Questions as shops and operators ask them, and the pages that answer them. */
const QUESTIONS: readonly (readonly [question: string, ...pages: string[]])[] = [
  ['how do I verify a webhook signature', 'webhooks', 'api'],
  ['webhook retries', 'webhooks'],
  ['test webhooks on localhost', 'events'],
  ['missed events after downtime', 'events'],
  ['create an API key', 'keys'],
  ['my key was leaked', 'keys'],
  ['public key for the browser', 'keys'],
  ['refund a customer', 'refunds', 'api'],
  ['partial refund', 'refunds', 'api'],
  ['customer paid too little', 'test-payments', 'webhooks', 'acceptance', 'words'],
  ['how many confirmations until a payment is completed', 'acceptance'],
  ['where do exchange rates come from', 'acceptance'],
  ['accept real bitcoin', 'go-live'],
  ['connect my wallet xpub', 'wallets', 'go-live'],
  ['do I need an ethereum node', 'go-live'],
  ['simulate an expired payment', 'test-payments', 'api'],
  ['let the customer choose the coin', 'transactions', 'api'],
  ['change the language of the payment page', 'payment-page'],
  ['our logo and colours on the checkout', 'payment-page'],
  ['open the checkout in an overlay', 'payment-page'],
  ['redirect after payment', 'payment-page', 'api'],
  ['invite a colleague', 'dashboard'],
  ['two-factor authentication', 'dashboard'],
  ['export payments as CSV for accounting', 'dashboard', 'first-day'],
  ['SMTP settings', 'mails', 'settings'],
  ['GDPR delete customer data', 'customers-data'],
  ['docker compose', 'install'],
  ['install on kubernetes', 'install'],
  ['which port does it listen on', 'settings', 'install'],
  ['environment variables', 'settings'],
  ['nginx reverse proxy', 'https', 'several-processes'],
  ['TLS certificate', 'https', 'settings'],
  ['prometheus metrics', 'monitoring'],
  ['load balancer', 'several-processes'],
  ['encrypt backups', 'backup', 'settings'],
  ['restore from a backup', 'restore'],
  ['upgrade to a new version', 'upgrade'],
  ['roll back to the old version', 'upgrade'],
  ['use our own PostgreSQL server', 'move', 'install'],
  ['the server burned down', 'when-something-is-lost'],
  ['how do I get started', 'first-payment', 'start'],
  ['list of all commands', 'command-line'],
  ['express raw body', 'recipe-express'],
  ['javascript client library', 'sdk'],
  ['let time pass in a test', 'test-payments'],
  ['webhook handler in next.js', 'recipe-next'],
  ['collect money from deposit addresses', 'wallets'],
  ['poll for events instead of webhooks', 'events'],
  ['breaking changes in the API', 'versions'],
  ['connect woocommerce', 'shops'],
  ['btcpay plugin address and store id', 'shops'],
  ['prestashop bitcoin module', 'shops'],
  ['magento 2', 'shops'],
  ['shopware 6 crypto payments', 'shops'],
  ['refund an order in woocommerce', 'shops'],
  ['how long until a deprecated endpoint is removed', 'versions'],
];

describe('the search of the documentation', () => {
  it('shows the right page among the first three for all but two of 56 questions', () => {
    const missed = QUESTIONS.filter(([question, ...pages]) => {
      const first = pagesFor(question).slice(0, 3);
      return !pages.some((page) => first.includes(page));
    });
    expect(QUESTIONS).toHaveLength(56);
    const shown = missed.map(([question]) => `${question}: ${pagesFor(question).slice(0, 3).join(', ')}`);
    expect(missed.length <= 2 ? [] : shown).toEqual([]);
  });

  const page = (name: string, title: string, heading: string, text: string) => ({
    path: name,
    title,
    about: '',
    sections: [
      { id: '', heading: '', text: 'Introduction.' },
      { id: 'part', heading, text },
    ],
  });
  const small = createSearch([
    page('text', 'Other', 'Other', 'A sweep moves money.'),
    page('begun', 'Other', 'Other', 'The sweeper moves money.'),
    page('heading', 'Other', 'Sweeps', 'It moves money.'),
    page('title', 'Sweeping', 'Other', 'It moves money.'),
    page('none', 'Other', 'Other', 'Nothing here.'),
  ]);
  const pathsFor = (query: string): readonly string[] => small(query).map(({ path }) => path);

  it('puts a word in the title before one in a heading, before one in the text, before a longer word', () => {
    expect(pathsFor('sweep')).toEqual(['title', 'heading#part', 'text#part', 'begun#part']);
    expect(pathsFor('How are the SWEEPS swept?')).toEqual(['title', 'heading#part', 'text#part', 'begun#part']);
  });

  it('finds nothing for the middle of a word, for signs and for no words', () => {
    for (const query of ['weep', '', ' ', '?!', '.*', 'xylophone', '\u{1f600}']) expect(pathsFor(query)).toEqual([]);
  });

  it('marks every searched word of an excerpt, and leaves no other character out', () => {
    const text = `${'word '.repeat(100)}the sweeps, and a SWEEP. ${'word '.repeat(100)}`;
    const [result] = createSearch([page('long', 'Other', 'Other', text)])('sweep');
    const excerpt = result?.excerpt ?? [];
    expect(excerpt.filter(({ isHit }) => isHit).map((part) => part.text)).toEqual(['sweeps', 'SWEEP']);
    const shown = excerpt.map((part) => part.text).join('');
    expect(shown).toMatch(/^… word .* the sweeps, and a SWEEP\. word .* …$/);
    expect(shown.length).toBeLessThan(200);
  });
});

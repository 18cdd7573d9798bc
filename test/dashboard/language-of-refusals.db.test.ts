import { expect, it } from 'vitest';
import { MNEMONIC, publicKeyAt } from '../../src/rails/utxo/wallet.fixture.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import { actsTest } from './acts.fixture.ts';

const { app, acts, owner, support } = await actsTest();
const project = `/dashboard/api/projects/${app.projectId}`;

/** The sentence with which a request is refused on a German page. */
async function inGerman(path: string, body: object): Promise<string> {
  const headers = { 'accept-language': 'de' };
  type Refused = { readonly error: { readonly message: string } };
  const answer = await owner.browser.call<Refused>({ method: 'POST', path, body, headers });
  expect(answer.status).toBe(400);
  return answer.body.error.message;
}

it.each([
  [
    'bitcoin',
    'xpub',
    publicKeyAt("m/84'", 'zpub'),
    "Dieser erweiterte öffentliche Schlüssel liegt in Tiefe 1, der Schlüssel eines Kontos liegt aber in Tiefe 3. Exportieren Sie aus Ihrer Wallet den erweiterten öffentlichen Schlüssel des Kontos (zpub…, unter m/84'/0'/0') oder einen Output-Deskriptor. Wenn Ihre Wallet ihre Adressen wirklich aus diesem Schlüssel ableitet, geben Sie einen Deskriptor an, etwa „pkh(xpub…/0/*)“.",
  ],
  [
    'litecoin',
    'xpub',
    'abc',
    "Ein erweiterter öffentlicher Schlüssel von Litecoin beginnt mit xpub, ypub, zpub, Ltub oder Mtub. Exportieren Sie aus Ihrer Wallet den erweiterten öffentlichen Schlüssel des Kontos (zpub…, unter m/84'/2'/0') oder einen Output-Deskriptor.",
  ],
  [
    'bitcoin',
    'descriptor',
    'wsh(sortedmulti(3,a,b))',
    'sortedmulti(k,…) enthält höchstens 16 Schlüssel, und k muss eine Zahl von 1 bis zur Anzahl der Schlüssel sein.',
  ],
  [
    'ethereum',
    'xpub',
    publicKeyAt("m/84'/0'/0'", 'zpub'),
    "Das ist ein Bitcoin-Schlüssel für SegWit-Adressen, kein Schlüssel einer EVM-Wallet. Exportieren Sie aus Ihrer Wallet den erweiterten öffentlichen Schlüssel des Kontos (xpub…, unter m/44'/60'/0').",
  ],
  [
    'ethereum',
    'treasury',
    MNEMONIC,
    'Das ist eine Wiederherstellungsphrase. Wer sie hat, kann das Geld ausgeben. Cointill hat sie nicht gespeichert. Geben Sie die Adresse Ihrer eigenen Wallet an, die die Einzahlungen erhält (0x und 40 Hexziffern). Weil sie hier eingegeben wurde, sollten Sie sie als kompromittiert betrachten und das Geld in eine neue Wallet übertragen.',
  ],
])('a wallet of %s as %s is refused in the language of the page', async (network, kind, source, sentence) => {
  expect(await inGerman(`${project}/wallets/${network}/preview`, { kind, source })).toBe(sentence);
});

it('what the role does not permit is refused in the language of the page', async () => {
  const call = { method: 'GET', path: `${project}/wallets`, headers: { 'accept-language': 'de' } } as const;
  type Refused = { readonly error: { readonly message: string } };
  const answer = await support.browser.call<Refused>(call);
  expect(answer.status).toBe(403);
  expect(answer.body.error.message).toMatch(
    /^Mit der Rolle „Support“ dürfen Sie das nicht: Wallets oder Einzüge sehen\. /,
  );
});

it('the address of a refund is refused in the language of the page', async () => {
  const id = publicPaymentId(await app.pay());
  await acts.post(owner.browser, id, 'simulate', { outcome: 'paid' });
  const refund = { request: 'form-1-x', asset: 'BTC', network: 'bitcoin' };
  const refuse = (address: string) => inGerman(`${acts.base}/${id}/refunds`, { ...refund, address });
  expect(await refuse('my wallet')).toBe(
    'Das ist keine Bitcoin-Adresse, oder eines ihrer Zeichen ist falsch. Kopieren Sie die Adresse noch einmal.',
  );
  expect(await refuse('ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9')).toBe(
    'Das ist eine Litecoin-Adresse. Verwenden Sie eine Bitcoin-Adresse.',
  );
});

it.each([
  ['https://user:pass@hooks.example/', /^Die Webhook-URL darf keinen Benutzernamen und kein Passwort enthalten\./],
  [
    'https://10.0.0.1/',
    /^Cointill sendet Webhooks nur an öffentliche Adressen, 10\.0\.0\.1 ist aber eine private Adresse\./,
  ],
])('the URL of a webhook is refused in the language of the page: %s', async (url, sentence) => {
  expect(await inGerman(`${project}/live/webhooks`, { url, events: ['order.created'] })).toMatch(sentence);
});

it.each([
  ['10.5', '"10.5" ist kein CIDR-Bereich. Schreiben Sie einen Bereich wie 10.0.0.0/8 oder fd00::/8.'],
  [
    '::ffff:10.0.0.0/90',
    '"::ffff:10.0.0.0/90" vermischt IPv4-Adressen, die als IPv6 geschrieben sind, mit anderen Adressen. Schreiben Sie den IPv4-Bereich.',
  ],
])('a range of addresses is refused in the language of the page, as it was typed: %s', async (range, sentence) => {
  const list = { values: [range], before: [], anyway: false };
  expect(await inGerman(`${project}/access/ips`, list)).toBe(sentence);
});

it('the edit of somebody else’s note is refused in the language of the page', async () => {
  const id = publicPaymentId(await app.pay());
  await acts.post(support.browser, id, 'notes', { text: 'Mine' });
  const [note] = (await acts.read(owner.browser, id)).notes;
  expect(await inGerman(`${acts.base}/${id}/notes/edit`, { id: note?.id, version: 1, text: 'Not mine' })).toBe(
    `Nur der Verfasser, ${support.email}, kann diese Notiz bearbeiten. Schreiben Sie stattdessen eine eigene Notiz.`,
  );
});

it('what is pasted as the signed transaction of a refund is refused in the language of the page', async () => {
  const id = publicPaymentId(await app.pay());
  await acts.post(owner.browser, id, 'simulate', { outcome: 'paid' });
  const request = { request: 'form-2-x', asset: 'BTC', network: 'bitcoin', amount: '5' };
  const { refund } = (await acts.post(owner.browser, id, 'refunds', request)).body;
  const send = async (signed: string, language: string) => {
    const path = `${project}/test/signing/send`;
    const headers = { 'accept-language': language };
    return (await owner.browser.call({ method: 'POST', path, body: { refunds: [refund], signed }, headers })).body;
  };
  const refused = (message: string) => ({ outcome: 'refused', transaction_hash: null, message, differences: [] });
  const long = 'A'.repeat(2_000_001);
  expect(await send(long, 'de')).toEqual(
    refused('Der Text ist länger als 2 Millionen Zeichen, mehr als jede Erstattung braucht.'),
  );
  expect(await send(long, 'en')).toEqual(
    refused('The text is longer than 2 million characters, more than any refund needs.'),
  );
});

import type { InvoiceDocument, InvoiceItem, InvoicePaid } from '../domain/invoice-document.ts';

/** A shop's words in a language: seller, buyer, goods and a note. */
interface Shop {
  readonly seller: readonly string[];
  readonly buyer: readonly string[];
  readonly goods: readonly string[];
  readonly note: string;
}

export const SHOPS: Readonly<Record<string, Shop>> = {
  en: {
    seller: ['Northside Coffee Ltd', '12 Harbour Street', 'London E1 6AN'],
    buyer: ['Ann Example', '1 Long Avenue', 'Bristol BS1 5TR'],
    goods: ['Espresso beans, 1 kg, washed', 'Hand grinder, steel', 'Filter papers (100)'],
    note: 'Thank you for your order. Please pay within 14 days.',
  },
  de: {
    seller: ['Café Nord GmbH', 'Hafenstraße 1', '20457 Hamburg'],
    buyer: ['Jörg Müßig & Söhne KG', 'Überseering 35', '22297 Hamburg'],
    goods: ['Espressobohnen, 1 kg, gewaschen', 'Handmühle aus Stahl', 'Filterpapiere (100 Stück)'],
    note: 'Vielen Dank für Ihren Auftrag. Bitte zahlen Sie innerhalb von 14 Tagen.',
  },
  el: {
    seller: ['Καφές Βορράς ΕΠΕ', 'Λεωφόρος Αμαλίας 12', '105 57 Αθήνα'],
    buyer: ['Ελένη Παπαδοπούλου', 'Ερμού 5', '546 24 Θεσσαλονίκη'],
    goods: ['Κόκκοι εσπρέσο, 1 κιλό', 'Χειροκίνητος μύλος, ατσάλι', 'Χάρτινα φίλτρα (100)'],
    note: 'Ευχαριστούμε για την παραγγελία σας.',
  },
  ru: {
    seller: ['ООО «Северный кофе»', 'ул. Портовая, д. 1', '190000 Санкт-Петербург'],
    buyer: ['Анна Петрова', 'пр. Мира, д. 35', '101000 Москва'],
    goods: ['Кофе в зёрнах, 1 кг', 'Ручная кофемолка, сталь', 'Бумажные фильтры (100 шт.)'],
    note: 'Спасибо за заказ. Просим оплатить в течение 14 дней.',
  },
  ar: {
    seller: ['شركة قهوة الشمال', 'شارع الميناء 12', 'دبي، الإمارات العربية المتحدة'],
    buyer: ['أحمد المثال', 'شارع الملك فيصل 5 (Tower B)', 'القاهرة'],
    goods: ['حبوب قهوة إسبريسو، 1 كغ', 'مطحنة يدوية من الفولاذ', 'أوراق ترشيح (100 ورقة)'],
    note: 'شكرًا لطلبكم. يرجى الدفع خلال 14 يومًا.',
  },
  ja: {
    seller: ['株式会社ノースコーヒー', '東京都港区海岸一丁目2番3号', '〒105-0022'],
    buyer: ['髙橋 花子 様', '大阪府大阪市北区梅田3-1-1', '山﨑ビル5階'],
    goods: ['エスプレッソ豆 1kg(水洗式)', '手挽きミル、ステンレス製', 'ペーパーフィルター(100枚)'],
    note: 'ご注文ありがとうございます。14日以内にお支払いください。',
  },
  zh: {
    seller: ['北方咖啡有限公司', '上海市黄浦区中山东一路12号', '200002'],
    buyer: ['张喆', '北京市朝阳区建国路88号', '100022'],
    goods: ['意式浓缩咖啡豆,1公斤,水洗', '不锈钢手摇磨豆机', '滤纸(100张)'],
    note: '感谢您的订购,请在14天内付款。',
  },
};

const RATES = [1_900, 700, 0];

/** An invoice of so many items, in a language of `SHOPS`. */
export function invoiceOf(language: string, count = 3, change: Partial<InvoiceDocument> = {}): InvoiceDocument {
  const { seller, buyer, goods, note } = SHOPS[language] ?? { seller: [], buyer: [], goods: [], note: '' };
  const items = Array.from({ length: count }, (_, place): InvoiceItem => ({
    description: goods[place % goods.length] ?? '',
    quantity: BigInt(place % 7) * 1_000n + 500n,
    unitMinor: 1_999n + 1_013n * BigInt(place),
    rate: RATES[place % RATES.length] ?? 0,
  }));
  return {
    number: 'INV-2026-0001',
    issuedOn: '2026-01-31',
    suppliedOn: '2026-01-30',
    dueOn: '2026-02-14',
    seller: { lines: seller, taxId: 'DE123456789' },
    buyer: { lines: buyer, taxId: null },
    currency: 'EUR',
    pricesIncludeTax: false,
    items,
    note,
    paymentUrl: 'https://pay.shop.example/pay/inv_4f8a2c1e9b7d6035',
    paid: null,
    ...change,
  };
}

export const PAID: InvoicePaid = {
  on: '2026-02-03',
  payments: [
    {
      on: '2026-02-01',
      minor: 100_000n,
      amount: '0.01234567',
      asset: 'BTC',
      network: 'bitcoin',
      transactionHash: '9f8e'.repeat(16),
    },
    { on: '2026-02-03', minor: 1_250n, amount: '12.5', asset: 'USDT', network: 'polygon', transactionHash: null },
  ],
  further: { count: 0, minor: 0n },
};

/** A picture with transparent parts, as most logos have. */
export const LOGO: Uint8Array = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAUAAAABgCAYAAABsS6soAAADe0lEQVR4nO3Uy23kMBREUQcx4Uwkzj+PGcDwxu6PxBb56tE+i7OTVGywcd/+vP99A/iN4gcASIkfACAlfgCAlPgBAFLiBzjwb6L0bwGaiR/gm5nBE0TgqfgBPlWGTwiBD8nxZPTEEIgEMB05IQQ+VI6loyaEwBdVQ+mQiSBwY/VAOl5CCDy08uPpYIkg8NSqD6dDJYLAodkfTMdJCIHTZn4sHSQRBIbM+lA6RCIIDJvxkXSAOohfJDDu6gfS4ekkfpnAmKsfSEenk/hlAmOuvJwOTkfxCwXOe/XFdGg6i18qcM4rL6UDs4P4xQLHXnkpHZcdxC8WODb6QjosO4lfLvDcyMPpoOwofsHAYyMPp2Oyo/gFA4+dfTAdkp3FLxm47+yD6YjsLH7JwH1nHkoH5CeIXzRw68xD6Xj8BCsvsfpM9uz9mL2VP4Drl7n9H8yevc57qw7PvAvd+g9mz17nPQGsI4D27DXbE79aAmjPXqM9AawlgPbsNdoTwFoCaM9eoz0BrCWA9uw12hO/egJoz16TPQGsJ4D27DXZE8B6AmjPXpM9AawngPbsNdkTwHoCaM9ekz0BrCeA9uw12RPAegJoz16TPQGsJ4D27DXZE8B6AmjPXpM9AawngPbsNdkTwHoCaM9ekz0BrCeA9uw12RPAegJoz16TPQGsJ4D27DXZE8B6AmjPXpM9AawngPbsNdkTwHoCaM9ekz0BrCeA9uw12RPAegJoz16TvRUHZ/6lbvsHs2ev854A1hJAe/Ya7QlgLQG0Z6/RngDWEkB79hrtrTo88y506z+YPXud9wSwjgDas9dsb+UP4Pplbv8Hs2ev897KH8D1y9z+D2bPXue9lT+A65cJLHT2wXRAdha/ZOC+sw+mI7Kz+CUD9408nA7JjuIXDDw28nA6JjuKXzDw2OgL6aDsJH65wHOvvJQOyw7iFwsce+WldFx2EL9Y4NirL6YD01n8UoFzrrycDk1H8QsFzrv6gXRwOolfJjDm6gfS0ekkfpnAmBkfSYeng/hFAuNmfSgdIPEDhs38WDpE4gcMmf3BdJDEDzht1YfTcRI+4NDKj6dDJX7AU6sH0sESP+ChqqF0vIQPuFE5lg6Z+AFfJEbTURM+4ENyPB054YNfLn6AT6IHlIsf4BvhA8rED3BA8IBl4gcASIkfACAlfgCAlPgBAFL+A6LEUyjUeOAoAAAAAElFTkSuQmCC',
  'base64',
);

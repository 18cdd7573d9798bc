import type { OpenPayment } from './embed.ts';

/*
 * For the scripts of BTCPay's plugins: `window.btcpay`, with the functions that they call, over `embed.js`.
 *
 * A plugin names the service, opens the payment page of an invoice above the shop's page, and is told what happens:
 * `"loaded"`, `{invoiceId, status}` and `"close"`. Where the page cannot be framed, `embed.js` leads to it.
 *
 * A MESSAGE NEVER PROVES A PAYMENT. It comes from the customer's browser, where anything can be made up.
 */

type Message = 'loaded' | 'close' | { readonly invoiceId: string; readonly status: string };
type Receiver = (event: { readonly data: Message }) => void;

declare global {
  interface Window {
    btcpay?: unknown;
  }
}

/**
 * The status that plugins read, by the page's. A payment that failed has nearly always got too little money, for which
 * Greenfield says `Expired`, too.
 */
const STATUSES: Readonly<Record<string, string>> = {
  detected: 'processing',
  confirming: 'processing',
  completed: 'settled',
  expired: 'expired',
  failed: 'expired',
  cancelled: 'invalid',
};

/** The service's address, without a slash at its end. */
let service = '';
/** The invoice that was shown last. */
let last = '';
/** Whether it is to be seen. */
let isWanted = false;
let shown: OpenPayment | null = null;
let loading: Promise<unknown> | null = null;

// A plugin registers its functions again for each invoice: the newest counts.
const nothing = (): void => {};
let onEnter = nothing;
let onLeave = nothing;
let onMessage: Receiver = nothing;

/** Loads `embed.js`, unless the shop's page has it; a failure is followed by a new attempt at the next invoice. */
function load(): Promise<unknown> {
  loading ??= new Promise((resolve) => {
    if (window.Cointill !== undefined) return resolve(null);
    const script = document.createElement('script');
    script.src = `${service}/embed.js`;
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => resolve((loading = null)));
    document.head.append(script);
  });
  return loading;
}

async function showFrame(): Promise<void> {
  if (last === '') return;
  isWanted = true;
  await load();
  // Meanwhile the shop may have hidden it, or shown another one.
  if (isWanted && shown === null) open(last);
}

function open(invoiceId: string): void {
  const page = `${service}/pay/${encodeURIComponent(invoiceId)}`;
  if (window.Cointill === undefined) return location.assign(page);
  onEnter();
  const payment = window.Cointill.open(page);
  shown = payment;
  const send = (data: Message): void => onMessage({ data });
  let isLoaded = false;
  let sent: string | undefined;
  payment.addEventListener('cointill:status', (event) => {
    if (shown !== payment || !(event instanceof CustomEvent)) return;
    if (!isLoaded) send('loaded');
    isLoaded = true;
    const status = STATUSES[event.detail.status];
    if (status !== undefined && status !== sent) send({ invoiceId, status });
    sent = status;
  });
  payment.addEventListener('cointill:close', () => {
    if (shown !== payment) return;
    shown = null;
    isWanted = false;
    onLeave();
    send('close');
  });
}

/** Hides the page for the shop itself, which needs no message about that. */
function hideFrame(): void {
  isWanted = false;
  const payment = shown;
  if (payment === null) return;
  shown = null;
  payment.close();
  onLeave();
}

function setApiUrlPrefix(url: string): void {
  service = url.replace(/\/+$/, '');
}

const { src = '' } = (document.currentScript ?? {}) as Partial<HTMLScriptElement>;
// Programs that put a shop's scripts together serve this one under another name.
const own = /^(.*)\/modal\/btcpay\.js(?:[?#]|$)/.exec(src)?.[1];
if (own !== undefined) {
  service = own;
  void load();
}

window.btcpay = {
  setApiUrlPrefix,
  showInvoice: (invoiceId: string): void => {
    hideFrame();
    last = invoiceId;
    void showFrame();
  },
  hideFrame,
  showFrame: () => void showFrame(),
  onModalWillEnter: (callback: () => void): void => void (onEnter = callback),
  onModalWillLeave: (callback: () => void): void => void (onLeave = callback),
  onModalReceiveMessage: (callback: Receiver): void => void (onMessage = callback),
};

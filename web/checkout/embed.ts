import type { EmbedMessage } from './embedded.ts';

/*
 * For shops' own pages:
 *
 * <script src="https://pay.example/embed.js" defer></script> <a href="PAYMENT_URL" data-cointill>Pay</a> or <button
 * data-cointill="PAYMENT_URL">Pay</button>
 *
 * opens the payment above the page. The shop's origin must be allowed in Cointill; otherwise, and without this script,
 * the link leads to the payment page as usual. `window.Cointill.open(url)` does the same for scripts. `data-title` and
 * `data-close` on the script say "Payment" and "Close" to screen readers in the shop's language.
 *
 * Events on the clicked element, bubbling to the document, and on what `open` returns: `cointill:open`,
 * `cointill:status`, `cointill:completed`, `cointill:failed` (failed, expired or cancelled) and `cointill:close`, each
 * with `detail` `{payment_id, status}`.
 *
 * AN EVENT NEVER PROVES A PAYMENT. It comes from the customer's browser, where anything can be made up. Show "thank
 * you" on it; deliver goods on a webhook with a valid signature, or after asking the API with the secret key.
 */

interface Detail {
  readonly payment_id: string;
  readonly status: string;
}

/** The open payment: an event target that can be closed, and a promise of its status at the end. */
export interface OpenPayment extends EventTarget {
  close(): void;
  readonly closed: Promise<Detail>;
}

declare global {
  interface Window {
    Cointill?: { open(url: string, element?: Element): OpenPayment };
  }
}

/** A page that sends nothing for this long may not be framed here; it is then opened as a normal page. */
const PATIENCE_MS = 8_000;
/**
 * A page that is loaded and sends nothing for this long, such as the browser's own page about a refused frame, never
 * will.
 */
const LOADED_PATIENCE_MS = 1_000;

/**
 * In a shadow tree, with a style sheet made by script: the shop's own rules and its content security policy do not
 * affect it.
 */
const STYLE = `
:host{all:initial}
dialog{box-sizing:border-box;width:min(100%,30rem);height:min(100%,48rem);max-width:none;max-height:none;margin:auto;padding:2.75rem 0 0;border:0;border-radius:1rem;overflow:hidden;color-scheme:light dark;background:Canvas;color:CanvasText}
dialog::backdrop{background:#000a}
iframe{display:block;width:100%;height:100%;border:0}
button{position:absolute;inset:0 0 auto auto;width:2.75rem;height:2.75rem;border:0;background:none;color:inherit;font:1.5rem/1 system-ui,sans-serif;cursor:pointer}
@media(max-width:32rem){dialog{width:100%;height:100%;border-radius:0}}`;

const labels = document.currentScript?.dataset ?? {};
let current: OpenPayment | null = null;

/** Adds the frame of the payment page and its surroundings to the shop's page, not shown yet. */
function build(src: string) {
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  const dialog = document.createElement('dialog');
  const frame = document.createElement('iframe');
  const button = document.createElement('button');
  const title = labels['title'] ?? 'Payment';
  dialog.ariaLabel = frame.title = title;
  button.ariaLabel = labels['close'] ?? 'Close';
  button.textContent = '×';
  frame.allow = 'clipboard-write; payment';
  frame.src = src;
  dialog.append(button, frame);
  root.append(dialog);
  document.body.append(host);
  return { host, dialog, frame, button };
}

/** Opens the payment page as a normal page. */
function leadTo(url: URL): void {
  console.warn(
    `The payment page did not open in a frame here: if ${location.origin} is not among the project’s allowed origins (dashboard, Keys), add it.`,
  );
  location.assign(url);
}

function open(address: string, element: Element | null = null): OpenPayment {
  const url = new URL(address, location.href);
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('Cointill.open: not an http(s) address');
  current?.close();
  const framed = new URL(url);
  framed.searchParams.set('embed', location.origin);

  const { host, dialog, frame, button } = build(framed.href);

  const before = document.activeElement;
  let detail: Detail = { payment_id: '', status: '' };
  let finish: (detail: Detail) => void;
  const closed = new Promise<Detail>((resolve) => (finish = resolve));
  const payment: OpenPayment = Object.assign(new EventTarget(), { close: () => dialog.close(), closed });

  const post = (name: string) => {
    for (const target of [payment, element?.isConnected ? element : document])
      target.dispatchEvent(new CustomEvent(`cointill:${name}`, { bubbles: true, detail }));
  };
  const hear = ({ source, origin, data }: MessageEvent) => {
    // Any page or frame can send messages here.
    if (source !== frame.contentWindow || origin !== url.origin || data?.source !== 'cointill') return;
    clearTimeout(timer);
    const { type, payment_id, status } = data as EmbedMessage;
    if (type === 'close') return dialog.close();
    if (type === 'ready') {
      spoke = !doubting;
      doubting = false;
      return;
    }
    // Each page in the frame sends its status, changed or not.
    if (status === detail.status) return;
    detail = { payment_id, status };
    post('status');
    if (status === 'completed') post(status);
    if (/^(failed|expired|cancelled)$/.test(status)) post('failed');
  };
  const leave = () => leadTo(url);
  let timer = setTimeout(leave, PATIENCE_MS);
  // Each page in the frame identifies itself once as one of ours, just before or after it is loaded.
  let spoke = false;
  let doubting = false;
  frame.addEventListener('load', () => {
    doubting = !spoke;
    spoke = false;
    clearTimeout(timer);
    if (doubting) timer = setTimeout(leave, LOADED_PATIENCE_MS);
  });
  addEventListener('message', hear);
  button.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    clearTimeout(timer);
    removeEventListener('message', hear);
    host.remove();
    style.overflow = overflow;
    if (current === payment) current = null;
    if (before instanceof HTMLElement) before.focus();
    post('close');
    finish(detail);
  });
  current = payment;
  const { style } = document.documentElement;
  const { overflow } = style;
  style.overflow = 'hidden';
  dialog.showModal();
  post('open');
  return payment;
}

document.addEventListener('click', (event) => {
  const element = event.target instanceof Element ? event.target.closest('[data-cointill]') : null;
  // Clicks that would open a new tab or window still do.
  if (
    !element ||
    event.defaultPrevented ||
    event.button ||
    event.ctrlKey ||
    event.metaKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const url = element.getAttribute('data-cointill') || element.getAttribute('href');
  if (!url) return;
  event.preventDefault();
  open(url, element);
});

window.Cointill = { open };

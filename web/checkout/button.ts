/*
 * For shops' own pages:
 *
 * <a class="cointill-button" href="REQUEST_URL" data-cointill>Pay with crypto</a> <script
 * src="https://pay.example/button.js" async></script>
 *
 * gives the link the look of a button and loads `embed.js`, which opens the payment request above the page.
 * Without this script it is a link. The shop's style sheet sets its colours by `--cointill-background` and
 * `--cointill-color`.
 */

/** Rules as specific as a shop's own for links, such as `a:hover`, and applied after them. */
const STYLE = `
a.cointill-button{display:inline-block;box-sizing:border-box;min-height:2.75rem;padding:.625rem 1.25rem;border:0;border-radius:.5rem;background:var(--cointill-background,#0b6b5b);color:var(--cointill-color,#fff);font:600 1rem/1.5 system-ui,sans-serif;text-align:center;text-decoration:none;cursor:pointer}
a.cointill-button:hover{filter:brightness(1.15)}
a.cointill-button:focus-visible{outline:3px solid var(--cointill-background,#0b6b5b);outline-offset:3px}`;

// Made by script, so that the shop's content security policy permits it.
const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

const { src = '', dataset = {} } = (document.currentScript ?? {}) as Partial<HTMLScriptElement>;
if (window.Cointill === undefined && src !== '') {
  const script = document.createElement('script');
  script.src = new URL('embed.js', src).href;
  // The names of the overlay and of its button, in the shop's language.
  Object.assign(script.dataset, dataset);
  document.head.append(script);
}

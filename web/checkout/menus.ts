/** Closes the language menu like any other: on Escape, and on a click outside it. */
export function closeMenus(): void {
  const opened = () => document.querySelector<HTMLDetailsElement>('#languages[open]');
  document.addEventListener('click', ({ target }) => {
    const menu = opened();
    if (menu !== null && target instanceof Node && !menu.contains(target)) menu.open = false;
  });
  document.addEventListener('keydown', (event) => {
    const menu = event.key === 'Escape' ? opened() : null;
    if (menu === null) return;
    // In a shop's frame Escape would also close the payment.
    event.preventDefault();
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
}

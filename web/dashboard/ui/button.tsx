import type { ComponentProps } from 'react';
import css from './button.module.css';
import { classNames } from './class-names.ts';
import { Icon, type IconName } from './icons.tsx';

interface ButtonVariant {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly small?: boolean;
  readonly wide?: boolean;
}

interface ButtonProps extends ComponentProps<'button'>, ButtonVariant {
  /** Its action is still running: it shows that and ignores clicks. */
  readonly busy?: boolean;
  readonly icon?: IconName;
}

/** The classes of a button, for links styled as one. */
export function buttonClass({ kind = 'plain', small = false, wide = false }: ButtonVariant = {}): string {
  return classNames(css.button, kind !== 'plain' && css[kind], small && css.small, wide && css.wide);
}

/** A button. Submits its form only with `type="submit"`. */
export function Button({ kind, small, wide, busy = false, icon, className, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy ? true : rest['aria-disabled']}
      // Not `disabled`, which would lose the focus.
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={classNames(
        buttonClass({ ...(kind && { kind }), ...(small && { small }), ...(wide && { wide }) }),
        busy && css.busy,
        className,
      )}
    >
      {icon === undefined ? null : <Icon name={icon} size={16} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ComponentProps<'button'> {
  readonly icon: IconName;
  /** The accessible name and tooltip. */
  readonly label: string;
  readonly small?: boolean;
}

/** A button that shows only an icon. */
export function IconButton({ icon, label, small = false, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={classNames(css.button, css.quiet, css.icon, small && css.small, className)}
    >
      <Icon name={icon} size={small ? 15 : 18} />
    </button>
  );
}

/** A button styled as a link in a text. */
export function LinkButton({ className, ...rest }: ComponentProps<'button'>) {
  return <button type="button" {...rest} className={classNames(css.link, className)} />;
}

interface AddButtonProps {
  readonly name: string;
  /** Whether the person's role permits it. */
  readonly isPermitted: boolean;
  readonly onAdd: () => void;
}

/** The main action of a page that lists things that people create. */
export function AddButton({ name, isPermitted, onAdd }: AddButtonProps) {
  if (!isPermitted) return null;
  return (
    <Button kind="primary" icon="plus" onClick={onAdd}>
      {name}
    </Button>
  );
}

interface ExpandButtonProps {
  readonly isOpen: boolean;
  /** The id of the element that it opens. */
  readonly controls: string;
  /** The accessible name, which names the record whose rest it opens. */
  readonly label: string;
  readonly text: string;
  readonly onOpen: (isOpen: boolean) => void;
}

/** Shows and hides the rest of a row. */
export function ExpandButton({ isOpen, controls, label, text, onOpen }: ExpandButtonProps) {
  const controlled = isOpen ? { 'aria-controls': controls } : {};
  return (
    <Button
      small
      kind="quiet"
      aria-expanded={isOpen}
      {...controlled}
      aria-label={label}
      onClick={() => onOpen(!isOpen)}
    >
      {text}
    </Button>
  );
}

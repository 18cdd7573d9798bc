import { CopyButton } from '../../ui/copy.tsx';
import css from './keys.module.css';

interface OnceProps {
  readonly text: string;
  /** The name of the button that copies it. */
  readonly copy: string;
  readonly title?: string;
}

/** A text that is shown only once, with a button that copies it. */
export function Once({ text, copy, title }: OnceProps) {
  return (
    <div className={css.once}>
      {title === undefined ? null : <b>{title}</b>}
      <pre>
        <code>{text}</code>
      </pre>
      <CopyButton text={text}>{copy}</CopyButton>
    </div>
  );
}

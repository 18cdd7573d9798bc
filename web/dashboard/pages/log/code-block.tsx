import { useLocale } from '../../locale.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import css from './log.module.css';

interface CodeBlockProps {
  readonly title: string;
  /** Shown as it is, never as markup. */
  readonly text: string;
  /** What is copied, for the button's name. */
  readonly what: string;
}

/** A text of a program: a body, or code. */
export function CodeBlock({ title, text, what }: CodeBlockProps) {
  const { t } = useLocale();
  return (
    <div className={css.block}>
      <div className={css.blockHead}>
        <h3>{title}</h3>
        <CopyButton text={text}>{t('copy_what', { what })}</CopyButton>
      </div>
      <pre className={css.code} tabIndex={0} aria-label={title}>
        {text}
      </pre>
    </div>
  );
}

interface HeaderListProps {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** HTTP headers, as text whatever is in them. */
export function HeaderList({ title, headers }: HeaderListProps) {
  return (
    <div className={css.block}>
      <div className={css.blockHead}>
        <h3>{title}</h3>
      </div>
      <dl className={css.headers}>
        {Object.entries(headers).map(([name, value]) => (
          <div key={name} className={css.header}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

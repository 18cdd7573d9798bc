import { Button } from '../../ui/button.tsx';
import { useLocale } from '../../locale.tsx';
import { loadProblemText } from '../../problem.ts';
import { Notice } from '../../ui/notice.tsx';
import css from './payments-page.module.css';

interface ListFootProps {
  /** The part of `useInfiniteQuery`'s result that says whether there is more. */
  readonly list: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly isFetchNextPageError: boolean;
    readonly error: unknown;
    readonly fetchNextPage: () => unknown;
  };
  readonly more: string;
  /** The text at the end. */
  readonly end: string;
}

/** The end of a list that is loaded page by page. */
export function ListFoot({ list, more, end }: ListFootProps) {
  const { t } = useLocale();
  return (
    <div className={css.foot}>
      {list.isFetchNextPageError ? <Notice kind="problem">{loadProblemText(list.error, t)}</Notice> : null}
      {list.hasNextPage ? (
        <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {more}
        </Button>
      ) : (
        end
      )}
    </div>
  );
}

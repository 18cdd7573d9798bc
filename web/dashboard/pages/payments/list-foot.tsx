import { Button } from '../../ui/button.tsx';
import css from './payments-page.module.css';

interface ListFootProps {
  /** The part of `useInfiniteQuery`'s result that says whether there is more. */
  readonly list: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
  readonly more: string;
  /** The text at the end. */
  readonly end: string;
}

/** The end of a list that is loaded page by page. */
export function ListFoot({ list, more, end }: ListFootProps) {
  return (
    <div className={css.foot}>
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

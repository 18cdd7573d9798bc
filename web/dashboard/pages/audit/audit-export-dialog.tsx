import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { FileDialog } from '../log/file-dialog.tsx';
import { filtersOf, type AuditSearch } from './search.ts';

/** Downloads all entries that the filters mean. */
export function AuditExportDialog({ search, onClose }: { readonly search: AuditSearch; readonly onClose: () => void }) {
  const { t } = useLocale('audit');
  const { project } = useScope();
  return (
    <FileDialog
      path={search.of === 'all' ? '/dashboard/api/audit/export' : '/dashboard/api/projects/:project/audit/export'}
      params={{ project }}
      filters={filtersOf(search)}
      name={t('export_audit')}
      text={t('audit_export_text')}
      formatLabel={t('audit_format')}
      formats={{ csv: t('audit_export_csv'), semicolon: t('audit_export_semicolon'), jsonl: t('audit_export_jsonl') }}
      onClose={onClose}
    />
  );
}

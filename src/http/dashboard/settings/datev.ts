import { changeProject } from '../../../app/projects/projects.ts';
import type { DatevSettings } from '../../../domain/bookkeeping.ts';
import { findProject } from '../../../store/projects/projects.ts';
import { notFound } from '../../errors.ts';
import { done } from '../refusal-words.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { DatevView } from './contract.ts';

const DATEV = '/dashboard/api/projects/:project/settings/datev';
const MANAGE = { action: 'manage_settings' } as const;

/** The numbers and accounts of DATEV files. */
export function datevRoutes(routes: Routes, { people }: Dashboard): void {
  routes.add(`GET ${DATEV}`, MANAGE, async ({ scope: { projectId } }) => {
    const project = await findProject(people.app.db, projectId);
    if (project === null) throw notFound('There is no such project.');
    return { datev: project.datev === null ? null : viewOf(project.datev) };
  });
  routes.add(`POST ${DATEV}`, MANAGE, async ({ scope: { projectId }, body, own }) => {
    const given = body.datev === null ? null : readDatev(body.datev);
    const { project } = done(await changeProject(own, projectId, { datev: given }));
    return { datev: project.datev === null ? null : viewOf(project.datev) };
  });
}

function readDatev(typed: DatevView): DatevSettings {
  // A text that is not a number breaks the number's rule.
  const number = (text: string): number => (/^\d{1,9}$/.test(text.trim()) ? Number(text) : NaN);
  return {
    consultantNumber: number(typed.consultant_number),
    clientNumber: number(typed.client_number),
    fiscalYearMonth: number(typed.fiscal_year_month),
    accountLength: number(typed.account_length),
    walletAccount: typed.wallet_account.trim(),
    receiptsAccount: typed.receipts_account.trim(),
    refundsAccount: typed.refunds_account.trim(),
    feesAccount: typed.fees_account.trim() === '' ? null : typed.fees_account.trim(),
  };
}

function viewOf(datev: DatevSettings): DatevView {
  return {
    consultant_number: String(datev.consultantNumber),
    client_number: String(datev.clientNumber),
    fiscal_year_month: String(datev.fiscalYearMonth),
    account_length: String(datev.accountLength),
    wallet_account: datev.walletAccount,
    receipts_account: datev.receiptsAccount,
    refunds_account: datev.refundsAccount,
    fees_account: datev.feesAccount ?? '',
  };
}

-- The new e-mail address that somebody asked for: it takes effect once it is confirmed by a link that is mailed to it.
alter table people add column pending_email text;
alter table account_links
  drop constraint account_links_purpose_check,
  add constraint account_links_purpose_check check (purpose in ('setup', 'invitation', 'reset', 'email'));

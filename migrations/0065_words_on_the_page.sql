-- The shop's own words on its pages: one line of text, and where its terms and its imprint are.
alter table projects
  add column page_text text,
  add column terms_url text,
  add column imprint_url text;

-- The pictures that browsers show in the tabs of a project's pages. They are checked, kept and served as logos are.
create table project_icons (like project_logos including all);
alter table project_icons add foreign key (project_id) references projects (id);

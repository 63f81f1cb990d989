-- Projects that hold several sessions, the overlays of both, and runs that stop before their end.

alter table sessions
  -- Why a session that is awaiting_review rests: null or 'review' = a person is to look at the
  -- stage; 'until' = the run was asked to stop after it, and resume opens the next one.
  add column awaiting text check (awaiting in ('review', 'until')),
  add column overlay json;
alter table projects add column overlay json;
create index projects_by_name on projects (tenant_id, name);

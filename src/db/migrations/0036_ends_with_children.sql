-- Whether a job that waits for its children is completed with the last of them, without running again.
alter table jobs add column ends_with_children boolean not null default false;
